//! How the rules end a game, asked once a game: quick refusals first, shakmaty's word where they do not decide.

use super::board::{Board, KING, KNIGHT, PAWN, QUEEN, ROOK};
use super::geometry::SOURCES;
use super::replay::{Ending, Replay, ended};
use super::vocabulary::squares;

impl Board {
    /// How the rules have ended the game that led here from the start by `tokens`.
    pub fn ended(&self, tokens: &[u16]) -> Option<Ending> {
        let material = self.roles[PAWN] | self.roles[ROOK] | self.roles[QUEEN];
        if self.in_check() || material == 0 || self.halfmoves() >= 150 || !self.surely_moves() {
            let ending = ended(&self.to_chess());
            if ending.is_some() {
                return ending;
            }
        }
        (self.halfmoves() >= 16 && self.often_stood(tokens)).then(|| repeated(tokens)).flatten()
    }

    /// Whether a pawn or a knight out of line with the king, so in no pin, has a free square. There is no check.
    fn surely_moves(&self) -> bool {
        let ours = self.ours();
        let king = (self.roles[KING] & ours).trailing_zeros() as usize & 63;
        let free = ours & !SOURCES[QUEEN][king];
        let pawns = self.roles[PAWN] & free;
        let ahead = if self.turn == 0 { pawns << 8 } else { pawns >> 8 };
        if ahead & !self.occupied() != 0 {
            return true;
        }
        let mut knights = self.roles[KNIGHT] & free;
        while knights != 0 {
            if SOURCES[KNIGHT][knights.trailing_zeros() as usize & 63] & !ours != 0 {
                return true;
            }
            knights &= knights - 1;
        }
        false
    }

    /// Whether the men have stood so at least four times before since the last capture or move of a pawn: without
    /// that there is no fifth repetition. Whose move it is, and what castling and taking in passing are worth, is not
    /// looked at.
    fn often_stood(&self, tokens: &[u16]) -> bool {
        let now: [u8; 64] = std::array::from_fn(|square| self.men[square] | ((self.colors[0] >> square & 1) << 3) as u8);
        let (mut men, mut displaced, mut times) = (now, 0, 0);
        for &token in tokens.iter().rev().take(self.halfmoves() as usize) {
            let Some((from, to, _)) = squares(token) else { return false };
            let (from, to) = (from.to_usize(), to.to_usize());
            if usize::from(men[to] & 7) == KING && from.abs_diff(to) == 2 {
                break;
            }
            for square in [from, to] {
                displaced -= i32::from(men[square] != now[square]);
            }
            men.swap(from, to);
            for square in [from, to] {
                displaced += i32::from(men[square] != now[square]);
            }
            times += u32::from(displaced == 0);
        }
        times >= 4
    }
}

/// The exact answer, for which the game is played again.
#[cold]
fn repeated(tokens: &[u16]) -> Option<Ending> {
    let mut replay = Replay::default();
    for &token in tokens {
        replay.step(token).ok()?;
    }
    replay.ended()
}
