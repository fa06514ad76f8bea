//! The bootstrap percentile interval (Efron 1979) of a statistic that has no formula: what it comes to when as many items
//! are drawn from the sample, with replacement, many times over.

use super::Estimate;
use crate::random::{below, stream};

/// How it is called where a method is named.
pub const METHOD: &str = "bootstrap percentile 95 %";
/// Times that the sample is drawn again: each end of the interval then lies among 25 draws.
pub const RESAMPLES: u64 = 1_000;

/// A statistic of `n` items with its interval; none for an empty sample. `statistic` is given the items by number, at first
/// each once. Equal seeds draw equally.
///
/// The interval is widened to the estimate where that lies outside, as it may where the statistic is biased.
pub fn percentile(n: u64, resamples: u64, seed: u64, mut statistic: impl FnMut(&[usize]) -> f64) -> Option<Estimate> {
    if n == 0 || resamples == 0 {
        return None;
    }
    let mut items: Vec<usize> = (0..n as usize).collect();
    let value = statistic(&items);
    let mut rng = stream(seed, "bootstrap", 0);
    let mut again: Vec<f64> = (0..resamples)
        .map(|_| {
            for item in &mut items {
                *item = below(&mut rng, n) as usize;
            }
            statistic(&items)
        })
        .collect();
    again.sort_by(f64::total_cmp);
    // As many draws lie beyond each end as one more draw would leave there on average.
    let beyond = ((0.025 * (resamples + 1) as f64).round() as usize).clamp(1, again.len());
    let (low, high) = (again[beyond - 1], again[again.len() - beyond]);
    Some(Estimate { value, low: low.min(value), high: high.max(value), n })
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "known answers are exact")]
mod tests {
    use super::super::Z;
    use super::*;

    fn mean_of(values: &[f64], seed: u64) -> Estimate {
        let mean = |items: &[usize]| items.iter().map(|&item| values[item]).sum::<f64>() / items.len() as f64;
        percentile(values.len() as u64, 4_000, seed, mean).expect("a sample")
    }

    #[test]
    fn of_a_mean_it_is_the_interval_of_the_normal_distribution() {
        // Evenly spread over 0 … 1: a variance of a twelfth.
        let values: Vec<f64> = (0..400).map(|at| (f64::from(at) + 0.5) / 400.0).collect();
        let half = Z * (1.0 / 12.0 / 400.0_f64).sqrt();
        let got = mean_of(&values, 3);
        assert!((got.value - 0.5).abs() < 1e-12 && got.n == 400);
        assert!((got.low - (0.5 - half)).abs() < 2e-3 && (got.high - (0.5 + half)).abs() < 2e-3, "{got:?}, not ± {half}");
    }

    #[test]
    fn equal_seeds_give_equal_intervals_and_other_seeds_others() {
        let values = [0.1, 0.5, 0.2, 0.9, 0.4, 0.7];
        assert_eq!(mean_of(&values, 3), mean_of(&values, 3));
        assert_ne!(mean_of(&values, 3), mean_of(&values, 4));
    }

    #[test]
    fn an_interval_holds_its_estimate_and_an_empty_sample_has_none() {
        // The number of distinct items is largest where each is there once.
        let got = percentile(20, 200, 3, |items| items.iter().collect::<std::collections::BTreeSet<_>>().len() as f64);
        let got = got.expect("a sample");
        assert!(got.value == 20.0 && got.high == 20.0 && got.low < 16.0, "{got:?}");
        assert_eq!(percentile(0, 200, 3, |_| 0.0), None);
    }
}
