//! The tables beside a page, row by row, as they lie on the disk.

use std::collections::BTreeMap;
use std::path::Path;

use super::shown::{Shown, phrases};
use crate::report::tests::read;

struct Row {
    cells: Vec<String>,
    numbers: Vec<f64>,
    /// Of names, parts and methods: between which bounds each lies is not asked.
    in_words: Vec<f64>,
}

pub(super) struct Sheets(BTreeMap<String, (Vec<String>, Vec<Row>)>);

impl Sheets {
    pub(super) fn read(dir: &Path, names: &[&str]) -> Self {
        let sheet = |name: &&str| {
            let csv = read(&dir.join(format!("{name}.csv")));
            let mut lines = csv.lines().map(cells);
            let head = lines.next().expect("a head");
            ((*name).to_owned(), (head, lines.map(row).collect()))
        };
        Self(names.iter().map(sheet).collect())
    }

    /// Whether one row of a table has all of these.
    pub(super) fn has_row(&self, table: &str, numbers: &[Shown]) -> bool {
        let rows = self.0.get(table).map_or(&[][..], |(_, rows)| rows);
        rows.iter().any(|row| numbers.iter().all(|shown| is_in(shown, &row.numbers, &row.in_words)))
    }

    /// Whether a column of a table has all of these in one cell.
    pub(super) fn has_in(&self, table: &str, column: &str, numbers: &[Shown]) -> bool {
        let Some((head, rows)) = self.0.get(table) else { return false };
        let at = head.iter().position(|name| name == column).unwrap_or_else(|| panic!("{table} has no {column}"));
        let cell = |row: &Row| self::row(vec![row.cells[at].clone()]);
        rows.iter().map(cell).any(|row| numbers.iter().all(|shown| is_in(shown, &row.numbers, &row.in_words)))
    }

    /// Whether a cell of a table is this text.
    pub(super) fn has_text(&self, table: &str, text: &str) -> bool {
        self.0.get(table).is_some_and(|(_, rows)| rows.iter().any(|row| row.cells.iter().any(|cell| cell == text)))
    }
}

fn is_in(shown: &Shown, numbers: &[f64], in_words: &[f64]) -> bool {
    let scale = if shown.is_share { 100.0 } else { 1.0 };
    let fits = |value: f64| (shown.low..=shown.high).contains(&value);
    numbers.iter().any(|value| fits(value * scale)) || in_words.iter().any(|value| fits(*value))
}

fn row(cells: Vec<String>) -> Row {
    let numbers = cells.iter().filter_map(|cell| cell.parse().ok()).collect();
    let words = cells.iter().filter(|cell| cell.parse::<f64>().is_err());
    let in_words = words.flat_map(|cell| phrases(&cell.replace(['_', '='], " "))).flat_map(|phrase| phrase.numbers);
    let in_words = in_words.map(|shown| f64::midpoint(shown.low, shown.high)).collect();
    Row { cells, numbers, in_words }
}

/// A line of CSV: a cell with commas or quotes is quoted, and quotes within are doubled.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => cell.extend(letters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(std::mem::take(&mut cell)),
            _ => cell.push(letter),
        }
    }
    cells.push(cell);
    cells
}
