//! Moves in SAN, read straight off the board where they are spelled as programs spell them.

use super::board::{BISHOP, Board, KING, KNIGHT, PAWN, QUEEN, ROOK};
use super::geometry::SOURCES;

impl Board {
    /// Plays a move in SAN and gives its token.
    ///
    /// None where the move is not legal, not unique, or spelled in a way for [`shakmaty::san`] to read; the board is
    /// as it was then.
    pub fn play_san(&mut self, word: &[u8]) -> Option<u16> {
        if word.len() > 8 {
            return None;
        }
        let mut bytes = [0; 8];
        bytes[..word.len()].copy_from_slice(word);
        self.play_packed(u64::from_le_bytes(bytes), word.len())
    }

    /// The same for a word of up to 8 bytes, the first in the lowest byte. Bytes after the word do not matter.
    #[inline]
    pub fn play_packed(&mut self, word: u64, length: usize) -> Option<u16> {
        if !(2..=8).contains(&length) {
            return None;
        }
        let length = length - usize::from(matches!(byte(word, length - 1), b'+' | b'#'));
        let Some(to) = square(word, length) else { return self.play_rare(word, length) };
        // What differs by role is decided once.
        match usize::from(ROLES[usize::from(byte(word, 0))]) {
            0 => None,
            PAWN => self.play_before(word, length, to, PAWN, 0),
            KING => self.play_before(word, length, to, KING, 0),
            role => self.play_before(word, length, to, role, 0),
        }
    }

    /// Castling and promotions; `e8Q` is read as well as `e8=Q`.
    #[cold]
    #[inline(never)]
    fn play_rare(&mut self, word: u64, length: usize) -> Option<u16> {
        if length < 3 {
            return None;
        }
        match (length, word & u64::MAX >> (64 - 8 * length)) {
            (3, KINGS_SIDE) => return self.castle(true).map(|legal| self.make(legal)),
            (5, QUEENS_SIDE) => return self.castle(false).map(|legal| self.make(legal)),
            _ => (),
        }
        let promotion = ROLES[usize::from(byte(word, length - 1))];
        let length = length - 1 - usize::from(byte(word, length - 2) == b'=');
        if !(2..=5).contains(&promotion) {
            return None;
        }
        let pawn = usize::from(ROLES[usize::from(byte(word, 0))]) == PAWN;
        pawn.then(|| self.play_before(word, length, square(word, length)?, PAWN, usize::from(promotion)))?
    }

    /// The move to a square whose name ends at `length`, by what stands before it: the man, from where, the `x`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one copy for each kind of man, which saves a sixth of the time")]
    fn play_before(&mut self, word: u64, length: usize, to: usize, role: usize, promotion: usize) -> Option<u16> {
        // The byte before the square; 0 where the square is all.
        let captures = byte(word << 8, length - 2) == b'x';
        let begin = usize::from(role != PAWN);
        let from = match (length - 2).wrapping_sub(begin + usize::from(captures)) {
            0 => u64::MAX,
            1 => ORIGINS[usize::from(byte(word, begin))],
            2 if byte(word, begin) >= b'a' && byte(word, begin + 1) <= b'8' => {
                ORIGINS[usize::from(byte(word, begin))] & ORIGINS[usize::from(byte(word, begin + 1))]
            }
            _ => return None,
        };
        let sources = SOURCES[self.row(role, captures)][to] & self.roles[role] & self.ours() & from;
        let legal = self.moved(sources, to, role, captures, promotion)?;
        Some(self.make(legal))
    }
}

/// The square that the two bytes before `length` name.
#[inline]
fn square(word: u64, length: usize) -> Option<usize> {
    let at = length.checked_sub(2)?;
    let file = byte(word, at).wrapping_sub(b'a');
    let rank = byte(word, at + 1).wrapping_sub(b'1');
    (file | rank < 8).then(|| usize::from(rank) * 8 + usize::from(file))
}

#[inline]
fn byte(word: u64, at: usize) -> u8 {
    (word >> ((8 * at) & 63)) as u8
}

const KINGS_SIDE: u64 = u64::from_le_bytes(*b"O-O\0\0\0\0\0");
const QUEENS_SIDE: u64 = u64::from_le_bytes(*b"O-O-O\0\0\0");

/// The role that the first byte of a word names; a file is a pawn's. 0 for all other bytes.
static ROLES: [u8; 256] = {
    let mut roles = [0; 256];
    let mut file = b'a';
    while file <= b'h' {
        roles[file as usize] = PAWN as u8;
        file += 1;
    }
    roles[b'N' as usize] = KNIGHT as u8;
    roles[b'B' as usize] = BISHOP as u8;
    roles[b'R' as usize] = ROOK as u8;
    roles[b'Q' as usize] = QUEEN as u8;
    roles[b'K' as usize] = KING as u8;
    roles
};

/// The squares of the file or the rank that a byte names.
static ORIGINS: [u64; 256] = {
    let mut origins = [0; 256];
    let mut line = 0;
    while line < 8 {
        origins[b'a' as usize + line] = 0x0101_0101_0101_0101 << line;
        origins[b'1' as usize + line] = 0xff << (8 * line);
        line += 1;
    }
    origins
};
