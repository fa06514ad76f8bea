//! What an inconclusive difference would take to be told.

use super::section::{Difference, Row};
use crate::measure::values::{self, Unit};
use crate::stats::{Z, power};
use crate::text::thousands;

/// Nobody measures more positions than this.
const MOST: f64 = 1e7;

/// The observations of each model by which a difference as large as the one seen is told in four of five trials; none where it
/// is 0, or where what was measured is all there is.
///
/// Two independent shares by [`power::to_tell`]. Else the interval narrows as the square root of the sample, and must be
/// `z₁ / (z₁ + z₂)` of the difference: `n · ((z₁ + z₂) / z₁ · half / |difference|)²`, with `z₂` the one-sided point of the power.
pub(crate) fn needed(row: &Row, at: usize, difference: &Difference) -> Option<f64> {
    const Z_POWER: f64 = 0.841_621;
    let figures = [row.cells[0].as_ref()?, row.cells[at].as_ref()?];
    // Seeds are not positions, and a loss is over all of validation.
    if figures.iter().any(|figure| figure.seeds > 1) || row.metric == "loss" || difference.value == 0.0 {
        return None;
    }
    let is_share = values::find(&row.metric, &row.value).is_some_and(|known| known.unit == Unit::Share);
    if is_share && difference.discordant.is_none() && difference.method == crate::stats::difference::METHOD {
        return power::to_tell(figures[0].value.value, figures[1].value.value).map(|n| n as f64);
    }
    let half = (difference.high - difference.low) / 2.0;
    let wanted = difference.n as f64 * ((Z + Z_POWER) / Z * half / difference.value.abs()).powi(2);
    wanted.is_finite().then_some(wanted)
}

/// As people say it: two digits, since the difference itself is not known any better.
pub(crate) fn words(n: f64) -> String {
    if n > MOST {
        return "more than 10 million".to_owned();
    }
    let unit = 10_f64.powi((n.max(1.0).log10().floor() as i32 - 1).max(0));
    format!("about {}", thousands(((n / unit).ceil() * unit) as u64))
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn a_sample_that_is_wanted_has_two_digits() {
        assert_eq!([34_217.0, 99.2, 5.0, 2e9].map(words), ["about 35,000", "about 100", "about 5", "more than 10 million"]);
    }
}
