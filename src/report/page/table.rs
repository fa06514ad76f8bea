//! A table as the page shows it: cells are texts, and know what their column is sorted by.

use serde::Serialize;

use crate::text::thousands;

#[derive(Clone, PartialEq, Serialize)]
pub(crate) struct Table {
    /// For those who hear the page.
    caption: String,
    /// What is the same of all rows.
    note: String,
    /// The tables, without ending, that have its numbers.
    sources: &'static str,
    /// Whether a row is gathered from several rows of these.
    gathered: bool,
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
        (!rows.is_empty()).then_some(Self {
            caption: String::new(),
            note: String::new(),
            sources: "",
            gathered: false,
            head,
            rows,
        })
    }

    /// Says what it is, and which tables have each of its rows as one of theirs.
    pub(crate) fn told(self, caption: impl Into<String>, sources: &'static str) -> Self {
        Self { caption: caption.into(), sources, ..self }
    }

    /// Puts above the table what all of its rows say in this column, and leaves the column out.
    pub(crate) fn once(mut self, head: &str, said: impl Fn(&str) -> String) -> Self {
        let Some(column) = self.head.iter().position(|known| known.text == head) else { return self };
        let Some(first) = self.rows.first().map(|row| row[column].text.clone()) else { return self };
        if self.rows.iter().all(|row| row[column].text == first) {
            self.note = said(&first);
            self.head.remove(column);
            self.rows.iter_mut().for_each(|row| drop(row.remove(column)));
        }
        self
    }

    /// As [`Self::told`], where a row is put together from several.
    pub(crate) fn gathered(self, caption: impl Into<String>, sources: &'static str) -> Self {
        Self { gathered: true, ..self.told(caption, sources) }
    }

    /// Takes out the rows that all of `tables` have, as a table of their own.
    pub(crate) fn shared(tables: &mut [&mut Option<Self>]) -> Option<Self> {
        let (first, others) = tables.split_first_mut()?;
        let first = first.as_ref()?;
        let is_in = |table: &Option<Self>, row: &Vec<Cell>| {
            table.as_ref().is_some_and(|table| table.head == first.head && table.rows.contains(row))
        };
        let told = first.clone();
        let rows: Vec<Vec<Cell>> = told.rows.iter().filter(|row| others.iter().all(|table| is_in(table, row))).cloned().collect();
        for table in tables.iter_mut() {
            if let Some(known) = table.as_mut() {
                known.rows.retain(|row| !rows.contains(row));
            }
            **table = table.take().filter(|table| !table.rows.is_empty());
        }
        (!rows.is_empty()).then_some(Self { rows, ..told })
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
        // A telephone leaves out what is none.
        let class = if text == "–" { "number none" } else { "number" };
        Self { text, sort: sort.filter(|value| value.is_finite()), class }
    }

    pub(crate) fn count(n: u64) -> Self {
        Self::number(thousands(n), Some(n as f64))
    }

    /// A day and a minute.
    pub(crate) fn time(text: String) -> Self {
        Self { text, sort: None, class: "time" }
    }

    pub(crate) fn code(text: String) -> Self {
        Self { text, sort: None, class: "code" }
    }
}
