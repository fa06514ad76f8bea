//! The difference of two models on the very same items. What both get right, or both wrong, says nothing of it, and what is
//! hard for the one is mostly hard for the other: pairs tell far smaller differences than two samples apart.

use super::bootstrap::{RESAMPLES, percentile};
use super::{Estimate, wilson};

/// How the interval of two shares is called where a method is named.
pub const SHARES: &str = "paired, Newcombe 95 %";
/// How the interval of two means over clusters is called.
pub const MEANS: &str = "paired bootstrap 95 %";

/// How often two models were right on the same items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pairs {
    pub both: u64,
    pub only_a: u64,
    pub only_b: u64,
    pub neither: u64,
}

impl Pairs {
    pub fn of(outcomes: impl IntoIterator<Item = (bool, bool)>) -> Self {
        let mut pairs = Self::default();
        for outcome in outcomes {
            *match outcome {
                (true, true) => &mut pairs.both,
                (true, false) => &mut pairs.only_a,
                (false, true) => &mut pairs.only_b,
                (false, false) => &mut pairs.neither,
            } += 1;
        }
        pairs
    }

    pub fn n(&self) -> u64 {
        self.both + self.only_a + self.only_b + self.neither
    }

    /// The share of `b` less that of `a`; none without items.
    ///
    /// Newcombe 1998 ("Improved confidence intervals for the difference between binomial proportions based on paired data",
    /// method 10): Wilson's intervals of both shares, squared and added, less what the correlation φ of the pairs takes away.
    pub fn difference(&self) -> Option<Estimate> {
        let n = self.n();
        let (a, b) = (wilson::share(self.both + self.only_a, n)?, wilson::share(self.both + self.only_b, n)?);
        let phi = self.correlation();
        let apart = |one: f64, other: f64| (one * one - 2.0 * phi * one * other + other * other).max(0.0).sqrt();
        let value = (self.only_b as f64 - self.only_a as f64) / n as f64;
        let low = value - apart(b.value - b.low, a.high - a.value);
        let high = value + apart(b.high - b.value, a.value - a.low);
        Some(Estimate { value, low, high, n })
    }

    /// φ of the four counts, with Newcombe's correction for continuity where it is positive; 0 where a share is 0 or 1.
    fn correlation(&self) -> f64 {
        let [both, only_a, only_b, neither] = [self.both, self.only_a, self.only_b, self.neither].map(|count| count as f64);
        let margins = (both + only_a) * (only_b + neither) * (both + only_b) * (only_a + neither);
        if margins <= 0.0 {
            return 0.0;
        }
        let product = both * neither - only_a * only_b;
        let corrected = if product > 0.0 { (product - self.n() as f64 / 2.0).max(0.0) } else { product };
        corrected / margins.sqrt()
    }

    /// How often chance alone would part the pairs on which the two differ at least so unevenly: the exact test of `McNemar`, two-sided
    /// (1947; the binomial of `only_a + only_b` throws of a fair coin). 1 where they never differ.
    pub fn mcnemar(&self) -> f64 {
        let (fewer, all) = (self.only_a.min(self.only_b), self.only_a + self.only_b);
        // ln of the largest term of the tail first: what follows is smaller by known factors.
        let mut term = ln_choose(all, fewer) - all as f64 * std::f64::consts::LN_2;
        let mut tail = 0.0;
        for k in (0..=fewer).rev() {
            tail += term.exp();
            // choose(n, k − 1) = choose(n, k) · k / (n − k + 1)
            if k > 0 {
                term += (k as f64 / (all - k + 1) as f64).ln();
            }
        }
        (2.0 * tail).min(1.0)
    }
}

/// The mean of `b − a` over items that come in clusters, by the bootstrap over clusters; none without items. Each cluster is the
/// sum of the differences of its items, and how many items it has.
pub fn mean(clusters: &[(f64, u64)], seed: u64) -> Option<Estimate> {
    let items: u64 = clusters.iter().map(|(_, items)| items).sum();
    let ratio = |chosen: &[usize]| {
        let (sum, items) = chosen.iter().fold((0.0, 0), |(sum, items), &at| (sum + clusters[at].0, items + clusters[at].1));
        sum / items as f64
    };
    let estimate = percentile(clusters.len() as u64, RESAMPLES, seed, ratio)?;
    (items > 0).then_some(Estimate { n: items, ..estimate })
}

fn ln_choose(n: u64, k: u64) -> f64 {
    (1..=k.min(n - k)).map(|at| ((n - at + 1) as f64 / at as f64).ln()).sum()
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "known answers are exact")]
mod tests {
    use proptest::prelude::*;

    use super::super::{coverage, difference};
    use super::*;
    use crate::random::unit;

    fn pairs(both: u64, only_a: u64, only_b: u64, neither: u64) -> Pairs {
        Pairs { both, only_a, only_b, neither }
    }

    #[test]
    fn mcnemars_test_is_the_binomial_of_a_fair_coin() {
        // (1 + 12 + 66) / 4096 on each side.
        assert!((pairs(50, 10, 2, 9).mcnemar() - 2.0 * 79.0 / 4096.0).abs() < 1e-12);
        assert!((pairs(0, 0, 5, 0).mcnemar() - 2.0 / 32.0).abs() < 1e-12);
        assert_eq!(pairs(7, 0, 0, 3).mcnemar(), 1.0);
        assert_eq!(pairs(7, 6, 6, 3).mcnemar(), 1.0);
        // Far beyond what a factorial holds, where the normal distribution answers: 2 · Φ(−48.5 / 50).
        let large = pairs(0, 4_951, 5_049, 0).mcnemar();
        assert!((large - 2.0 * 0.166_0).abs() < 1e-3, "{large}");
    }

    #[test]
    fn without_any_correlation_it_is_the_interval_of_two_samples() {
        let independent = pairs(30, 30, 20, 20);
        let [a, b] = [60, 50].map(|successes| wilson::share(successes, 100).expect("a sample"));
        let (paired, apart) = (independent.difference().expect("items"), difference::apart(a, b));
        assert!((paired.low - apart.low).abs() < 1e-12 && (paired.high - apart.high).abs() < 1e-12, "{paired:?} {apart:?}");
    }

    #[test]
    fn models_that_agree_on_most_items_are_told_apart_where_two_samples_are_not() {
        let alike = pairs(9_500, 20, 60, 420);
        let paired = alike.difference().expect("items");
        let [a, b] = [9_520, 9_560].map(|successes| wilson::share(successes, 10_000).expect("a sample"));
        let apart = difference::apart(a, b);
        assert!(paired.low > 0.0 && apart.low < 0.0, "{paired:?} {apart:?}");
        assert!(alike.mcnemar() < 1e-5);
    }

    #[test]
    fn the_intervals_cover_the_difference() {
        // Both see the same chance of the item, and throw their own coin.
        let shares = coverage::coverage(0.05, |rng| {
            let item = |_| {
                let chance = 0.5 + 0.4 * unit(rng);
                (unit(rng) < chance, unit(rng) < chance + 0.05)
            };
            Pairs::of((0..300).map(item).collect::<Vec<_>>()).difference().expect("items")
        });
        coverage::covers("pairs", shares);
        let means = coverage::coverage(0.1, |rng| {
            let game = |_| {
                let (items, shift) = (5 + (10.0 * unit(rng)) as u64, 0.1 + 0.5 * (unit(rng) - 0.5));
                ((0..items).map(|_| shift + 0.2 * (unit(rng) - 0.5)).sum(), items)
            };
            let clusters: Vec<(f64, u64)> = (0..80).map(game).collect();
            let all = clusters.len() as u64;
            assert_eq!(all, 80);
            mean(&clusters, 3).expect("items")
        });
        coverage::covers("means", means);
    }

    proptest! {
        #[test]
        fn the_other_way_round_the_difference_is_its_opposite(counts in [0_u64..50, 0..50, 0..50, 1..50]) {
            let [both, only_a, only_b, neither] = counts;
            let (one, other) = (pairs(both, only_a, only_b, neither), pairs(both, only_b, only_a, neither));
            prop_assert_eq!(one.mcnemar(), other.mcnemar());
            let (one, other) = (one.difference().expect("items"), other.difference().expect("items"));
            prop_assert!((one.value + other.value).abs() < 1e-12 && (one.low + other.high).abs() < 1e-12);
            prop_assert!(one.low <= one.value && one.value <= one.high);
        }
    }
}
