//! A comparison as a folder for people: a page, its charts, and the numbers in three forms.

use std::path::{Path, PathBuf};

use anyhow::Result;
use fs_err as fs;
use serde::Serialize;

use super::comparison::{Comparison, Difference, Row, Section};
use super::render::{csv, json, markdown, reading, warnings};
use super::subject::Subject;
use super::table::{self, Texts};
use super::verdict::Verdict;
use crate::report::charts::overlays;
use crate::report::page::table::{Cell, Table};
use crate::report::page::{Figure, render_html};
use crate::report::{Drawn, drawn, pictures, replace, words};
use crate::text::plural;

#[derive(Serialize)]
struct Page {
    title: String,
    facts: Vec<String>,
    tainted: Vec<String>,
    not_comparable: Vec<String>,
    summary: Vec<String>,
    charts: Vec<Figure>,
    sections: Vec<Part>,
    trends: Option<Table>,
    subjects: Option<Table>,
    settings: Option<Table>,
    reading: String,
    provenance: Vec<(String, String)>,
}

#[derive(Serialize)]
struct Part {
    title: String,
    note: Option<String>,
    rows: Option<Table>,
    parts: Option<Table>,
}

/// Writes `compare.html`, `.md`, `.csv`, `.json` and `charts/` into a folder, and tells where the page is.
///
/// # Errors
///
/// Where the folder cannot be written.
pub fn write(comparison: &Comparison, subjects: &[Subject], out: &Path) -> Result<PathBuf> {
    fs::create_dir_all(out)?;
    let charts: Vec<Drawn> = overlays(subjects).into_iter().map(|(name, drawing)| drawn(name, "compare", drawing)).collect();
    pictures(&charts, &out.join("charts"))?;
    let page = Page::new(comparison, subjects, &charts);
    replace(&out.join("compare.csv"), &csv(comparison)?)?;
    replace(&out.join("compare.json"), &json(comparison)?)?;
    replace(&out.join("compare.md"), &markdown(comparison, subjects))?;
    let html = out.join("compare.html");
    replace(&html, &render_html("compare.html", include_str!("page.html"), &page, false)?)?;
    Ok(html)
}

impl Page {
    fn new(comparison: &Comparison, subjects: &[Subject], charts: &[Drawn]) -> Self {
        let names: Vec<&str> = comparison.subjects.iter().map(|subject| subject.name.as_str()).collect();
        let (first, others) = names.split_first().expect("two at least");
        let part = |section: &Section| {
            let rows = table::section(comparison, section, false).and_then(sortable)?;
            let parts = table::section(comparison, section, true).and_then(sortable);
            Some(Part { title: table::title(section), note: table::spread(comparison, section), rows: Some(rows), parts })
        };
        let (tainted, not_comparable): (Vec<String>, Vec<String>) =
            warnings(comparison).into_iter().partition(|sentence| !sentence.starts_with("NOT COMPARABLE"));
        let provenance = comparison.subjects.iter().map(|subject| {
            let weights = subject.weights.iter().filter(|key| !key.is_empty()).cloned().collect::<Vec<_>>().join(", ");
            (subject.name.clone(), format!("run {}; weights {weights}", subject.runs.join(", ")))
        });
        Self {
            title: format!("{} beside {first}", others.join(", ")),
            facts: vec![
                plural("model", names.len() as u64),
                plural("difference", comparison.tests() as u64),
                plural("setting", comparison.settings.len() as u64) + " that differ",
            ],
            tainted,
            not_comparable,
            summary: summary(comparison),
            charts: charts.iter().map(|chart| Figure::alone(chart, "compare.csv")).collect(),
            sections: comparison.sections.iter().filter_map(part).collect(),
            trends: table::trends(comparison).and_then(sortable),
            subjects: sortable(table::subjects(comparison)),
            settings: table::settings(comparison).and_then(sortable),
            reading: reading(comparison, subjects),
            provenance: provenance.collect(),
        }
    }
}

/// The final figures that everybody asks for first, each in a sentence that says no more than its interval.
fn summary(comparison: &Comparison) -> Vec<String> {
    const FIRST: [(&str, &str); 4] = [("legality", "rate"), ("agreement", "top1"), ("full_games", "clean"), ("loss", "nats")];
    let Some(section) = comparison.sections.first() else { return vec!["They have no figure in common.".to_owned()] };
    let mut said = Vec::new();
    for (metric, value) in FIRST {
        let rows = section.rows.iter().filter(|row| row.metric == metric && row.value == value && row.slice.is_empty());
        for row in rows {
            for (at, difference) in row.differences.iter().enumerate() {
                if let Some(difference) = difference {
                    said.push(sentence(comparison, row, at + 1, difference));
                }
            }
        }
    }
    if said.is_empty() {
        said.push("They have none of the usual figures in common; all that they have stands below.".to_owned());
    }
    said
}

fn sentence(comparison: &Comparison, row: &Row, at: usize, difference: &Difference) -> String {
    let name = |at: usize| &comparison.subjects[at].name;
    let within = |at: usize| row.cells[at].as_ref().map_or_else(String::new, |figure| words::within(&row.metric, &figure.value));
    let finding = match &difference.verdict {
        Verdict::Better => format!("{} is better", name(at)),
        Verdict::Worse => format!("{} is worse", name(at)),
        Verdict::Higher => format!("{} is higher", name(at)),
        Verdict::Lower => format!("{} is lower", name(at)),
        Verdict::Same => "both are of one measurement".to_owned(),
        Verdict::Inconclusive => "which of them is better is not told".to_owned(),
        Verdict::Unranked(why) => format!("they differ, and are not ranked ({why})"),
    };
    let far = if difference.verdict == Verdict::Same { String::new() } else { format!(", {}", table::far(row, difference)) };
    format!("{}: {} of {}, {} of {}; {finding}{far}.", row.label, within(at), name(at), within(0), name(0))
}

fn sortable(texts: Texts) -> Option<Table> {
    let head = texts.head.into_iter().enumerate().map(|(column, text)| (text, column > 0));
    let cell = |(column, text): (usize, String)| if column == 0 { Cell::text(text) } else { Cell::number(text, None) };
    let rows = texts.rows.into_iter().map(|row| row.into_iter().enumerate().map(cell).collect()).collect();
    Table::with(head, rows)
}
