//! A comparison from top to bottom, as parts that every form for readers has in this order.

use serde::Serialize;

use super::column::{Column, Origin};
use super::comparison::Comparison;
use super::section::Section;
use super::table::{self, Texts};
use crate::text::{plural, significant};

/// A piece of what is read.
pub(crate) enum Part {
    Heading(String),
    Prose(String),
    List(Vec<String>),
    Table(Texts),
    /// Figures in one table, where there are two models, and turned: a block a figure, a row a model.
    Figures {
        flat: Option<Texts>,
        turned: Vec<(String, Texts)>,
    },
    /// Names and what they stand for.
    Pairs(Vec<(String, String)>),
    Sources(Vec<Source>),
}

/// Where a training comes from.
#[derive(Serialize)]
pub(crate) struct Source {
    /// Of the model.
    pub(crate) label: String,
    /// Each with its name.
    pub(crate) facts: Vec<String>,
    /// The command that makes its run again; it may be empty.
    pub(crate) command: String,
    /// The page of its run.
    pub(crate) report: Option<String>,
}

pub(crate) fn document(comparison: &Comparison) -> Vec<Part> {
    let mut parts: Vec<Part> = warnings(comparison).into_iter().map(Part::Prose).collect();
    for answer in &comparison.answers {
        parts.push(Part::Prose(answer.lead.clone()));
        if !answer.findings.is_empty() {
            parts.push(Part::List(answer.findings.clone()));
        }
    }
    parts.extend(table::subjects(comparison).map(Part::Table));
    let key = table::key(comparison);
    if !key.is_empty() {
        parts.push(Part::Pairs(key));
    }
    parts.push(Part::Heading(differs(comparison)));
    match table::settings(comparison) {
        Some(settings) => parts.push(Part::Table(settings)),
        None => parts.push(Part::Prose("Nothing but the runs themselves.".to_owned())),
    }
    parts.extend(table::following(comparison).map(Part::Prose));
    for section in &comparison.sections {
        parts.extend(figures(comparison, section));
    }
    parts.extend(comparison.of_levels.iter().cloned().map(Part::Prose));
    if let Some(trends) = table::trends(comparison) {
        parts.extend([Part::Heading("Over all levels".to_owned()), Part::Table(trends)]);
    }
    parts.push(Part::Heading("How to read it".to_owned()));
    parts.push(Part::List([reading(comparison), comparison.caveats.clone()].concat()));
    if !comparison.protocols.is_empty() {
        parts.extend([Part::Heading("Protocols".to_owned()), Part::Pairs(protocols(comparison))]);
    }
    parts.push(Part::Heading("Where it comes from".to_owned()));
    if !comparison.command.is_empty() {
        parts.push(Part::Prose(format!("Made again by: `{}`", comparison.command)));
    }
    parts.push(Part::Sources(sources(comparison)));
    parts
}

/// What differs in what was asked, as a heading.
pub(crate) fn differs(comparison: &Comparison) -> String {
    match comparison.settings.shown.len() {
        0 => "What differs in what was asked".to_owned(),
        n => format!("What differs in what was asked: {}", plural("setting", n as u64)),
    }
}

fn figures(comparison: &Comparison, section: &Section) -> Vec<Part> {
    let turned = table::turned(comparison, section, false);
    let unlisted = table::unlisted(section);
    if turned.is_empty() && unlisted.is_none() {
        return Vec::new();
    }
    let mut parts = vec![Part::Heading(table::title(section))];
    parts.extend(table::spread(comparison, section).map(Part::Prose));
    let two = comparison.subjects.len() == 2;
    let flat = if two { table::flat(comparison, section, false) } else { None };
    if !turned.is_empty() {
        parts.push(Part::Figures { flat, turned });
    }
    parts.extend(table::unranked(comparison, section).map(Part::Prose));
    parts.extend(unlisted.map(Part::Prose));
    parts.extend(table::again(comparison, section).map(Part::Prose));
    parts
}

/// What must be said before any figure.
pub(crate) fn warnings(comparison: &Comparison) -> Vec<String> {
    let mut said: Vec<String> = comparison
        .subjects
        .iter()
        .flat_map(|subject| subject.tainted.iter().map(|sentence| format!("{}: {sentence}", subject.label)))
        .collect();
    said.extend(comparison.not_comparable.iter().map(|unlike| {
        let [a, b] = unlike.subjects.map(|at| comparison.subjects[at].label.as_str());
        let fields: Vec<String> = unlike.fields.iter().map(super::unlike::Differs::words).collect();
        format!("NOT COMPARABLE: {} of {a} and of {b} ({}).", unlike.metric, fields.join("; "))
    }));
    said
}

/// How to read the differences.
pub(crate) fn reading(comparison: &Comparison) -> Vec<String> {
    let chance = comparison.chance;
    if chance.differences == 0 {
        return vec!["They have no figure in common that could differ, and so there is no difference.".to_owned()];
    }
    let first = &comparison.subjects[0].label;
    let mut said = vec![
        format!(
            "Each difference is from {first}, with its 95 % interval: pair by pair where both answered the same positions, else from the \
             two intervals. It is told (better, worse, higher, lower) where that interval does not hold 0 and McNemar's exact test of the \
             pairs, where there is one, is below 0.05; else it is inconclusive, which is not to be equal. Beside its p stands on how many \
             items only the first was right, and on how many only the other. Differences of shares are in percentage points."
        ),
        format!(
            "{} {} listed; {} told. If no two models differed at all, about {} would be told by chance alone. Allowing for all of them (Holm), {} \
             told; each adjusted p is in the CSV and the JSON.",
            plural("difference", chance.differences as u64),
            if chance.differences == 1 { "is" } else { "are" },
            are(chance.told),
            significant(chance.expected, 2),
            are(chance.told_of_all)
        ),
    ];
    said.push("Figures of the same positions go together, and are no votes that may be counted.".to_owned());
    if comparison.sections.iter().flat_map(|section| section.listed(false)).any(|row| row.metric == "loss") {
        said.push(
            "The loss is of the same windows for all, but is not kept window by window: its difference is from the two intervals, and \
             wider than pairs would make it."
                .to_owned(),
        );
    }
    said
}

fn are(n: usize) -> String {
    format!("{n} {}", if n == 1 { "is" } else { "are" })
}

/// What the codes of protocols stand for.
pub(crate) fn protocols(comparison: &Comparison) -> Vec<(String, String)> {
    comparison.protocols.iter().map(|(fingerprint, words)| (table::short(fingerprint), words.clone())).collect()
}

/// Where each model comes from, seed by seed.
pub(crate) fn sources(comparison: &Comparison) -> Vec<Source> {
    let origins = comparison.subjects.iter().flat_map(|subject| subject.members.iter().map(move |origin| (subject, origin)));
    let mut runs: Vec<String> = Vec::new();
    let source = |(subject, origin): (&Column, &Origin)| {
        // What holds of a run is said with the first of its trainings.
        if runs.contains(&origin.run) {
            let facts = its_own(origin, subject);
            return Source { label: subject.label.clone(), facts, command: String::new(), report: None };
        }
        runs.push(origin.run.clone());
        Source {
            label: subject.label.clone(),
            facts: facts(origin, subject),
            command: origin.command.clone(),
            report: origin.report.clone(),
        }
    };
    origins.map(source).collect()
}

/// What a training has for itself in a run of several.
fn its_own(origin: &Origin, subject: &Column) -> Vec<String> {
    let all = facts(origin, subject);
    all.into_iter().filter(|fact| ["run ", "point ", "weights "].iter().any(|own| fact.starts_with(own))).collect()
}

fn facts(origin: &Origin, subject: &Column) -> Vec<String> {
    let weights = origin.weights.get(..12).unwrap_or(&origin.weights);
    let commit = match origin.git.split_once('+') {
        Some((commit, _)) => format!("{commit}, with uncommitted changes"),
        None => origin.git.clone(),
    };
    let named = [
        ("run", origin.run.as_str()),
        // Of a run that is no sweep, the point is called as the run is.
        ("point", if origin.point == subject.name { "" } else { &origin.point }),
        ("weights", weights),
        ("git", &commit),
        ("started", &origin.started),
        ("on", &origin.device),
        ("host", &origin.host),
        ("philidor", &origin.philidor),
    ];
    named.into_iter().filter(|(_, value)| !value.is_empty()).map(|(name, value)| format!("{name} {value}")).collect()
}
