//! Which is better, at what, by how much, and how sure: in sentences, and never more than the intervals say.

use serde::Serialize;

use super::column::Column;
use super::count;
use super::levels::Budget;
use super::needed;
use super::section::{Difference, Figure, Row, Section};
use super::table::{self, far, titled};
use super::trend::Trend;
use super::verdict::{Verdict, WITHIN};
use crate::stats::difference;
use crate::text::{plural, si, significant, temperature, thousands};

/// The figures that the answer is of, as it calls them.
const MAIN: [(&str, &str); 3] = [("legality.rate", "legality"), ("agreement.top1", "agreement"), ("loss.nats", "loss")];
/// What everybody asks for next.
const NEXT: &str = "full_games.clean";

/// What one model beside the first comes to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// In one sentence.
    pub lead: String,
    /// The figures that everybody asks for, each with its difference and how sure it is.
    pub findings: Vec<String>,
}

/// One for each subject after the first.
pub(crate) fn answers(subjects: &[Column], sections: &[Section], trends: &[Trend]) -> Vec<Answer> {
    (1..subjects.len()).map(|other| answer(subjects, sections, trends, other)).collect()
}

fn answer(subjects: &[Column], sections: &[Section], trends: &[Trend], other: usize) -> Answer {
    let [first, name] = [&subjects[0].label, &subjects[other].label];
    let Some(section) = basis(sections, other) else {
        let lead = format!("{name} and {first} have no figure in common that was measured in one way: neither is better.");
        return Answer { lead, findings: Vec::new() };
    };
    let listed = || pairs(section, other).filter(|(row, _)| row.alike.is_none());
    if listed().next().is_none() {
        let lead = format!(
            "{name} and {first} have nothing by one protocol that could differ: it is one measurement, or nothing at all."
        );
        return Answer { lead, findings: Vec::new() };
    }
    let of = |figure: &'static str| listed().filter(move |(row, _)| row.figure() == figure);
    let main = || MAIN.into_iter().flat_map(|(figure, name)| of(figure).map(move |(row, difference)| (name, row, difference)));
    let several = [0, other].iter().any(|at| subjects[*at].seeds > 1);
    let with_seeds = |at: usize| {
        let seeds = if several { format!(" ({})", plural("seed", subjects[at].seeds as u64)) } else { String::new() };
        format!("{}{seeds}", subjects[at].label)
    };
    let names = [with_seeds(0), with_seeds(other)];
    let found = main().map(|(_, row, difference)| (row, difference)).chain(of(NEXT));
    let mut findings: Vec<String> = found.map(|(row, difference)| finding(section, trends, row, other, difference)).collect();
    let all = count::all(section, other, findings.len());
    let lead = if main().next().is_some() {
        findings.extend(all);
        ranked(
            &names,
            &main().map(|(name, row, difference)| (named(name, row, main().map(|main| main.0)), difference)).collect::<Vec<_>>(),
        )
    } else {
        all.unwrap_or_else(|| format!("{name} and {first} have no figure in common of which one side is the better."))
    };
    Answer { lead: format!("{}: {lead}", budget(subjects, section, other)), findings }
}

/// `legality`, with its temperature where it is there at several.
fn named(name: &str, row: &Row, all: impl Iterator<Item = &'static str>) -> String {
    let several = all.filter(|other| *other == name).count() > 1;
    let at = row.temperature.filter(|_| several).map_or_else(String::new, |t| format!(" at T = {}", temperature(t)));
    format!("{name}{at}")
}

/// `b is better than a at legality and loss; they are not told apart at agreement.`
fn ranked([first, name]: &[String; 2], main: &[(String, &Difference)]) -> String {
    let of = |is: fn(&Verdict) -> bool| {
        let names = main.iter().filter(|(_, difference)| is(&difference.verdict)).map(|(name, _)| name.clone());
        Some(joined(&names.collect::<Vec<_>>())).filter(|names| !names.is_empty())
    };
    let better = of(|verdict| *verdict == Verdict::Better);
    let worse = of(|verdict| *verdict == Verdict::Worse);
    let unranked = of(|verdict| matches!(verdict, Verdict::Unranked(_)));
    let open = of(|verdict| *verdict == Verdict::Inconclusive);
    let rest = open.as_ref().map_or_else(String::new, |open| format!("; they are not told apart at {open}"));
    match (better, worse, unranked) {
        (Some(better), Some(worse), _) => format!("{name} is better than {first} at {better}, and worse at {worse}{rest}."),
        (Some(better), None, _) => format!("{name} is better than {first} at {better}{rest}."),
        (None, Some(worse), _) => format!("{name} is worse than {first} at {worse}{rest}."),
        (None, None, Some(differ)) => format!("{name} and {first} differ at {differ} and are not ranked{rest}."),
        (None, None, None) => {
            format!("{name} and {first} are not told apart at {}.", open.unwrap_or_else(|| "any figure".to_owned()))
        }
    }
}

/// `a, b and c`.
pub(super) fn joined(names: &[String]) -> String {
    match names {
        [rest @ .., last] if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        names => names.join(""),
    }
}

/// The figures that say most: final ones of equal budgets, else those of the last level of equal tokens, or of equal work; else
/// the final ones, whatever they took.
fn basis(sections: &[Section], other: usize) -> Option<&Section> {
    let of = |budget| sections.iter().filter(move |section| section.budget == budget && pairs(section, other).next().is_some());
    let fair = of(None).find(|section| tokens(section, other).is_some_and(is_one));
    fair.or_else(|| of(Some(Budget::Tokens)).next_back())
        .or_else(|| of(Some(Budget::Flops)).next_back())
        .or_else(|| of(None).next())
}

/// The rows of the whole sample in which both have a figure.
pub(super) fn pairs(section: &Section, other: usize) -> impl Iterator<Item = (&Row, &Difference)> {
    section
        .rows
        .iter()
        .filter(|row| row.slice.is_empty())
        .filter_map(move |row| Some((row, row.differences[other - 1].as_ref()?)))
}

/// The training tokens of the first and of the other.
fn tokens(section: &Section, other: usize) -> Option<[f64; 2]> {
    let (row, _) = pairs(section, other).next()?;
    let of = |at: usize| row.cells[at].as_ref().map(|figure| figure.tokens as f64);
    Some([of(0)?, of(other)?])
}

/// Nothing is one budget with nothing only where nothing was trained.
fn is_one([a, b]: [f64; 2]) -> bool {
    a > 0.0 && b > 0.0 && (b / a).ln().abs() <= WITHIN.ln_1p()
}

/// `Legal moves, T = 1.0: better, +4.6 points [+3.3, +6.0] (n = 4,000, in pairs)`, and what more it would take.
fn finding(section: &Section, trends: &[Trend], row: &Row, other: usize, difference: &Difference) -> String {
    let of = match row.cells[other].as_ref().zip(row.cells[0].as_ref()) {
        Some((b, a)) if a.seeds.max(b.seeds) > 1 => format!("n = {} and {}{}", seeds(b), seeds(a), table::unit(row)),
        _ if difference.method == difference::METHOD => {
            format!("n = {}{}, from the two intervals", thousands(difference.n), table::unit(row))
        }
        _ => format!("n = {}, in pairs", thousands(difference.n)),
    };
    let more = match needed::needed(row, other, difference).filter(|_| difference.verdict == Verdict::Inconclusive) {
        Some(n) if n > difference.n as f64 => {
            format!("; if they differ as much as seen, n = {} each would tell", needed::words(n))
        }
        _ => String::new(),
    };
    let levels = over_levels(section, trends, row, other).unwrap_or_default();
    format!("{}: {}, {} ({of}{more}).{levels}", titled(row), difference.verdict.words(), far(row, difference))
}

fn seeds(figure: &Figure) -> String {
    format!("{} × {}", figure.seeds, thousands(figure.observations))
}

/// What the two had to learn from: `At equal tokens (819 k), not equal work (3 × 64 spent 2.6 × the FLOPs)`.
fn budget(subjects: &[Column], section: &Section, other: usize) -> String {
    let name = &subjects[other].label;
    let Some([a, b]) = tokens(section, other).filter(|tokens| tokens.iter().all(|tokens| *tokens > 0.0)) else {
        return "At budgets that nobody knows".to_owned();
    };
    let flops = |at: usize| subjects[at].flops_per_token as f64;
    let work = [a * flops(0), b * flops(other)];
    let times = |[a, b]: [f64; 2]| significant(b / a, 2);
    match (is_one([a, b]), is_one(work)) {
        (true, true) => format!("At equal tokens and equal work ({} tokens)", si(a)),
        (true, false) => format!("At equal tokens ({}), not equal work ({name} spent {} × the FLOPs)", si(a), times(work)),
        (false, true) => format!("At equal work ({}), on {} × the tokens", Budget::Flops.words(work[0]), times([a, b])),
        (false, false) => {
            format!("At unequal budgets ({name}: {} × the tokens, {} × the FLOPs)", times([a, b]), times(work))
        }
    }
}

/// What a figure does over the levels of the same budget, where there are several.
fn over_levels(section: &Section, trends: &[Trend], row: &Row, other: usize) -> Option<String> {
    let budget = section.budget?;
    let trend = trends.iter().find(|trend| {
        trend.subject == other && trend.budget == budget && trend.metric == row.metric && trend.value == row.value
    })?;
    let of = if budget == Budget::Tokens { "equal tokens" } else { "equal work" };
    Some(format!(
        " Over {} levels of {of} it is better at {} and worse at {} by the number alone, and told at {}.",
        trend.levels,
        trend.better,
        trend.worse,
        if trend.told == 0 { "none".to_owned() } else { trend.told.to_string() }
    ))
}
