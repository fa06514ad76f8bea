//! The comparison, whole: a plain value, from which every form of it is written.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use serde::Serialize;

use crate::error::{Exit, Fixable};
use crate::measure::score::Protocol;
use crate::report::results::{Asked, Measured, Point};
use crate::store::Store;
use crate::text::temperature;

use super::answer::{Answer, answers};
use super::caveats::{caveats, of_levels};
use super::chance::{self, Chance};
use super::column::Column;
use super::differing::{self, Settings};
use super::levels::{self, Budget, Level};
use super::line::lines;
use super::paired::Kept;
use super::section::{Alike, Section};
use super::subject::Subject;
use super::trend::{Trend, trends};
use super::unlike::{Unlike, unlike};
use super::verdict::Verdict;

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
    /// The command that makes it again; empty where nobody says.
    pub command: String,
    /// Which is better, at what, by how much, how sure, one for each model after the first.
    pub answers: Vec<Answer>,
    /// What must be known before the figures are read.
    pub caveats: Vec<String>,
    /// What must be known before the snapshots are read.
    pub of_levels: Vec<String>,
    /// What was asked of all of them; none where each has a question of its own.
    pub question: Option<String>,
    /// The sources of games; none where they are not the same for all.
    pub corpus: Vec<String>,
    pub subjects: Vec<Column>,
    pub settings: Settings,
    /// What each protocol is, by its fingerprint.
    pub protocols: BTreeMap<String, String>,
    pub sections: Vec<Section>,
    pub trends: Vec<Trend>,
    pub chance: Chance,
    pub not_comparable: Vec<Unlike>,
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
        if let Some((finals, levels)) = sections.split_first_mut().filter(|(finals, _)| finals.budget.is_none()) {
            for level in levels {
                level.without_again(finals);
            }
        }
        let columns: Vec<Column> = subjects.iter().map(Column::of).collect();
        let (chance, trends) = (chance::allow(&mut sections), trends(&sections));
        Ok(Self {
            schema: 2,
            command: String::new(),
            answers: answers(&columns, &sections, &trends),
            caveats: caveats(subjects),
            of_levels: of_levels(subjects, &sections, wanted.axis),
            question: question(subjects),
            corpus: corpus(subjects),
            subjects: columns,
            settings: differing::settings(subjects, wanted.all_settings),
            protocols: protocols(subjects, &sections),
            trends,
            chance,
            sections,
            not_comparable,
        })
    }

    /// Says where the pages of the runs are for one who reads it in this folder.
    pub fn seen_from(&mut self, folder: &Path) {
        self.subjects.iter_mut().flat_map(|subject| &mut subject.members).for_each(|origin| origin.seen_from(folder));
    }

    /// What the differences of a figure, such as `agreement.top1`, come to: over the whole sample, in all sections.
    pub fn verdicts(&self, figure: &str) -> Vec<&Verdict> {
        let rows = self.sections.iter().flat_map(|section| &section.rows).filter(|row| row.slice.is_empty());
        rows.filter(|row| row.figure() == figure && row.alike != Some(Alike::Final))
            .flat_map(|row| row.differences.iter().flatten().map(|difference| &difference.verdict))
            .collect()
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

fn question(subjects: &[Subject]) -> Option<String> {
    let of = |subject: &Subject| subject.first().experiment.question.clone();
    let first = subjects.first().map(of).filter(|question| !question.is_empty())?;
    subjects.iter().all(|subject| of(subject) == first).then_some(first)
}

fn corpus(subjects: &[Subject]) -> Vec<String> {
    let of = |subject: &Subject| subject.first().sources.iter().map(|source| source.name.clone()).collect::<Vec<_>>();
    let first = subjects.first().map(of).unwrap_or_default();
    if subjects.iter().all(|subject| of(subject) == first) { first } else { Vec::new() }
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

/// What the protocols of all figures say, in words.
fn protocols(subjects: &[Subject], sections: &[Section]) -> BTreeMap<String, String> {
    let rows = || sections.iter().flat_map(|section| &section.rows);
    let scores = subjects.iter().flat_map(|subject| &subject.members).flat_map(|member| &member.point.scores);
    let shown = scores.filter(|score| rows().any(|row| row.protocol == score.score.fingerprint));
    shown.map(|score| (score.score.fingerprint.clone(), words_of(&score.score.protocol))).collect()
}

fn words_of(protocol: &Protocol) -> String {
    let sampled = protocol.temperature.map(|t| format!("T = {}", temperature(t)));
    let mask = match (protocol.masked, protocol.temperature) {
        (true, _) => Some("illegal moves masked".to_owned()),
        (false, Some(_)) => Some("no mask".to_owned()),
        (false, None) => None,
    };
    let rest = format!(
        "context {}, {}, seed {}, data {}, version {}",
        protocol.context,
        protocol.precision,
        protocol.seed,
        protocol.data.get(..8).unwrap_or(&protocol.data),
        protocol.version
    );
    let all = [Some(format!("{}: {}", protocol.metric, protocol.positions)), sampled, mask, Some(rest)];
    all.into_iter().flatten().collect::<Vec<_>>().join("; ")
}
