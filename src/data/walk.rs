//! The positions of a game, one after the other, each known by a hash.

use shakmaty::zobrist::Zobrist128;
use shakmaty::{Chess, EnPassantMode, Position as _};

use crate::chess::replay::classify;

/// Tells the hash of each position of a game, from the start on, and returns whether all moves could be played.
///
/// Hashes are equal for positions that count as the same under the rule of repetition. Among a billion positions, two
/// that differ share their 128 bits with a probability below 10⁻²⁰.
pub(super) fn each_position(moves: &[u16], mut see: impl FnMut(u128)) -> bool {
    let mut position = Chess::default();
    let hash = |position: &Chess| position.zobrist_hash::<Zobrist128>(EnPassantMode::Legal).0;
    see(hash(&position));
    for &token in moves {
        let Ok(m) = classify(token, &position) else { return false };
        position.play_unchecked(m);
        see(hash(&position));
    }
    true
}
