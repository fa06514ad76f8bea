//! A comparison as a folder for people: a page, its charts, and the numbers in three forms.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::Serialize;

use super::answer::{Answer, joined};
use super::comparison::Comparison;
use super::document::{Source, differs, protocols, reading, sources, warnings};
use super::folder;
use super::grid::{self, Grid};
use super::markdown::markdown;
use super::render::{csv, json};
use super::section::Section;
use super::subject::Subject;
use super::table::{self, Texts};
use super::terms;
use crate::report::charts::overlays;
use crate::report::page::table::{Cell, Table};
use crate::report::page::{Figure, render_html};
use crate::report::{Drawn, drawn, pictures, replace};
use crate::text::plural;

#[derive(Serialize)]
struct Page {
    title: String,
    question: Option<String>,
    facts: Vec<String>,
    tainted: Vec<String>,
    not_comparable: Vec<String>,
    answers: Vec<Answer>,
    caveats: Vec<String>,
    of_levels: Vec<String>,
    charts: Vec<Figure>,
    sections: Vec<Part>,
    trends: Option<Table>,
    subjects: Option<Table>,
    key: Vec<(String, String)>,
    differs: String,
    settings: Option<Table>,
    following: Option<String>,
    reading: Vec<String>,
    protocols: Vec<(String, String)>,
    terms: Vec<(&'static str, &'static str)>,
    command: String,
    sources: Vec<Source>,
}

#[derive(Serialize)]
struct Part {
    title: String,
    /// Of the first one of snapshots: what holds of all of them stands above it.
    is_first_level: bool,
    again: Option<String>,
    note: Option<String>,
    unranked: Option<String>,
    unlisted: Option<String>,
    rows: Option<Grid>,
    parts: Option<Grid>,
}

/// Writes `compare.html`, `.md`, `.csv`, `.json` and `charts/` into a folder, and tells where the page is.
///
/// # Errors
///
/// Where the folder cannot be written, or holds files of these names that no comparison wrote.
pub fn write(comparison: &mut Comparison, subjects: &[Subject], out: &Path) -> Result<PathBuf> {
    folder::claim(out)?;
    comparison.seen_from(out);
    let charts: Vec<Drawn> = overlays(subjects).into_iter().map(|(name, drawing)| drawn(name, "compare", drawing)).collect();
    // The page first: it says whose folder it is, should the rest not come to an end.
    let html = out.join("compare.html");
    replace(&html, &render_html("compare.html", include_str!("page.html"), &Page::new(comparison, &charts), false)?)?;
    pictures(&charts, &out.join("charts"))?;
    replace(&out.join("compare.csv"), &csv(comparison)?)?;
    replace(&out.join("compare.json"), &json(comparison)?)?;
    replace(&out.join("compare.md"), &markdown(comparison))?;
    Ok(html)
}

impl Page {
    fn new(comparison: &Comparison, charts: &[Drawn]) -> Self {
        let labels: Vec<&str> = comparison.subjects.iter().map(|subject| subject.label.as_str()).collect();
        let (first, others) = labels.split_first().expect("two at least");
        let part = |section: &Section| {
            let (rows, unlisted) = (grid::of(comparison, section, false), table::unlisted(section));
            (rows.is_some() || unlisted.is_some()).then(|| Part {
                title: table::title(section),
                is_first_level: false,
                again: table::again(comparison, section),
                note: table::spread(comparison, section),
                unranked: table::unranked(comparison, section),
                unlisted,
                rows,
                parts: grid::of(comparison, section, true),
            })
        };
        let (not_comparable, tainted): (Vec<String>, Vec<String>) =
            warnings(comparison).into_iter().partition(|sentence| sentence.starts_with("NOT COMPARABLE"));
        let differing = match comparison.settings.shown.len() as u64 {
            1 => "1 setting differs".to_owned(),
            n => format!("{} differ", plural("setting", n)),
        };
        let mut facts = facts(comparison);
        facts.extend([
            plural("model", labels.len() as u64),
            plural("difference", comparison.chance.differences as u64),
            differing,
        ]);
        let mut sections: Vec<(bool, Part)> =
            comparison.sections.iter().filter_map(|section| Some((section.budget.is_some(), part(section)?))).collect();
        let mut caveats = comparison.caveats.clone();
        match sections.iter_mut().find(|(is_level, _)| *is_level) {
            Some((_, first)) => first.is_first_level = true,
            None => caveats.extend(comparison.of_levels.clone()),
        }
        Self {
            title: title(comparison, first, others),
            question: comparison.question.clone(),
            facts,
            tainted,
            not_comparable,
            answers: comparison.answers.clone(),
            caveats,
            of_levels: comparison.of_levels.clone(),
            charts: charts.iter().map(|chart| Figure::alone(chart, "compare.csv")).collect(),
            sections: sections.into_iter().map(|(_, part)| part).collect(),
            trends: table::trends(comparison).and_then(plain),
            subjects: table::subjects(comparison).and_then(plain),
            key: table::key(comparison),
            differs: differs(comparison),
            settings: table::settings(comparison).and_then(plain),
            following: table::following(comparison),
            reading: reading(comparison),
            protocols: protocols(comparison),
            terms: terms::used(comparison),
            command: comparison.command.clone(),
            sources: sources(comparison),
        }
    }
}

/// The run, where there is one; when they were started, and on what games.
fn facts(comparison: &Comparison) -> Vec<String> {
    let origins = || comparison.subjects.iter().flat_map(|subject| &subject.members);
    let mut runs: Vec<&str> = origins().map(|origin| origin.run.as_str()).collect();
    runs.dedup();
    let days = || origins().filter_map(|origin| origin.started.get(..10));
    let mut facts = Vec::new();
    if let [run] = runs[..] {
        facts.push(format!("run {run}"));
    }
    facts.extend(
        days()
            .min()
            .zip(days().max())
            .map(|(first, last)| if first == last { format!("started {first}") } else { format!("started {first} to {last}") }),
    );
    if !comparison.corpus.is_empty() {
        facts.push(format!("corpus {}", comparison.corpus.join(", ")));
    }
    facts
}

/// `size-sweep: 3 × 64 and 6 × 192 beside 2 × 32`: with the run, where the labels do not name it.
fn title(comparison: &Comparison, first: &str, others: &[&str]) -> String {
    let members = || comparison.subjects.iter().flat_map(|subject| &subject.members);
    let run = members().next().map(|origin| origin.name.as_str()).unwrap_or_default();
    let is_named = comparison.subjects.iter().any(|subject| subject.label == subject.name);
    let of =
        if is_named || run.is_empty() || members().any(|origin| origin.name != run) { String::new() } else { format!("{run}: ") };
    let others = joined(&others.iter().map(|&label| label.to_owned()).collect::<Vec<_>>());
    format!("{of}{others} beside {first}")
}

fn plain(texts: Texts) -> Option<Table> {
    let head = texts.head.into_iter().enumerate().map(|(column, text)| (text, column > 0));
    let cell = |(column, text): (usize, String)| if column == 0 { Cell::text(text) } else { Cell::number(text, None) };
    let rows = texts.rows.into_iter().map(|row| row.into_iter().enumerate().map(cell).collect()).collect();
    Table::with(head, rows)
}
