//! All points of a sweep on the page: what they tell together, and a table with a row for each setting.

use serde::Serialize;

use super::table::{Cell, Table};
use crate::measure::score::Value;
use crate::report::results::{Point, Results};
use crate::report::sweep::{Axis, Figure, Kind, Sweep};
use crate::report::words;
use crate::text::{si, thousands};

#[derive(Serialize)]
pub(crate) struct SweepPage {
    answers: Vec<String>,
    /// A row a setting; the first cell is its name.
    table: Option<Linked>,
    /// The points of settings that have several seeds.
    seeds: Option<Linked>,
}

/// A table whose rows lead to sections of the page.
#[derive(Serialize)]
struct Linked {
    table: Table,
    anchors: Vec<String>,
}

/// None where there is no sweep.
pub(crate) fn page(results: &Results) -> Option<SweepPage> {
    let sweep = Sweep::of(results)?;
    let mut answers = words::answers(results);
    answers.extend(words::sweep(&sweep));
    let columns = Columns::of(&sweep);
    Some(SweepPage { answers, table: columns.settings(results), seeds: columns.seeds(results) })
}

/// Where the section of a point is.
pub(crate) fn anchor(results: &Results, point: &Point) -> String {
    let at = results.points.iter().position(|known| std::ptr::eq(known, point)).unwrap_or_default();
    format!("point-{}", at + 1)
}

/// What the table shows beside the names.
struct Columns<'s> {
    sweep: &'s Sweep<'s>,
    /// What varies, but for what the names tell in full.
    axes: Vec<&'s Axis>,
    figures: Vec<&'s Figure>,
}

/// Figures with a column of their own; the sections of the points have all.
const SHOWN: [(&str, &str, &str); 8] = [
    ("loss", "nats", "Validation loss"),
    ("loss", "validation", "Best validation loss"),
    ("legality", "rate", "Legal moves"),
    ("agreement", "top1", "Agreement, top-1"),
    ("agreement", "top5", "Agreement, top-5"),
    ("full_games", "clean", "Clean games"),
    ("full_games", "plies", "Plies of games"),
    ("puzzles", "solved", "Puzzles solved"),
];

fn head_of(figure: &Figure) -> Option<&'static str> {
    SHOWN.iter().find(|(metric, name, _)| figure.metric == *metric && figure.name == *name).map(|(_, _, head)| *head)
}

impl<'s> Columns<'s> {
    fn of(sweep: &'s Sweep<'s>) -> Self {
        let is_shown = |figure: &&Figure| head_of(figure).is_some() && (figure.differs() || !figure.comparable);
        // A single axis of settings is what the names are.
        let counts = |axis: &&Axis| !matches!(axis.kind, Kind::Setting(_)) || sweep.axes.len() > 1;
        Self { sweep, axes: sweep.axes.iter().filter(counts).collect(), figures: sweep.figures.iter().filter(is_shown).collect() }
    }

    fn head(&self, first: &str, seeds: bool) -> Vec<(String, bool)> {
        let name = |axis: &&Axis| {
            let label = axis.label();
            let mut letters = label.chars();
            let first = letters.next().map(char::to_uppercase);
            (first.into_iter().flatten().chain(letters).collect(), axis.numbers.is_some())
        };
        let figure = |figure: &&Figure| {
            let head = head_of(figure).unwrap_or(&figure.label);
            let n = one_n(figure).map_or_else(String::new, |n| format!(", n = {}", thousands(n)));
            (format!("{head}{n}"), true)
        };
        let mut head = vec![(first.to_owned(), false)];
        head.extend(seeds.then(|| ("Seeds".to_owned(), true)));
        head.extend(self.axes.iter().map(name));
        head.extend(self.figures.iter().map(figure));
        head
    }

    fn place(&self, setting: usize) -> Vec<Cell> {
        let model = &self.sweep.settings[setting].first().experiment.model;
        let cell = |axis: &&Axis| match &axis.numbers {
            Some(numbers) if axis.kind == Kind::Parameters => {
                let embedding = si(model.embedding_parameters() as f64);
                Cell::number(format!("{} + {embedding} of embedding", axis.texts[setting]), Some(numbers[setting]))
            }
            Some(numbers) => Cell::number(axis.texts[setting].clone(), Some(numbers[setting])),
            None => Cell::text(axis.texts[setting].clone()),
        };
        self.axes.iter().map(cell).collect()
    }

    fn settings(&self, results: &Results) -> Option<Linked> {
        let several = self.sweep.repeated().next().is_some();
        let row = |(at, setting): (usize, &crate::report::compare::Subject)| {
            let mut cells = vec![Cell::text(setting.name.clone())];
            cells.extend(several.then(|| Cell::count(setting.seeds() as u64)));
            cells.extend(self.place(at));
            cells.extend(self.figures.iter().map(|figure| {
                let value = figure.cells[at].as_ref().map(|cell| &cell.value);
                shown(figure, value)
            }));
            cells
        };
        let rows = self.sweep.settings.iter().enumerate().map(row).collect();
        let anchors = self.sweep.settings.iter().map(|setting| anchor(results, setting.first())).collect();
        Some(Linked {
            table: Table::with(self.head("Setting", several), rows)?
                .gathered("All settings of the sweep", "sweep metrics summary"),
            anchors,
        })
    }

    fn seeds(&self, results: &Results) -> Option<Linked> {
        let (mut rows, mut anchors) = (Vec::new(), Vec::new());
        for at in self.sweep.repeated() {
            for (place, member) in self.sweep.settings[at].members.iter().enumerate() {
                let mut cells = vec![Cell { class: "name", ..Cell::text(words::point_name(member.point)) }];
                cells.extend(self.place(at));
                cells.extend(self.figures.iter().map(|figure| {
                    let value = figure.cells[at].as_ref().and_then(|cell| cell.seeds.get(place));
                    shown(figure, value)
                }));
                rows.push(cells);
                anchors.push(anchor(results, member.point));
            }
        }
        Some(Linked {
            table: Table::with(self.head("Point", false), rows)?
                .gathered("The points of settings with several seeds", "sweep metrics summary"),
            anchors,
        })
    }
}

/// A value, and of how many where that is not the same in all rows.
fn shown(figure: &Figure, value: Option<&Value>) -> Cell {
    let Some(value) = value else { return Cell::number("–".to_owned(), None) };
    let n = if one_n(figure).is_some() { String::new() } else { format!(", n = {}", thousands(value.n)) };
    // An interval is never broken.
    Cell::number(figure.within(value).replace(", ", ",\u{a0}") + &n, Some(value.value))
}

/// How many observations are behind each value, where that is one number.
fn one_n(figure: &Figure) -> Option<u64> {
    let mut of_all = figure.cells.iter().flatten().flat_map(|cell| &cell.seeds).map(|seed| seed.n);
    let first = of_all.next()?;
    of_all.all(|n| n == first).then_some(first)
}
