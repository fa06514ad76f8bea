//! A table as the page shows it: cells are texts, and know what their column is sorted by.

use serde::Serialize;

use crate::text::thousands;

#[derive(Clone, PartialEq, Serialize)]
pub(crate) struct Table {
    head: Vec<Head>,
    rows: Vec<Vec<Cell>>,
}

#[derive(Clone, PartialEq, Serialize)]
struct Head {
    text: String,
    number: bool,
}

#[derive(Clone, PartialEq, Serialize)]
pub(crate) struct Cell {
    pub(crate) text: String,
    /// What the column is sorted by, where that is not the text.
    pub(crate) sort: Option<f64>,
    /// A class of the style sheet.
    pub(crate) class: &'static str,
}

impl Table {
    pub(crate) fn of(head: &[(&'static str, bool)], rows: Vec<Vec<Cell>>) -> Option<Self> {
        Self::with(head.iter().map(|&(text, number)| (text.to_owned(), number)), rows)
    }

    /// Of columns that depend on what is shown.
    pub(crate) fn with(head: impl IntoIterator<Item = (String, bool)>, rows: Vec<Vec<Cell>>) -> Option<Self> {
        let head = head.into_iter().map(|(text, number)| Head { text, number }).collect();
        (!rows.is_empty()).then_some(Self { head, rows })
    }

    /// Takes out the rows that all of `tables` have, as a table of their own.
    pub(crate) fn shared(tables: &mut [&mut Option<Self>]) -> Option<Self> {
        let (first, others) = tables.split_first_mut()?;
        let first = first.as_ref()?;
        let is_in = |table: &Option<Self>, row: &Vec<Cell>| {
            table.as_ref().is_some_and(|table| table.head == first.head && table.rows.contains(row))
        };
        let (head, rows) = (first.head.clone(), first.rows.iter());
        let rows: Vec<Vec<Cell>> = rows.filter(|row| others.iter().all(|table| is_in(table, row))).cloned().collect();
        for table in tables.iter_mut() {
            if let Some(known) = table.as_mut() {
                known.rows.retain(|row| !rows.contains(row));
            }
            **table = table.take().filter(|table| !table.rows.is_empty());
        }
        (!rows.is_empty()).then_some(Self { head, rows })
    }

    /// Leaves out the columns that have a dash in every row.
    pub(crate) fn without_empty_columns(mut self) -> Self {
        for column in (0..self.head.len()).rev() {
            if self.rows.iter().all(|row| row[column].text == "–") {
                self.head.remove(column);
                self.rows.iter_mut().for_each(|row| drop(row.remove(column)));
            }
        }
        self
    }
}

impl Cell {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), sort: None, class: "" }
    }

    pub(crate) fn number(text: String, sort: Option<f64>) -> Self {
        Self { text, sort: sort.filter(|value| value.is_finite()), class: "number" }
    }

    pub(crate) fn count(n: u64) -> Self {
        Self::number(thousands(n), Some(n as f64))
    }

    pub(crate) fn code(text: String) -> Self {
        Self { text, sort: None, class: "code" }
    }
}
