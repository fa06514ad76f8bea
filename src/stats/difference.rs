//! The difference of two estimates from samples that have nothing to do with each other.
//!
//! Square and add: each bound lies as far from the difference as the two distances of the estimates from their own bounds
//! come to, at a right angle (Newcombe 1998, method 10, for two shares with Wilson's intervals; Zou and Donner 2008 for any
//! two intervals). It keeps the lopsidedness of each interval, and needs no more than what stands in a report.

use super::Estimate;

/// How it is called where a method is named.
pub const METHOD: &str = "independent, square and add 95 %";

/// `b − a` with its interval. `n` of it is the smaller sample.
pub fn apart(a: Estimate, b: Estimate) -> Estimate {
    let value = b.value - a.value;
    let low = value - (b.value - b.low).hypot(a.high - a.value);
    let high = value + (b.high - b.value).hypot(a.value - a.low);
    Estimate { value, low, high, n: a.n.min(b.n) }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "known answers are exact")]
mod tests {
    use super::super::{coverage, wilson};
    use super::*;
    use crate::random::unit;

    fn shares(a: [u64; 2], b: [u64; 2]) -> Estimate {
        let [a, b] = [a, b].map(|[successes, total]| wilson::share(successes, total).expect("a sample"));
        apart(a, b)
    }

    #[test]
    fn the_examples_of_newcombe_come_out() {
        for (b, a, wanted) in
            [([56, 70], [48, 80], [0.0524, 0.3339]), ([9, 10], [3, 10], [0.1705, 0.8090]), ([10, 10], [0, 10], [0.6075, 1.0])]
        {
            let got = shares(a, b);
            for (got, wanted) in [got.low, got.high].into_iter().zip(wanted) {
                assert!((got - wanted).abs() < 6e-5, "{b:?} less {a:?}: {got}, not {wanted}");
            }
        }
    }

    #[test]
    fn a_difference_the_other_way_round_is_its_opposite() {
        let (one, other) = (shares([41, 50], [30, 60]), shares([30, 60], [41, 50]));
        assert_eq!([one.value, one.low, one.high], [-other.value, -other.high, -other.low]);
    }

    #[test]
    fn the_interval_covers_the_difference() {
        for (a, b) in [((0.5, 200), (0.6, 150)), ((0.97, 2_000), (0.98, 1_000))] {
            let got = coverage::coverage(b.0 - a.0, |rng| {
                let [a, b] = [a, b].map(|(p, n)| [(0..n).filter(|_| unit(rng) < p).count() as u64, n]);
                shares(a, b)
            });
            coverage::covers(&format!("{a:?} and {b:?}"), got);
        }
    }
}
