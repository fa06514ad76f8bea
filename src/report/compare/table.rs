//! A comparison as rows of text: what the terminal, Markdown and the page show.

use crate::report::words;
use crate::text::{decimals_of, fixed, si, temperature, thousands};

use super::comparison::{Comparison, Difference, Figure, Row, Section};
use super::levels::Budget;
use super::trend::Trend;
use super::verdict::Verdict;

/// A table: a head, and rows as wide.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Texts {
    pub(crate) head: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

const NOTHING: &str = "–";

/// What stands above each column: sizes, budgets, weights.
pub(crate) fn subjects(comparison: &Comparison) -> Texts {
    let names = comparison.subjects.iter().map(|subject| subject.name.clone());
    let row = |what: &str, of: &dyn Fn(usize) -> String| {
        let cells = (0..comparison.subjects.len()).map(of);
        std::iter::once(what.to_owned()).chain(cells).collect::<Vec<_>>()
    };
    let subject = |at: usize| &comparison.subjects[at];
    let mut rows = vec![
        row("run", &|at| subject(at).runs.join(", ")),
        row("parameters", &|at| thousands(subject(at).parameters)),
        row("FLOPs per token", &|at| thousands(subject(at).flops_per_token)),
    ];
    if let Some(section) = comparison.sections.iter().find(|section| section.budget.is_none()) {
        let measured = |at: usize| section.rows.iter().find_map(|row| row.cells[at].as_ref());
        rows.push(row("training tokens", &|at| {
            measured(at).map_or_else(|| NOTHING.to_owned(), |figure| thousands(figure.tokens))
        }));
        let checkpoint = |figure: &Figure| format!("{}, step {}", figure.checkpoint, thousands(figure.step));
        rows.push(row("final figures of", &|at| measured(at).map_or_else(|| NOTHING.to_owned(), checkpoint)));
    }
    Texts { head: std::iter::once(String::new()).chain(names).collect(), rows }
}

pub(crate) fn settings(comparison: &Comparison) -> Option<Texts> {
    let names = comparison.subjects.iter().map(|subject| subject.name.clone());
    let row = |setting: &super::differing::Setting| {
        let values = setting.values.iter().map(|value| value.clone().unwrap_or_else(|| NOTHING.to_owned()));
        std::iter::once(setting.key.clone()).chain(values).collect()
    };
    let rows: Vec<_> = comparison.settings.iter().map(row).collect();
    (!rows.is_empty()).then(|| Texts { head: std::iter::once("setting".to_owned()).chain(names).collect(), rows })
}

/// The rows of a section: of the whole sample, or of its parts.
pub(crate) fn section(comparison: &Comparison, section: &Section, parts: bool) -> Option<Texts> {
    let wanted = section.rows.iter().filter(|row| row.slice.is_empty() != parts);
    let mut head = vec!["figure".to_owned()];
    head.extend(comparison.subjects.iter().map(|subject| subject.name.clone()));
    let others = comparison.subjects.iter().skip(1);
    let two = comparison.subjects.len() == 2;
    head.extend(others.map(|subject| if two { "difference".to_owned() } else { format!("{} less the first", subject.name) }));
    let rows: Vec<Vec<String>> = wanted.map(row).collect();
    (!rows.is_empty()).then_some(Texts { head, rows })
}

fn row(row: &Row) -> Vec<String> {
    let sampled = row.temperature.map_or_else(String::new, |t| format!(", T = {}", temperature(t)));
    let slice = if row.slice.is_empty() { String::new() } else { format!(" ({})", row.slice) };
    let cell = |figure: &Option<Figure>| {
        figure.as_ref().map_or_else(|| NOTHING.to_owned(), |figure| words::within(&row.metric, &figure.value))
    };
    let difference = |difference: &Option<Difference>| {
        difference.as_ref().map_or_else(|| NOTHING.to_owned(), |difference| said(row, difference))
    };
    std::iter::once(format!("{}{slice}{sampled}", row.label))
        .chain(row.cells.iter().map(cell))
        .chain(row.differences.iter().map(difference))
        .collect()
}

/// `+0.99 points [+0.75, +1.23]: better`.
pub(crate) fn said(row: &Row, difference: &Difference) -> String {
    if difference.verdict == Verdict::Same {
        return difference.verdict.words();
    }
    format!("{}: {}", far(row, difference), difference.verdict.words())
}

/// `+0.99 points [+0.75, +1.23]`.
pub(crate) fn far(row: &Row, difference: &Difference) -> String {
    let share = words::is_share(&row.metric, &row.value);
    let scale = if share { 100.0 } else { 1.0 };
    let decimals = decimals_of((difference.high - difference.low) / 2.0 * scale);
    let signed = |value: f64| {
        let text = fixed(value * scale, decimals);
        if value > 0.0 { format!("+{text}") } else { text }
    };
    format!(
        "{}{} [{}, {}]",
        signed(difference.value),
        if share { " points" } else { "" },
        signed(difference.low),
        signed(difference.high)
    )
}

/// What the levels of a budget say together, a row a figure; none where there are no two.
pub(crate) fn trends(comparison: &Comparison) -> Option<Texts> {
    let row = |trend: &Trend| {
        vec![
            trend.label.clone(),
            comparison.subjects[trend.subject].name.clone(),
            if trend.budget == Budget::Tokens { "tokens" } else { "work" }.to_owned(),
            format!("better at {}, worse at {} of {}", trend.better, trend.worse, trend.levels),
            thousands(trend.told as u64),
        ]
    };
    let rows: Vec<_> = comparison.trends.iter().map(row).collect();
    let head = ["figure", "of", "at equal", "beside the first", "told by an interval"].map(str::to_owned).to_vec();
    (!rows.is_empty()).then_some(Texts { head, rows })
}

/// What stands above a section.
pub(crate) fn title(section: &Section) -> String {
    match (section.budget, section.at) {
        (Some(budget), Some(at)) => {
            format!("At equal {}: {}", if budget == Budget::Tokens { "tokens" } else { "work" }, budget.words(at))
        }
        _ => "Final figures".to_owned(),
    }
}

/// How far the snapshots of a level are from each other, where they are not at one.
pub(crate) fn spread(comparison: &Comparison, section: &Section) -> Option<String> {
    let budget = section.budget?;
    let spent = |at: usize| {
        let figure = section.rows.iter().find_map(|row| row.cells[at].as_ref())?;
        let flops = comparison.subjects[at].flops_per_token as f64;
        Some((figure.step, if budget == Budget::Tokens { figure.tokens as f64 } else { figure.tokens as f64 * flops }))
    };
    let all: Vec<_> = (0..comparison.subjects.len()).filter_map(|at| Some((at, spent(at)?))).collect();
    let said = |&(at, (step, spent)): &(usize, (u64, f64))| {
        format!("{} at step {} ({})", comparison.subjects[at].name, thousands(step), si(spent))
    };
    Some(all.iter().map(said).collect::<Vec<_>>().join(", "))
}
