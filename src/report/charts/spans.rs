//! Draws a panel of rows that say when something was done: a bar from its start to its end.

use super::bars::{GAP, LEAST_BAR, STACKED_BELOW};
use super::canvas::{Anchor, Canvas};
use super::drawing::{SpanRow, Spans};
use super::plane;
use super::scale::range;
use super::style::{Hue, TEXT, Weight, fit, width};

const ROW: f64 = 24.0;
const STACKED_ROW: f64 = 38.0;
const AXIS: f64 = 40.0;

/// How wide a tick is.
const TICK: f64 = 1.25;

/// A bar or a tick, in pixels; of ticks or bars that touch, all of them.
struct Shape {
    left: f64,
    right: f64,
    hue: Hue,
    is_tick: bool,
}

/// Thousands of nodes within a few pixels look like one, and are drawn as one.
fn shapes(row: &SpanRow, at: impl Fn(f64) -> f64) -> Vec<Shape> {
    let finite = row.spans.iter().filter(|span| span.0.is_finite() && span.1.is_finite());
    let mut all: Vec<Shape> = finite
        .map(|&(begin, end, hue)| {
            let (left, right) = (at(begin), at(end));
            // A tick says that it is too short to be drawn as long as it was.
            let is_tick = right - left < LEAST_BAR;
            Shape { left, right: if is_tick { left } else { right }, hue, is_tick }
        })
        .collect();
    all.sort_by(|a, b| (a.is_tick, a.hue.name()).cmp(&(b.is_tick, b.hue.name())).then(a.left.total_cmp(&b.left)));
    let mut shapes: Vec<Shape> = Vec::new();
    for shape in all {
        let room = if shape.is_tick { TICK } else { 0.0 };
        match shapes.last_mut().filter(|last| last.is_tick == shape.is_tick && last.hue == shape.hue) {
            Some(last) if shape.left - last.right <= room => last.right = last.right.max(shape.right),
            _ => shapes.push(shape),
        }
    }
    shapes
}

pub(crate) fn height(spans: &Spans, panel_width: f64) -> f64 {
    spans.rows.len() as f64 * if is_stacked(panel_width) { STACKED_ROW } else { ROW } + AXIS
}

fn is_stacked(panel_width: f64) -> bool {
    panel_width < STACKED_BELOW
}

pub(crate) fn draw(spans: &Spans, canvas: &Canvas, (left, top): (f64, f64), panel_width: f64) {
    let stacked = is_stacked(panel_width);
    let widest = |of: fn(&SpanRow) -> &str, most: f64| {
        spans.rows.iter().map(|row| width(of(row), TEXT, Weight::Regular)).fold(0.0, f64::max).min(most)
    };
    let names = widest(|row| &row.label, panel_width * if stacked { 0.5 } else { 0.36 });
    let texts = widest(|row| &row.text, panel_width * if stacked { 0.5 } else { 0.3 } - GAP);
    let (from, to) = if stacked { (left, left + panel_width) } else { (left + names + GAP, left + panel_width - texts - GAP) };
    let bounds = spans.rows.iter().flat_map(|row| row.spans.iter().flat_map(|span| [span.0, span.1]));
    let x = range(&spans.axis, bounds, 0.0);
    let at = |value: f64| from + (to - from) * ((value - x.0) / (x.1 - x.0)).clamp(0.0, 1.0);

    let ticks = plane::placed(&spans.axis, x, (from, to), (left, left + panel_width));
    let height = if stacked { STACKED_ROW } else { ROW };
    let bottom = top + height * spans.rows.len() as f64;
    let mut y = top;
    for row in &spans.rows {
        let label = fit(&row.label, TEXT, Weight::Regular, names + 0.5);
        let text = fit(&row.text, TEXT, Weight::Regular, texts + 0.5);
        let middle = if stacked { y + 26.0 } else { y + ROW / 2.0 };
        let baseline = if stacked { y + TEXT } else { middle + TEXT * 0.36 };
        let anchor = if stacked { Anchor::Start } else { Anchor::End };
        let text_at = if stacked { left + panel_width - width(&text, TEXT, Weight::Regular) } else { to + GAP };
        let name_at = if stacked { left } else { left + names };
        canvas.text((name_at, baseline), anchor, TEXT, Weight::Regular, Hue::Ink, &label);
        canvas.text((text_at, baseline), Anchor::Start, TEXT, Weight::Regular, Hue::Ink, &text);
        for tick in &ticks {
            canvas.line((tick.at, middle - 12.0), (tick.at, middle + 12.0), Hue::Grid, 1.0);
        }
        for shape in shapes(row, at) {
            let wide = shape.right - shape.left;
            match shape.is_tick {
                true if wide <= 0.0 => canvas.line((shape.left, middle - 7.0), (shape.left, middle + 7.0), shape.hue, TICK),
                true => canvas.rect((shape.left - TICK / 2.0, middle - 7.0), (wide + TICK, 14.0), shape.hue),
                false => canvas.rect((shape.left, middle - 5.0), (wide, 10.0), shape.hue),
            }
        }
        y += height;
    }
    plane::below(&spans.axis, x, canvas, (from, to, bottom), (left, left + panel_width));
}
