//! Where probes look: positions of games, what stands on the board there, and the states of a decoder after them.

use std::collections::BTreeMap;

use anyhow::Result;
use shakmaty::{Chess, Color, Position as _, Square};
use tch::{Kind, Tensor, no_grad};

use crate::chess::vocabulary::PAD;
use crate::data::tokens::TokenFile;
use crate::error::Fixable;
use crate::model::decoder::Decoder;
use crate::progress::Progress;
use crate::random::{below, stream};

use super::super::batched::check;
use super::super::draw::meet;
use super::super::parts::Own;
use super::super::positions::{Position, ValidationGames, prompt};
use super::Frame;
use super::regression::SQUARES;

/// Positions of a training game.
pub(super) const CUTS: u32 = 8;
/// Sequences in a pass.
const BATCH: usize = 64;

/// Positions, and the boards there.
pub(super) struct Places<'a> {
    pub(super) games: ValidationGames<'a>,
    pub(super) positions: Vec<Position>,
    boards: Vec<Chess>,
}

impl<'a> Places<'a> {
    pub(super) fn new(games: ValidationGames<'a>, positions: Vec<Position>, progress: &Progress) -> Result<Self> {
        let boards = meet(&games, &positions, &Own(1), progress)?.into_iter().map(|met| met.board).collect();
        Ok(Self { games, positions, boards })
    }

    /// Those that probes are [trained](training) on.
    pub(super) fn training(file: &'a TokenFile, positions: u32, seed: u64, progress: &Progress) -> Result<Self> {
        let (games, drawn) = training(file, positions, seed)?;
        Self::new(ValidationGames::new(games), drawn, progress)
    }

    /// How many positions.
    pub(super) fn len(&self) -> usize {
        self.positions.len()
    }

    /// What stands on a1, b1 … h8: 0 for nothing, 1 to 6 for the pawn to the king of the first side, 7 to 12 for those of
    /// the second.
    pub(super) fn contents(&self, frame: Frame) -> Vec<[u8; SQUARES]> {
        self.boards.iter().map(|board| contents(board, frame)).collect()
    }

    /// Whether white is to move.
    pub(super) fn white(&self) -> Vec<bool> {
        self.boards.iter().map(|board| board.turn() == Color::White).collect()
    }

    /// The states of every layer after each position, the embedding first: float32 [l, n, c] on the decoder's device.
    pub(super) fn states(&self, decoder: &Decoder, progress: &Progress) -> Result<Tensor> {
        let sequences = self.sequences(decoder.config().context as usize);
        let [l, n, c] = [decoder.config().layers as usize + 1, self.len(), decoder.config().width as usize];
        let mut states_lnc = Tensor::zeros([l as i64, n as i64, c as i64], (Kind::Float, decoder.device()));
        let mut done = 0;
        for batch in sequences.chunks(BATCH) {
            check(progress)?;
            let longest = batch.iter().map(|sequence| sequence.tokens.len()).max().unwrap_or(0);
            let mut tokens = vec![i64::from(PAD); batch.len() * longest];
            let (mut places, mut items) = (Vec::new(), Vec::new());
            for (row, (shown, sequence)) in tokens.chunks_exact_mut(longest).zip(batch).enumerate() {
                shown.iter_mut().zip(&sequence.tokens).for_each(|(place, &token)| *place = i64::from(token));
                places.extend(sequence.asked.iter().map(|&(at, _)| (row * longest + at) as i64));
                items.extend(sequence.asked.iter().map(|&(_, item)| item as i64));
            }
            let tokens_bt = Tensor::from_slice(&tokens).view([batch.len() as i64, longest as i64]).to_device(decoder.device());
            let hidden_lnc = Tensor::stack(&no_grad(|| decoder.hidden(&tokens_bt, &places)), 0);
            done += items.len();
            let _ = states_lnc.index_copy_(1, &Tensor::from_slice(&items).to_device(decoder.device()), &hidden_lnc);
            progress.done(done as u64, n as u64, "positions");
        }
        Ok(states_lnc)
    }

    /// Tokens of all sequences.
    #[cfg(test)]
    pub(super) fn tokens(&self, context: usize) -> u64 {
        self.sequences(context).iter().map(|sequence| sequence.tokens.len() as u64).sum()
    }

    /// Positions of one game share a sequence where the context holds the game up to them; shortest first.
    fn sequences(&self, context: usize) -> Vec<Sequence> {
        let mut shared = BTreeMap::<usize, Vec<(usize, usize)>>::new();
        let mut sequences = Vec::new();
        for (item, at) in self.positions.iter().enumerate() {
            if at.cut < context {
                // After `<bos>` and `cut` moves.
                shared.entry(at.game).or_default().push((at.cut, item));
            } else {
                sequences.push(Sequence { tokens: prompt(self.games.before(*at), context), asked: vec![(context - 1, item)] });
            }
        }
        sequences.extend(shared.into_iter().map(|(game, asked)| {
            let longest = asked.iter().map(|&(cut, _)| cut).max().unwrap_or(0);
            Sequence { tokens: prompt(&self.games.game(game)[..longest], context), asked }
        }));
        sequences.sort_by_key(|sequence| sequence.tokens.len());
        sequences
    }
}

/// [`CUTS`] positions of each of as many training games as it takes, with replacement of both.
pub(super) fn training(file: &TokenFile, positions: u32, seed: u64) -> Result<(Vec<&[u16]>, Vec<Position>)> {
    let can_be_cut = |game: &usize| file.game(*game).len() >= 2;
    if !(0..file.games()).any(|game| can_be_cut(&game)) {
        return Err(Fixable::failed(format!("none of the {} training games has two plies", file.games()))
            .hint("take a larger corpus")
            .into());
    }
    let (mut games, mut drawn) = (Vec::new(), Vec::new());
    for game in 0..positions.div_ceil(CUTS) as usize {
        let mut rng = stream(seed, "probe games", game as u64);
        let mut draw = || below(&mut rng, file.games() as u64) as usize;
        let mut taken = draw();
        while !can_be_cut(&taken) {
            taken = draw();
        }
        let moves = file.game(taken);
        games.push(moves);
        let count = CUTS.min(positions - drawn.len() as u32);
        drawn.extend((0..count).map(|_| Position { game, cut: 1 + below(&mut rng, moves.len() as u64 - 1) as usize }));
    }
    Ok((games, drawn))
}

struct Sequence {
    tokens: Vec<u16>,
    /// After which token, and for which position.
    asked: Vec<(usize, usize)>,
}

fn contents(board: &Chess, frame: Frame) -> [u8; SQUARES] {
    let first = match frame {
        Frame::Colours => Color::White,
        Frame::ToMove => board.turn(),
    };
    let mut contents = [0; SQUARES];
    for square in Square::ALL {
        if let Some(piece) = board.board().piece_at(square) {
            contents[square as usize] = piece.role as u8 + if piece.color == first { 0 } else { 6 };
        }
    }
    contents
}
