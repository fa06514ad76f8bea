//! Is a model as often right as it believes? The probability of its most likely token against how often that is the move
//! which the human made.

use crate::stats::bootstrap::{self, RESAMPLES};

use super::Measured;
use super::answers::{Answer, Answers};
use super::score::Value;

pub(super) const VERSION: u32 = 1;

/// Equal parts of 0 … 1 that confidence is divided into.
const BINS: usize = 10;

/// `confidence` and `right`, of all positions and by tenths of confidence: the mean probability of the most likely token, and
/// the share where it is the human move. `ece`, the expected calibration error (Naeini et al. 2015): the distance between the
/// two within a tenth, averaged over positions. `log_loss`, the mean of minus the logarithm of the human move's probability,
/// in nats a move; left out where a human move has no probability at all, which `human_impossible` counts.
///
/// Chance sets confidence and share apart in each tenth, so that the error is too large in a small sample: for a model
/// without any, spread over all tenths, about 3.5 points of 1,000 positions (0.8 standard errors of a tenth's share), and half
/// as much of four times as many. Compare only errors of equal `n`.
pub(super) fn of(answers: &Answers, positions: u32, seed: u64) -> Measured {
    let rows = &answers.rows[..answers.rows.len().min(positions as usize)];
    let mut measured = Measured::default();
    measured.values.extend(bootstrapped_error(rows, seed));
    // No probability exceeds 1, so that this is minus its logarithm, and 0 at 1.
    let losses = rows.iter().map(|row| row.human_probability.ln().abs());
    let losses: Vec<f64> = losses.filter(|loss| loss.is_finite()).collect();
    if losses.len() == rows.len() {
        measured.values.extend(Value::mean("log_loss", &losses, &(0.0..=f64::MAX)));
    }
    measured.values.extend(reliability(rows.iter()));
    for bin in 0..BINS {
        let slice = format!("{:.1}-{:.1}", bin as f64 / BINS as f64, (bin + 1) as f64 / BINS as f64);
        let values = reliability(rows.iter().filter(|row| bin_of(row) == bin));
        measured.values.extend(values.into_iter().map(|value| value.in_slice(&slice)));
    }
    let counts = [("positions", rows.len()), ("human_impossible", rows.len() - losses.len())];
    measured.counts = counts.map(|(kind, n)| (kind.to_owned(), n as u64)).into();
    measured
}

fn reliability<'a>(rows: impl Iterator<Item = &'a Answer>) -> Vec<Value> {
    let (confidence, right): (Vec<f64>, Vec<bool>) = rows.map(|row| (row.top_probability, row.rank == 0)).unzip();
    let correct = right.iter().filter(|right| **right).count() as u64;
    let values = [Value::mean("confidence", &confidence, &(0.0..=1.0)), Value::share("right", correct, confidence.len() as u64)];
    values.into_iter().flatten().collect()
}

/// The lower bound of a tenth belongs to it, and 1 to the last.
fn bin_of(row: &Answer) -> usize {
    ((row.top_probability * BINS as f64) as usize).min(BINS - 1)
}

fn bootstrapped_error(rows: &[Answer], seed: u64) -> Option<Value> {
    // What a position adds to its tenth: how much more confident than right.
    let terms: Vec<(usize, f64)> =
        rows.iter().map(|row| (bin_of(row), row.top_probability - f64::from(u8::from(row.rank == 0)))).collect();
    let error = |items: &[usize]| {
        let mut bins = [0.0; BINS];
        for &item in items {
            let (bin, excess) = terms[item];
            bins[bin] += excess;
        }
        bins.into_iter().map(f64::abs).sum::<f64>() / items.len() as f64
    };
    let estimate = bootstrap::percentile(rows.len() as u64, RESAMPLES, seed, error)?;
    Some(Value::of("ece", estimate, bootstrap::METHOD))
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "known answers are exact")]
mod tests {
    use super::super::answers::answer_at;
    use super::super::fakes;
    use super::super::metric::Metric;
    use super::super::predictor::Predictor;
    use super::*;
    use crate::chess::vocabulary::VOCABULARY_SIZE;

    fn score(predictor: &dyn Predictor) -> Measured {
        fakes::measured(predictor, &fakes::games(), &Metric::Calibration { positions: 200, seed: 5 })
    }

    fn value<'a>(measured: &'a Measured, name: &str, slice: &str) -> &'a Value {
        let mut values = measured.values.iter();
        values.find(|value| value.name == name && value.slice == slice).expect("a value of that name")
    }

    fn believing(probability: f64, right: usize, of: usize) -> Vec<Answer> {
        let row = |at| Answer { top_probability: probability, rank: u16::from(at >= right), ..answer_at(0, 1) };
        (0..of).map(row).collect()
    }

    #[test]
    fn the_error_is_the_distance_of_confidence_and_share_weighted_by_positions() {
        // 0.25 and 10 of 20 right; 0.75 and 60 of 80 right.
        let rows = [believing(0.25, 10, 20), believing(0.75, 60, 80)].concat();
        let got = of(&Answers { rows, ..Answers::default() }, 1_000, 5);
        let ece = value(&got, "ece", "");
        assert!((ece.value - 0.2 * 0.25).abs() < 1e-12 && ece.low <= ece.value && ece.value <= ece.high, "{ece:?}");
        assert_eq!((value(&got, "confidence", "0.2-0.3").value, value(&got, "right", "0.2-0.3").value), (0.25, 0.5));
        assert_eq!((value(&got, "right", "0.7-0.8").value, value(&got, "right", "0.7-0.8").n), (0.75, 80));
        assert_eq!(value(&got, "right", "").value, 0.7);
        assert_eq!(got.values.iter().filter(|value| !value.slice.is_empty()).count(), 4, "tenths without positions have none");
    }

    #[test]
    fn a_model_that_knows_the_games_is_as_sure_as_it_is_right() {
        let got = score(&fakes::oracle(&fakes::games()));
        for (name, wanted) in [("ece", 0.0), ("log_loss", 0.0), ("confidence", 1.0), ("right", 1.0)] {
            assert_eq!(value(&got, name, "").value, wanted, "{name}");
        }
        assert_eq!(value(&got, "right", "0.9-1.0").n, 200);
    }

    #[test]
    fn a_model_that_knows_nothing_is_unsure_and_right_to_be() {
        let got = score(&fakes::uniform());
        let chance = 1.0 / VOCABULARY_SIZE as f64;
        assert!((value(&got, "log_loss", "").value - (VOCABULARY_SIZE as f64).ln()).abs() < 1e-9);
        assert!((value(&got, "ece", "").value - chance).abs() < 1e-12, "a special token comes first, and is never right");
    }

    #[test]
    fn a_model_that_copies_is_sure_and_wrong_and_its_loss_no_number() {
        let got = score(&fakes::copying());
        assert_eq!((value(&got, "ece", "").value, got.counts["human_impossible"]), (1.0, 200));
        assert!(got.values.iter().all(|value| value.name != "log_loss" && value.value.is_finite()));
    }

    #[test]
    fn the_size_of_batches_changes_nothing() {
        assert_eq!(score(&fakes::moody().batch(1)), score(&fakes::moody()));
    }
}
