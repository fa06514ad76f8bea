//! The positions of a game, one after the other, each known by a hash.

use crate::chess::hash::HashedBoard;

/// Tells the hash of each position of a game, from the start on, and returns whether all moves could be played.
///
/// Hashes are equal for positions that count as the same under the rule of repetition. Among a billion positions, two
/// that differ share their 128 bits with a probability below 10⁻²⁰.
pub(super) fn each_position(moves: &[u16], mut see: impl FnMut(u128)) -> bool {
    let mut board = HashedBoard::start();
    see(board.hash128());
    for &token in moves {
        let Some(hash) = board.after(token) else { return false };
        see(hash);
    }
    true
}
