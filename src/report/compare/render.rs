//! A comparison in the forms that it leaves in.

use anyhow::{Context as _, Result};
use polars::prelude::{CsvWriter, SerWriter as _, df};

use super::comparison::{Comparison, Difference, Figure, Row, Section};
use super::subject::Subject;
use super::table::{self, Texts};
use crate::text::significant;

/// One JSON document.
pub fn json(comparison: &Comparison) -> Result<String> {
    Ok(serde_json::to_string_pretty(comparison)?)
}

/// One row for each figure of each subject, never rounded, with its difference from the first subject's.
pub fn csv(comparison: &Comparison) -> Result<String> {
    let rows: Vec<(&Section, &Row, usize)> = comparison
        .sections
        .iter()
        .flat_map(|section| section.rows.iter().map(move |row| (section, row)))
        .flat_map(|(section, row)| (0..row.cells.len()).map(move |subject| (section, row, subject)))
        .filter(|(_, row, subject)| row.cells[*subject].is_some())
        .collect();
    let figure = |of: fn(&Figure) -> f64| -> Vec<Option<f64>> {
        rows.iter().map(|(_, row, subject)| row.cells[*subject].as_ref().map(of)).collect()
    };
    let count = |of: fn(&Figure) -> u64| -> Vec<Option<u64>> {
        rows.iter().map(|(_, row, subject)| row.cells[*subject].as_ref().map(of)).collect()
    };
    let less = |of: fn(&Difference) -> Option<f64>| -> Vec<Option<f64>> {
        rows.iter().map(|(_, row, subject)| difference(row, *subject).and_then(of)).collect()
    };
    let words = |of: &dyn Fn(&Section, &Row, usize) -> Option<String>| -> Vec<Option<String>> {
        rows.iter().map(|(section, row, subject)| of(section, row, *subject)).collect()
    };
    let mut frame = df!(
        "equal" => words(&|section, _, _| section.budget.map(|budget| budget.name().to_owned())),
        "at" => rows.iter().map(|(section, ..)| section.at).collect::<Vec<_>>(),
        "metric" => words(&|_, row, _| Some(format!("{}.{}", row.metric, row.value))),
        "slice" => words(&|_, row, _| Some(row.slice.clone())),
        "temperature" => rows.iter().map(|(_, row, _)| row.temperature).collect::<Vec<_>>(),
        "protocol" => words(&|_, row, _| Some(row.protocol.clone())),
        "subject" => words(&|_, _, subject| Some(comparison.subjects[subject].name.clone())),
        "checkpoint" => words(&|_, row, subject| Some(row.cells[subject].as_ref()?.checkpoint.clone())),
        "step" => count(|figure| figure.step),
        "tokens" => count(|figure| figure.tokens),
        "value" => figure(|figure| figure.value.value),
        "low" => figure(|figure| figure.value.low),
        "high" => figure(|figure| figure.value.high),
        "n" => count(|figure| figure.value.n),
        "method" => words(&|_, row, subject| Some(row.cells[subject].as_ref()?.value.method.clone())),
        "difference" => less(|difference| Some(difference.value)),
        "difference_low" => less(|difference| Some(difference.low)),
        "difference_high" => less(|difference| Some(difference.high)),
        "difference_method" => words(&|_, row, subject| Some(difference(row, subject)?.method.clone())),
        "p" => less(|difference| difference.p),
        "verdict" => words(&|_, row, subject| Some(difference(row, subject)?.verdict.name().to_owned())),
    )
    .context("making the table of a comparison")?;
    let mut bytes = Vec::new();
    CsvWriter::new(&mut bytes).finish(&mut frame).context("writing the table of a comparison")?;
    Ok(String::from_utf8(bytes)?)
}

fn difference(row: &Row, subject: usize) -> Option<&Difference> {
    row.differences.get(subject.checked_sub(1)?)?.as_ref()
}

/// For a page that others write, such as an issue.
pub fn markdown(comparison: &Comparison, subjects: &[Subject]) -> String {
    whole(comparison, subjects, &|text| format!("## {text}\n"), &piped)
}

/// In columns.
pub fn terminal(comparison: &Comparison, subjects: &[Subject]) -> String {
    whole(comparison, subjects, &|text| text.to_owned(), &aligned)
}

fn whole(
    comparison: &Comparison,
    subjects: &[Subject],
    heading: &dyn Fn(&str) -> String,
    table: &dyn Fn(&Texts) -> String,
) -> String {
    let mut out = String::new();
    let mut put = |text: &str| {
        out.push_str(text);
        out.push('\n');
    };
    for warning in warnings(comparison) {
        put(&format!("{warning}\n"));
    }
    put(&table(&table::subjects(comparison)));
    put(&heading("What differs in what was asked"));
    match table::settings(comparison) {
        Some(settings) => put(&table(&settings)),
        None => put("Nothing but the runs themselves.\n"),
    }
    for section in &comparison.sections {
        let Some(rows) = table::section(comparison, section, false) else { continue };
        put(&heading(&table::title(section)));
        if let Some(spread) = table::spread(comparison, section) {
            put(&format!("{spread}.\n"));
        }
        put(&table(&rows));
    }
    if let Some(trends) = table::trends(comparison) {
        put(&heading("Over all levels"));
        put(&table(&trends));
    }
    put(&reading(comparison, subjects));
    out
}

/// What must be said before any figure.
pub(crate) fn warnings(comparison: &Comparison) -> Vec<String> {
    let mut said: Vec<String> = comparison
        .subjects
        .iter()
        .flat_map(|subject| subject.tainted.iter().map(|sentence| format!("{}: {sentence}", subject.name)))
        .collect();
    said.extend(comparison.not_comparable.iter().map(|unlike| {
        let [a, b] = unlike.subjects.map(|at| comparison.subjects[at].name.as_str());
        let fields: Vec<String> = unlike.fields.iter().map(super::unlike::Differs::words).collect();
        format!("NOT COMPARABLE: {} of {a} and of {b} ({}).", unlike.metric, fields.join("; "))
    }));
    said
}

/// How to read the differences.
pub(crate) fn reading(comparison: &Comparison, subjects: &[Subject]) -> String {
    let tests = comparison.tests();
    if tests == 0 {
        return "They have no figure in common, and so no difference.".to_owned();
    }
    let mut said = vec![format!(
        "Each difference is from {}, with its 95 % interval: pair by pair where both answered the same positions, else from the two \
         intervals. Of {tests} differences, about {} would be told where there is none.",
        subjects[0].name,
        significant(tests as f64 / 20.0, 2)
    )];
    if subjects.iter().any(|subject| subject.seeds() > 1) {
        said.push(
            "A figure of several seeds is their mean, with the interval of how much another seed may change it; that of a single \
             training knows nothing of that."
                .to_owned(),
        );
    } else {
        said.push("What another seed of the training would change is in none of these intervals.".to_owned());
    }
    said.join(" ")
}

fn piped(texts: &Texts) -> String {
    let line =
        |cells: &[String]| format!("| {} |\n", cells.iter().map(|cell| cell.replace('|', "\\|")).collect::<Vec<_>>().join(" | "));
    let rule = format!("|{}\n", " --- |".repeat(texts.head.len()));
    line(&texts.head) + &rule + &texts.rows.iter().map(|row| line(row)).collect::<String>()
}

fn aligned(texts: &Texts) -> String {
    let all = || std::iter::once(&texts.head).chain(&texts.rows);
    let wide = |column: usize| all().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..texts.head.len()).map(wide).collect();
    let line = |row: &Vec<String>| {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        format!("  {}\n", cells.join("  ").trim_end())
    };
    all().map(line).collect()
}
