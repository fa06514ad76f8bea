//! Validation games on a board, and what happens there by name.

use anyhow::{Context as _, Result};
use shakmaty::{Chess, Move, Position as _};

use crate::chess::replay::{Ending, Illegal, classify};
use crate::chess::vocabulary::uci;

#[cfg(test)]
use super::positions::Position;
use super::positions::ValidationGames;

impl ValidationGames<'_> {
    /// The board in a position.
    #[cfg(test)]
    pub(super) fn board(&self, position: Position) -> Result<Chess> {
        let mut board = Chess::default();
        for &token in self.before(position) {
            play(&mut board, token).with_context(|| format!("in validation game {}", position.game))?;
        }
        Ok(board)
    }

    /// Plays the first `plies` of a game, and shows each, the board before it, and the move that the human made.
    pub(super) fn walk(&self, game: usize, plies: usize, mut each: impl FnMut(usize, &Chess, Move)) -> Result<()> {
        let mut board = Chess::default();
        for (ply, &token) in self.game(game)[..plies].iter().enumerate() {
            let human = legal(&board, token).with_context(|| format!("in validation game {game}"))?;
            each(ply, &board, human);
            board.play_unchecked(human);
        }
        Ok(())
    }
}

#[cfg(test)]
fn play(board: &mut Chess, token: u16) -> Result<()> {
    let human = legal(board, token)?;
    board.play_unchecked(human);
    Ok(())
}

fn legal(board: &Chess, token: u16) -> Result<Move> {
    classify(token, board).ok().with_context(|| format!("the move `{}` is illegal", uci(token)))
}

/// What an illegal token is counted as.
pub(super) fn illegal_name(kind: Illegal) -> &'static str {
    match kind {
        Illegal::SpecialToken => "special_token",
        Illegal::EmptySquare => "empty_square",
        Illegal::OpponentsPiece => "opponents_piece",
        Illegal::IllegalMovement => "illegal_movement",
    }
}

/// What a game is counted as that the rules ended.
pub(super) fn ending_name(ending: Ending) -> &'static str {
    match ending {
        Ending::Checkmate => "checkmate",
        Ending::Stalemate => "stalemate",
        Ending::InsufficientMaterial | Ending::FivefoldRepetition | Ending::SeventyFiveMoves => "other_by_rules",
    }
}
