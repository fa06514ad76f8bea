//! Figures as the page shows them: a cell is a figure, and below it, smaller, what it rests on.

use serde::Serialize;

use super::comparison::Comparison;
use super::section::{Difference, Figure, Row, Section};
use super::table;
use super::verdict::Verdict;

#[derive(Serialize)]
pub(crate) struct Grid {
    head: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

#[derive(Default, Serialize)]
struct Cell {
    text: String,
    /// Such as `n = 4,000`.
    note: String,
    /// The place on the page that explains it.
    link: Option<String>,
    /// What the column is sorted by.
    sort: Option<f64>,
    class: &'static str,
}

/// Two models side by side, a row a figure; more below each other. None where nothing is listed.
pub(crate) fn of(comparison: &Comparison, section: &Section, parts: bool) -> Option<Grid> {
    let labels: Vec<String> = comparison.subjects.iter().map(|subject| subject.label.clone()).collect();
    let rows: Vec<Vec<Cell>> = if labels.len() == 2 {
        section.listed(parts).map(flat).collect()
    } else {
        section.listed(parts).flat_map(|row| turned(row, &labels)).collect()
    };
    let head = if labels.len() == 2 {
        vec!["figure".to_owned(), labels[0].clone(), labels[1].clone(), "difference".to_owned()]
    } else {
        vec!["figure".to_owned(), "model".to_owned(), "value".to_owned(), format!("less {}", labels[0])]
    };
    (!rows.is_empty()).then_some(Grid { head, rows })
}

fn flat(row: &Row) -> Vec<Cell> {
    let values = row.cells.iter().map(|figure| value(row, figure.as_ref()));
    std::iter::once(title(row)).chain(values).chain([difference(row, row.differences[0].as_ref())]).collect()
}

fn turned(row: &Row, labels: &[String]) -> Vec<Vec<Cell>> {
    let line = |(at, figure): (usize, &Option<Figure>)| {
        let figure = figure.as_ref()?;
        let apart = at.checked_sub(1).and_then(|at| row.differences[at].as_ref());
        let model = Cell { text: labels[at].clone(), class: "model", ..Cell::default() };
        Some(vec![title(row), model, value(row, Some(figure)), difference(row, apart)])
    };
    row.cells.iter().enumerate().filter_map(line).collect()
}

fn title(row: &Row) -> Cell {
    let code = table::code(row);
    Cell { text: table::titled(row), note: format!("protocol {code}"), link: Some(code), ..Cell::default() }
}

fn value(row: &Row, figure: Option<&Figure>) -> Cell {
    let Some(figure) = figure else { return Cell { text: table::NOTHING.to_owned(), class: "number", ..Cell::default() } };
    Cell {
        text: table::value(row, figure),
        note: table::n(row, figure),
        sort: Some(figure.value.value).filter(|value| value.is_finite()),
        class: "number",
        ..Cell::default()
    }
}

fn difference(row: &Row, difference: Option<&Difference>) -> Cell {
    let Some(difference) = difference else {
        return Cell { text: table::NOTHING.to_owned(), class: "number", ..Cell::default() };
    };
    if difference.verdict == Verdict::Same {
        return Cell { text: difference.verdict.words(), class: "number", ..Cell::default() };
    }
    let test = match table::chance(Some(difference)) {
        none if none == table::NOTHING => String::new(),
        test => format!(", McNemar p = {test}").replace("= <", "< "),
    };
    let told = difference.verdict != Verdict::Inconclusive;
    Cell {
        text: table::far(row, difference),
        note: format!("{}{test}", difference.verdict.short()),
        sort: Some(difference.value).filter(|value| value.is_finite()),
        class: if told { "number told" } else { "number" },
        ..Cell::default()
    }
}
