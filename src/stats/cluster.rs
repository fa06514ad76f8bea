//! A mean over items that come in clusters, as positions come in games: items of one cluster are alike, and tell less than
//! as many independent ones.
//!
//! The mean over all items is the ratio of two sums over clusters, of the outcomes and of the items. Its variance is that
//! of the linearised ratio (Cochran, "Sampling Techniques", 1977, 6.3; the cluster-robust sandwich of a regression on a
//! constant): `G / (G − 1) · Σ (y_g − r · n_g)² / N²` over `G` clusters of `n_g` items, `N` together, with outcomes that
//! sum up to `y_g`, and `r` the mean.

use std::ops::RangeInclusive;

use super::mean::t_quantile;
use super::{Estimate, wilson};

/// How it is called where a method is named.
pub const METHOD: &str = "clustered by game 95 %";

/// The items of one cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cluster {
    /// Of the outcomes.
    pub sum: f64,
    pub items: u64,
}

/// The mean over all items, with `± t · s` of clusters − 1 degrees of freedom cut to `support`; none without items. `n` of
/// the estimate counts items.
///
/// A single cluster says nothing of the spread between them: its interval is the whole support.
pub fn mean(clusters: &[Cluster], support: &RangeInclusive<f64>) -> Option<Estimate> {
    let items = clusters.iter().map(|cluster| cluster.items).sum::<u64>();
    let groups = clusters.iter().filter(|cluster| cluster.items > 0).count() as u64;
    if items == 0 {
        return None;
    }
    let n = items as f64;
    // Rounding may carry the mean of equal values past the bound that they all lie on.
    let value = (clusters.iter().map(|cluster| cluster.sum).sum::<f64>() / n).clamp(*support.start(), *support.end());
    if groups == 1 {
        return Some(Estimate { value, low: *support.start(), high: *support.end(), n: items });
    }
    let squares: f64 = clusters.iter().map(|cluster| (cluster.sum - value * cluster.items as f64).powi(2)).sum();
    let variance = squares * groups as f64 / (groups - 1) as f64 / (n * n);
    let half = t_quantile(groups - 1) * variance.sqrt();
    let (low, high) = ((value - half).max(*support.start()), (value + half).min(*support.end()));
    Some(Estimate { value, low, high, n: items })
}

/// The same of a share, whose outcomes are 0 or 1.
///
/// Where all outcomes are equal there is no spread to see, and yet another game may differ: the bound is then Wilson's of as
/// many observations as there are clusters, as if each told no more than one item.
pub fn share(clusters: &[Cluster]) -> Option<Estimate> {
    let estimate = mean(clusters, &(0.0..=1.0))?;
    let groups = clusters.iter().filter(|cluster| cluster.items > 0).count() as u64;
    let one_sided = match estimate.value {
        0.0 => wilson::share(0, groups),
        1.0 => wilson::share(groups, groups),
        _ => None,
    };
    Some(one_sided.map_or(estimate, |wilson| Estimate { low: wilson.low, high: wilson.high, ..estimate }))
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "known answers are exact")]
mod tests {
    use super::super::mean as naive;
    use super::*;

    fn clusters(of: &[(f64, u64)]) -> Vec<Cluster> {
        of.iter().map(|&(sum, items)| Cluster { sum, items }).collect()
    }

    #[test]
    fn a_known_sample_has_its_known_interval() {
        // r = 6 / 12; residuals 3 − 2, 1 − 2, 2 − 2; variance 3 / 2 · 2 / 144; t(2) = 4.302653.
        let got = share(&clusters(&[(3.0, 4), (1.0, 4), (2.0, 4)])).expect("a sample");
        let half = 4.302_653 * (3.0_f64 / 144.0).sqrt();
        assert_eq!((got.value, got.n), (0.5, 12));
        assert!((got.low - (0.5 - half).max(0.0)).abs() < 1e-12 && (got.high - (0.5 + half).min(1.0)).abs() < 1e-12, "{got:?}");
        // Unequal clusters: r = 9 / 12; residuals 6 − 6, 2 − 1.5, 1 − 1.5; variance 3 / 2 · 0.5 / 144.
        let got = share(&clusters(&[(6.0, 8), (2.0, 2), (1.0, 2)])).expect("a sample");
        assert!((got.low - (0.75 - 4.302_653 * (0.75_f64 / 144.0).sqrt())).abs() < 1e-12, "{got:?}");
    }

    #[test]
    fn clusters_of_one_item_give_the_interval_of_independent_items() {
        let values = [0.1, 0.7, 0.4, 0.9, 0.2];
        let got = mean(&values.map(|sum| Cluster { sum, items: 1 }), &(0.0..=1.0)).expect("a sample");
        let naive = naive::mean(&values, &(0.0..=1.0)).expect("a sample");
        assert_eq!((got.value, got.n), (naive.value, naive.n));
        assert!((got.low - naive.low).abs() < 1e-12 && (got.high - naive.high).abs() < 1e-12, "{got:?}, {naive:?}");
        // Of a share, Wilson's, but for t instead of z and the order 1 / n by which the two differ.
        let outcomes: Vec<Cluster> = (0..4_000).map(|at| Cluster { sum: f64::from(u8::from(at % 4 == 0)), items: 1 }).collect();
        let (got, wilson) = (share(&outcomes).expect("a sample"), wilson::share(1_000, 4_000).expect("a sample"));
        assert!((got.low - wilson.low).abs() < 3e-4 && (got.high - wilson.high).abs() < 3e-4, "{got:?}, {wilson:?}");
    }

    #[test]
    fn items_that_repeat_each_other_add_nothing() {
        let one = share(&clusters(&[(1.0, 1), (0.0, 1), (1.0, 1), (1.0, 1)])).expect("a sample");
        let many = share(&clusters(&[(50.0, 50), (0.0, 50), (50.0, 50), (50.0, 50)])).expect("a sample");
        assert_eq!((one.value, one.low, one.high), (many.value, many.low, many.high));
        assert_eq!((one.n, many.n), (4, 200));
    }

    #[test]
    fn outcomes_that_are_all_alike_are_no_certainty() {
        let got = share(&clusters(&[(5.0, 5), (80.0, 80), (0.0, 0)])).expect("a sample");
        let wilson = wilson::share(2, 2).expect("a sample");
        assert_eq!((got.value, got.low, got.high, got.n), (1.0, wilson.low, 1.0, 85));
        assert_eq!(share(&clusters(&[(0.0, 9), (0.0, 9)])).expect("a sample").high, wilson::share(0, 2).expect("a sample").high);
    }

    #[test]
    fn one_cluster_says_nothing_and_none_is_no_estimate() {
        let alone = share(&clusters(&[(3.0, 9)])).expect("a sample");
        assert_eq!((alone.low, alone.high), (0.0, 1.0));
        assert_eq!(mean(&[], &(0.0..=1.0)), None);
        assert_eq!(share(&clusters(&[(0.0, 0)])), None);
    }
}
