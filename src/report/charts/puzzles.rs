//! Puzzles solved, by their rating.

use super::drawing::{Bars, Drawing, Panel, Row, Shape};
use super::style::Hue;
use crate::measure::score::Value;
use crate::report::results::{Point, Results};
use crate::text::{percent_within, plural, thousands};

pub(crate) fn draw(_: &Results, point: &Point) -> Option<Drawing> {
    let score = point.finals("puzzles").into_iter().next()?;
    let all = score.value("solved")?;
    let row = |value: &Value, label: String, hue| {
        let text = format!("{}, n = {}", percent_within(value.value, Some(value.low), Some(value.high)), thousands(value.n));
        Row { hue, ..Row::measured(label, value, text) }
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
        "Share of {} in which every move of the solver was the model's first choice, by the rating of the puzzle; where a mate is \
         asked for, any mate counts. Whiskers: 95 % intervals. Grey: all of them. The whole width would be 100 %.",
        plural("puzzle", all.n)
    );
    let panel = Bars { whole: Some(1.0), ..Bars::new("", Shape::Bar, rows) };
    Some(Drawing::one("Puzzles solved, by rating", subtitle, format!("{solved} of all puzzles were solved"), Panel::Bars(panel)))
}
