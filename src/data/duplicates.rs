//! Games that occur more than once, and games that two sides share, by a digest of 16 bytes a game.
//!
//! The first 128 bits of BLAKE3 over the moves stand for a game: among a billion games, two that differ share them
//! with a probability below 10⁻²⁰, so the counts are those of a comparison move by move.

use serde::{Deserialize, Serialize};

/// What a game is known by: its moves and nothing else.
pub fn digest(moves: &[u16]) -> u128 {
    let mut head = [0; 16];
    head.copy_from_slice(&blake3::hash(bytemuck::cast_slice(moves)).as_bytes()[..16]);
    u128::from_le_bytes(head)
}

/// The digests of a side, in ascending order: 16 bytes a game are all the memory that counting takes.
pub struct Digests(Vec<u128>);

/// A game that occurs more than once, and no other occurs more often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MostRepeated {
    pub copies: u64,
    pub plies: u64,
}

/// What two sides have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Common {
    /// Different games that are on both.
    pub distinct: u64,
    /// Games of the second side, copies and all, that equal one of the first.
    pub of_second: u64,
}

impl Digests {
    pub fn new(mut digests: Vec<u128>) -> Self {
        digests.sort_unstable();
        Self(digests)
    }

    /// Different games.
    pub fn distinct(&self) -> u64 {
        self.runs().count() as u64
    }

    /// The digest of the game with the most copies, and how many there are; none where every game occurs once.
    ///
    /// Of several with as many copies, it is the one with the least digest.
    pub fn most_repeated(&self) -> Option<(u128, u64)> {
        let most = self.runs().rev().max_by_key(|run| run.len())?;
        (most.len() > 1).then_some((most[0], most.len() as u64))
    }

    pub fn common(&self, second: &Self) -> Common {
        let mut common = Common::default();
        let mut left = self.0.as_slice();
        for run in second.runs() {
            left = &left[left.partition_point(|digest| *digest < run[0])..];
            if left.first() == Some(&run[0]) {
                common.distinct += 1;
                common.of_second += run.len() as u64;
            }
        }
        common
    }

    /// The copies of each game.
    fn runs(&self) -> impl DoubleEndedIterator<Item = &[u128]> {
        self.0.chunk_by(|a, b| a == b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn digests(games: &[Vec<u16>]) -> Digests {
        Digests::new(games.iter().map(|game| digest(game)).collect())
    }

    fn counted(games: &[Vec<u16>]) -> BTreeMap<&[u16], u64> {
        games.iter().fold(BTreeMap::new(), |mut counts, game| {
            *counts.entry(game.as_slice()).or_default() += 1;
            counts
        })
    }

    fn games() -> impl Strategy<Value = Vec<Vec<u16>>> {
        // Few moves, so that games repeat and are beginnings of one another.
        proptest::collection::vec(proptest::collection::vec(3_u16..5, 0..4), 0..40)
    }

    proptest! {
        #[test]
        fn counts_are_those_of_games_compared_move_by_move(first in games(), second in games()) {
            let (a, b) = (counted(&first), counted(&second));
            let (x, y) = (digests(&first), digests(&second));
            prop_assert_eq!(x.distinct(), a.len() as u64);
            let most = a.values().copied().max().filter(|&copies| copies > 1);
            prop_assert_eq!(x.most_repeated().map(|(_, copies)| copies), most);
            if let Some((most, copies)) = x.most_repeated() {
                prop_assert!(a.iter().any(|(game, &count)| digest(game) == most && count == copies));
            }
            let shared = b.iter().filter(|(game, _)| a.contains_key(*game));
            let of_second = shared.clone().map(|(_, copies)| copies).sum();
            prop_assert_eq!(x.common(&y), Common { distinct: shared.count() as u64, of_second });
        }
    }

    #[test]
    fn a_game_and_its_beginning_are_different_games() {
        assert_ne!(digest(&[10, 11]), digest(&[10]));
        assert_ne!(digest(&[10, 11]), digest(&[11, 10]));
        assert_ne!(digest(&[]), digest(&[0]));
    }
}
