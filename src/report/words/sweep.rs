//! What a sweep answers, in sentences: along what varies, beside what another seed changes, and which setting came out best.

mod along;
mod best;
mod seeds;

use std::collections::BTreeSet;

use super::names::lower;
use super::training::passes;
use crate::measure::values::Unit;
use crate::report::sweep::{Figure, Sweep};
use crate::stats::Estimate;
use crate::text::{fixed, number_within, plural, si, significant, thousands};

pub(crate) use seeds::span;

/// Nothing where all points are of the same weights: what they tell then is told of temperatures.
pub(crate) fn sweep(sweep: &Sweep) -> Vec<String> {
    if trainings(sweep) < 2 {
        return Vec::new();
    }
    let mut said = along::sentences(sweep);
    said.extend(seeds::sentences(sweep));
    said.extend(best::sentence(sweep));
    said.extend(budget(sweep));
    said
}

fn trainings(sweep: &Sweep) -> usize {
    let members = sweep.settings.iter().flat_map(|setting| &setting.members);
    members.filter_map(|member| Some(member.point.training.as_ref()?.key)).collect::<BTreeSet<_>>().len()
}

/// How much each training took: equal tokens are no equal work where sizes differ.
fn budget(sweep: &Sweep) -> Option<String> {
    let seen: Vec<u64> = sweep.tokens.iter().copied().collect::<Option<_>>()?;
    let (least, most) = (*seen.iter().min()?, *seen.iter().max()?);
    if !sweep.is_of_equal_tokens() {
        return Some(format!(
            "The trainings saw from {} to {} tokens: their budgets differ, so settings are told apart along an axis only, and none is \
             called the best.",
            si(least as f64),
            si(most as f64)
        ));
    }
    let work: Vec<f64> = sweep.settings.iter().map(|setting| setting.first().experiment.model.flops_per_token() as f64).collect();
    let end = |pick: fn(f64, f64) -> f64| work.iter().copied().reduce(pick);
    let (low, high) = (end(f64::min)?, end(f64::max)?);
    let unequal = if high > low * 1.05 {
        format!(
            ", but not as much work: the most expensive took {} times the operations of the cheapest",
            significant(high / low, 2)
        )
    } else {
        String::new()
    };
    let passes = passes(sweep.settings.first()?.first()).map_or_else(String::new, |passes| format!(", {passes}"));
    Some(format!("All trainings saw as many tokens, {}{passes}{unequal}.", thousands(most)))
}

/// A figure within a sentence, in the singular.
fn noun(figure: &Figure) -> String {
    match (figure.metric.as_str(), figure.name.as_str()) {
        ("loss", "nats") => "validation loss".to_owned(),
        ("loss", "validation") => "the best validation loss".to_owned(),
        ("legality", "rate") => "the share of legal moves".to_owned(),
        ("agreement", "top1") => "top-1 agreement".to_owned(),
        ("full_games", "clean") => "the share of clean games".to_owned(),
        _ => lower(&figure.label),
    }
}

/// What the answer is told of.
pub(crate) fn told<'s>(sweep: &'s Sweep) -> impl Iterator<Item = &'s Figure> {
    let is_told = |figure: &&Figure| {
        matches!(
            (figure.metric.as_str(), figure.name.as_str()),
            ("loss", _) | ("legality", "rate") | ("agreement", "top1") | ("full_games", "clean")
        )
    };
    sweep.figures.iter().filter(is_told).filter(|figure| figure.differs())
}

/// How large a difference is, whichever way: `48.9 points [46.9, 50.8]`, `1.41 nats [1.38, 1.44]`.
fn size(figure: &Figure, apart: Estimate) -> String {
    let apart =
        if apart.value < 0.0 { Estimate { value: -apart.value, low: -apart.high, high: -apart.low, n: apart.n } } else { apart };
    let (scale, unit) = match figure.unit {
        Unit::Share => (100.0, "points"),
        Unit::Nats => (1.0, "nats"),
        Unit::Bits => (1.0, "bits"),
        Unit::Plies => (1.0, "plies"),
    };
    let [value, low, high] = [apart.value, apart.low, apart.high].map(|number| number * scale);
    if low.is_nan() || high.is_nan() {
        return format!("{} {unit}", significant(value, 3));
    }
    let all = number_within(value, Some(low), Some(high));
    match all.split_once(" [") {
        Some((value, interval)) => format!("{value} {unit} [{interval}"),
        None => format!("{} {unit}", fixed(value, 2)),
    }
}

/// Whether the interval of a difference lies on one side of 0.
fn is_settled(apart: Estimate) -> bool {
    apart.low > 0.0 || apart.high < 0.0
}

/// As [`list`], of what has an `and` of its own: `between a and b, and between b and c`.
fn list_of_pairs(items: &[String], most: usize) -> String {
    let more = items.len().saturating_sub(most);
    let mut shown: Vec<String> = items.iter().take(most).cloned().collect();
    shown.extend((more > 0).then(|| format!("of {} more", plural("pair", more as u64))));
    match shown.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{}, and {last}", before.join(", ")),
        _ => shown.concat(),
    }
}

/// `a`, `a and b`, `a, b and c`; of more than `most`, those and how many more there are.
fn list(items: &[String], most: usize) -> String {
    let more = items.len().saturating_sub(most);
    let mut shown: Vec<String> = items.iter().take(items.len() - more).cloned().collect();
    if more > 0 {
        shown.push(plural("other", more as u64));
    }
    match shown.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{} and {last}", before.join(", ")),
        None => String::new(),
    }
}
