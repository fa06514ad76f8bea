//! The Wilson score interval of a share (Wilson 1927): right at 0 %, at 100 % and for small samples.

use super::{Estimate, Z};

/// How it is called where a method is named.
pub const METHOD: &str = "wilson 95 %";

/// The share of `successes` among `total`, with its 95 % interval; none where nothing was observed.
///
/// Centre `(p + z²/2n) / (1 + z²/n)`, half-width `z/(1 + z²/n) · sqrt(p(1 − p)/n + z²/4n²)`. It holds for
/// independent observations.
///
/// # Panics
///
/// Where there are more successes than observations, which is a bug in the counting.
pub fn share(successes: u64, total: u64) -> Option<Estimate> {
    assert!(successes <= total, "{successes} successes among {total}");
    if total == 0 {
        return None;
    }
    let n = total as f64;
    let p = successes as f64 / n;
    let scale = 1.0 + Z * Z / n;
    let centre = (p + Z * Z / (2.0 * n)) / scale;
    let half = Z / scale * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    // Rounding must not leave the estimate outside its own interval at 0 % and 100 %.
    let low = if successes == 0 { 0.0 } else { (centre - half).max(0.0) };
    let high = if successes == total { 1.0 } else { (centre + half).min(1.0) };
    Some(Estimate { value: p, low, high, n: total })
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "known answers are exact")]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[test]
    fn intervals_equal_those_of_an_independent_implementation() {
        let cases: Value = serde_json::from_str(include_str!("../../tests/data/wilson.json")).expect("committed JSON");
        let cases = cases.as_array().expect("a list");
        assert_eq!(cases.len(), 12);
        for case in cases {
            let number = |name: &str| case[name].as_f64().expect("a number");
            let got = share(number("successes") as u64, number("total") as u64).expect("observations");
            for (name, got) in [("value", got.value), ("low", got.low), ("high", got.high)] {
                assert!((got - number(name)).abs() < 1e-12, "{case}: {name} {got}");
            }
        }
    }

    #[test]
    fn the_published_intervals_come_out() {
        let rounded = |successes, total| {
            let got = share(successes, total).expect("observations");
            [got.low, got.high].map(|bound| (bound * 1e4).round() / 1e4)
        };
        assert_eq!(rounded(19_572, 20_000), [0.9765, 0.9805]);
        assert_eq!(rounded(302, 500), [0.5605, 0.6459]);
    }

    #[test]
    fn nothing_observed_is_no_estimate() {
        assert_eq!(share(0, 0), None);
    }

    proptest! {
        #[test]
        fn the_interval_holds_its_estimate_stays_within_0_and_1_and_mirrors(total in 1_u64..100_000, part in 0.0..=1.0) {
            let successes = (total as f64 * part) as u64;
            let got = share(successes, total).expect("observations");
            prop_assert!(0.0 <= got.low && got.low <= got.value && got.value <= got.high && got.high <= 1.0);
            let mirrored = share(total - successes, total).expect("observations");
            prop_assert!((mirrored.low - (1.0 - got.high)).abs() < 1e-12);
        }
    }
}
