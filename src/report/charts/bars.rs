//! Draws a panel of rows: a name, a bar from zero or a dot with its interval, and the value at the end.

use super::canvas::{Anchor, Canvas};
use super::drawing::{Axis, Bars, Row, Shape, Unit};
use super::scale::range;
use super::style::{Hue, LEADING, TEXT, Weight, fit, width, wrap};

const HEADING: f64 = 26.0;
const LINE: f64 = TEXT * LEADING;
const GAP: f64 = 10.0;
/// Narrower panels put the name above the bar, unless names and values leave the bars so much room.
const STACKED_BELOW: f64 = 420.0;
const LEAST_ROOM: f64 = 110.0;
/// Of an interval beside a mark.
const LEAST_WHISKER: f64 = 8.0;

/// How rows are laid out, in pixels; panels that share it have their bars in line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rooms {
    /// The name stands above the bar, and not at its left.
    stacked: bool,
    names: f64,
    values: f64,
}

impl Rooms {
    pub(crate) fn of(panels: &[&Bars], panel_width: f64) -> Self {
        let rows = || panels.iter().flat_map(|bars| &bars.rows);
        let widest = |of: fn(&Row) -> &str| rows().map(|row| width(of(row), TEXT, Weight::Regular)).fold(0.0, f64::max);
        let (names, values) = (widest(|row| &row.label), widest(|row| &row.text));
        let stacked = panel_width < STACKED_BELOW && names + values + 2.0 * GAP + LEAST_ROOM > panel_width;
        let most = if stacked { panel_width * 0.75 } else { panel_width * 0.45 };
        Self { stacked, names: names.min(if stacked { panel_width } else { panel_width * 0.42 }), values: values.min(most) }
    }
}

pub(crate) fn height(bars: &Bars, panel_width: f64, rooms: Rooms) -> f64 {
    let rows = labels(bars, panel_width, rooms).into_iter().map(|lines| row_height(&lines, rooms.stacked));
    heading(bars) + rows.sum::<f64>() + 6.0
}

fn heading(bars: &Bars) -> f64 {
    if bars.heading.is_empty() { 4.0 } else { HEADING }
}

fn row_height(lines: &[String], stacked: bool) -> f64 {
    let names = lines.len().max(1) as f64 * LINE;
    if stacked { names + 26.0 } else { names + 9.0 }
}

/// The names in lines.
fn labels(bars: &Bars, panel_width: f64, rooms: Rooms) -> Vec<Vec<String>> {
    let most = if rooms.stacked { panel_width } else { rooms.names + 0.5 };
    let lines = |row: &Row| {
        let mut lines = wrap(&row.label, TEXT, Weight::Regular, most);
        if lines.len() > 3 {
            lines.truncate(3);
            lines[2] = fit(&format!("{}…", lines[2]), TEXT, Weight::Regular, most);
        }
        lines
    };
    bars.rows.iter().map(lines).collect()
}

pub(crate) fn draw(bars: &Bars, canvas: &Canvas, (left, top): (f64, f64), panel_width: f64, rooms: Rooms) {
    let Rooms { stacked, names: label_room, values: text_room } = rooms;
    let labels = labels(bars, panel_width, rooms);
    let text = |row: &Row| fit(&row.text, TEXT, Weight::Regular, text_room + 0.5);
    let from = if stacked { left } else { left + label_room + GAP };
    let room = (left + panel_width - from - text_room - GAP).max(20.0);

    let heading_text = fit(&bars.heading, TEXT, Weight::Bold, panel_width);
    canvas.text((left, top + TEXT), Anchor::Start, TEXT, Weight::Bold, Hue::Ink, &heading_text);
    let (low, high) = axis(bars);
    let at = |value: f64| from + room * ((value - low) / (high - low)).clamp(0.0, 1.0);

    let level = bars.level.filter(|level| (low..=high).contains(level));

    let mut y = top + heading(bars);
    for (row, lines) in bars.rows.iter().zip(&labels) {
        let row_height = row_height(lines, stacked);
        let names = lines.len().max(1) as f64 * LINE;
        let middle = if stacked { y + names + 9.0 } else { y + row_height / 2.0 };
        let first = if stacked { y + TEXT } else { middle - (names - LINE) / 2.0 + TEXT * 0.36 };
        let (x, anchor) = if stacked { (left, Anchor::Start) } else { (left + label_room, Anchor::End) };
        for (i, line) in lines.iter().enumerate() {
            canvas.text((x, first + i as f64 * LINE), anchor, TEXT, Weight::Regular, Hue::Ink, line);
        }
        if let Some(level) = level {
            let half = if stacked { 9.0 } else { row_height / 2.0 };
            canvas.line((at(level), middle - half), (at(level), middle + half), Hue::Faint, 1.25);
        }
        let end = match bars.shape {
            Shape::Bar => bar(row, canvas, (from, middle), &at),
            Shape::Dot => dot(row, canvas, (from, middle), room, &at),
        };
        canvas.text((end + GAP, middle + TEXT * 0.36), Anchor::Start, TEXT, Weight::Regular, Hue::Ink, &text(row));
        y += row_height;
    }
    if bars.shape == Shape::Bar && !stacked {
        canvas.line((from, top + heading(bars)), (from, y), Hue::Faint, 1.0);
    }
}

/// Draws the bar and says where its value goes.
fn bar(row: &Row, canvas: &Canvas, (from, middle): (f64, f64), at: &dyn Fn(f64) -> f64) -> f64 {
    if !row.value.is_finite() {
        return from;
    }
    let mut end = at(row.value);
    if row.value > 0.0 {
        // Something is never drawn as nothing.
        canvas.rect((from, middle - 7.0), ((end - from).max(1.0), 14.0), row.hue);
    }
    if let Some(beside) = row.beside.filter(|beside| beside.is_finite()) {
        canvas.rect((at(beside) - 1.5, middle - 10.0), (3.0, 20.0), Hue::Ink);
        end = end.max(at(beside));
    }
    let Some((low, high)) = interval(row) else { return end };
    // Beside a mark, what is no wider than it would only blur it.
    if row.beside.is_some() && at(high) - at(low) < LEAST_WHISKER {
        return end;
    }
    whisker(canvas, middle, (low, high), at, Hue::Ink, 1.5);
    for bound in [low, high].into_iter().filter(|bound| bound.is_finite()) {
        canvas.line((at(bound), middle - 4.0), (at(bound), middle + 4.0), Hue::Ink, 1.5);
    }
    end.max(at(high))
}

/// The interval, unless a bound is no number.
fn interval(row: &Row) -> Option<(f64, f64)> {
    row.interval.filter(|(low, high)| !low.is_nan() && !high.is_nan())
}

/// A line between the bounds; an arrow says that one is open.
fn whisker(canvas: &Canvas, y: f64, (low, high): (f64, f64), at: &dyn Fn(f64) -> f64, hue: Hue, stroke: f64) {
    let (left, right) = (at(low), at(high));
    canvas.line((left, y), (right, y), hue, stroke);
    for (tip, inward, open) in [(left, 5.0, low == f64::NEG_INFINITY), (right, -5.0, high == f64::INFINITY)] {
        if open {
            canvas.line((tip, y), (tip + inward, y - 4.0), hue, stroke);
            canvas.line((tip, y), (tip + inward, y + 4.0), hue, stroke);
        }
    }
}

/// Draws the dot on its track and says where its value goes: in one column, so that values can be read down.
fn dot(row: &Row, canvas: &Canvas, (from, middle): (f64, f64), room: f64, at: &dyn Fn(f64) -> f64) -> f64 {
    canvas.line((from, middle), (from + room, middle), Hue::Grid, 1.0);
    if let Some(bounds) = interval(row) {
        whisker(canvas, middle, bounds, at, row.hue, 2.0);
    }
    if row.value.is_finite() {
        canvas.dot((at(row.value), middle), 4.5, row.hue);
    }
    from + room
}

fn axis(bars: &Bars) -> (f64, f64) {
    let highs = bars.rows.iter().flat_map(|row| [row.value, row.interval.map_or(row.value, |(_, high)| high)]);
    let values = highs.chain(bars.rows.iter().filter_map(|row| row.beside)).chain(bars.level);
    match bars.shape {
        Shape::Bar => {
            let (_, high) = range(&Axis::new("", Unit::Number).include([0.0]), values.chain(bars.whole), 0.0);
            (0.0, if high > 0.0 { high } else { 1.0 })
        }
        Shape::Dot => {
            let lows = bars.rows.iter().filter_map(|row| row.interval.map(|(low, _)| low));
            let axis = Axis { range: bars.range, ..Axis::new("", Unit::Number) };
            range(&axis, values.chain(lows), 0.05)
        }
    }
}

/// The range that panels of dots share.
pub(crate) fn shared(panels: &[&[Row]]) -> (f64, f64) {
    let bounds = panels.iter().flat_map(|rows| rows.iter()).flat_map(|row| {
        let (low, high) = row.interval.unwrap_or((row.value, row.value));
        [low, row.value, high]
    });
    range(&Axis::new("", Unit::Share), bounds, 0.05)
}
