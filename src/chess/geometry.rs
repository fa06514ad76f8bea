//! Where pieces go on an empty board, as tables of bitboards: bit 0 is a1, bit 7 h1, bit 63 h8.

use shakmaty::{Bitboard, Color, Square, attacks};

/// From where a man can reach a square, were the board empty.
pub(super) static SOURCES: [[u64; 64]; 9] = sources();

/// The squares between two squares in line; none where they are not in line.
pub(super) static BETWEEN: [[u64; 64]; 64] = between();

/// The whole rank, file or diagonal of two squares; nothing where they are not in line.
pub(super) static LINE: [[u64; 64]; 64] = line();

/// The row of [`SOURCES`] for a pawn's move of white (0) or black (1). Other men have that of their role.
pub(super) const fn pawn_row(color: usize, captures: bool) -> usize {
    color * 7 + captures as usize
}

const fn sources() -> [[u64; 64]; 9] {
    const NONE: Bitboard = Bitboard::EMPTY;
    let mut table = [[0; 64]; 9];
    let mut index = 0;
    while index < 64 {
        let square = Square::new(index as u32);
        table[pawn_row(0, false)][index] = pushes(index, -8, 3);
        table[pawn_row(0, true)][index] = attacks::pawn_attacks(Color::Black, square).0;
        table[2][index] = attacks::knight_attacks(square).0;
        table[3][index] = attacks::bishop_attacks(square, NONE).0;
        table[4][index] = attacks::rook_attacks(square, NONE).0;
        table[5][index] = attacks::queen_attacks(square, NONE).0;
        table[6][index] = attacks::king_attacks(square).0;
        table[pawn_row(1, false)][index] = pushes(index, 8, 4);
        table[pawn_row(1, true)][index] = attacks::pawn_attacks(Color::White, square).0;
        index += 1;
    }
    table
}

/// From where a pawn is pushed to a square: a step back, and two from the rank (from 0) that a double step reaches.
const fn pushes(to: usize, back: isize, double_rank: usize) -> u64 {
    let from = to as isize + back;
    if from < 0 || from > 63 {
        return 0;
    }
    if to / 8 == double_rank { 1 << from | 1 << (from + back) } else { 1 << from }
}

#[expect(clippy::large_stack_arrays, reason = "the compiler runs it")]
const fn between() -> [[u64; 64]; 64] {
    let mut table = [[0; 64]; 64];
    let mut pair = 0;
    while pair < 64 * 64 {
        table[pair / 64][pair % 64] = attacks::between(Square::new(pair as u32 / 64), Square::new(pair as u32 % 64)).0;
        pair += 1;
    }
    table
}

#[expect(clippy::large_stack_arrays, reason = "the compiler runs it")]
const fn line() -> [[u64; 64]; 64] {
    let mut table = [[0; 64]; 64];
    let mut pair = 0;
    while pair < 64 * 64 {
        table[pair / 64][pair % 64] = attacks::ray(Square::new(pair as u32 / 64), Square::new(pair as u32 % 64)).0;
        pair += 1;
    }
    table
}
