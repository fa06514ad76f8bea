//! How far some games were played before: the longest beginning of each that begins a game of another set.
//!
//! In the order of their moves, games with a common beginning stand together. A game of the other set shares most with
//! one of its two neighbours in that order; what it shares with any other, the neighbour shares with that one too. So it
//! is enough to note the neighbour, and to pass on what was noted at the end. Nothing is hashed.

use std::sync::atomic::{AtomicU32, Ordering};

pub struct Prefixes<'a> {
    /// In the order of their moves.
    games: Vec<&'a [u16]>,
    /// Where each stood before.
    order: Vec<u32>,
    /// Plies that a game of the other set shares with each.
    shared: Vec<AtomicU32>,
}

impl<'a> Prefixes<'a> {
    /// Games to be followed; 24 bytes each.
    pub fn of(games: &[&'a [u16]]) -> Self {
        let mut order: Vec<u32> = (0..games.len() as u32).collect();
        order.sort_by_key(|&game| games[game as usize]);
        let shared = games.iter().map(|_| AtomicU32::new(0)).collect();
        Self { games: order.iter().map(|&game| games[game as usize]).collect(), order, shared }
    }

    /// Notes a game of the other set. Any number of threads may do so at once.
    pub fn note(&self, moves: &[u16]) {
        let at = self.games.partition_point(|game| *game < moves);
        for neighbour in [at.checked_sub(1), Some(at)].into_iter().flatten() {
            let Some(game) = self.games.get(neighbour) else { continue };
            let plies = common(game, moves);
            // Most are no news: reading is cheaper than writing where threads meet.
            if self.shared[neighbour].load(Ordering::Relaxed) < plies {
                self.shared[neighbour].fetch_max(plies, Ordering::Relaxed);
            }
        }
    }

    /// The plies of each game that some noted game begins with too, in the order in which the games were given.
    pub fn plies(self) -> Vec<u32> {
        let mut shared: Vec<u32> = self.shared.into_iter().map(AtomicU32::into_inner).collect();
        let between: Vec<u32> = self.games.windows(2).map(|pair| common(pair[0], pair[1])).collect();
        for i in 1..shared.len() {
            shared[i] = shared[i].max(shared[i - 1].min(between[i - 1]));
        }
        for i in (1..shared.len()).rev() {
            shared[i - 1] = shared[i - 1].max(shared[i].min(between[i - 1]));
        }
        let mut plies = vec![0; shared.len()];
        for (game, shared) in self.order.into_iter().zip(shared) {
            plies[game as usize] = shared;
        }
        plies
    }
}

/// The plies that two games begin with alike.
fn common(a: &[u16], b: &[u16]) -> u32 {
    a.iter().zip(b).take_while(|(a, b)| a == b).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn games() -> impl Strategy<Value = Vec<Vec<u16>>> {
        proptest::collection::vec(proptest::collection::vec(3_u16..6, 0..6), 0..30)
    }

    proptest! {
        #[test]
        fn every_game_is_followed_as_far_as_a_search_through_all_pairs_finds(followed in games(), noted in games()) {
            let slices: Vec<&[u16]> = followed.iter().map(Vec::as_slice).collect();
            let prefixes = Prefixes::of(&slices);
            for game in &noted {
                prefixes.note(game);
            }
            let searched: Vec<u32> =
                slices.iter().map(|game| noted.iter().map(|other| common(game, other)).max().unwrap_or(0)).collect();
            prop_assert_eq!(prefixes.plies(), searched);
        }
    }
}
