//! Values of one name by one protocol, a cell a subject.

use crate::measure::score::{MeasuredCheckpoint, Protocol, Value};
use crate::measure::values::{self, Unit};
use crate::report::results::{Measured, Point};
use crate::stats::{Estimate, mean};

use super::subject::{Member, Subject};

/// One row of a comparison.
pub(crate) struct Line<'a> {
    pub(crate) metric: &'a str,
    pub(crate) value: &'a str,
    pub(crate) slice: &'a str,
    pub(crate) protocol: &'a Protocol,
    pub(crate) fingerprint: &'a str,
    /// One a subject; none where it was not measured so.
    pub(crate) cells: Vec<Option<Cell<'a>>>,
}

#[derive(Clone)]
pub(crate) struct Cell<'a> {
    pub(crate) value: Value,
    /// What each seed was measured on; of the value, where there is one.
    pub(crate) observations: u64,
    pub(crate) checkpoint: &'a MeasuredCheckpoint,
    /// What the value is of: one score, or one a seed.
    pub(crate) scores: Vec<(Member<'a>, &'a Measured)>,
}

/// Which scores of a point are looked at.
pub(crate) type Pick<'p, 'a> = &'p dyn Fn(usize, &'a Point) -> Vec<&'a Measured>;

/// The lines of all subjects, in the order in which they first appear. `pick` is given the number of the subject.
pub(crate) fn lines<'a>(subjects: &[Subject<'a>], pick: Pick<'_, 'a>) -> Vec<Line<'a>> {
    let mut lines: Vec<(Line<'a>, Vec<Vec<Found<'a>>>)> = Vec::new();
    for (number, subject) in subjects.iter().enumerate() {
        for &member in &subject.members {
            for measured in pick(number, member.point) {
                for value in &measured.score.values {
                    let found = Found { member, measured, value };
                    let at = place(&mut lines, &found, subjects.len());
                    lines[at].1[number].push(found);
                }
            }
        }
    }
    let cell = |(found, subject): (Vec<Found<'a>>, &Subject)| Cell::of(&found, subject.seeds());
    lines.into_iter().map(|(line, found)| Line { cells: found.into_iter().zip(subjects).map(cell).collect(), ..line }).collect()
}

/// A value of a score.
struct Found<'a> {
    member: Member<'a>,
    measured: &'a Measured,
    value: &'a Value,
}

/// The line that a value belongs to, begun where there is none.
fn place<'a>(lines: &mut Vec<(Line<'a>, Vec<Vec<Found<'a>>>)>, found: &Found<'a>, subjects: usize) -> usize {
    let score = &found.measured.score;
    let is_its = |line: &Line| {
        line.metric == score.metric
            && line.fingerprint == score.fingerprint
            && line.value == found.value.name
            && line.slice == found.value.slice
    };
    lines.iter().position(|(line, _)| is_its(line)).unwrap_or_else(|| {
        let line = Line {
            metric: &score.metric,
            value: &found.value.name,
            slice: &found.value.slice,
            protocol: &score.protocol,
            fingerprint: &score.fingerprint,
            cells: Vec::new(),
        };
        lines.push((line, (0..subjects).map(|_| Vec::new()).collect()));
        lines.len() - 1
    })
}

impl<'a> Cell<'a> {
    /// One value, or the mean of as many as there are seeds. Some of the seeds are no mean over them.
    fn of(found: &[Found<'a>], seeds: usize) -> Option<Self> {
        let first = found.first()?;
        let mut value = first.value.clone();
        let observations = found.iter().map(|found| found.value.n).min()?;
        if seeds > 1 {
            if found.len() < seeds {
                return None;
            }
            let values: Vec<f64> = found.iter().map(|found| found.value.value).collect();
            let estimate = over_seeds(&values, found)?;
            let method = format!("mean of {seeds} seeds, {} and their own intervals", mean::METHOD);
            value = Value { value: estimate.value, low: estimate.low, high: estimate.high, n: estimate.n, method, ..value };
        }
        let scores = found.iter().map(|found| (found.member, found.measured)).collect();
        Some(Self { value, observations, checkpoint: &first.measured.score.checkpoint, scores })
    }
}

/// The mean over seeds. Its interval is that of the seeds and, since two of them may be alike by chance, of the items that each was
/// measured on: the two at a right angle, within what the value can be.
fn over_seeds(values: &[f64], found: &[Found]) -> Option<Estimate> {
    let first = found.first()?;
    let of_seeds = mean::mean(values, &(f64::NEG_INFINITY..=f64::INFINITY))?;
    let halves: f64 = found.iter().map(|found| ((found.value.high - found.value.low) / 2.0).powi(2)).sum();
    let own = halves.sqrt() / found.len() as f64;
    let half = ((of_seeds.high - of_seeds.low) / 2.0).hypot(own);
    let is_share = values::find(&first.measured.score.metric, &first.value.name).is_some_and(|known| known.unit == Unit::Share);
    let most = if is_share { 1.0 } else { f64::INFINITY };
    let within = |bound: f64| bound.clamp(0.0, most);
    Some(Estimate { low: within(of_seeds.value - half), high: within(of_seeds.value + half), ..of_seeds })
}
