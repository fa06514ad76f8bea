//! The comparison, whole: a plain value, from which every form of it is written.

use anyhow::Result;
use serde::Serialize;

use crate::error::{Exit, Fixable};
use crate::measure::score::Value;
use crate::measure::values::{self, Told};
use crate::report::results::{Asked, Measured, Point};
use crate::report::words;
use crate::store::Store;
use crate::text::significant;

use super::differing::{self, Setting};
use super::levels::{self, Budget, Level};
use super::line::{Cell, Line, lines};
use super::paired::Kept;
use super::subject::Subject;
use super::trend::{Trend, trends};
use super::unlike::{Unlike, unlike};
use super::verdict::{Verdict, WITHIN};

/// Along what models of unlike budgets are ranked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Axis {
    /// Nothing named: final figures are ranked where their budgets are equal, snapshots at every level that is shared.
    Shared,
    /// Snapshots after so many tokens, or so much work.
    At(Budget, f64),
    /// Final figures, whatever they took.
    End,
}

/// What is wanted of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    pub axis: Axis,
    /// Show what cannot be compared, and say so, where it is refused otherwise.
    pub exploratory: bool,
    /// All settings, and not only those that differ.
    pub all_settings: bool,
}

#[derive(Debug, Serialize)]
pub struct Comparison {
    pub schema: u32,
    pub subjects: Vec<Column>,
    pub settings: Vec<Setting>,
    pub sections: Vec<Section>,
    pub trends: Vec<Trend>,
    pub not_comparable: Vec<Unlike>,
}

/// What stands above a column.
#[derive(Debug, Serialize)]
pub struct Column {
    pub name: String,
    pub runs: Vec<String>,
    pub points: Vec<String>,
    pub seeds: usize,
    /// Without the embedding.
    pub parameters: u64,
    pub flops_per_token: u64,
    /// The key of the weights of each seed.
    pub weights: Vec<String>,
    pub tainted: Vec<String>,
}

/// Figures of one budget.
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
    pub protocol: String,
    pub cells: Vec<Option<Figure>>,
    /// One for each subject after the first: it less the first.
    pub differences: Vec<Option<Difference>>,
}

/// A value, and of which weights.
#[derive(Debug, Serialize)]
pub struct Figure {
    #[serde(flatten)]
    pub value: Value,
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
    pub verdict: Verdict,
}

impl Comparison {
    /// Compares every subject with the first.
    ///
    /// # Errors
    ///
    /// [`Exit::NotComparable`] where they share a metric and no protocol of it, unless that is wanted; where a level was named
    /// that not all have; [`Exit::Usage`] where there are fewer than two.
    pub fn new(subjects: &[Subject], store: &Store, wanted: Wanted) -> Result<Self> {
        if subjects.len() < 2 {
            let seeds = subjects.first().map_or(0, Subject::seeds);
            let only = if seeds > 1 { format!(", and these are {seeds} seeds of one") } else { String::new() };
            return Err(Fixable::usage(format!("a comparison is of two models at least{only}"))
                .hint("name two runs, or one whose sweep has several points; RUN:POINT is one point of a sweep")
                .into());
        }
        let kept = Kept::new(store);
        let mut sections = Vec::new();
        let finals = |_: usize, point| of(point, Asked::Final, None);
        let final_lines = lines(subjects, &finals);
        let mut not_comparable = unlike(&final_lines, subjects.len());
        if !matches!(wanted.axis, Axis::At(..)) {
            sections.push(Section::new(subjects, final_lines, None, wanted.axis == Axis::End, &kept));
        }
        for level in wanted_levels(subjects, wanted.axis)? {
            let at_level = |subject: usize, point| match level.steps[subject] {
                Some(step) => of(point, Asked::Snapshot, Some(step)),
                None => Vec::new(),
            };
            let lines = lines(subjects, &at_level);
            for unlike in unlike(&lines, subjects.len()) {
                if !not_comparable.contains(&unlike) {
                    not_comparable.push(unlike);
                }
            }
            sections.push(Section::new(subjects, lines, Some(&level), true, &kept));
        }
        if let Some(first) = not_comparable.first().filter(|_| !wanted.exploratory) {
            return Err(refusal(first, not_comparable.len(), subjects).into());
        }
        sections.retain(|section| !section.rows.is_empty());
        Ok(Self {
            schema: 1,
            subjects: subjects.iter().map(Column::of).collect(),
            settings: differing::settings(subjects, wanted.all_settings),
            trends: trends(&sections),
            sections,
            not_comparable,
        })
    }

    /// What the differences of a figure, such as `agreement.top1`, come to: over the whole sample, in all sections.
    pub fn verdicts(&self, figure: &str) -> Vec<&Verdict> {
        let rows = self.sections.iter().flat_map(|section| &section.rows).filter(|row| row.slice.is_empty());
        let its = rows.filter(|row| format!("{}.{}", row.metric, row.value) == figure);
        its.flat_map(|row| row.differences.iter().flatten().map(|difference| &difference.verdict)).collect()
    }

    /// How many differences are told: one in twenty of them would be told by chance alone.
    pub fn tests(&self) -> usize {
        self.sections.iter().flat_map(|section| &section.rows).flat_map(|row| &row.differences).flatten().count()
    }
}

fn wanted_levels(subjects: &[Subject], axis: Axis) -> Result<Vec<Level>> {
    Ok(match axis {
        Axis::End => Vec::new(),
        Axis::At(budget, at) => vec![levels::level_at(subjects, budget, at)?],
        Axis::Shared => {
            let mut all = levels::levels(subjects, Budget::Tokens);
            // Of models of one size equal tokens are equal work.
            let flops = |subject: &Subject| subject.first().experiment.model.flops_per_token();
            if subjects.iter().any(|subject| flops(subject) != flops(&subjects[0])) {
                all.extend(levels::levels(subjects, Budget::Flops));
            }
            all
        }
    })
}

/// The scores of a point: its final ones, or those of a snapshot.
fn of(point: &Point, asked: Asked, step: Option<u64>) -> Vec<&Measured> {
    let is_it = |score: &&Measured| score.asked == asked && step.is_none_or(|step| score.score.checkpoint.step == step);
    point.scores.iter().filter(is_it).collect()
}

fn refusal(unlike: &Unlike, all: usize, subjects: &[Subject]) -> Fixable {
    let [a, b] = unlike.subjects.map(|at| &subjects[at].name);
    let fields: Vec<String> = unlike.fields.iter().map(super::unlike::Differs::words).collect();
    let more = if all > 1 { format!(" (and {} more)", all - 1) } else { String::new() };
    Fixable::new(
        Exit::NotComparable,
        format!("`{}` of `{a}` and of `{b}` were not measured by one protocol: {}{more}", unlike.metric, fields.join("; ")),
    )
    .hint("measure both the same way, or see them side by side, unranked, with --exploratory")
}

impl Column {
    fn of(subject: &Subject) -> Self {
        let of_each = |of: &dyn Fn(&super::subject::Member) -> String| subject.members.iter().map(of).collect::<Vec<_>>();
        let said =
            |member: &super::subject::Member| words::tainted(member.results).into_iter().chain(member.results.damaged.clone());
        let mut tainted: Vec<String> = subject.members.iter().flat_map(said).collect();
        tainted.dedup();
        let model = &subject.first().experiment.model;
        Self {
            name: subject.name.clone(),
            runs: of_each(&|member| member.results.run.id.clone()),
            points: of_each(&|member| member.point.title().to_owned()),
            seeds: subject.seeds(),
            parameters: model.parameters(),
            flops_per_token: model.flops_per_token(),
            weights: of_each(&|member| member.point.training.as_ref().map_or_else(String::new, |training| training.key.full())),
            tainted,
        }
    }
}

impl Section {
    fn new(subjects: &[Subject], lines: Vec<Line>, level: Option<&Level>, ranked: bool, kept: &Kept) -> Self {
        // An extreme of a sample is no estimate, and what was measured of the games themselves is none of the model.
        let is_of_the_model = |line: &Line| {
            !line.value.starts_with("real_")
                && values::find(line.metric, line.value).is_none_or(|known| known.told != Told::Extreme)
        };
        let shared = lines.into_iter().filter(|line| is_of_the_model(line) && line.cells.iter().flatten().count() > 0);
        Self {
            budget: level.map(|level| level.budget),
            at: level.map(|level| level.at),
            rows: shared.map(|line| Row::new(subjects, &line, ranked, kept)).collect(),
        }
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
                verdict: Verdict::of(line.metric, line.value, &apart, &budget),
            })
        };
        let figure = |cell: &Option<Cell>| {
            let cell = cell.as_ref()?;
            let at = cell.checkpoint;
            Some(Figure { value: cell.value.clone(), checkpoint: at.name.clone(), step: at.step, tokens: at.tokens })
        };
        Self {
            metric: line.metric.to_owned(),
            value: line.value.to_owned(),
            slice: line.slice.to_owned(),
            label: words::figure(line.metric, line.value),
            temperature: line.protocol.temperature.filter(|_| words::is_sampled(line.metric, line.value)),
            protocol: line.fingerprint.to_owned(),
            cells: line.cells.iter().map(figure).collect(),
            differences: line.cells.iter().enumerate().skip(1).map(difference).collect(),
        }
    }
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
