//! Puzzles solved, by their rating.

use super::drawing::{Bars, Drawing, Panel, Row, Shape};
use crate::report::results::{Point, Results};
use crate::text::{percent_within, plural, thousands};

pub(crate) fn draw(_: &Results, point: &Point) -> Option<Drawing> {
    let score = point.finals("puzzles").into_iter().next()?;
    let all = score.value("solved")?;
    let rows: Vec<_> = score
        .parts("solved")
        .map(|band| {
            let label = band.slice.strip_prefix("rating ").unwrap_or(&band.slice).replace('-', "–");
            let text = format!("{}, n = {}", percent_within(band.value, Some(band.low), Some(band.high)), thousands(band.n));
            Row::measured(label, band, text)
        })
        .collect();
    if rows.is_empty() {
        return None;
    }
    let solved = percent_within(all.value, Some(all.low), Some(all.high));
    let subtitle = format!(
        "Share of {} in which every move of the solver was the model's first choice, by the rating of the puzzle; where a mate is \
         asked for, any mate counts. Whiskers: 95 % intervals; grey line: all of them, {solved}. The whole width is 100 %.",
        plural("puzzle", all.n)
    );
    let level = Some(all.value).filter(|value| value.is_finite());
    let panel = Bars { whole: Some(1.0), level, ..Bars::new("", Shape::Bar, rows) };
    Some(Drawing::one("Puzzles solved, by rating", subtitle, format!("{solved} of all puzzles were solved"), Panel::Bars(panel)))
}
