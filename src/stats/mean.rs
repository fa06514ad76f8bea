//! The mean of a sample with Student's t interval, cut to what the quantity can be at all.
//!
//! Lengths of games and probability masses are far from normal; their means over dozens of observations are not.

use std::ops::RangeInclusive;

use super::{Estimate, Z};

/// How it is called where a method is named.
pub const METHOD: &str = "student t 95 %";

/// The mean of `values`, with `± t · s / √n` cut to `support`, the range of the quantity; none for an empty sample.
///
/// A single observation says nothing of the spread: its interval is the whole support.
pub fn mean(values: &[f64], support: &RangeInclusive<f64>) -> Option<Estimate> {
    if values.is_empty() {
        return None;
    }
    let n = values.len() as f64;
    // Rounding may carry the mean of equal values past the bound that they all lie on.
    let value = (values.iter().sum::<f64>() / n).clamp(*support.start(), *support.end());
    if values.len() == 1 {
        return Some(Estimate { value, low: *support.start(), high: *support.end(), n: 1 });
    }
    let variance = values.iter().map(|x| (x - value).powi(2)).sum::<f64>() / (n - 1.0);
    let half = t_quantile(values.len() as u64 - 1) * (variance / n).sqrt();
    let (low, high) = ((value - half).max(*support.start()), (value + half).min(*support.end()));
    Some(Estimate { value, low, high, n: values.len() as u64 })
}

/// The two-sided 95 % point of Student's distribution with so many degrees of freedom, at least one.
///
/// Tabled up to ten; beyond, the expansion in 1/ν around the normal point (Abramowitz and Stegun 26.7.5).
pub(super) fn t_quantile(freedom: u64) -> f64 {
    const TABLE: [f64; 10] =
        [12.706_205, 4.302_653, 3.182_446, 2.776_445, 2.570_582, 2.446_912, 2.364_624, 2.306_004, 2.262_157, 2.228_139];
    if let Some(t) = TABLE.get(freedom as usize - 1) {
        return *t;
    }
    let v = freedom as f64;
    let [z3, z5, z7] = [3, 5, 7].map(|power| Z.powi(power));
    Z + (z3 + Z) / (4.0 * v)
        + (5.0 * z5 + 16.0 * z3 + 3.0 * Z) / (96.0 * v * v)
        + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * Z) / (384.0 * v * v * v)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "known answers are exact")]
mod tests {
    use super::*;

    #[test]
    fn the_points_of_students_distribution_are_those_of_the_tables() {
        for (freedom, wanted) in [(1, 12.706), (10, 2.228), (11, 2.201), (20, 2.086), (30, 2.042), (120, 1.980)] {
            assert!((t_quantile(freedom) - wanted).abs() < 6e-4, "{freedom}: {}", t_quantile(freedom));
        }
    }

    #[test]
    fn a_known_sample_has_its_known_interval() {
        // Mean 3, s² = 2.5, t(4) = 2.776: 3 ± 2.776 · sqrt(2.5 / 5).
        let got = mean(&[1.0, 2.0, 3.0, 4.0, 5.0], &(0.0..=250.0)).expect("a sample");
        assert_eq!((got.value, got.n), (3.0, 5));
        assert!((got.low - 1.036_757).abs() < 1e-5 && (got.high - 4.963_243).abs() < 1e-5, "{got:?}");
    }

    #[test]
    fn an_interval_never_leaves_what_the_quantity_can_be() {
        let got = mean(&[0.99, 1.0], &(0.0..=1.0)).expect("a sample");
        assert_eq!(got.high, 1.0);
        let alone = mean(&[17.0], &(0.0..=250.0)).expect("a sample");
        assert_eq!((alone.low, alone.high), (0.0, 250.0));
        assert_eq!(mean(&[], &(0.0..=1.0)), None);
    }
}
