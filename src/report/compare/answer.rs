//! Which is better, at what, by how much, and how sure: in sentences, and never more than the intervals say.

use super::column::Column;
use super::levels::Budget;
use super::needed;
use super::section::{Difference, Row, Section};
use super::table::{far, titled};
use super::trend::Trend;
use super::verdict::{Verdict, WITHIN};
use crate::stats::difference;
use crate::text::{plural, si, significant, thousands};

/// The figures that everybody asks for first.
const FIRST: [&str; 4] = ["legality.rate", "agreement.top1", "full_games.clean", "loss.nats"];

/// One answer for each subject after the first; what all its levels say together stands behind it.
pub(crate) fn answers(subjects: &[Column], sections: &[Section], trends: &[Trend]) -> Vec<String> {
    let one = |other: usize| {
        let Some(section) = basis(sections, other) else {
            return format!("{} and {} have no figure in common.", subjects[0].label, subjects[other].label);
        };
        let said = [Some(answer(subjects, section, other)), over_levels(section, trends, other)];
        said.into_iter().flatten().collect::<Vec<_>>().join(" ")
    };
    (1..subjects.len()).map(one).collect()
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
fn pairs(section: &Section, other: usize) -> impl Iterator<Item = (&Row, &Difference)> {
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

fn answer(subjects: &[Column], section: &Section, other: usize) -> String {
    let [first, name] = [&subjects[0].label, &subjects[other].label];
    let listed = || pairs(section, other).filter(|(row, _)| row.alike.is_none());
    if listed().next().is_none() {
        return format!("{name} and {first} are of one measurement, or equal in all that was measured.");
    }
    let has = |wanted: fn(&Verdict) -> bool| {
        let rows = listed().filter(|(row, difference)| FIRST.contains(&row.figure().as_str()) && wanted(&difference.verdict));
        rows.map(|(row, difference)| finding(row, other, difference)).collect::<Vec<_>>()
    };
    let mut said = Vec::new();
    for (what, found) in [
        (format!("{name} is better than {first} at"), has(|verdict| *verdict == Verdict::Better)),
        (format!("{name} is worse than {first} at"), has(|verdict| *verdict == Verdict::Worse)),
        (format!("{name} and {first} differ, and are not ranked, in"), has(|verdict| matches!(verdict, Verdict::Unranked(_)))),
        ("Which is better is not told at".to_owned(), has(|verdict| *verdict == Verdict::Inconclusive)),
    ] {
        if !found.is_empty() {
            said.push(format!("{what}: {}.", found.join("; ")));
        }
    }
    if said.is_empty() {
        said.push(format!("{name} and {first} have none of the usual figures in common; what they have stands below."));
    }
    format!("{}: {} {}", budget(subjects, section, other), said.join(" "), all(listed()))
}

/// `Legal moves, T = 1.0, +4.6 points [+3.3, +6.0] (n = 4,000, in pairs)`, and what more it would take.
fn finding(row: &Row, other: usize, difference: &Difference) -> String {
    let pairs = if [difference::METHOD].contains(&difference.method.as_str()) { "" } else { ", in pairs" };
    let of = match row.cells[other].as_ref().zip(row.cells[0].as_ref()) {
        Some((b, a)) if a.seeds.max(b.seeds) > 1 => {
            format!("{}, {} a seed", plural("seed", a.seeds.max(b.seeds) as u64), thousands(b.observations))
        }
        _ => format!("n = {}{pairs}", thousands(difference.n)),
    };
    let more = match needed::needed(row, other, difference).filter(|_| difference.verdict == Verdict::Inconclusive) {
        Some(n) if n > difference.n as f64 => {
            format!("; if they differ as much as seen, {} of each would tell", needed::words(n))
        }
        _ => String::new(),
    };
    format!("{}, {} ({of}{more})", titled(row), far(row, difference))
}

/// What the two had to learn from: `At equal tokens (819 k; 3×64 spent 2.6 × the FLOPs)`.
fn budget(subjects: &[Column], section: &Section, other: usize) -> String {
    let name = &subjects[other].label;
    let Some([a, b]) = tokens(section, other).filter(|tokens| tokens.iter().all(|tokens| *tokens > 0.0)) else {
        return "At budgets that are not known".to_owned();
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

/// How it stands with every figure that has a better side.
fn all<'r>(listed: impl Iterator<Item = (&'r Row, &'r Difference)>) -> String {
    let (mut better, mut worse, mut open) = (0_usize, 0_usize, 0_usize);
    for (row, difference) in listed {
        match difference.verdict {
            Verdict::Better => better += 1,
            Verdict::Worse => worse += 1,
            Verdict::Inconclusive if crate::measure::values::better(&row.metric, &row.value).is_some() => open += 1,
            _ => (),
        }
    }
    format!(
        "Of {} with a better side: better at {better}, worse at {worse}, not told at {open}.",
        plural("figure", (better + worse + open) as u64)
    )
}

/// What the first figures do over the levels of the same budget, where there are several.
fn over_levels(section: &Section, trends: &[Trend], other: usize) -> Option<String> {
    let budget = section.budget?;
    let is_it = |trend: &&Trend| {
        trend.subject == other && trend.budget == budget && FIRST.contains(&format!("{}.{}", trend.metric, trend.value).as_str())
    };
    let said: Vec<String> = trends
        .iter()
        .filter(is_it)
        .map(|trend| {
            format!(
                "{}: better at {} and worse at {} by the number alone, told at {}",
                trend.label, trend.better, trend.worse, trend.told
            )
        })
        .collect();
    let levels = trends.iter().find(is_it)?.levels;
    let of = if budget == Budget::Tokens { "equal tokens" } else { "equal work" };
    Some(format!("Over {levels} levels of {of}: {}.", said.join("; ")))
}
