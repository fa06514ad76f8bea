//! Which moves are legal: a free way, a king that is left in no check, castling, captures in passing.

use super::board::{BISHOP, Board, KING, KNIGHT, Legal, NOWHERE, PAWN, QUEEN, ROOK};
use super::geometry::{BETWEEN, LINE, SOURCES, pawn_row};
use super::vocabulary::squares;

/// Both last ranks, where pawns promote.
const LAST_RANKS: u64 = 0xff00_0000_0000_00ff;

impl Board {
    /// The legal move that a token means.
    pub(super) fn legal(&self, token: u16) -> Option<Legal> {
        let (from, to, promotion) = squares(token)?;
        let (from, to) = (from.to_usize(), to.to_usize());
        let role = usize::from(self.men[from]);
        if self.ours() >> from & 1 == 0 {
            return None;
        }
        if role == KING && from.abs_diff(to) == 2 {
            return self.castle(to > from).filter(|castle| castle.from == from && castle.to == to);
        }
        let captures = self.occupied() >> to & 1 == 1 || to == usize::from(self.passed) && role == PAWN && (to ^ from) & 7 != 0;
        if SOURCES[self.row(role, captures)][to] >> from & 1 == 0 {
            return None;
        }
        self.moved(1 << from, to, role, captures, promotion.map_or(0, |role| role as usize))
    }

    /// The one legal move among those of a role from `sources` to `to`; `promotion` is 0 where there is none.
    ///
    /// The sources must reach `to` on an empty board.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one copy for each kind of man, which saves a sixth of the time")]
    pub(super) fn moved(&self, sources: u64, to: usize, role: usize, captures: bool, promotion: usize) -> Option<Legal> {
        let to = to & 63;
        let (ours, occupied) = (self.ours(), self.occupied());
        if (ours >> to | (occupied >> to ^ u64::from(captures))) & 1 == 1 {
            return self.en_passant(sources, to, role, captures, promotion);
        }
        if (role == PAWN && LAST_RANKS >> to & 1 == 1) != (promotion != 0) {
            return None;
        }
        let from = if sources & sources.wrapping_sub(1) == 0 {
            let from = sources.trailing_zeros() as usize;
            // Also where there is no source.
            if from >= 64 || BETWEEN[from][to] & occupied != 0 || !self.is_safe(from, to, role) {
                return None;
            }
            from
        } else {
            self.only_one(sources, to, role)?
        };
        Some(Legal { from, to, role, placed: if promotion == 0 { role } else { promotion } })
    }

    /// The one of several sources whose way is free and whose move is safe.
    #[cold]
    #[inline(never)]
    fn only_one(&self, mut sources: u64, to: usize, role: usize) -> Option<usize> {
        let mut only = None;
        while sources != 0 {
            let from = sources.trailing_zeros() as usize & 63;
            sources &= sources - 1;
            if BETWEEN[from][to] & self.occupied() == 0 && self.is_safe(from, to, role) {
                if only.is_some() {
                    return None;
                }
                only = Some(from);
            }
        }
        only
    }

    /// Whether the king stands in no check after a move that takes nothing in passing.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one copy for each kind of man, which saves a sixth of the time")]
    fn is_safe(&self, from: usize, to: usize, role: usize) -> bool {
        let (from, to) = (from & 63, to & 63);
        if role == KING {
            // The king shields nothing behind it.
            return self.attackers(to, self.occupied() ^ 1 << from) == 0;
        }
        let king = self.king(self.turn);
        if self.checkers != 0 {
            let checker = self.checkers.trailing_zeros() as usize & 63;
            if !self.checkers.is_power_of_two() || (BETWEEN[king][checker] | self.checkers) >> to & 1 == 0 {
                return false;
            }
        }
        let line = LINE[king][from];
        let snipers = if line >> to & 1 == 1 { 0 } else { line & self.theirs() & self.sliders() };
        snipers == 0 || self.sniped(king, snipers, self.occupied() ^ 1 << from) == 0
    }

    /// Those of the sliders in line with a square that attack it.
    #[cold]
    #[inline(never)]
    pub(super) fn sniped(&self, square: usize, mut snipers: u64, occupied: u64) -> u64 {
        let mut attackers = 0;
        while snipers != 0 {
            let sniper = snipers.trailing_zeros() as usize & 63;
            let straight = SOURCES[ROOK][square] >> sniper & 1 == 1;
            let moves_so = self.roles[QUEEN] | self.roles[if straight { ROOK } else { BISHOP }];
            if BETWEEN[square][sniper] & occupied == 0 {
                attackers |= moves_so & 1 << sniper;
            }
            snipers &= snipers - 1;
        }
        attackers
    }

    /// The opponent's men that attack a square.
    pub(super) fn attackers(&self, square: usize, occupied: u64) -> u64 {
        let square = square & 63;
        let theirs = self.theirs();
        let near = SOURCES[KNIGHT][square] & self.roles[KNIGHT]
            | SOURCES[KING][square] & self.roles[KING]
            | SOURCES[pawn_row(self.turn ^ 1, true)][square] & self.roles[PAWN];
        let mut attackers = near & theirs;
        let mut far = theirs
            & (SOURCES[BISHOP][square] & (self.roles[BISHOP] | self.roles[QUEEN])
                | SOURCES[ROOK][square] & (self.roles[ROOK] | self.roles[QUEEN]));
        while far != 0 {
            let sniper = far.trailing_zeros() as usize & 63;
            if BETWEEN[square][sniper] & occupied == 0 {
                attackers |= 1 << sniper;
            }
            far &= far - 1;
        }
        attackers
    }

    /// A pawn's capture in passing; no other capture of an empty square is one.
    #[cold]
    #[inline(never)]
    fn en_passant(&self, mut sources: u64, to: usize, role: usize, captures: bool, promotion: usize) -> Option<Legal> {
        if role != PAWN || to != usize::from(self.passed) || !captures || promotion != 0 {
            return None;
        }
        let mut only = None;
        let taken = 1 << (to ^ 8);
        while sources != 0 {
            let from = sources.trailing_zeros() as usize & 63;
            sources &= sources - 1;
            let occupied = (self.occupied() ^ taken ^ 1 << from) | 1 << to;
            if self.attackers(self.king(self.turn), occupied) & !taken == 0 {
                if only.is_some() {
                    return None;
                }
                only = Some(from);
            }
        }
        Some(Legal { from: only?, to, role, placed: role })
    }

    /// The file of the pawn that can be taken in passing, if one can: by a move that is legal.
    pub(super) fn file_taken_in_passing(&self) -> Option<usize> {
        if self.passed == NOWHERE {
            return None;
        }
        let to = usize::from(self.passed);
        let sources = SOURCES[pawn_row(self.turn, true)][to] & self.roles[PAWN] & self.ours();
        // Two pawns may be able to; either is enough.
        let can = |sources: u64| sources != 0 && self.en_passant(sources, to, PAWN, true, 0).is_some();
        (can(sources & sources.wrapping_neg()) || can(sources & sources.wrapping_sub(1))).then_some(to % 8)
    }

    /// Castling on the king's side or the queen's.
    pub(super) fn castle(&self, kings_side: bool) -> Option<Legal> {
        let from = if self.turn == 0 { 4 } else { 60 };
        let (rook, to) = if kings_side { (from + 3, from + 2) } else { (from - 4, from - 2) };
        let allowed = self.castling >> (2 * self.turn + usize::from(kings_side)) & 1 == 1;
        if !allowed || self.checkers != 0 || BETWEEN[from][rook] & self.occupied() != 0 {
            return None;
        }
        let without_king = self.occupied() ^ 1 << from;
        let attacked = |square| self.attackers(square, without_king) != 0;
        (!attacked(usize::midpoint(from, to)) && !attacked(to)).then_some(Legal { from, to, role: KING, placed: KING })
    }
}
