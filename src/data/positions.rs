//! A set of positions, each of which is met or not: 128-bit hashes in order, found by their first bits.

use std::sync::atomic::{AtomicBool, Ordering};

pub struct Positions {
    /// Ascending, each once.
    hashes: Vec<u128>,
    /// Where the hashes begin whose first bits are the index or more; one more at the end.
    starts: Vec<u32>,
    /// Bits after the first ones.
    rest: u32,
    met: Vec<AtomicBool>,
}

impl Positions {
    /// Holds less than 50 bytes for each position.
    ///
    /// # Panics
    ///
    /// From 2³⁰ hashes on: nobody has the memory.
    pub fn of(mut hashes: Vec<u128>) -> Self {
        hashes.sort_unstable();
        hashes.dedup();
        hashes.shrink_to_fit();
        assert!(hashes.len() < 1 << 30, "{} positions are too many to be held", hashes.len());
        // Four places for each hash: three of four hashes that are not in the set find their place empty.
        let bits = (4 * hashes.len()).next_power_of_two().trailing_zeros().max(1);
        let rest = u128::BITS - bits;
        let mut starts = vec![0_u32; (1 << bits) + 1];
        for hash in &hashes {
            starts[(hash >> rest) as usize + 1] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let met = hashes.iter().map(|_| AtomicBool::new(false)).collect();
        Self { hashes, starts, rest, met }
    }

    /// Different positions.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// The number of a position in the set, from 0 on.
    pub fn find(&self, hash: u128) -> Option<usize> {
        let place = (hash >> self.rest) as usize;
        let (from, to) = (self.starts[place] as usize, self.starts[place + 1] as usize);
        Some(from + self.hashes[from..to].iter().position(|known| *known == hash)?)
    }

    /// Notes that a position occurs, if it is in the set. Any number of threads may do so at once.
    pub fn meet(&self, hash: u128) {
        // Reading is cheaper than writing where threads meet, and the same few positions are met again and again.
        if let Some(found) = self.find(hash).filter(|&found| !self.met[found].load(Ordering::Relaxed)) {
            self.met[found].store(true, Ordering::Relaxed);
        }
    }

    /// Whether each position was met, by its number.
    pub fn met(self) -> Vec<bool> {
        self.met.into_iter().map(AtomicBool::into_inner).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Spread over all bits or crowded into the lowest or the highest.
    fn hashes() -> impl Strategy<Value = Vec<u128>> {
        proptest::collection::vec(prop_oneof![any::<u128>(), 0..20_u128, u128::MAX - 20..u128::MAX], 0..60)
    }

    proptest! {
        #[test]
        fn a_position_is_met_if_and_only_if_it_is_in_both_sets(set in hashes(), others in hashes()) {
            let (known, occur): (BTreeSet<_>, BTreeSet<_>) = (set.iter().copied().collect(), others.iter().copied().collect());
            let positions = Positions::of(set);
            prop_assert_eq!(positions.len(), known.len());
            prop_assert!(known.iter().enumerate().all(|(number, &hash)| positions.find(hash) == Some(number)));
            prop_assert!(occur.difference(&known).all(|&hash| positions.find(hash).is_none()));
            for &hash in &others {
                positions.meet(hash);
            }
            let expected: Vec<bool> = known.iter().map(|hash| occur.contains(hash)).collect();
            prop_assert_eq!(positions.met(), expected);
        }
    }
}
