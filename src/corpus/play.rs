//! The moves of one game, replayed on a board.

use shakmaty::san::{San, SanError, SanPlus};
use shakmaty::{CastlingSide, Chess, Position as _, Role};

use super::config::Keep;
use super::movetext::Words;
use super::report::Reason;
use crate::chess::replay::{Ending, Replay, ended};
use crate::chess::vocabulary::of_move;

/// Memory for one game after the other.
#[derive(Default)]
pub(super) struct Player {
    sans: Vec<San>,
    replay: Replay,
}

impl Player {
    /// Appends the tokens of a game's moves, and says how the rules ended it.
    ///
    /// # Errors
    ///
    /// The reason why the game is not kept; the tokens are then whatever was played so far.
    pub(super) fn play(&mut self, movetext: &[u8], keep: &Keep, tokens: &mut Vec<u16>) -> Result<Option<Ending>, Reason> {
        let mut words = Words::of(movetext);
        self.sans.clear();
        self.sans.extend(words.by_ref().map(san));
        if let Some(reason) = keep.rejects_length(self.sans.len()) {
            return Err(reason);
        }
        if words.broken() {
            return Err(Reason::InvalidSan);
        }
        let start = tokens.len();
        self.replayed(tokens, start).map_err(|_| Reason::InvalidSan)
    }

    fn replayed(&mut self, tokens: &mut Vec<u16>, start: usize) -> Result<Option<Ending>, SanError> {
        let mut position = Chess::default();
        for san in &self.sans {
            let m = san.to_move(&position)?;
            tokens.push(of_move(m));
            position.play_unchecked(m);
        }
        // Repetition needs the whole game again, so it is asked only where it can be.
        Ok(ended(&position)
            .or_else(|| (position.halfmoves() >= 16).then(|| self.ended_by_repetition(&tokens[start..])).flatten()))
    }

    fn ended_by_repetition(&mut self, tokens: &[u16]) -> Option<Ending> {
        self.replay.reset();
        for &token in tokens {
            self.replay.step(token).ok()?;
        }
        self.replay.ended()
    }
}

/// A word as a move; the null move, which is never legal, where it is none.
fn san(word: &[u8]) -> San {
    if let Ok(san) = SanPlus::from_ascii(word) {
        return san.san;
    }
    let checks = word.iter().rev().take_while(|byte| matches!(byte, b'+' | b'#')).count();
    match &word[..word.len() - checks] {
        b"0-0" => San::Castle(CastlingSide::KingSide),
        b"0-0-0" => San::Castle(CastlingSide::QueenSide),
        [pawn @ .., role @ (b'N' | b'B' | b'R' | b'Q')] => promoting(pawn, *role).unwrap_or(San::Null),
        _ => San::Null,
    }
}

/// A promotion without its sign, as in `cxd8Q`.
fn promoting(pawn: &[u8], role: u8) -> Option<San> {
    match San::from_ascii(pawn).ok()? {
        San::Normal { role: Role::Pawn, file, rank, capture, to, promotion: None } => {
            Some(San::Normal { role: Role::Pawn, file, rank, capture, to, promotion: Role::from_char(char::from(role)) })
        }
        _ => None,
    }
}
