//! A comparison as rows of text: what the terminal, Markdown and the page show.

use crate::report::words;
use crate::text::{decimals_of, fixed, plural, si, significant, temperature, thousands};

use super::column::Column;
use super::comparison::Comparison;
use super::levels::Budget;
use super::section::{Alike, Difference, Figure, Row, Section};
use super::trend::Trend;
use super::verdict::Verdict;

/// A table: a head, and rows as wide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Texts {
    pub(crate) head: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

pub(crate) const NOTHING: &str = "–";

fn texts(head: &[&str], rows: Vec<Vec<String>>) -> Option<Texts> {
    (!rows.is_empty()).then(|| Texts { head: head.iter().map(|&text| text.to_owned()).collect(), rows })
}

/// One row a model: sizes, budgets, weights.
pub(crate) fn subjects(comparison: &Comparison) -> Option<Texts> {
    let finals = comparison.sections.iter().find(|section| section.budget.is_none());
    let row = |(at, subject): (usize, &Column)| {
        let measured = finals.and_then(|section| section.rows.iter().find_map(|row| row.cells[at].as_ref()));
        let checkpoint = |figure: &Figure| match figure.checkpoint.as_str() {
            "imported" => "imported".to_owned(),
            name if name.starts_with("step-") => format!("step {}", thousands(figure.step)),
            name => format!("{name}, step {}", thousands(figure.step)),
        };
        let shown = |of: &dyn Fn(&Figure) -> String| measured.map_or_else(|| NOTHING.to_owned(), of);
        vec![
            subject.label.clone(),
            thousands(subject.parameters),
            thousands(subject.flops_per_token),
            shown(&|figure| thousands(figure.tokens)),
            shown(&checkpoint),
            thousands(subject.seeds as u64),
        ]
    };
    texts(
        &["model", "parameters", "FLOPs per token", "training tokens", "final figures of", "seeds"],
        comparison.subjects.iter().enumerate().map(row).collect(),
    )
}

/// What the short names stand for; none where they are the names.
pub(crate) fn key(comparison: &Comparison) -> Vec<(String, String)> {
    let is_short = |subject: &&Column| subject.label != subject.name;
    comparison.subjects.iter().filter(is_short).map(|subject| (subject.label.clone(), subject.name.clone())).collect()
}

fn labels(comparison: &Comparison) -> impl Iterator<Item = String> {
    comparison.subjects.iter().map(|subject| subject.label.clone())
}

pub(crate) fn settings(comparison: &Comparison) -> Option<Texts> {
    let row = |setting: &super::differing::Setting| {
        let values = setting.values.iter().map(|value| value.clone().unwrap_or_else(|| NOTHING.to_owned()));
        std::iter::once(setting.key.clone()).chain(values).collect()
    };
    let rows: Vec<_> = comparison.settings.shown.iter().map(row).collect();
    (!rows.is_empty()).then(|| Texts { head: std::iter::once("setting".to_owned()).chain(labels(comparison)).collect(), rows })
}

/// How many settings differ besides those that are shown.
pub(crate) fn following(comparison: &Comparison) -> Option<String> {
    let n = comparison.settings.following as u64;
    let follow = if n == 1 { "follows" } else { "follow" };
    (n > 0).then(|| format!("And {n} more that {follow} from these: --all-settings lists all."))
}

/// A row of figures beside each other, and their difference: for two models.
pub(crate) fn flat(comparison: &Comparison, section: &Section, parts: bool) -> Option<Texts> {
    let tested = is_tested(section, parts);
    let row = |row: &Row| {
        let cell = |figure: &Option<Figure>| {
            figure.as_ref().map_or_else(|| NOTHING.to_owned(), |figure| format!("{}, {}", value(row, figure), n(row, figure)))
        };
        let difference = row.differences[0].as_ref();
        let mut cells = vec![titled(row)];
        cells.extend(row.cells.iter().map(cell));
        cells.push(said(row, difference));
        cells.extend(tested.then(|| chance(difference)));
        cells.push(code(row));
        cells
    };
    let [first, second] = [&comparison.subjects[0].label, &comparison.subjects.get(1)?.label];
    let mut head = vec!["figure", first, second, "difference"];
    head.extend(tested.then_some("McNemar p (first:other)"));
    head.push("protocol");
    texts(&head, section.listed(parts).map(row).collect())
}

/// A row for each model and figure: the title of the figure, and its rows.
pub(crate) fn turned(comparison: &Comparison, section: &Section, parts: bool) -> Vec<(String, Texts)> {
    let tested = is_tested(section, parts);
    let less = format!("less {}", comparison.subjects[0].label);
    let mut head = vec!["model", "value", "n", &less];
    head.extend(tested.then_some("McNemar p (first:other)"));
    let block = |row: &Row| {
        let line = |(at, subject): (usize, &Column)| {
            let figure = row.cells[at].as_ref()?;
            let difference = at.checked_sub(1).and_then(|at| row.differences[at].as_ref());
            let n = n(row, figure).replace("n = ", "").replace(" windows", "");
            // What is in the head or told below need not be in every row.
            let mut cells = vec![subject.label.clone(), value(row, figure), n, said(row, difference).replace(" points", "")];
            cells.extend(tested.then(|| chance(difference)));
            Some(cells)
        };
        let rows = comparison.subjects.iter().enumerate().filter_map(line).collect();
        let of = if unit(row).is_empty() { String::new() } else { format!("n in{}, ", unit(row)) };
        Some((format!("{} ({of}protocol {})", titled(row), code(row)), texts(&head, rows)?))
    };
    section.listed(parts).filter_map(block).collect()
}

/// Whether any difference of it is of pairs.
fn is_tested(section: &Section, parts: bool) -> bool {
    section.listed(parts).flat_map(|row| &row.differences).flatten().any(|difference| difference.p.is_some())
}

/// `Legal moves, T = 1.0`; of a part of the sample, which.
pub(crate) fn titled(row: &Row) -> String {
    let sampled = row.temperature.map_or_else(String::new, |t| format!(", T = {}", temperature(t)));
    let slice = if row.slice.is_empty() { String::new() } else { format!(" ({})", words::part(&row.metric, &row.slice)) };
    format!("{}{slice}{sampled}", row.label)
}

/// `97.86 % [97.65, 98.05]`.
pub(crate) fn value(row: &Row, figure: &Figure) -> String {
    words::within(&row.metric, &figure.value)
}

/// `n = 4,000`, or `n = 2 × 4,000` of two seeds; with what is counted, where that is nothing of a game.
pub(crate) fn n(row: &Row, figure: &Figure) -> String {
    let of = unit(row);
    match figure.seeds {
        1 => format!("n = {}{of}", thousands(figure.value.n)),
        seeds => format!("n = {seeds} × {}{of}", thousands(figure.observations)),
    }
}

/// What a sample is of, where that is neither positions nor games.
pub(crate) fn unit(row: &Row) -> &'static str {
    if row.metric == "loss" { " windows" } else { "" }
}

/// The first digits of a protocol.
pub(crate) fn code(row: &Row) -> String {
    short(&row.protocol)
}

pub(crate) fn short(fingerprint: &str) -> String {
    fingerprint.get(..8).unwrap_or(fingerprint).to_owned()
}

/// `+0.99 points [+0.75, +1.23]: better`.
pub(crate) fn said(row: &Row, difference: Option<&Difference>) -> String {
    match difference {
        None => NOTHING.to_owned(),
        Some(difference) if difference.verdict == Verdict::Same => difference.verdict.words(),
        Some(difference) => format!("{}: {}", far(row, difference), difference.verdict.short()),
    }
}

/// `0.031 (12:31)`: how often only the one and only the other was right.
pub(crate) fn chance(difference: Option<&Difference>) -> String {
    let of = |difference: &Difference| {
        let ([first, other], p) = (difference.discordant?, difference.p?);
        let p = if p < 0.0001 { "<0.0001".to_owned() } else { significant(p, 2) };
        Some(format!("{p} ({}:{})", thousands(first), thousands(other)))
    };
    difference.and_then(of).unwrap_or_else(|| NOTHING.to_owned())
}

/// `+0.99 points [+0.75, +1.23]`.
pub(crate) fn far(row: &Row, difference: &Difference) -> String {
    let share = words::is_share(&row.metric, &row.value);
    let scale = if share { 100.0 } else { 1.0 };
    let decimals = decimals_of((difference.high - difference.low) / 2.0 * scale);
    let signed = |value: f64| match fixed(value * scale, decimals) {
        // Nothing has no sign, whatever stood behind its digits.
        text if text.chars().all(|sign| "−0.".contains(sign)) => text.trim_start_matches('−').to_owned(),
        text if value > 0.0 => format!("+{text}"),
        text => text,
    };
    let [value, low, high] = [difference.value, difference.low, difference.high].map(signed);
    format!("{value}{} [{low}, {high}]", if share { " points" } else { "" })
}

/// Which models are not ranked in a section, and why.
pub(crate) fn unranked(comparison: &Comparison, section: &Section) -> Option<String> {
    let why = |at: usize| {
        let mut differences = section.rows.iter().filter_map(|row| row.differences[at].as_ref());
        let why = differences.find_map(|difference| match &difference.verdict {
            Verdict::Unranked(why) => Some(why),
            _ => None,
        })?;
        Some(format!("{} ({why})", comparison.subjects[at + 1].label))
    };
    let all: Vec<String> = (0..comparison.subjects.len() - 1).filter_map(why).collect();
    let end = "--at end ranks final figures whatever they took";
    (!all.is_empty()).then(|| format!("Not ranked beside {}: {}; {end}.", comparison.subjects[0].label, all.join("; ")))
}

/// What of a section is not listed, and why.
pub(crate) fn unlisted(section: &Section) -> Option<String> {
    let of = |alike: Alike| section.rows.iter().filter(|row| row.alike == Some(alike)).collect::<Vec<_>>();
    let names = |rows: &[&Row]| {
        let mut names: Vec<String> = rows.iter().map(|row| titled(row)).collect();
        names.dedup();
        names.join("; ")
    };
    let mut said = Vec::new();
    let (same, zero, twice) = (of(Alike::Measurement), of(Alike::Zero), of(Alike::Twice));
    if !same.is_empty() {
        let figures = plural("figure", same.len() as u64);
        said.push(format!("{figures} of one and the same measurement, and so the same"));
    }
    if !zero.is_empty() {
        said.push(format!("never seen in any ({})", names(&zero)));
    }
    if !twice.is_empty() {
        said.push(format!("the numbers of another row once more ({})", names(&twice)));
    }
    (!said.is_empty()).then(|| format!("Not listed: {}.", said.join("; ")))
}

/// Below the final figures: the levels that are snapshots of the very same weights.
pub(crate) fn again(comparison: &Comparison, section: &Section) -> Option<String> {
    let is_again = |level: &&Section| level.rows.iter().any(|row| row.alike == Some(Alike::Final));
    let levels = comparison.sections.iter().filter(is_again);
    let named: Vec<String> = levels.filter_map(|level| Some(level.budget?.words(level.at?))).collect();
    (section.budget.is_none() && !named.is_empty()).then(|| {
        let at = named.join(" and ");
        format!("The snapshots at {at} are of these same weights, on no more items: their figures stand in the CSV and the JSON alone.")
    })
}

/// What the levels of a budget say together, a row a figure; none where there are no two.
pub(crate) fn trends(comparison: &Comparison) -> Option<Texts> {
    let row = |trend: &Trend| {
        vec![
            trend.label.clone(),
            comparison.subjects[trend.subject].label.clone(),
            if trend.budget == Budget::Tokens { "tokens" } else { "work" }.to_owned(),
            format!("better at {}, worse at {} of {}", trend.better, trend.worse, trend.levels),
            thousands(trend.told as u64),
        ]
    };
    texts(&["figure", "of", "at equal", "beside the first", "told"], comparison.trends.iter().map(row).collect())
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

/// Which snapshots a level is of, where they are not all at one step and one budget.
pub(crate) fn spread(comparison: &Comparison, section: &Section) -> Option<String> {
    let budget = section.budget?;
    let spent = |at: usize| {
        let figure = section.rows.iter().find_map(|row| row.cells[at].as_ref())?;
        let flops = comparison.subjects[at].flops_per_token as f64;
        Some((figure.step, if budget == Budget::Tokens { figure.tokens as f64 } else { figure.tokens as f64 * flops }))
    };
    let all: Vec<_> = (0..comparison.subjects.len()).filter_map(|at| Some((at, spent(at)?))).collect();
    let said = |&(at, (step, spent)): &(usize, (u64, f64))| {
        format!("{} at step {} ({})", comparison.subjects[at].label, thousands(step), si(spent))
    };
    let (_, (step, first)) = *all.first()?;
    if all.iter().all(|&(_, (other, spent))| other == step && spent.total_cmp(&first).is_eq())
        && all.len() == comparison.subjects.len()
    {
        return Some(format!("All at step {}.", thousands(step)));
    }
    Some(all.iter().map(said).collect::<Vec<_>>().join(", ") + ".")
}
