//! The settings of a sweep in rows, for each figure that differs between them and that no chart along an axis shows.

use super::drawing::{Bars, Drawing, Panel, Row, Shape, Unit};
use super::scaling;
use crate::report::results::{Measured, Results};
use crate::report::sweep::{Figure, Sweep};
use crate::report::words::{at, is_sampled};
use crate::text::plural;

/// Rows of a panel; a longer list is what the table is for.
const MOST_ROWS: usize = 16;

const FIGURES: [(&str, &str, &str); 12] = [
    ("loss", "nats", "Loss over all of validation, in nats per token"),
    ("loss", "validation", "Best validation loss, in nats per token"),
    ("legality", "rate", "Legal moves"),
    ("agreement", "top1", "Agreement, top-1"),
    ("agreement", "top5", "Agreement, top-5"),
    ("full_games", "clean", "Games without an illegal move"),
    ("full_games", "plies", "Mean length of games, in plies"),
    ("mass", "mean", "Mass on legal moves"),
    ("calibration", "ece", "Calibration error"),
    ("puzzles", "solved", "Puzzles solved"),
    ("probe", "accuracy", "Squares told by a probe"),
    ("openings", "variation", "Moves of openings, total variation"),
];

pub(crate) fn draw(results: &Results) -> Option<Drawing> {
    let sweep = Sweep::of(results)?;
    if sweep.settings.len() > MOST_ROWS {
        return None;
    }
    let heading = |figure: &Figure| FIGURES.iter().find(|known| figure.metric == known.0 && figure.name == known.1);
    let of = |figure: &Figure| panel(&sweep, figure, heading(figure)?.2);
    let shown = scaling::shown(&sweep);
    let is_shown = |figure: &Figure| shown.iter().any(|known| std::ptr::eq(*known, figure));
    let rest = sweep.figures.iter().filter(|figure| figure.differs() && !is_shown(figure));
    let mut panels: Vec<Panel> = rest.filter_map(of).collect();
    // What one figure is left over is in the table; one that stands alone needs an axis.
    match panels.as_mut_slice() {
        [_] if !shown.is_empty() => return None,
        [Panel::Bars(only)] => {
            let is_share = only.rows.iter().all(|row| row.text.contains('%'));
            only.axis = Some(("", if is_share { Unit::Share } else { Unit::Number }));
        }
        _ => (),
    }
    let seeds = if sweep.repeated().next().is_some() { ", of several seeds of their mean" } else { "" };
    let subtitle = format!(
        "One row a setting of the sweep; lines: 95 % intervals{seeds}. Each panel has its own range, which need not start at zero."
    );
    let alt = format!("{} of {}", plural("figure", panels.len() as u64), plural("setting", sweep.settings.len() as u64));
    let title = "Figures that differ between the settings".to_owned();
    (!panels.is_empty()).then_some(Drawing { title, subtitle, alt, columns: 1, panels })
}

fn panel(sweep: &Sweep, figure: &Figure, heading: &str) -> Option<Panel> {
    let row = |(place, cell): (usize, &Option<crate::report::sweep::Cell>)| {
        let value = &cell.as_ref()?.value;
        let setting = &sweep.settings[place];
        // A temperature is told where settings differ in it, unless the name has it.
        let first: Option<&Measured> = setting.first().finals(&figure.metric).into_iter().next();
        let asked =
            first.and_then(Measured::temperature).filter(|_| !figure.comparable && is_sampled(&figure.metric, &figure.name));
        let told = at(asked);
        let label = if setting.name.contains("T = ") { setting.name.clone() } else { setting.name.clone() + &told };
        Some(Row::measured(label, value, figure.within(value)))
    };
    let rows: Vec<Row> = figure.cells.iter().enumerate().filter_map(row).collect();
    (rows.len() > 1).then(|| Panel::Bars(Bars::new(heading, Shape::Dot, rows)))
}
