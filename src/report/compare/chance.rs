//! Many differences at once: how many would be told by chance alone, and what is left when that is allowed for.

use serde::Serialize;

use super::section::{Difference, Section};
use super::verdict::Verdict;
use crate::stats::{Z, power};

/// Of all differences that are listed, those of parts of the sample too.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Chance {
    pub differences: usize,
    /// Those that are not inconclusive.
    pub told: usize,
    /// So many would be told if no two models differed at all: one in twenty.
    pub expected: f64,
    /// Those that are told with all of them allowed for: `p_holm` below 0.05.
    pub told_of_all: usize,
}

/// Adjusts all differences that are listed for their number, and counts them.
///
/// Holm 1979 ("A simple sequentially rejective multiple test procedure"): the k-th smallest of m is multiplied by m − k + 1, and
/// none is smaller than one before it. It holds however they depend on each other.
pub(crate) fn allow(sections: &mut [Section]) -> Chance {
    let rows = sections.iter_mut().flat_map(|section| &mut section.rows).filter(|row| row.alike.is_none());
    let mut all: Vec<&mut Difference> = rows
        .flat_map(|row| row.differences.iter_mut().flatten())
        .filter(|difference| difference.verdict != Verdict::Same)
        .collect();
    all.sort_by(|a, b| alone(a).total_cmp(&alone(b)));
    let (count, mut least) = (all.len(), 0.0_f64);
    for (at, difference) in all.iter_mut().enumerate() {
        least = least.max(alone(difference) * (count - at) as f64).min(1.0);
        difference.p_holm = Some(least);
    }
    Chance {
        differences: count,
        told: all.iter().filter(|difference| difference.verdict != Verdict::Inconclusive).count(),
        expected: count as f64 / 20.0,
        told_of_all: all.iter().filter(|difference| difference.p_holm.is_some_and(|p| p < 0.05)).count(),
    }
}

/// The p of a difference on its own: of its pairs, or as if its estimate were normal and its interval ± 1.96 deviations.
fn alone(difference: &Difference) -> f64 {
    let deviation = (difference.high - difference.low) / 2.0 / Z;
    match (difference.p, difference.value.abs() / deviation) {
        (Some(p), _) => p,
        (None, z) if z.is_nan() => 1.0,
        (None, z) => power::two_sided(z),
    }
}
