//! The moves: a committed game of the engine up to some ply, then a draw among the legal moves that favours what
//! people do: take what is loose, take back, save what hangs, bring out pieces, castle, and give nothing away.

use anyhow::{Context as _, Result};
use philidor::random::{below, unit};
use rand_chacha::ChaCha8Rng;
use shakmaty::san::{SanPlus, Suffix};
use shakmaty::{Chess, Color, Move, Position as _, Role, Square};

/// A game of the engine.
pub(crate) struct Mined {
    pub(crate) eco: String,
    pub(crate) opening: String,
    moves: Vec<Move>,
}

/// The games of a file of the engine, as far as their moves can be played.
pub(crate) fn mined(text: &str) -> Result<Vec<Mined>> {
    let mut games = Vec::new();
    for game in text.split("\n\n[Event ") {
        let Some((tags, movetext)) = game.split_once("\n\n") else { continue };
        let value = |name: &str| {
            let after = tags.split_once(&format!("[{name} \""))?.1;
            Some(after.split_once("\"]")?.0.to_owned())
        };
        let moves = moves(movetext);
        if moves.len() >= 20 && !tags.contains("[FEN ") {
            games.push(Mined {
                eco: value("ECO").context("a mined game has a code of its opening")?,
                opening: value("Opening").context("a mined game has a name of its opening")?,
                moves,
            });
        }
    }
    Ok(games)
}

fn moves(movetext: &str) -> Vec<Move> {
    let mut position = Chess::default();
    let mut moves = Vec::new();
    let outside = movetext.split('{').filter_map(|piece| piece.rsplit('}').next()).flat_map(str::split_whitespace);
    for word in outside.filter(|word| !word.ends_with('.')) {
        let Ok(san) = word.trim_end_matches(['!', '?']).parse::<SanPlus>() else { break };
        let Ok(m) = san.san.to_move(&position) else { break };
        position.play_unchecked(m);
        moves.push(m);
    }
    moves
}

/// A game in the making.
pub(crate) struct Line<'a> {
    mined: &'a [Move],
    position: Chess,
    /// Where the last move went.
    last_to: Option<Square>,
}

/// A move as written, and what it leads to.
pub(crate) struct Step {
    pub(crate) san: SanPlus,
    pub(crate) ends: bool,
}

impl<'a> Line<'a> {
    /// Follows `mined` for a drawn number of plies; one game in twenty to its end.
    pub(crate) fn new(mined: &'a Mined, rng: &mut ChaCha8Rng) -> Self {
        let plies = if unit(rng) < 0.05 { usize::MAX } else { 6 + (unit(rng).powi(2) * 28.0) as usize };
        let mined = &mined.moves[..plies.min(mined.moves.len())];
        Self { mined, position: Chess::default(), last_to: None }
    }

    pub(crate) fn next(&mut self, ply: usize, rng: &mut ChaCha8Rng) -> Option<Step> {
        let m = match self.mined.get(ply) {
            Some(&m) => m,
            None => self.draw(ply, rng)?,
        };
        self.last_to = Some(m.to());
        let san = SanPlus::from_move_and_play_unchecked(&mut self.position, m);
        let ends = san.suffix == Some(Suffix::Checkmate) || self.position.is_insufficient_material();
        Some(Step { san, ends })
    }

    /// Pawns of material by which white is ahead.
    pub(crate) fn balance(&self) -> i32 {
        let board = self.position.board();
        let of = |color| Role::ALL.map(|role| value(role) * (board.by_color(color) & board.by_role(role)).count() as i32);
        of(Color::White).iter().sum::<i32>() - of(Color::Black).iter().sum::<i32>()
    }

    fn draw(&self, ply: usize, rng: &mut ChaCha8Rng) -> Option<Move> {
        let legal = self.position.legal_moves();
        let weights: Vec<f64> = legal.iter().map(|&m| self.weight(m, ply)).collect();
        let total: f64 = weights.iter().sum();
        let mut rest = unit(rng) * total;
        for (&m, weight) in legal.iter().zip(&weights) {
            if rest < *weight {
                return Some(m);
            }
            rest -= weight;
        }
        // Only rounding leads here, or a position without a move.
        legal.last().copied()
    }

    fn weight(&self, m: Move, ply: usize) -> f64 {
        let board = self.position.board();
        let us = self.position.turn();
        let (Some(from), to, role) = (m.from(), m.to(), m.role()) else { return 0.0 };
        if m.is_castle() {
            return 12.0;
        }
        let attackers = |square| board.attacks_to(square, us.other(), board.occupied());
        let worth = value(role);
        let is_attacked = attackers(to).any();
        let mut weight = match m.capture() {
            Some(victim) => {
                let won = value(victim) - if is_attacked { worth } else { 0 };
                if won >= 0 { 6.0 + 8.0 * f64::from(won) } else { 0.3 }
            }
            None if is_attacked && role != Role::Pawn => 0.12,
            None => 1.0,
        };
        if m.is_capture() && self.last_to == Some(to) {
            weight *= 6.0;
        }
        if worth >= 3 && attackers(from).into_iter().any(|square| board.role_at(square).is_some_and(|role| value(role) < worth)) {
            weight *= 4.0;
        }
        match m.promotion() {
            Some(Role::Queen) => return 60.0,
            Some(_) => return 0.2,
            None => (),
        }
        let home = if us == Color::White { 0 } else { 7 };
        match role {
            Role::Knight | Role::Bishop if ply < 30 && from.rank() as u32 == home => weight * 3.0,
            Role::King if ply < 40 => weight * 0.25,
            Role::Pawn if (2..6).contains(&(to.file() as u32)) => weight * 1.5,
            Role::Pawn if ply > 60 => weight * 1.6,
            _ => weight,
        }
    }
}

/// In pawns.
fn value(role: Role) -> i32 {
    match role {
        Role::Pawn => 1,
        Role::Knight | Role::Bishop => 3,
        Role::Rook => 5,
        Role::Queen => 9,
        Role::King => 40,
    }
}

/// A game to follow. Some openings are much played.
pub(crate) fn opening<'a>(mined: &'a [Mined], rng: &mut ChaCha8Rng) -> &'a Mined {
    let drawn = unit(rng) * unit(rng).sqrt() * mined.len() as f64;
    &mined[(drawn as usize).min(mined.len() - 1)]
}

/// Eight characters of the 62 that addresses are made of.
pub(crate) fn address(rng: &mut ChaCha8Rng) -> String {
    const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    (0..8).map(|_| char::from(LETTERS[below(rng, 62) as usize])).collect()
}
