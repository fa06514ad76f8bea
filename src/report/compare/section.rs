//! The figures of one budget, row by row, each with its differences from the first.

use serde::Serialize;

use super::levels::{Budget, Level};
use super::line::{Cell, Line};
use super::paired::Kept;
use super::subject::Subject;
use super::verdict::{Verdict, WITHIN};
use crate::measure::score::Value;
use crate::measure::values::{self, Told, Unit};
use crate::report::words;
use crate::text::significant;

#[derive(Debug, Serialize)]
pub struct Section {
    /// None for the final figures.
    pub budget: Option<Budget>,
    /// Tokens or operations.
    pub at: Option<f64>,
    pub rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
pub struct Row {
    pub metric: String,
    pub value: String,
    pub slice: String,
    pub label: String,
    pub temperature: Option<f64>,
    /// The fingerprint of the protocol.
    pub protocol: String,
    pub cells: Vec<Option<Figure>>,
    /// One for each subject after the first: it less the first.
    pub differences: Vec<Option<Difference>>,
    /// Why there is nothing to tell apart, where that is so: such a row is not listed.
    pub alike: Option<Alike>,
}

/// Why figures are equal, whatever the models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Alike {
    /// One measurement, found in every column.
    Measurement,
    /// None of them ever did it.
    Zero,
    /// The numbers of another row, counted once more.
    Twice,
    /// A snapshot of the weights that the final figures are of, measured on no more than these.
    Final,
}

/// A value, and of which weights.
#[derive(Debug, Serialize)]
pub struct Figure {
    #[serde(flatten)]
    pub value: Value,
    /// Over so many seeds; the value is their mean.
    pub seeds: usize,
    /// The observations of one seed.
    pub observations: u64,
    pub checkpoint: String,
    pub step: u64,
    pub tokens: u64,
}

#[derive(Debug, Serialize)]
pub struct Difference {
    pub value: f64,
    pub low: f64,
    pub high: f64,
    pub n: u64,
    pub method: String,
    /// Of the exact test of `Pairs::mcnemar`, where items are paired.
    pub p: Option<f64>,
    /// Items on which only the first was right, and only the other: those that `p` is from.
    pub discordant: Option<[u64; 2]>,
    /// Adjusted for all differences that are listed (Holm 1979): of `p`, or else of a normal test of the interval.
    pub p_holm: Option<f64>,
    pub verdict: Verdict,
}

impl Section {
    pub(crate) fn new(subjects: &[Subject], lines: Vec<Line>, level: Option<&Level>, ranked: bool, kept: &Kept) -> Self {
        // An extreme of a sample is no estimate, and what was measured of the games themselves is none of the model.
        let is_of_the_model = |line: &Line| {
            !line.value.starts_with("real_")
                && values::find(line.metric, line.value).is_none_or(|known| known.told != Told::Extreme)
        };
        let shared = lines.into_iter().filter(|line| is_of_the_model(line) && line.cells.iter().flatten().count() > 0);
        let mut rows: Vec<Row> = shared.map(|line| Row::new(subjects, &line, ranked, kept)).collect();
        for at in 0..rows.len() {
            rows[at].alike = rows[at].alike.or_else(|| rows[at].is_counted_in(&rows).then_some(Alike::Twice));
        }
        Self { budget: level.map(|level| level.budget), at: level.map(|level| level.at), rows }
    }

    /// Sets aside what the final figures tell once more: all rows are of their weights, by their protocols, on no more items.
    pub(crate) fn without_again(&mut self, finals: &Self) {
        let listed = || self.rows.iter().filter(|row| row.alike.is_none());
        if self.budget.is_some() && listed().all(|row| finals.rows.iter().any(|last| row.is_told_by(last))) {
            self.rows.iter_mut().for_each(|row| row.alike = row.alike.or(Some(Alike::Final)));
        }
    }

    /// The rows that tell something: of the whole sample, or of its parts.
    pub(crate) fn listed(&self, parts: bool) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |row| row.alike.is_none() && row.slice.is_empty() != parts)
    }
}

impl Row {
    fn new(subjects: &[Subject], line: &Line, ranked: bool, kept: &Kept) -> Self {
        let first = line.cells[0].as_ref();
        let difference = |(number, cell): (usize, &Option<Cell>)| {
            let (first, cell) = (first?, cell.as_ref()?);
            let budget = if ranked { Ok(()) } else { one_budget([(&subjects[0], first), (&subjects[number], cell)]) };
            let apart = kept.apart(line, first, cell);
            Some(Difference {
                value: apart.estimate.value,
                low: apart.estimate.low,
                high: apart.estimate.high,
                n: apart.estimate.n,
                method: apart.method.to_owned(),
                p: apart.p,
                discordant: apart.discordant,
                p_holm: None,
                verdict: Verdict::of(line.metric, line.value, &apart, &budget),
            })
        };
        let figure = |cell: &Option<Cell>| {
            let cell = cell.as_ref()?;
            let checkpoint = cell.checkpoint;
            Some(Figure {
                value: cell.value.clone(),
                seeds: cell.scores.len(),
                observations: cell.observations,
                checkpoint: checkpoint.name.clone(),
                step: checkpoint.step,
                tokens: checkpoint.tokens,
            })
        };
        let differences: Vec<Option<Difference>> = line.cells.iter().enumerate().skip(1).map(difference).collect();
        let cells: Vec<Option<Figure>> = line.cells.iter().map(figure).collect();
        Self {
            metric: line.metric.to_owned(),
            value: line.value.to_owned(),
            slice: line.slice.to_owned(),
            label: words::figure(line.metric, line.value),
            temperature: line.protocol.temperature.filter(|_| words::is_sampled(line.metric, line.value)),
            protocol: line.fingerprint.to_owned(),
            alike: alike(line, &cells, &differences),
            cells,
            differences,
        }
    }

    /// Such as `agreement.top1`.
    pub(crate) fn figure(&self) -> String {
        format!("{}.{}", self.metric, self.value)
    }

    /// Whether the other is of the same weights and protocol in every column, and of as many items at least. An average of weights
    /// is of the last step too, and is none of its snapshots.
    fn is_told_by(&self, last: &Self) -> bool {
        let same = |(snapshot, figure): (&Option<Figure>, &Option<Figure>)| match (snapshot, figure) {
            (Some(a), Some(b)) => a.step == b.step && b.checkpoint != "ema" && a.observations <= b.observations,
            (None, None) => true,
            _ => false,
        };
        last.figure() == self.figure()
            && last.slice == self.slice
            && last.protocol == self.protocol
            && self.cells.iter().zip(&last.cells).all(same)
    }

    /// Whether these are the numbers of agreement once more: calibration may ask the same positions.
    fn is_counted_in(&self, rows: &[Self]) -> bool {
        let same = |(a, b): (&Option<Figure>, &Option<Figure>)| match (a, b) {
            (Some(a), Some(b)) => a.value.value.total_cmp(&b.value.value).is_eq() && a.value.n == b.value.n,
            (None, None) => true,
            _ => false,
        };
        let is_it = |row: &Self| {
            row.figure() == "agreement.top1" && row.slice == self.slice && row.cells.iter().zip(&self.cells).all(same)
        };
        self.figure() == "calibration.right" && rows.iter().any(is_it)
    }
}

fn alike(line: &Line, cells: &[Option<Figure>], differences: &[Option<Difference>]) -> Option<Alike> {
    // One that nothing is subtracted from is listed, whatever it is.
    if !differences.iter().flatten().any(|_| true) {
        return None;
    }
    if differences.iter().flatten().all(|difference| difference.verdict == Verdict::Same) {
        return Some(Alike::Measurement);
    }
    let is_share = values::find(line.metric, line.value).is_some_and(|known| known.unit == Unit::Share);
    (is_share && cells.iter().flatten().all(|figure| figure.value.value == 0.0)).then_some(Alike::Zero)
}

/// Whether two cells are of weights that took as many tokens; else why not.
fn one_budget(cells: [(&Subject, &Cell); 2]) -> Result<(), String> {
    let [a, b] = cells.map(|(_, cell)| cell.checkpoint.tokens as f64);
    if cells.iter().any(|(subject, cell)| cell.checkpoint.tokens == 0 && subject.first().experiment.train().is_none()) {
        return Err("nobody knows how long an imported model was trained".to_owned());
    }
    let times = b / a;
    // Two untrained models have one budget, too: of none at all.
    if times.is_nan() || times.ln().abs() <= WITHIN.ln_1p() {
        return Ok(());
    }
    Err(format!("trained on {} × the tokens", significant(times, 2)))
}
