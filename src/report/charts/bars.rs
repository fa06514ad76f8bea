//! Draws a panel of rows: a name, a bar from zero or a dot with its interval, and the value at the end.

use super::canvas::{Anchor, Canvas};
use super::drawing::{Axis, Bars, Row, Shape, Unit};
use super::plane;
use super::scale::{range, ticks_of};
use super::style::{Hue, LEADING, TEXT, TICK, Weight, fit, width, wrap};

const HEADING: f64 = 26.0;
const LINE: f64 = TEXT * LEADING;
pub(super) const GAP: f64 = 10.0;
/// Narrower panels put the name above the bar, unless names and values leave the bars so much room.
pub(super) const STACKED_BELOW: f64 = 420.0;
const LEAST_ROOM: f64 = 110.0;
/// Of an interval beside a mark.
const LEAST_WHISKER: f64 = 8.0;
/// Of a bar: something is never drawn as nothing.
pub(super) const LEAST_BAR: f64 = 2.0;
/// Of all columns of cells together, as a share of the panel.
const WIDEST_CELLS: f64 = 0.6;
/// Over columns of cells, for their heads.
const HEADS: f64 = 18.0;
/// Below the rows: ticks with their labels, and the name of the axis.
const TICKS: f64 = 18.0;
const NAME: f64 = 17.0;

/// How rows are laid out, in pixels; panels that share it have their bars in line.
#[derive(Clone, Debug)]
pub(crate) struct Rooms {
    /// The name stands above the bar, and not at its left.
    stacked: bool,
    names: f64,
    /// Of values at the ends of bars, or of all columns with what lies between them.
    values: f64,
    /// Of each column of cells.
    columns: Vec<f64>,
}

impl Rooms {
    pub(crate) fn of(panels: &[&Bars], panel_width: f64) -> Self {
        let rows = || panels.iter().flat_map(|bars| &bars.rows);
        let widest = |of: fn(&Row) -> &str| rows().map(|row| width(of(row), TEXT, Weight::Regular)).fold(0.0, f64::max);
        let mut columns = columns(panels);
        let gaps = GAP * columns.len().saturating_sub(1) as f64;
        let (sum, most) = (columns.iter().sum::<f64>() + gaps, panel_width * WIDEST_CELLS);
        if let Some(widest) = columns.iter_mut().max_by(|a, b| a.total_cmp(b)).filter(|_| sum > most) {
            *widest = (*widest - (sum - most)).max(20.0);
        }
        let of_columns = columns.iter().sum::<f64>() + gaps;
        let (names, values) = (widest(|row| &row.label), widest(|row| &row.text).max(of_columns));
        let stacked = panel_width < STACKED_BELOW && names + values + 2.0 * GAP + LEAST_ROOM > panel_width;
        let most = if stacked { panel_width * 0.75 } else { panel_width * 0.45 };
        // Columns stand beside the name, and leave the bars the whole width.
        let beside = if stacked && !columns.is_empty() { of_columns + GAP } else { 0.0 };
        let names = names.min(if stacked { panel_width - beside } else { panel_width * 0.42 }).max(20.0);
        Self { stacked, names, values: values.min(most), columns }
    }
}

/// The width of each column of cells, of its head at least.
fn columns(panels: &[&Bars]) -> Vec<f64> {
    let mut widest: Vec<f64> = Vec::new();
    for bars in panels {
        let heads = bars.heads.iter().enumerate().map(|(at, head)| (at, width(head, TICK, Weight::Regular)));
        let cells = bars.rows.iter().flat_map(|row| row.cells.iter().enumerate());
        for (at, wide) in heads.chain(cells.map(|(at, cell)| (at, width(cell, TEXT, Weight::Regular)))) {
            widest.resize(widest.len().max(at + 1), 0.0);
            widest[at] = widest[at].max(wide);
        }
    }
    widest
}

/// Whether the axis is drawn is for the sheet to say: it knows the panels below.
pub(crate) fn height(bars: &Bars, panel_width: f64, rooms: &Rooms, has_axis: bool) -> f64 {
    let rows = labels(bars, panel_width, rooms).into_iter().map(|lines| row_height(&lines, rooms.stacked));
    let axis = match bars.axis.filter(|_| has_axis) {
        Some(("", _)) => TICKS,
        Some(_) => TICKS + NAME,
        None => 0.0,
    };
    heading(bars) + rows.sum::<f64>() + axis + 6.0
}

/// Whether two panels have the same axis, and the lower shows it for both. A dot is read by nothing but its axis: it is never far.
pub(crate) fn same_axis(a: &Bars, b: &Bars) -> bool {
    a.axis == b.axis && a.shape == b.shape && a.shape == Shape::Bar && axis(a) == axis(b)
}

fn heading(bars: &Bars) -> f64 {
    let heads = if bars.heads.is_empty() { 0.0 } else { HEADS };
    heads + if bars.heading.is_empty() { 4.0 } else { HEADING }
}

fn row_height(lines: &[String], stacked: bool) -> f64 {
    let names = lines.len().max(1) as f64 * LINE;
    if stacked { names + 26.0 } else { names + 9.0 }
}

/// The names in lines.
fn labels(bars: &Bars, panel_width: f64, rooms: &Rooms) -> Vec<Vec<String>> {
    let beside = if rooms.columns.is_empty() { panel_width } else { rooms.names + 0.5 };
    let most = if rooms.stacked { beside } else { rooms.names + 0.5 };
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

pub(crate) fn draw(bars: &Bars, canvas: &Canvas, (left, top): (f64, f64), panel_width: f64, rooms: &Rooms, has_axis: bool) {
    let Rooms { stacked, names: label_room, values: text_room, .. } = *rooms;
    let labels = labels(bars, panel_width, rooms);
    let from = if stacked { left } else { left + label_room + GAP };
    let at_right = if stacked && !rooms.columns.is_empty() { 6.0 } else { text_room + GAP };
    let room = (left + panel_width - from - at_right).max(20.0);

    let heading_text = fit(&bars.heading, TEXT, Weight::Bold, panel_width);
    canvas.text((left, top + TEXT), Anchor::Start, TEXT, Weight::Bold, Hue::Ink, &heading_text);
    let (low, high) = axis(bars);
    let at = |value: f64| from + room * ((value - low) / (high - low)).clamp(0.0, 1.0);
    let first_row = top + heading(bars);
    for (head, right) in bars.heads.iter().zip(ends(rooms, left + panel_width)) {
        canvas.text((right, first_row - 5.0), Anchor::End, TICK, Weight::Regular, Hue::Soft, head);
    }
    let panel = (left, left + panel_width);
    let ticks = |(name, unit)| plane::placed(&Axis::new(name, unit), (low, high), (from, from + room), panel);
    let ticks = bars.axis.map(ticks).unwrap_or_default();
    let level = bars.level.filter(|level| (low..=high).contains(level));

    let mut y = first_row;
    for (row, lines) in bars.rows.iter().zip(&labels) {
        let row_height = row_height(lines, stacked);
        let names = lines.len().max(1) as f64 * LINE;
        let middle = if stacked { y + names + 9.0 } else { y + row_height / 2.0 };
        let first = if stacked { y + TEXT } else { middle - (names - LINE) / 2.0 + TEXT * 0.36 };
        let (x, anchor) = if stacked { (left, Anchor::Start) } else { (left + label_room, Anchor::End) };
        for (i, line) in lines.iter().enumerate() {
            canvas.text((x, first + i as f64 * LINE), anchor, TEXT, Weight::Regular, Hue::Ink, line);
        }
        let half = if stacked { 8.0 } else { row_height / 2.0 };
        let text = fit(&row.text, TEXT, Weight::Regular, text_room + 0.5);
        let words = written(bars, row, (from, room), &at, &text);
        // No line goes through a value.
        for tick in ticks.iter().filter(|tick| tick.at < words.0 || tick.at > words.1) {
            canvas.line((tick.at, middle - half), (tick.at, middle + half), Hue::Grid, 1.0);
        }
        if let Some(level) = level {
            canvas.line((at(level), middle - half), (at(level), middle + half), Hue::Faint, 1.25);
        }
        let end = match bars.shape {
            Shape::Bar => bar(row, canvas, (from, middle), &at),
            Shape::Dot => dot(row, canvas, (from, middle), room, &at),
        };
        let baseline = middle + TEXT * 0.36;
        canvas.text((end + GAP, baseline), Anchor::Start, TEXT, Weight::Regular, Hue::Ink, &text);
        for ((cell, right), wide) in row.cells.iter().zip(ends(rooms, left + panel_width)).zip(&rooms.columns) {
            let baseline = if stacked { first } else { baseline };
            let cell = fit(cell, TEXT, Weight::Regular, wide + 0.5);
            canvas.text((right, baseline), Anchor::End, TEXT, Weight::Regular, Hue::Ink, &cell);
        }
        y += row_height;
    }
    if bars.shape == Shape::Bar && !stacked {
        canvas.line((from, first_row), (from, y), Hue::Faint, 1.0);
    }
    if let Some((name, unit)) = bars.axis.filter(|_| has_axis) {
        plane::below(&Axis::new(name, unit), (low, high), canvas, (from, from + room, y), panel);
    }
}

/// The right ends of the columns.
fn ends(rooms: &Rooms, right: f64) -> impl Iterator<Item = f64> {
    let widths = &rooms.columns;
    (0..widths.len()).map(move |at| right - widths[at + 1..].iter().map(|wide| wide + GAP).sum::<f64>())
}

/// From where to where a value is written over the bars' own room.
fn written(bars: &Bars, row: &Row, (from, room): (f64, f64), at: &dyn Fn(f64) -> f64, text: &str) -> (f64, f64) {
    let end = match bars.shape {
        Shape::Dot => from + room,
        Shape::Bar => extent(row, from, at),
    };
    let wide = if text.is_empty() { 0.0 } else { width(text, TEXT, Weight::Regular) };
    (end + GAP - 3.0, end + GAP + wide + 3.0)
}

/// Draws the bar and says where its value goes.
fn bar(row: &Row, canvas: &Canvas, (from, middle): (f64, f64), at: &dyn Fn(f64) -> f64) -> f64 {
    if !row.value.is_finite() {
        return from;
    }
    if row.value > 0.0 {
        canvas.rect((from, middle - 7.0), ((at(row.value) - from).max(LEAST_BAR), 14.0), row.hue);
    }
    if let Some(beside) = row.beside.filter(|beside| beside.is_finite()) {
        canvas.rect((at(beside) - 1.5, middle - 10.0), (3.0, 20.0), Hue::Ink);
    }
    if let Some((low, high)) = whiskers(row, at) {
        whisker(canvas, middle, (low, high), at, Hue::Ink, 1.5);
        for bound in [low, high].into_iter().filter(|bound| bound.is_finite()) {
            canvas.line((at(bound), middle - 4.0), (at(bound), middle + 4.0), Hue::Ink, 1.5);
        }
    }
    extent(row, from, at)
}

/// Where a bar ends, with all that is drawn over it.
fn extent(row: &Row, from: f64, at: &dyn Fn(f64) -> f64) -> f64 {
    if !row.value.is_finite() {
        return from;
    }
    let beside = row.beside.filter(|beside| beside.is_finite());
    let others = beside.into_iter().chain(whiskers(row, at).map(|(_, high)| high));
    others.map(at).fold(at(row.value), f64::max)
}

/// The interval as it is drawn: beside a mark, what is no wider than that would only blur it.
fn whiskers(row: &Row, at: &dyn Fn(f64) -> f64) -> Option<(f64, f64)> {
    interval(row).filter(|(low, high)| row.beside.is_none() || at(*high) - at(*low) >= LEAST_WHISKER)
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

pub(crate) fn axis(bars: &Bars) -> (f64, f64) {
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

/// The range that panels of dots share, from one round value to another: both ends have their labels.
pub(crate) fn shared(panels: &[&[Row]]) -> (f64, f64) {
    let bounds = panels.iter().flat_map(|rows| rows.iter()).flat_map(|row| {
        let (low, high) = row.interval.unwrap_or((row.value, row.value));
        [low, row.value, high]
    });
    let axis = Axis::new("", Unit::Share);
    let (low, high) = range(&axis, bounds, 0.0);
    let step = match ticks_of(&axis, (low, high), 4).as_slice() {
        [(first, _), (second, _), ..] => second - first,
        _ => return (low, high),
    };
    let outer = ((low / step).floor() * step, (high / step).ceil() * step);
    if low >= 0.0 && high <= 1.0 { (outer.0.max(0.0), outer.1.min(1.0)) } else { outer }
}
