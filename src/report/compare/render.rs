//! A comparison as numbers for programs: CSV and JSON, never rounded.

use anyhow::{Context as _, Result};
use polars::prelude::{CsvWriter, SerWriter as _, df};

use super::comparison::Comparison;
use super::section::{Alike, Difference, Figure, Row, Section};

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
    let pairs = |at: usize| -> Vec<Option<u64>> {
        rows.iter().map(|(_, row, subject)| Some(difference(row, *subject)?.discordant?[at])).collect()
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
        "seeds" => count(|figure| figure.seeds as u64),
        "value" => figure(|figure| figure.value.value),
        "low" => figure(|figure| figure.value.low),
        "high" => figure(|figure| figure.value.high),
        "n" => count(|figure| figure.value.n),
        "method" => words(&|_, row, subject| Some(row.cells[subject].as_ref()?.value.method.clone())),
        "difference" => less(|difference| Some(difference.value)),
        "difference_low" => less(|difference| Some(difference.low)),
        "difference_high" => less(|difference| Some(difference.high)),
        "difference_method" => words(&|_, row, subject| Some(difference(row, subject)?.method.clone())),
        "only_first" => pairs(0),
        "only_other" => pairs(1),
        "p" => less(|difference| difference.p),
        "p_holm" => less(|difference| difference.p_holm),
        "verdict" => words(&|_, row, subject| Some(difference(row, subject)?.verdict.name().to_owned())),
        "alike" => words(&|_, row, _| row.alike.map(|alike| name(alike).to_owned())),
    )
    .context("making the table of a comparison")?;
    let mut bytes = Vec::new();
    CsvWriter::new(&mut bytes).finish(&mut frame).context("writing the table of a comparison")?;
    Ok(String::from_utf8(bytes)?)
}

fn difference(row: &Row, subject: usize) -> Option<&Difference> {
    row.differences.get(subject.checked_sub(1)?)?.as_ref()
}

fn name(alike: Alike) -> &'static str {
    match alike {
        Alike::Measurement => "measurement",
        Alike::Zero => "zero",
        Alike::Twice => "twice",
        Alike::Final => "final",
    }
}
