//! The charts of a report. A new one is one file and one line in [`CHARTS`] or [`OVERVIEW`].
//!
//! A chart says what it shows as a [`Drawing`]; [`svg`] draws it at a width, and [`png`] makes a picture of that.

mod agreement;
mod bars;
mod by_part;
mod calibration;
mod canvas;
mod card;
mod corpus;
mod curves;
mod device;
mod drawing;
#[cfg(test)]
mod editor;
mod failures;
mod full_games;
mod gates;
mod labels;
mod legality;
mod lengths;
mod loss;
mod marks;
mod names;
mod openings;
mod overlap;
mod overlay;
mod own_games;
mod plane;
mod png;
mod points;
mod probe;
mod puzzles;
mod rules;
mod scale;
mod scaling;
mod sheet;
mod spans;
mod speed;
mod squares;
mod style;
mod survival;
mod timeline;
mod together;

use super::results::{Point, Results};

pub(crate) use canvas::{alone, escape};
pub(crate) use card::{Card, cards};
pub(crate) use drawing::Drawing;
pub(crate) use openings::name as opening_name;
pub(crate) use overlay::overlays;
pub(crate) use png::{Fonts, png};
pub(crate) use rules::RULES;
pub(crate) use sheet::{NARROW, WIDE, svg};
pub(crate) use speed::doubt;
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
    Chart { name: "device", table: "speed", section: Section::Trained, draw: device::draw },
    Chart { name: "overfit", table: "gates", section: Section::Trained, draw: gates::draw },
    Chart { name: "corpus", table: "corpus", section: Section::Corpus, draw: corpus::draw },
    Chart { name: "lengths", table: "lengths", section: Section::Corpus, draw: lengths::draw },
    Chart { name: "overlap", table: "overlap", section: Section::Corpus, draw: overlap::draw },
];

pub(crate) const OVERVIEW: &[Overview] = &[
    Overview { name: "full-games-by-temperature", table: "metrics", draw: full_games::over_sweep },
    Overview { name: "by-parameters", table: "sweep", draw: scaling::by_parameters },
    Overview { name: "by-tokens", table: "sweep", draw: scaling::by_tokens },
    Overview { name: "by-setting", table: "sweep", draw: scaling::by_setting },
    Overview { name: "by-second-setting", table: "sweep", draw: scaling::by_second_setting },
    Overview { name: "points", table: "sweep", draw: points::draw },
    Overview { name: "losses", table: "validation", draw: together::losses },
    Overview { name: "legality-of-all", table: "metrics", draw: together::legality },
    Overview { name: "agreement-of-all", table: "metrics", draw: together::agreement },
    Overview { name: "timeline", table: "stages", draw: timeline::draw },
];

/// The width of a text in the embedded font, for the tests of the whole.
#[cfg(test)]
pub(crate) fn width(text: &str, size: f64, bold: bool) -> f64 {
    style::width(text, size, if bold { style::Weight::Bold } else { style::Weight::Regular })
}
