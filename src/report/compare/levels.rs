//! Where snapshots of several trainings may be laid side by side: after equal tokens, or after equal work.

use std::collections::BTreeSet;

use anyhow::Result;
use serde::Serialize;

use crate::error::{Exit, Fixable};
use crate::report::results::{Asked, Point};
use crate::text::{si, thousands};

use super::subject::Subject;
use super::verdict::WITHIN;

/// What is made equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Budget {
    /// Training tokens seen.
    Tokens,
    /// Floating-point operations spent: tokens times those of the model for one.
    Flops,
}

/// A snapshot of each subject; none where it has no snapshot near enough.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Level {
    pub(crate) budget: Budget,
    /// Tokens or operations of the first subject.
    pub(crate) at: f64,
    pub(crate) steps: Vec<Option<u64>>,
}

impl Budget {
    pub fn name(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::Flops => "flops",
        }
    }

    /// What a point had spent after so many tokens.
    pub(crate) fn spent(self, point: &Point, tokens: u64) -> f64 {
        match self {
            Self::Tokens => tokens as f64,
            Self::Flops => tokens as f64 * point.experiment.model.flops_per_token() as f64,
        }
    }

    /// As people say it: `205 M tokens`, `1.2 E FLOPs`.
    pub(crate) fn words(self, at: f64) -> String {
        match self {
            Self::Tokens => format!("{} tokens", si(at)),
            Self::Flops => format!("{} FLOPs", si(at)),
        }
    }
}

/// Every level of the first subject at which another one has a snapshot within 5 %.
pub(crate) fn levels(subjects: &[Subject], budget: Budget) -> Vec<Level> {
    let Some(first) = subjects.first() else { return Vec::new() };
    let all = snapshots(first.first(), budget).into_iter().map(|(_, at)| level(subjects, budget, at));
    all.filter(|level| level.steps.iter().skip(1).any(Option::is_some)).collect()
}

/// The one level that was asked for.
///
/// # Errors
///
/// [`Exit::NotComparable`] where a subject has no measured snapshot within 5 % of it.
pub(crate) fn level_at(subjects: &[Subject], budget: Budget, at: f64) -> Result<Level> {
    let level = level(subjects, budget, at);
    match level.steps.iter().position(Option::is_none) {
        None => Ok(level),
        Some(lacks) => {
            let subject = &subjects[lacks];
            let message = format!(
                "`{}` was not measured within 5 % of {}: {}",
                subject.name,
                budget.words(at),
                beside(subject.first(), budget, at)
            );
            Err(Fixable::new(Exit::NotComparable, message).hint(shared_by_all(subjects, budget)).into())
        }
    }
}

/// The measured snapshots on each side of what was asked for.
fn beside(point: &Point, budget: Budget, at: f64) -> String {
    let all = snapshots(point, budget);
    let said = |found: Option<&(u64, f64)>, side: &str| match found {
        Some((step, spent)) => format!("step {} at {} {side}", thousands(*step), budget.words(*spent)),
        None => format!("nothing {side}"),
    };
    if all.is_empty() {
        return "no snapshot of it was measured".to_owned();
    }
    let below = all.iter().filter(|(_, spent)| *spent <= at).max_by(|(_, a), (_, b)| a.total_cmp(b));
    let above = all.iter().filter(|(_, spent)| *spent > at).min_by(|(_, a), (_, b)| a.total_cmp(b));
    format!("it has {}, and {}", said(below, "below"), said(above, "above"))
}

/// What to ask for instead.
fn shared_by_all(subjects: &[Subject], budget: Budget) -> String {
    let all = levels(subjects, budget).into_iter().filter(|level| level.steps.iter().all(Option::is_some));
    let named: Vec<String> = all.map(|level| format!("--at {}={}", budget.name(), level.at)).collect();
    if named.is_empty() {
        let other = if budget == Budget::Tokens { "flops" } else { "tokens" };
        return format!(
            "no level of {} is shared by all: measure more snapshots, or compare at {other} or at the end",
            budget.name()
        );
    }
    format!("all have {}", named.join(", "))
}

/// The two snapshots, of the first subject and of another, that are nearest to each other in what they had spent: their steps,
/// and how many times as much the other's had.
pub(crate) fn nearest_pair(subjects: &[Subject], other: usize, budget: Budget) -> Option<([(u64, f64); 2], f64)> {
    let of = |subject: usize| snapshots(subjects[subject].first(), budget);
    let (ours, theirs) = (of(0), of(other));
    let pairs = ours.iter().flat_map(|a| theirs.iter().map(move |b| ([*a, *b], b.1 / a.1)));
    pairs.min_by(|(_, a), (_, b)| a.ln().abs().total_cmp(&b.ln().abs()))
}

fn level(subjects: &[Subject], budget: Budget, at: f64) -> Level {
    let near = |subject: &Subject| {
        let (step, spent) = nearest(subject.first(), budget, at)?;
        ((spent / at).ln().abs() <= WITHIN.ln_1p()).then_some(step)
    };
    Level { budget, at, steps: subjects.iter().map(near).collect() }
}

fn nearest(point: &Point, budget: Budget, at: f64) -> Option<(u64, f64)> {
    let far = |spent: f64| (spent / at).ln().abs();
    snapshots(point, budget).into_iter().min_by(|(_, a), (_, b)| far(*a).total_cmp(&far(*b)))
}

/// The measured snapshots of a point, but not the untrained one: step, and what was spent by then.
fn snapshots(point: &Point, budget: Budget) -> Vec<(u64, f64)> {
    let measured = point.scores.iter().filter(|score| score.asked == Asked::Snapshot);
    let steps: BTreeSet<(u64, u64)> =
        measured.map(|score| (score.score.checkpoint.step, score.score.checkpoint.tokens)).collect();
    steps.into_iter().filter(|(_, tokens)| *tokens > 0).map(|(step, tokens)| (step, budget.spent(point, tokens))).collect()
}
