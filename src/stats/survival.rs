//! How many are still without an event after so long, where some are not watched to their event: they leave before it, as
//! games end. The product-limit estimate of Kaplan and Meier (1958).

use super::{Estimate, Z, wilson};

/// How it is called where a method is named.
pub const METHOD: &str = "kaplan-meier, log-log 95 %";

/// How long one was watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watched {
    /// In whole units, at least 1: the one in which the event came, or else the last in which it could have.
    pub until: u32,
    pub event: bool,
}

/// The share without an event after `at` units, with the interval of Greenwood's variance on the scale of `log(−log S)`
/// (Kalbfleisch and Prentice 1980), which stays within 0 … 1. None where nobody was watched so long, and some were without
/// an event when they left; `n` counts all that were watched.
///
/// The scale has no place for 1 and 0. Without any event the bound is Wilson's of those that were watched to the end of
/// `at`. Where all are gone it is the upper bound from before the last event, since survival never rises.
pub fn survival(watched: &[Watched], at: u32) -> Option<Estimate> {
    let mut events: Vec<u32> = watched.iter().filter(|one| one.event && one.until <= at).map(|one| one.until).collect();
    events.sort_unstable();
    let reached = watched.iter().filter(|one| one.until >= at).count() as u64;
    let n = watched.len() as u64;
    let (mut value, mut greenwood) = (1.0, 0.0);
    let mut high = 1.0;
    for same in events.chunk_by(|a, b| a == b) {
        let at_risk = watched.iter().filter(|one| one.until >= same[0]).count() as u64;
        let gone = same.len() as u64;
        if gone == at_risk {
            // Before it, nobody may have gone.
            let high = if value < 1.0 { high } else { wilson::share(0, at_risk)?.high };
            return Some(Estimate { value: 0.0, low: 0.0, high, n });
        }
        value *= (at_risk - gone) as f64 / at_risk as f64;
        greenwood += gone as f64 / (at_risk as f64 * (at_risk - gone) as f64);
        high = bounds(value, greenwood)[1];
    }
    if reached == 0 {
        return None;
    }
    let [low, high] = if events.is_empty() { [wilson::share(reached, reached)?.low, 1.0] } else { bounds(value, greenwood) };
    Some(Estimate { value, low, high, n })
}

/// `S^exp(±z · sqrt(Σ d / (n · (n − d))) / |log S|)`.
fn bounds(value: f64, greenwood: f64) -> [f64; 2] {
    let spread = (Z * greenwood.sqrt() / value.ln().abs()).exp();
    [value.powf(spread), value.powf(spread.recip())]
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "known answers are exact")]
mod tests {
    use super::*;

    fn watched(events: &[u32], left: &[u32]) -> Vec<Watched> {
        let of = |untils: &[u32], event| untils.iter().map(move |&until| Watched { until, event }).collect::<Vec<_>>();
        [of(events, true), of(left, false)].concat()
    }

    /// Remission in weeks of 21 patients under 6-MP (Freireich et al. 1963), in every textbook of survival.
    fn remission() -> Vec<Watched> {
        watched(&[6, 6, 6, 7, 10, 13, 16, 22, 23], &[6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35])
    }

    #[test]
    fn a_known_sample_has_its_published_curve() {
        // Share and standard error as published; the bounds by the log-log formula of these.
        for (at, value, error) in
            [(6, 0.857, 0.076), (7, 0.807, 0.087), (10, 0.753, 0.096), (13, 0.690, 0.107), (16, 0.627, 0.114), (23, 0.448, 0.135)]
        {
            let got = survival(&remission(), at).expect("some were watched so long");
            assert!((got.value - value).abs() < 6e-4 && got.n == 21, "{at}: {got:?}");
            let spread = (Z * error / value / f64::ln(value).abs()).exp();
            let [low, high] = [spread, spread.recip()].map(|power| value.powf(power));
            assert!((got.low - low).abs() < 4e-3 && (got.high - high).abs() < 4e-3, "{at}: {got:?}, not [{low}, {high}]");
        }
        // Between events nothing changes; beyond the last patient nothing is known.
        let [a, b] = [16, 21].map(|at| survival(&remission(), at).expect("some were watched so long"));
        assert_eq!(a, b);
        assert_eq!(survival(&remission(), 36), None);
    }

    #[test]
    fn without_anyone_leaving_it_is_the_plain_share() {
        let got = survival(&watched(&[1, 2, 2, 5], &[9; 6]), 4).expect("some were watched so long");
        assert!((got.value - 0.7).abs() < 1e-12, "{got:?}");
        assert!(got.low < 0.7 && got.high > 0.7);
    }

    #[test]
    fn no_event_and_only_events_are_bounded_on_the_other_side() {
        let got = survival(&watched(&[], &[3, 9, 9, 9]), 5).expect("three were watched so long");
        assert_eq!((got.value, got.low, got.high, got.n), (1.0, wilson::share(3, 3).expect("three").low, 1.0, 4));
        let got = survival(&watched(&[1; 50], &[]), 10).expect("all are gone");
        assert_eq!((got.value, got.low, got.high), (0.0, 0.0, wilson::share(0, 50).expect("fifty").high));
        // One of two goes, then the other: no more than the bound before.
        let before = survival(&watched(&[1, 2], &[]), 1).expect("one is left");
        assert_eq!(survival(&watched(&[1, 2], &[]), 2).expect("all are gone").high, before.high);
        assert_eq!(survival(&[], 5), None);
    }
}
