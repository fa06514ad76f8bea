//! Games held to legal moves, so that any weights play on: how fast sequences grow.

use anyhow::Result;

use crate::chess::replay::{Replay, legal_tokens};
use crate::chess::vocabulary::{BOS, PAD};
use crate::measure::batched::check;
use crate::measure::predictor::Session;
use crate::measure::sampling::Weights;
use crate::progress::Progress;
use crate::random::{stream, unit};

/// Plays so many plies of as many games as the session has sequences, and returns their moves. A game that is over goes on with
/// `<pad>`: whoever plays, so many tokens are read.
pub(super) fn play(mut session: Box<dyn Session + '_>, games: usize, plies: usize, progress: &Progress) -> Result<Vec<Vec<u16>>> {
    let mut boards: Vec<Replay> = (0..games).map(|_| Replay::default()).collect();
    let mut rngs: Vec<_> = (0..games as u64).map(|game| stream(0, "games held to legal moves", game)).collect();
    let mut moves = vec![Vec::with_capacity(plies); games];
    let (mut shown, mut legal, mut likely, mut weights) = (vec![BOS; games], Vec::new(), Vec::new(), Weights::default());
    for _ in 0..plies {
        check(progress)?;
        let logits = session.step(&shown)?;
        for game in 0..games {
            let board = &mut boards[game];
            legal_tokens(board.position(), &mut legal);
            if shown[game] == PAD || board.ended().is_some() {
                shown[game] = PAD;
                continue;
            }
            likely.clear();
            likely.extend(legal.iter().map(|&token| logits.row(game)[usize::from(token)]));
            weights.fill(&likely, 1.0);
            let token = legal[usize::from(weights.sample(unit(&mut rngs[game])))];
            board.step(token).ok();
            moves[game].push(token);
            shown[game] = token;
        }
    }
    Ok(moves)
}
