//! What the clocks show: a player gives a share of the time left to a move, and some moves are ready at once.

use philidor::random::{below, unit};
use rand_chacha::ChaCha8Rng;

/// The clocks of white and black. All in tenths of a second.
pub(crate) struct Clocks {
    left: [u64; 2],
    increment: u64,
    share: [f64; 2],
}

impl Clocks {
    /// From the value of the `TimeControl` tag; none for correspondence.
    pub(crate) fn new(control: &str, rng: &mut ChaCha8Rng) -> Option<Self> {
        let (base, increment) = control.split_once('+')?;
        let tenths = |text: &str| text.parse::<u64>().ok().map(|seconds| seconds * 10);
        let (base, increment) = (tenths(base)?, tenths(increment)?);
        let mut share = || 0.015 + 0.035 * unit(rng);
        Some(Self { left: [base; 2], increment, share: [share(), share()] })
    }

    /// Seconds left after a move. `ply` counts from 0; the first move of each side is free.
    pub(crate) fn spend(&mut self, ply: usize, rng: &mut ChaCha8Rng) -> u64 {
        let side = ply % 2;
        let left = &mut self.left[side];
        if ply >= 2 {
            let familiarity = (ply.min(20) as f64 / 20.0).powi(2);
            // Most moves are quick and a few take long.
            let variation = 0.15 + 3.0 * unit(rng).powi(3);
            let budget = *left as f64 * self.share[side] + self.increment as f64 * 0.8;
            let thought = if unit(rng) < 0.25 { 0.0 } else { budget * familiarity * variation };
            let spent = 1 + below(rng, 9) + thought as u64;
            *left = (left.saturating_sub(spent) + self.increment).max(1);
        }
        left.div_ceil(10)
    }
}
