//! Draws a panel of rows: a name, a bar from zero or a dot with its interval, and the value at the end.

use super::canvas::{Anchor, Canvas};
use super::drawing::{Axis, Bars, Row, Shape, Unit};
use super::scale::range;
use super::style::{Hue, LEADING, TEXT, Weight, fit, width, wrap};

const HEADING: f64 = 26.0;
const LINE: f64 = TEXT * LEADING;
const GAP: f64 = 10.0;
/// Narrower panels put the name above the bar.
const STACKED_BELOW: f64 = 420.0;

pub(crate) fn height(bars: &Bars, panel_width: f64) -> f64 {
    let (labels, _) = labels(bars, panel_width);
    heading(bars) + labels.iter().map(|lines| row_height(lines, panel_width)).sum::<f64>() + 6.0
}

fn heading(bars: &Bars) -> f64 {
    if bars.heading.is_empty() { 4.0 } else { HEADING }
}

fn row_height(lines: &[String], panel_width: f64) -> f64 {
    let names = lines.len().max(1) as f64 * LINE;
    if panel_width < STACKED_BELOW { names + 26.0 } else { names + 9.0 }
}

/// The names in lines, and the room they take.
fn labels(bars: &Bars, panel_width: f64) -> (Vec<Vec<String>>, f64) {
    let most = if panel_width < STACKED_BELOW { panel_width } else { panel_width * 0.42 };
    let labels: Vec<Vec<String>> = bars
        .rows
        .iter()
        .map(|row| {
            let mut lines = wrap(&row.label, TEXT, Weight::Regular, most);
            if lines.len() > 3 {
                lines.truncate(3);
                lines[2] = fit(&format!("{}…", lines[2]), TEXT, Weight::Regular, most);
            }
            lines
        })
        .collect();
    let room = labels.iter().flatten().map(|line| width(line, TEXT, Weight::Regular)).fold(0.0, f64::max);
    (labels, room)
}

pub(crate) fn draw(bars: &Bars, canvas: &Canvas, (left, top): (f64, f64), panel_width: f64) {
    let (labels, label_room) = labels(bars, panel_width);
    let stacked = panel_width < STACKED_BELOW;
    let text = |row: &Row| fit(&row.text, TEXT, Weight::Regular, panel_width * if stacked { 0.75 } else { 0.45 });
    let text_room = bars.rows.iter().map(|row| width(&text(row), TEXT, Weight::Regular)).fold(0.0, f64::max);
    let from = if stacked { left } else { left + label_room + GAP };
    let room = (left + panel_width - from - text_room - GAP).max(20.0);

    let heading_text = fit(&bars.heading, TEXT, Weight::Bold, panel_width);
    canvas.text((left, top + TEXT), Anchor::Start, TEXT, Weight::Bold, Hue::Ink, &heading_text);
    let (low, high) = axis(bars);
    let at = |value: f64| from + room * ((value - low) / (high - low)).clamp(0.0, 1.0);

    let mut y = top + heading(bars);
    for (row, lines) in bars.rows.iter().zip(&labels) {
        let row_height = row_height(lines, panel_width);
        let names = lines.len().max(1) as f64 * LINE;
        let middle = if stacked { y + names + 9.0 } else { y + row_height / 2.0 };
        let first = if stacked { y + TEXT } else { middle - (names - LINE) / 2.0 + TEXT * 0.36 };
        let (x, anchor) = if stacked { (left, Anchor::Start) } else { (left + label_room, Anchor::End) };
        for (i, line) in lines.iter().enumerate() {
            canvas.text((x, first + i as f64 * LINE), anchor, TEXT, Weight::Regular, Hue::Ink, line);
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
    let end = at(row.value);
    if row.value > 0.0 {
        // Something is never drawn as nothing.
        canvas.rect((from, middle - 7.0), ((end - from).max(1.0), 14.0), row.hue);
    }
    let Some((low, high)) = row.interval.filter(|(low, high)| low.is_finite() && high.is_finite()) else { return end };
    canvas.line((at(low), middle), (at(high), middle), Hue::Ink, 1.5);
    for bound in [low, high] {
        canvas.line((at(bound), middle - 4.0), (at(bound), middle + 4.0), Hue::Ink, 1.5);
    }
    end.max(at(high))
}

/// Draws the dot on its track and says where its value goes: in one column, so that values can be read down.
fn dot(row: &Row, canvas: &Canvas, (from, middle): (f64, f64), room: f64, at: &dyn Fn(f64) -> f64) -> f64 {
    canvas.line((from, middle), (from + room, middle), Hue::Grid, 1.0);
    if let Some((low, high)) = row.interval.filter(|(low, high)| low.is_finite() && high.is_finite()) {
        canvas.line((at(low), middle), (at(high), middle), row.hue, 2.0);
    }
    if row.value.is_finite() {
        canvas.dot((at(row.value), middle), 4.5, row.hue);
    }
    from + room
}

fn axis(bars: &Bars) -> (f64, f64) {
    let values = bars.rows.iter().flat_map(|row| [row.value, row.interval.map_or(row.value, |(_, high)| high)]);
    match bars.shape {
        Shape::Bar => {
            let (_, high) = range(&Axis::new("", Unit::Number).include([0.0]), values.chain(bars.whole), 0.0);
            (0.0, if high > 0.0 { high } else { 1.0 })
        }
        Shape::Dot => {
            let lows = bars.rows.iter().filter_map(|row| row.interval.map(|(low, _)| low));
            range(&Axis::new("", Unit::Number), values.chain(lows), 0.05)
        }
    }
}
