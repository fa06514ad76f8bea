//! Puzzles solved, by their rating.

use super::drawing::{Bars, Drawing, Panel, Row, Shape, Unit};
use super::style::Hue;
use crate::measure::score::Value;
use crate::report::results::{Point, Results};
use crate::text::{percent_within, plural, thousands};

pub(crate) fn draw(_: &Results, point: &Point) -> Option<Drawing> {
    let score = point.finals("puzzles").into_iter().next()?;
    let all = score.value("solved")?;
    let row = |value: &Value, label: String, hue| {
        let cells = vec![percent_within(value.value, Some(value.low), Some(value.high)), thousands(value.n)];
        Row { cells, hue, ..Row::measured(label, value, "") }
    };
    let of_band = |band: &Value| {
        let label = band.slice.strip_prefix("rating ").unwrap_or(&band.slice).replace('-', "–");
        row(band, label, Hue::Blue)
    };
    let mut rows: Vec<_> = score.parts("solved").map(of_band).collect();
    if rows.is_empty() {
        return None;
    }
    rows.push(row(all, "all".to_owned(), Hue::Faint));
    let solved = percent_within(all.value, Some(all.low), Some(all.high));
    let subtitle = format!(
        "Share of {} in which each move of the solver was the model's first choice, by the rating of the puzzle. Whiskers and \
         brackets: 95 % intervals.",
        plural("puzzle", all.n)
    );
    let bars = Bars::new("", Shape::Bar, rows).axis("share solved", Unit::Share);
    let panel = Panel::Bars(Bars { whole: Some(1.0), heads: vec!["solved", "puzzles"], ..bars });
    let alt = format!("{solved} of all puzzles were solved");
    Some(Drawing::one("Puzzles solved, by rating", subtitle, alt, panel).note("Where a mate is asked for, any mate counts."))
}
