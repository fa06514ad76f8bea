//! What a sample size buys: how near a share is known by it, and which differences it tells.

use super::Z;

/// The power that a comparison is planned for: so often does it find a difference that is there.
pub const POWER: f64 = 0.8;

/// The one-sided 80 % point of the normal distribution, that of [`POWER`].
const Z_POWER: f64 = 0.841_621;

/// No sample is planned larger than this.
const LARGEST: u64 = 1 << 52;

/// Half the width of the 95 % Wilson interval of a share that is seen in `n` observations, at least one.
///
/// `z/(1 + z²/n) · sqrt(p(1 − p)/n + z²/4n²)`. The interval is not centred on the share near 0 and 1.
pub fn half_width(share: f64, n: u64) -> f64 {
    let n = n as f64;
    Z / (1.0 + Z * Z / n) * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt()
}

/// The fewest observations by which the 95 % Wilson interval of a share is no wider than `± within`; none where no sample that
/// could be drawn is enough.
pub fn to_know(share: f64, within: f64) -> Option<u64> {
    fewest(|n| half_width(share, n) <= within)
}

/// The fewest observations of each of two independent samples by which shares of `a` and `b` are told apart in four of five
/// trials, by a two-sided test at 5 %; none where they are equal.
///
/// `(z₁ · sqrt(2 p̄(1 − p̄)) + z₂ · sqrt(a(1 − a) + b(1 − b)))² / (a − b)²` with `p̄` between them (Fleiss, "Statistical Methods for
/// Rates and Proportions", 1981, without the correction for continuity).
pub fn to_tell(a: f64, b: f64) -> Option<u64> {
    fewest(|n| excess(a, b, n) >= Z_POWER)
}

/// How often two samples of `n` tell shares of `a` and `b` apart, by the same test: which is larger may come out wrong, and does
/// in half of the few trials that tell equal ones apart.
pub fn power(a: f64, b: f64, n: u64) -> f64 {
    normal(excess(a, b, n)) + normal(beyond(a, b, -apart(a, b, n)))
}

/// By how many standard errors the difference is expected beyond the point at which the test finds it.
fn excess(a: f64, b: f64, n: u64) -> f64 {
    beyond(a, b, apart(a, b, n))
}

/// The difference, in units of what a single observation spreads.
fn apart(a: f64, b: f64, n: u64) -> f64 {
    (n as f64).sqrt() * (a - b).abs()
}

/// How far that is beyond the point at which the test finds it, in standard errors.
fn beyond(a: f64, b: f64, apart: f64) -> f64 {
    let mean = f64::midpoint(a, b);
    let spread = (a * (1.0 - a) + b * (1.0 - b)).sqrt();
    let needed = Z * (2.0 * mean * (1.0 - mean)).sqrt();
    // Shares of exactly 0 and 1 have no spread: any sample tells them apart.
    if spread > 0.0 { (apart - needed) / spread } else { (apart - needed) * f64::MAX.sqrt() }
}

/// The least `n` for which `enough` holds, which must go on to hold beyond it.
fn fewest(enough: impl Fn(u64) -> bool) -> Option<u64> {
    let high = std::iter::successors(Some(1_u64), |n| Some(n * 2)).take_while(|n| *n <= LARGEST).find(|n| enough(*n))?;
    let (mut low, mut high) = (high / 2, high);
    // `low` is too few, or 0.
    while high - low > 1 {
        let middle = u64::midpoint(low, high);
        if enough(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

/// How often chance alone puts a normal number at least `z` standard deviations from its mean, on either side.
pub fn two_sided(z: f64) -> f64 {
    2.0 * normal(-z.abs())
}

/// The normal distribution function, to within 1.5e-7 (Abramowitz and Stegun 7.1.26).
fn normal(x: f64) -> f64 {
    let scaled = x.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * scaled);
    let terms = [0.254_829_592, -0.284_496_736, 1.421_413_741, -1.453_152_027, 1.061_405_429];
    let tail = terms.iter().rev().fold(0.0, |sum, term| (sum + term) * t) * (-scaled * scaled).exp() / 2.0;
    if x < 0.0 { tail } else { 1.0 - tail }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::random::{stream, unit};
    use crate::stats::wilson;

    #[test]
    fn a_half_width_is_that_of_the_interval() {
        let interval = wilson::share(19_572, 20_000).expect("observations");
        let half = half_width(0.9786, 20_000);
        assert!((half - (interval.high - interval.low) / 2.0).abs() < 1e-12, "{half}");
    }

    #[test]
    fn the_normal_distribution_is_that_of_the_tables() {
        for (x, wanted) in [(0.0, 0.5), (Z, 0.975_002), (-1.0, 0.158_655), (Z_POWER, 0.8), (-3.0, 0.001_350)] {
            assert!((normal(x) - wanted).abs() < 1e-6, "{x}: {}", normal(x));
        }
    }

    #[test]
    fn known_sizes_come_out() {
        // By the normal interval 1.96² · 0.98 · 0.02 / 0.002² = 18,824; the score interval needs a few more.
        assert_eq!(to_know(0.98, 0.002), Some(18_866));
        assert_eq!(to_tell(0.9786, 0.9885), Some(2_591));
        // Fleiss's tables without correction: 0.5 against 0.6 takes 388 a side at 80 % power.
        assert_eq!(to_tell(0.5, 0.6), Some(388));
        assert_eq!(to_tell(0.3, 0.3), None);
        assert_eq!(to_tell(0.0, 1.0), Some(2));
    }

    #[test]
    fn two_samples_of_the_size_told_are_told_apart_in_four_of_five_trials() {
        for (a, b) in [(0.70, 0.80), (0.90, 0.95)] {
            let n = to_tell(a, b).expect("they differ");
            let mut rng = stream(3, "power", n);
            let mut seen = |share: f64| (0..n).filter(|_| unit(&mut rng) < share).count() as f64 / n as f64;
            let trials = 4_000;
            let told = (0..trials).filter(|_| {
                let (a, b) = (seen(a), seen(b));
                let mean = f64::midpoint(a, b);
                (a - b).abs() > Z * (2.0 * mean * (1.0 - mean) / n as f64).sqrt()
            });
            let share = told.count() as f64 / f64::from(trials);
            // Three standard errors, and the error of the normal approximation at these sizes.
            assert!((share - POWER).abs() < 0.025, "{a} against {b}, {n} a side: {share}");
            assert!((power(a, b, n) - POWER).abs() < 0.005);
        }
    }

    #[test]
    fn equal_shares_are_told_apart_as_often_as_the_test_errs() {
        for share in [0.1, 0.5, 0.98] {
            assert!((power(share, share, 1_000) - 0.05).abs() < 1e-5, "{share}");
        }
        assert!(power(0.5, 0.6, 100_000) <= 1.0 && power(0.5, 0.6, 10) > 0.05);
    }

    proptest! {
        #[test]
        fn the_size_told_is_enough_and_one_less_is_not(share in 0.001_f64..0.999, within in 0.0005_f64..0.2) {
            let n = to_know(share, within).expect("enough");
            prop_assert!(half_width(share, n) <= within);
            prop_assert!(n == 1 || half_width(share, n - 1) > within);
        }
    }
}
