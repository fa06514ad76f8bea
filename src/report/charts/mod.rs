//! The charts of a report. A new one is one file and one line in [`CHARTS`] or [`OVERVIEW`].
//!
//! A chart says what it shows as a [`Drawing`]; [`svg`] draws it at a width, and [`png`] makes a picture of that.

mod agreement;
mod bars;
mod by_part;
mod calibration;
mod canvas;
mod corpus;
mod curves;
mod drawing;
mod failures;
mod full_games;
mod gates;
mod legality;
mod lengths;
mod loss;
mod openings;
mod overlap;
mod own_games;
mod plane;
mod png;
mod points;
mod probe;
mod puzzles;
mod rules;
mod scale;
mod speed;
mod squares;
mod style;
mod survival;
mod timeline;

use canvas::{Anchor, Canvas};
use drawing::{Drawing, Panel};
use style::{Hue, LEADING, TEXT, TITLE, Weight, wrap};

use super::results::{Point, Results};

pub(crate) use canvas::alone;
pub(crate) use openings::name as opening_name;
pub(crate) use png::{Fonts, png};
pub(crate) use rules::RULES;
pub(crate) use style::{Hue as Colour, hex};
pub(crate) use survival::curve as survival_curve;

/// One chart of a point of the sweep; none where its numbers are missing.
pub(crate) struct Chart {
    pub(crate) name: &'static str,
    /// The table with its numbers.
    pub(crate) table: &'static str,
    /// The section of the page.
    pub(crate) section: Section,
    pub(crate) draw: fn(&Results, &Point) -> Option<Drawing>,
}

/// A chart of the run as a whole.
pub(crate) struct Overview {
    pub(crate) name: &'static str,
    pub(crate) table: &'static str,
    pub(crate) draw: fn(&Results) -> Option<Drawing>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    Moves,
    Games,
    Openings,
    Board,
    Trained,
    Corpus,
}

/// What the model learned, in the order of the page, with its headings.
pub(crate) const LEARNED: [(Section, &str); 4] = [
    (Section::Moves, "Move by move"),
    (Section::Games, "Whole games"),
    (Section::Openings, "Openings and puzzles"),
    (Section::Board, "The board in its states"),
];

/// In the order of the page.
pub(crate) const CHARTS: &[Chart] = &[
    Chart { name: "legality", table: "metrics", section: Section::Moves, draw: legality::draw },
    Chart { name: "failures", table: "failures", section: Section::Moves, draw: failures::draw },
    Chart { name: "agreement", table: "metrics", section: Section::Moves, draw: agreement::draw },
    Chart { name: "rules", table: "metrics", section: Section::Moves, draw: rules::draw },
    Chart { name: "calibration", table: "metrics", section: Section::Moves, draw: calibration::draw },
    Chart { name: "agreement-by-part", table: "metrics", section: Section::Moves, draw: by_part::agreement },
    Chart { name: "legality-by-part", table: "metrics", section: Section::Moves, draw: by_part::legality },
    Chart { name: "survival", table: "survival", section: Section::Games, draw: survival::draw },
    Chart { name: "full-games-by-temperature", table: "metrics", section: Section::Games, draw: full_games::by_temperature },
    Chart { name: "full-games", table: "metrics", section: Section::Games, draw: full_games::by_tokens },
    Chart { name: "game-lengths", table: "own_games", section: Section::Games, draw: own_games::lengths },
    Chart { name: "game-ends", table: "failures", section: Section::Games, draw: own_games::ends },
    Chart { name: "openings", table: "metrics", section: Section::Openings, draw: openings::distances },
    Chart { name: "opening-moves", table: "openings", section: Section::Openings, draw: openings::moves },
    Chart { name: "puzzles", table: "metrics", section: Section::Openings, draw: puzzles::draw },
    Chart { name: "probe-by-layer", table: "metrics", section: Section::Board, draw: probe::by_layer },
    Chart { name: "probe-by-square", table: "probe", section: Section::Board, draw: probe::by_square },
    Chart { name: "loss", table: "training", section: Section::Trained, draw: loss::draw },
    Chart { name: "speed", table: "speed", section: Section::Trained, draw: speed::draw },
    Chart { name: "overfit", table: "gates", section: Section::Trained, draw: gates::draw },
    Chart { name: "corpus", table: "corpus", section: Section::Corpus, draw: corpus::draw },
    Chart { name: "lengths", table: "lengths", section: Section::Corpus, draw: lengths::draw },
    Chart { name: "overlap", table: "overlap", section: Section::Corpus, draw: overlap::draw },
];

pub(crate) const OVERVIEW: &[Overview] = &[
    Overview { name: "full-games-by-temperature", table: "metrics", draw: full_games::over_sweep },
    Overview { name: "points", table: "metrics", draw: points::draw },
    Overview { name: "timeline", table: "stages", draw: timeline::draw },
];

/// At a desk, and on a telephone.
pub(crate) const WIDE: f64 = 680.0;
pub(crate) const NARROW: f64 = 350.0;

const MARGIN: f64 = 14.0;
const GUTTER: f64 = 30.0;

/// Draws at a width, in pixels; the height follows.
pub(crate) fn svg(drawing: &Drawing, width: f64) -> String {
    let inner = width - 2.0 * MARGIN;
    let title = wrap(&drawing.title, TITLE, Weight::Bold, inner);
    let subtitle = wrap(&drawing.subtitle, TEXT, Weight::Regular, inner);
    let columns = if width < WIDE { 1 } else { drawing.columns.max(1) };
    let panel_width = (inner - GUTTER * (columns - 1) as f64) / columns as f64;
    let rows: Vec<f64> = drawing
        .panels
        .chunks(columns)
        .map(|row| row.iter().map(|panel| panel_height(panel, panel_width)).fold(0.0, f64::max))
        .collect();
    let head = 11.0 + title.len() as f64 * TITLE * LEADING + subtitle.len() as f64 * TEXT * LEADING + 14.0;
    let height = (head + rows.iter().map(|row| row + 14.0).sum::<f64>() + 4.0).ceil();

    let mut svg = String::new();
    let canvas = Canvas::new(&mut svg, width, height);
    let mut baseline = 8.0;
    for (lines, size, weight, hue) in [(title, TITLE, Weight::Bold, Hue::Ink), (subtitle, TEXT, Weight::Regular, Hue::Soft)] {
        if hue == Hue::Soft {
            baseline += 3.0;
        }
        for line in lines {
            baseline += size * LEADING;
            canvas.text((MARGIN, baseline), Anchor::Start, size, weight, hue, &line);
        }
    }
    let room = |panel: &Panel| match panel {
        Panel::Plane(plane) => plane::label_room(plane, panel_width),
        Panel::Bars(_) | Panel::Board(_) => 0.0,
    };
    // On a telephone, panels lie below each other, and each takes the width that it can.
    let shared = if columns > 1 { drawing.panels.iter().map(room).fold(0.0, f64::max) } else { 0.0 };
    let mut top = head;
    for (panels, row_height) in drawing.panels.chunks(columns).zip(rows) {
        for (i, panel) in panels.iter().enumerate() {
            let corner = (MARGIN + i as f64 * (panel_width + GUTTER), top);
            match panel {
                Panel::Plane(plane) => plane::draw(plane, &canvas, corner, panel_width, shared.max(room(panel))),
                Panel::Bars(bars) => bars::draw(bars, &canvas, corner, panel_width),
                Panel::Board(board) => squares::draw(board, &canvas, corner, panel_width),
            }
        }
        top += row_height + 14.0;
    }
    canvas.finish();
    canvas::dress(&svg, width, height, &format!("{}. {}", drawing.title, drawing.alt))
}

/// The width of a text in the embedded font, for the tests of the whole.
#[cfg(test)]
pub(crate) fn width(text: &str, size: f64, bold: bool) -> f64 {
    style::width(text, size, if bold { Weight::Bold } else { Weight::Regular })
}

fn panel_height(panel: &Panel, width: f64) -> f64 {
    match panel {
        Panel::Plane(plane) => plane::height(plane),
        Panel::Bars(bars) => bars::height(bars, width),
        Panel::Board(_) => squares::height(width),
    }
}
