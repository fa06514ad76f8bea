//! A lean board for the replay of whole corpora: bitboards, a mailbox, and who gives check.
//!
//! It plays a move only where it is fully legal. What it plays, shakmaty plays too, which the tests and the fuzzers
//! hold it to; what it does not understand, such as an unusual spelling, is for shakmaty to say.

use shakmaty::{Bitboard, ByColor, ByRole, CastlingMode, Chess, Color, EnPassantMode, Position as _, Role, Setup, Square};

use super::geometry::{BETWEEN, LINE, SOURCES, pawn_row};
use super::vocabulary::PLAIN_TOKENS;

pub(super) const PAWN: usize = 1;
pub(super) const KNIGHT: usize = 2;
pub(super) const BISHOP: usize = 3;
pub(super) const ROOK: usize = 4;
pub(super) const QUEEN: usize = 5;
pub(super) const KING: usize = 6;
/// No square: there is no pawn to take in passing.
pub(super) const NOWHERE: u8 = 64;

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
    pub(super) checkers: u64,
    /// 0 where white moves, 1 where black moves.
    pub(super) turn: usize,
    /// Corners whose rook may still castle: bit 0 is a1, 1 h1, 2 a8, 3 h8.
    pub(super) castling: u8,
    /// The square that a pawn has just stepped over, or [`NOWHERE`].
    pub(super) passed: u8,
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

    /// Plays a move that is legal and gives its token.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one copy for each kind of man, which saves a sixth of the time")]
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
        checkers = if BETWEEN[king][to] & occupied == 0 { checkers } else { 0 };
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
    pub(super) fn theirs(&self) -> u64 {
        self.colors[self.turn & 1 ^ 1]
    }

    #[inline]
    pub(super) fn occupied(&self) -> u64 {
        self.colors[0] | self.colors[1]
    }

    #[inline]
    pub(super) fn sliders(&self) -> u64 {
        self.roles[BISHOP] | self.roles[ROOK] | self.roles[QUEEN]
    }

    #[inline]
    pub(super) fn king(&self, color: usize) -> usize {
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
