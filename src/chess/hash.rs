//! A board that knows its hash after every ply: equal for positions that count as the same under the repetition rule.
//!
//! The hash is shakmaty's Zobrist hash, which stays the same between versions: pieces, side to move, rights to castle,
//! and the file of a pawn that can legally be taken in passing.

use shakmaty::zobrist::{Zobrist128, ZobristValue as _};
use shakmaty::{CastlingSide, Color, File, Piece, Role, Square};

use super::board::{Board, KING, Legal, PAWN, ROOK};

/// A [`Board`] and the hash of its men.
#[derive(Clone, Debug)]
pub struct HashedBoard {
    board: Board,
    men: Zobrist128,
}

impl Default for HashedBoard {
    fn default() -> Self {
        Self::start()
    }
}

impl HashedBoard {
    /// The usual first position.
    pub fn start() -> Self {
        let board = Board::start();
        let mut men = Zobrist128::default();
        for square in Square::ALL {
            let role = usize::from(board.men[square.to_usize()]);
            if role != 0 {
                men ^= key(role, usize::from(board.colors[1] >> square.to_usize() & 1 == 1), square.to_usize());
            }
        }
        Self { board, men }
    }

    pub fn board(&self) -> &Board {
        &self.board
    }

    /// Plays a token. An illegal one leaves the board as it was.
    pub fn play_token(&mut self, token: u16) -> bool {
        let Some(legal) = self.board.legal(token) else { return false };
        self.men ^= self.changes(legal);
        self.board.make(legal);
        true
    }

    /// Plays a token and gives the 128 bits of the position that it leads to; none where it is illegal.
    pub fn after(&mut self, token: u16) -> Option<u128> {
        self.play_token(token).then(|| self.hash128())
    }

    fn changes(&self, Legal { from, to, role, placed }: Legal) -> Zobrist128 {
        let (us, them) = (self.board.turn, self.board.turn ^ 1);
        let mut changes = key(role, us, from) ^ key(placed, us, to);
        let taken = usize::from(self.board.men[to]);
        if taken != 0 {
            changes ^= key(taken, them, to);
        } else if role == PAWN && (from ^ to) & 7 != 0 {
            changes ^= key(PAWN, them, to ^ 8);
        } else if role == KING && from.abs_diff(to) == 2 {
            let (rook, target) = if to > from { (to + 1, to - 1) } else { (to - 2, to + 1) };
            changes ^= key(ROOK, us, rook) ^ key(ROOK, us, target);
        }
        changes
    }

    /// 128 bits of the position, few enough to collide never in a corpus of any size.
    pub fn hash128(&self) -> u128 {
        let mut hash = self.men;
        if self.board.turn == 0 {
            hash ^= Zobrist128::zobrist_for_white_turn();
        }
        for (bit, (color, side)) in RIGHTS.into_iter().enumerate() {
            if self.board.castling >> bit & 1 == 1 {
                hash ^= Zobrist128::zobrist_for_castling_right(color, side);
            }
        }
        if let Some(file) = self.board.file_taken_in_passing() {
            hash ^= Zobrist128::zobrist_for_en_passant_file(File::new(file as u32));
        }
        hash.0
    }

    /// The lower half of [`hash128`](Self::hash128), which is shakmaty's hash of 64 bits.
    pub fn hash(&self) -> u64 {
        self.hash128() as u64
    }
}

/// By the bits of the board's rights.
const RIGHTS: [(Color, CastlingSide); 4] = [
    (Color::White, CastlingSide::QueenSide),
    (Color::White, CastlingSide::KingSide),
    (Color::Black, CastlingSide::QueenSide),
    (Color::Black, CastlingSide::KingSide),
];

fn key(role: usize, color: usize, square: usize) -> Zobrist128 {
    let role = Role::ALL[role - 1];
    Zobrist128::zobrist_for_piece(Square::new(square as u32), Piece { color: Color::from_white(color == 0), role })
}
