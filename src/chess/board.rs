//! A lean board for the replay of whole corpora: bitboards, a mailbox, and who gives check.
//!
//! It plays a move only where it is fully legal. What it plays, shakmaty plays too, which the tests and the fuzzers
//! hold it to; what it does not understand, such as an unusual spelling, is for shakmaty to say.

use shakmaty::{Bitboard, ByColor, ByRole, CastlingMode, Chess, Color, EnPassantMode, Position as _, Role, Setup, Square};

use super::geometry::{BETWEEN, LINE, SOURCES, pawn_row};
use super::vocabulary::{PLAIN_TOKENS, squares};

pub(super) const PAWN: usize = 1;
pub(super) const KNIGHT: usize = 2;
pub(super) const BISHOP: usize = 3;
pub(super) const ROOK: usize = 4;
pub(super) const QUEEN: usize = 5;
pub(super) const KING: usize = 6;
/// No square: there is no pawn to take in passing.
const NOWHERE: u8 = 64;
/// Both last ranks, where pawns promote.
pub(super) const LAST_RANKS: u64 = 0xff00_0000_0000_00ff;

/// A position of standard chess.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board {
    /// Squares by role, 1 to 6 as in shakmaty.
    pub(super) roles: [u64; 8],
    /// Squares of white and of black.
    pub(super) colors: [u64; 2],
    /// The role on each square; 0 where it is empty.
    pub(super) men: [u8; 64],
    /// Who gives check to the side to move.
    checkers: u64,
    /// 0 where white moves, 1 where black moves.
    pub(super) turn: usize,
    /// Corners whose rook may still castle: bit 0 is a1, 1 h1, 2 a8, 3 h8.
    pub(super) castling: u8,
    /// The square that a pawn has just stepped over, or [`NOWHERE`].
    passed: u8,
    halfmoves: u32,
}

/// A move that is legal.
#[derive(Clone, Copy)]
pub(super) struct Legal {
    pub(super) from: usize,
    pub(super) to: usize,
    /// What stands on `from`.
    pub(super) role: usize,
    /// What will stand on `to`: the same, or what a pawn becomes.
    pub(super) placed: usize,
}

impl Default for Board {
    fn default() -> Self {
        Self::start()
    }
}

impl Board {
    /// The usual first position.
    pub const fn start() -> Self {
        const BACK_RANK: [u8; 8] =
            [ROOK as u8, KNIGHT as u8, BISHOP as u8, QUEEN as u8, KING as u8, BISHOP as u8, KNIGHT as u8, ROOK as u8];
        let mut men = [0; 64];
        let mut roles = [0; 8];
        let mut file = 0;
        while file < 8 {
            men[file] = BACK_RANK[file];
            men[56 + file] = BACK_RANK[file];
            men[8 + file] = PAWN as u8;
            men[48 + file] = PAWN as u8;
            roles[BACK_RANK[file] as usize] |= 1 << file | 1 << (56 + file);
            file += 1;
        }
        roles[PAWN] = 0x00ff_0000_0000_ff00;
        Self { roles, colors: [0xffff, 0xffff << 48], men, checkers: 0, turn: 0, castling: 0b1111, passed: NOWHERE, halfmoves: 0 }
    }

    /// The same position as shakmaty's.
    pub fn of(position: &Chess) -> Self {
        let board = position.board();
        let mut men = [0; 64];
        let mut roles = [0; 8];
        for role in Role::ALL {
            roles[role as usize] = board.by_role(role).0;
            for square in board.by_role(role) {
                men[square.to_usize()] = role as u8;
            }
        }
        let rights = position.castles().castling_rights();
        let castling = CORNERS.iter().enumerate().map(|(bit, &corner)| u8::from(rights.contains(corner)) << bit).sum();
        let passed = position.ep_square(EnPassantMode::Always).map_or(NOWHERE, |square| u32::from(square) as u8);
        Self {
            roles,
            colors: [board.white().0, board.black().0],
            men,
            checkers: position.checkers().0,
            turn: usize::from(position.turn().is_black()),
            castling,
            passed,
            halfmoves: position.halfmoves(),
        }
    }

    /// The same position as shakmaty knows it, but for the number of the move.
    pub fn to_chess(&self) -> Chess {
        let mut setup = Setup::empty();
        let roles = |role: Role| Bitboard(self.roles[role as usize]);
        let by_role = ByRole::new_with(roles);
        let by_color = ByColor { white: Bitboard(self.colors[0]), black: Bitboard(self.colors[1]) };
        setup.board = shakmaty::Board::try_from_bitboards(by_role, by_color).expect("each man has a role and a colour");
        setup.turn = Color::from_white(self.turn == 0);
        for (bit, corner) in CORNERS.into_iter().enumerate() {
            setup.castling_rights.set(corner, self.castling >> bit & 1 == 1);
        }
        setup.ep_square = (self.passed != NOWHERE).then(|| Square::new(u32::from(self.passed)));
        setup.halfmoves = self.halfmoves;
        setup.position(CastlingMode::Standard).expect("legal moves from a sound position lead to one")
    }

    /// Plies since the last capture or move of a pawn.
    pub fn halfmoves(&self) -> u32 {
        self.halfmoves
    }

    /// Whether the side to move stands in check.
    pub fn in_check(&self) -> bool {
        self.checkers != 0
    }

    /// Plays a token. An illegal one leaves the board as it was.
    pub fn play_token(&mut self, token: u16) -> bool {
        let legal = self.legal(token);
        if let Some(legal) = legal {
            self.make(legal);
        }
        legal.is_some()
    }

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
    #[inline]
    pub(super) fn moved(&self, sources: u64, to: usize, role: usize, captures: bool, promotion: usize) -> Option<Legal> {
        let to = to & 63;
        let (ours, occupied) = (self.ours(), self.occupied());
        if ours >> to & 1 == 1 || (occupied >> to & 1 == 1) != captures {
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
    #[inline]
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
        let snipers = line & self.theirs() & self.sliders();
        snipers == 0 || line >> to & 1 == 1 || self.sniped(king, snipers, self.occupied() ^ 1 << from) == 0
    }

    /// Those of the sliders in line with a square that attack it.
    #[cold]
    #[inline(never)]
    fn sniped(&self, square: usize, mut snipers: u64, occupied: u64) -> u64 {
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
    fn attackers(&self, square: usize, occupied: u64) -> u64 {
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

    /// Plays a move that is legal and gives its token.
    #[inline]
    pub(super) fn make(&mut self, Legal { from, to, role, placed }: Legal) -> u16 {
        let (from, to, role, placed) = (from & 63, to & 63, role & 7, placed & 7);
        let (origin, target) = (1_u64 << from, 1_u64 << to);
        let (us, them) = (self.turn & 1, self.turn & 1 ^ 1);
        let taken = usize::from(self.men[to]) & 7;
        let rare = role == KING && from.abs_diff(to) == 2 || role == PAWN && to == usize::from(self.passed);
        self.men[from] = 0;
        self.men[to] = placed as u8;
        self.roles[taken] &= !target;
        self.roles[role] ^= origin;
        self.roles[placed] ^= target;
        self.colors[them] &= !target;
        self.colors[us] ^= origin | target;
        self.halfmoves = if role == PAWN || taken != 0 { 0 } else { self.halfmoves + 1 };
        self.passed = if role == PAWN && from ^ to == 16 { usize::midpoint(from, to) as u8 } else { NOWHERE };
        self.castling &= KEPT[from] & KEPT[to];
        if rare {
            self.finish_rare(from, to, role);
        }
        let king = self.king(them);
        let occupied = self.occupied();
        let attacks = if role == PAWN && placed == PAWN { pawn_row(us, true) } else { placed };
        let mut checkers = SOURCES[attacks][king] & target;
        if checkers != 0 && BETWEEN[king][to] & occupied != 0 {
            checkers = 0;
        }
        // What the man that left may have uncovered.
        let snipers = LINE[king][from] & self.colors[us] & self.sliders();
        if snipers != 0 {
            checkers |= self.sniped(king, snipers, occupied);
        }
        self.turn = them;
        self.checkers = checkers;
        if rare {
            self.checkers = self.attackers(king, occupied);
        }
        PLAIN_TOKENS[from * 64 + to] + PROMOTION_OFFSET[if placed == role { 0 } else { placed }]
    }

    /// Moves the rook of a castling, or takes the pawn that was passed.
    #[cold]
    #[inline(never)]
    fn finish_rare(&mut self, from: usize, to: usize, role: usize) {
        if role == PAWN {
            let taken = to ^ 8;
            self.men[taken] = 0;
            self.roles[PAWN] ^= 1 << taken;
            self.colors[self.turn ^ 1] ^= 1 << taken;
            return;
        }
        let (rook, target) = if to > from { (to + 1, to - 1) } else { (to - 2, to + 1) };
        self.men.swap(rook, target);
        self.roles[ROOK] ^= 1 << rook | 1 << target;
        self.colors[self.turn] ^= 1 << rook | 1 << target;
    }

    /// The row of [`SOURCES`] for a man of the side to move.
    #[inline]
    pub(super) fn row(&self, role: usize, captures: bool) -> usize {
        if role == PAWN { pawn_row(self.turn & 1, captures) } else { role & 7 }
    }

    #[inline]
    pub(super) fn ours(&self) -> u64 {
        self.colors[self.turn & 1]
    }

    #[inline]
    fn theirs(&self) -> u64 {
        self.colors[self.turn & 1 ^ 1]
    }

    #[inline]
    pub(super) fn occupied(&self) -> u64 {
        self.colors[0] | self.colors[1]
    }

    #[inline]
    fn sliders(&self) -> u64 {
        self.roles[BISHOP] | self.roles[ROOK] | self.roles[QUEEN]
    }

    #[inline]
    fn king(&self, color: usize) -> usize {
        (self.roles[KING] & self.colors[color & 1]).trailing_zeros() as usize & 63
    }
}

const CORNERS: [Square; 4] = [Square::A1, Square::H1, Square::A8, Square::H8];

/// The rights to castle that a move from or to each square leaves.
static KEPT: [u8; 64] = {
    let mut kept = [0b1111; 64];
    (kept[0], kept[7], kept[56], kept[63]) = (0b1110, 0b1101, 0b1011, 0b0111);
    (kept[4], kept[60]) = (0b1100, 0b0011);
    kept
};

/// Promotions follow the plain move in the vocabulary, in the order of their letters.
static PROMOTION_OFFSET: [u16; 8] = [0, 0, 2, 1, 4, 3, 0, 0];
