//! Which windows of a token file make up a batch: a pure function of the seed and the pass.
//!
//! Nothing is remembered between passes, so a training that resumes asks for the pass it is at, and gets what it
//! would have got. A window of `context` inputs begins at its start; its targets begin one token later.

use anyhow::Result;
use rand_core::Rng as _;

use crate::error::Fixable;
use crate::random::{below, stream};

/// A way to choose windows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sampler {
    order: Order,
    /// Windows to choose from.
    windows: u64,
    context: u64,
    /// Windows in one pass.
    batch: u64,
    /// Passes in one step.
    accumulate: u64,
    seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// Any start, with replacement.
    Random,
    /// Every window once, in an order of its own for each epoch.
    Permuted,
}

impl Sampler {
    /// Random starts with replacement, among 0 … `tokens` − `context` − 1. `batch` windows a pass.
    ///
    /// # Errors
    ///
    /// Where the file has fewer than `context` + 1 tokens.
    pub fn windows(tokens: u64, context: u32, batch: u32, seed: u64) -> Result<Self> {
        Ok(Self { context: context.into(), ..Self::drawn(room(tokens, context)?, batch, seed) })
    }

    /// Windows side by side, each once per epoch, in a seeded order that changes from epoch to epoch. `batch` windows a
    /// pass; a pass may end one epoch and begin the next. The last tokens, too few for a window, are left out.
    ///
    /// # Errors
    ///
    /// Where the file has fewer than `context` + 1 tokens.
    pub fn epoch(tokens: u64, context: u32, batch: u32, seed: u64) -> Result<Self> {
        room(tokens, context)?;
        let windows = (tokens - 1) / u64::from(context);
        Ok(Self { context: context.into(), ..Self::permuted(windows, batch, seed) })
    }

    /// Random ones of `windows` windows that are known by number, with replacement; [`starts`](Self::starts) gives numbers.
    pub fn drawn(windows: u64, batch: u32, seed: u64) -> Self {
        Self { order: Order::Random, windows, context: 1, batch: batch.into(), accumulate: 1, seed }
    }

    /// Each of `windows` windows that are known by number once per epoch; [`starts`](Self::starts) gives numbers.
    pub fn permuted(windows: u64, batch: u32, seed: u64) -> Self {
        Self { order: Order::Permuted, windows, context: 1, batch: batch.into(), accumulate: 1, seed }
    }

    /// The same windows, a step of which is read in so many passes of `batch` each: it has the windows that it has as one
    /// pass of all of them.
    #[must_use]
    pub fn accumulated(self, passes: u32) -> Self {
        Self { accumulate: u64::from(passes.max(1)), ..self }
    }

    /// Windows that there are to choose from: starts, or windows in one epoch.
    pub fn count(&self) -> u64 {
        self.windows
    }

    /// Windows in one pass.
    pub fn batch(&self) -> u64 {
        self.batch
    }

    /// The starts of the windows of a pass, in tokens; `starts` is cleared first.
    pub fn starts(&self, pass: u64, starts: &mut Vec<u64>) {
        starts.clear();
        match self.order {
            Order::Random => {
                let mut rng = stream(self.seed, "windows", pass / self.accumulate);
                let before = pass % self.accumulate * self.batch;
                let drawn = (0..before + self.batch).map(|_| below(&mut rng, self.windows));
                starts.extend(drawn.skip(before as usize));
            }
            Order::Permuted => {
                let mut epoch = u64::MAX;
                let mut permutation = Permutation::default();
                for window in pass * self.batch..(pass + 1) * self.batch {
                    if window / self.windows != epoch {
                        epoch = window / self.windows;
                        permutation = Permutation::of(self.windows, self.seed, epoch);
                    }
                    starts.push(permutation.at(window % self.windows) * self.context);
                }
            }
        }
    }
}

/// Starts of windows with all their targets: `tokens` − `context`.
fn room(tokens: u64, context: u32) -> Result<u64> {
    match tokens.checked_sub(context.into()) {
        Some(starts @ 1..) if context > 0 => Ok(starts),
        _ => Err(Fixable::failed(format!("a window of `{context}` tokens and its targets do not fit into `{tokens}` tokens"))
            .hint("keep more games, or lower model.context")
            .into()),
    }
}

/// A seeded permutation of 0 … n − 1 that is computed, not stored.
///
/// Four rounds of a Feistel network over the next even number of bits, walked until the value is below n again
/// (Black and Rogaway, "Ciphers with Arbitrary Finite Domains", 2002): on average fewer than four walks.
#[derive(Clone, Copy, Debug, Default)]
struct Permutation {
    n: u64,
    half_bits: u32,
    keys: [u64; 4],
}

impl Permutation {
    fn of(n: u64, seed: u64, pass: u64) -> Self {
        let bits = u64::BITS - (n - 1).leading_zeros();
        let mut rng = stream(seed, "epoch", pass);
        Self { n, half_bits: bits.div_ceil(2).max(1), keys: std::array::from_fn(|_| rng.next_u64()) }
    }

    fn at(&self, index: u64) -> u64 {
        let mut value = index;
        loop {
            value = self.shuffled(value);
            if value < self.n {
                return value;
            }
        }
    }

    fn shuffled(&self, value: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        for key in self.keys {
            (left, right) = (right, left ^ (mixed(right ^ key) & mask));
        }
        left << self.half_bits | right
    }
}

/// Spreads every bit over all (the finaliser of `SplitMix64`: Steele, Lea and Flood, 2014).
fn mixed(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn starts(sampler: &Sampler, step: u64) -> Vec<u64> {
        let mut starts = vec![99];
        sampler.starts(step, &mut starts);
        starts
    }

    proptest! {
        #[test]
        fn an_epoch_covers_every_window_once(windows in 1_u64..700, left in 0_u64..4, batch in 1_u32..9, pass in 0_u64..3, seed: u64) {
            // Four tokens of context, one token for the last target, and too few for another window.
            let sampler = Sampler::epoch(windows * 4 + 1 + left % 4, 4, batch, seed).expect("it fits");
            prop_assert_eq!(sampler.count(), windows);
            let first = pass * windows;
            let mut seen: Vec<u64> = (first / u64::from(batch)..=(first + windows - 1) / u64::from(batch))
                .flat_map(|step| starts(&sampler, step).into_iter().zip(step * u64::from(batch)..))
                .filter(|&(_, window)| (first..first + windows).contains(&window))
                .map(|(start, _)| start)
                .collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..windows).map(|window| window * 4).collect::<Vec<_>>());
        }

        #[test]
        fn random_windows_and_their_targets_lie_inside(tokens in 5_u64..50, seed: u64, step: u64) {
            let sampler = Sampler::windows(tokens, 4, 16, seed).expect("it fits");
            let drawn = starts(&sampler, step);
            prop_assert_eq!(drawn.len(), 16);
            prop_assert!(drawn.iter().all(|start| start + 4 < tokens));
            prop_assert_eq!(&drawn, &starts(&sampler, step));
        }
    }

    #[test]
    fn a_step_has_the_same_windows_in_however_many_passes_it_is_read() {
        for make in [Sampler::windows, Sampler::epoch] {
            let whole = make(4_001, 4, 12, 1).expect("it fits");
            let parts = make(4_001, 4, 3, 1).expect("it fits").accumulated(4);
            for step in [0, 1, 90] {
                let read: Vec<u64> = (0..4).flat_map(|pass| starts(&parts, 4 * step + pass)).collect();
                assert_eq!(read, starts(&whole, step), "step {step}");
            }
        }
    }

    #[test]
    fn random_windows_reach_both_ends() {
        let sampler = Sampler::windows(10, 4, 200, 1).expect("it fits");
        let drawn = starts(&sampler, 0);
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&0), Some(&5)));
        let only = Sampler::windows(5, 4, 3, 1).expect("it fits");
        assert_eq!(starts(&only, 7), [0, 0, 0]);
    }

    #[test]
    fn steps_seeds_and_passes_differ() {
        for make in [Sampler::windows, Sampler::epoch] {
            let sampler = make(40_001, 4, 100, 1).expect("it fits");
            assert_ne!(starts(&sampler, 0), starts(&sampler, 1));
            assert_ne!(starts(&sampler, 0), starts(&sampler, 100));
            assert_ne!(starts(&sampler, 0), starts(&make(40_001, 4, 100, 2).expect("it fits"), 0));
        }
    }

    #[test]
    fn neighbours_are_far_apart_in_an_epoch() {
        let sampler = Sampler::epoch(4_000_001, 4, 1000, 1).expect("it fits");
        let drawn = starts(&sampler, 3);
        let mean = drawn.iter().sum::<u64>() as f64 / 1000.0;
        assert!((1_850_000.0..2_150_000.0).contains(&mean), "{mean}");
        let rising = drawn.windows(2).filter(|pair| pair[0] < pair[1]).count();
        assert!((440..560).contains(&rising), "{rising}");
    }

    #[test]
    fn a_file_shorter_than_a_window_is_refused() {
        for make in [Sampler::windows, Sampler::epoch] {
            assert_eq!(
                make(4, 4, 1, 0).expect_err("too short").to_string(),
                "a window of `4` tokens and its targets do not fit into `4` tokens"
            );
            assert!(make(0, 4, 1, 0).is_err());
            assert!(make(5, 4, 1, 0).is_ok());
        }
    }
}
