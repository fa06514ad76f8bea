//! Draws a panel with two axes. Labels stand at the ends of their curves, moved apart where they would touch.

use super::canvas::{Anchor, Canvas, InData as _, Plot};
use super::drawing::{Axis, Mark, Plane, Stroke, Unit};
use super::names;
use super::scale::{range, ticks};
use super::style::{Hue, LEADING, TEXT, TICK, Weight, fit, width, wrap};

const HEADING: f64 = 24.0;
const LINE: f64 = TICK * LEADING;
/// Below the plot: tick labels, and the name of the axis.
const BELOW: f64 = 40.0;
/// From the plot to the labels at its right.
const REACH: f64 = 12.0;

/// From a point to its parts, in pixels.
const SPECKS_BESIDE: f64 = 7.0;

/// The radius of a ring.
const RING: f64 = 5.5;

/// A label at the right of the plot, and what it belongs to.
struct EndLabel {
    lines: Vec<String>,
    /// Where the curve ends.
    from: (f64, f64),
    /// What lies around that end and must stay clear of the line to the label.
    clear: f64,
    /// The middle of the label; moved by [`spread`].
    y: f64,
    hue: Hue,
}

/// What lies around a plot, in pixels; panels that share it have their plots in line.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Margins {
    /// Above it: the heading, the name of the y axis, labels of upright lines.
    above: f64,
    /// At its left, for tick labels.
    ticks: f64,
    /// At its right, for the labels of curves; 0 for none.
    labels: f64,
}

impl Margins {
    pub(crate) fn of(plane: &Plane, panel_width: f64) -> Self {
        let labels = y_ticks(plane).1.into_iter().map(|(_, label)| width(&label, TICK, Weight::Regular));
        Self { above: above(plane), ticks: labels.fold(0.0, f64::max), labels: label_room(plane, panel_width) }
    }

    pub(crate) fn most(self, other: Self) -> Self {
        Self { above: self.above.max(other.above), ticks: self.ticks.max(other.ticks), labels: self.labels.max(other.labels) }
    }

    /// Those of a row of panels: only what lies above is shared by all that stand side by side.
    pub(crate) fn in_row(self, row: Self) -> Self {
        Self { above: row.above, ..self }
    }
}

pub(crate) fn height(plane: &Plane, margins: Margins) -> f64 {
    margins.above + plane.height + BELOW
}

/// The range of the y axis, and its ticks.
fn y_ticks(plane: &Plane) -> ((f64, f64), Vec<(f64, String)>) {
    let y = range(&plane.y, plane.marks.iter().flat_map(ys), 0.06);
    (y, ticks(y, plane.y.unit, (plane.height / 38.0) as usize))
}

fn above(plane: &Plane) -> f64 {
    let uprights = plane.marks.iter().filter(|mark| matches!(mark, Mark::Upright { .. })).count();
    let heading = if plane.heading.is_empty() { 0.0 } else { HEADING };
    let label = if plane.y.label.is_empty() { 0.0 } else { LINE };
    heading + label + uprights as f64 * LINE + 8.0
}

pub(crate) fn draw(plane: &Plane, canvas: &Canvas, (left, top): (f64, f64), panel_width: f64, margins: Margins) {
    let x = range(&plane.x, plane.marks.iter().flat_map(xs), 0.0);
    let (y, y_ticks) = y_ticks(plane);
    let label_room = margins.labels;

    let plot_left = left + margins.ticks + 8.0;
    let plot_right = (left + panel_width - if label_room > 0.0 { label_room + REACH } else { 10.0 }).max(plot_left + 20.0);
    let plot_top = top + margins.above;
    let plot_bottom = plot_top + plane.height;
    let plot = canvas.plot(x.0..x.1, y.0..y.1, (plot_left, plot_top), (plot_right, plot_bottom));

    canvas.text(
        (left, top + TEXT),
        Anchor::Start,
        TEXT,
        Weight::Bold,
        Hue::Ink,
        &fit(&plane.heading, TEXT, Weight::Bold, panel_width),
    );
    let y_label = fit(&plane.y.label, TICK, Weight::Regular, panel_width);
    let heading = if plane.heading.is_empty() { 0.0 } else { HEADING };
    canvas.text((left, top + heading + TICK), Anchor::Start, TICK, Weight::Regular, Hue::Soft, &y_label);
    for (value, label) in &y_ticks {
        let (_, at) = plot.pixel((x.0, *value));
        canvas.line((plot_left, at), (plot_right, at), Hue::Grid, 1.0);
        canvas.text((plot_left - 8.0, at + 4.0), Anchor::End, TICK, Weight::Regular, Hue::Soft, label);
    }
    below(&plane.x, x, canvas, &plot, (plot_left, plot_right, plot_bottom), (left, left + panel_width));

    let inside = Inside { x, y, columns: plot_right - plot_left, rows: plane.height };
    for mark in &plane.marks {
        inside.mark(mark, &plot);
    }
    for mark in &plane.marks {
        if let Mark::Names { points } = mark {
            let lines: Vec<[f64; 4]> = plane.marks.iter().filter_map(|mark| inside.upright_line(mark, &plot)).collect();
            let room = [plot_left, plot_top, plot_right, plot_bottom];
            names::draw(points, canvas, |at| inside.holds(at).then(|| plot.pixel(at)), &lines, room);
        }
    }
    uprights(plane, canvas, &plot, &inside, plot_top, (plot_left, left + panel_width));
    let mut labels = end_labels(plane, &plot, &inside, plot_right, label_room);
    spread(&mut labels, plot_top - 2.0, plot_bottom + 2.0);
    for label in &labels {
        let at = (plot_right + REACH - 3.0, label.y);
        if (label.from.0 - plot_right).abs() > 3.0 || (label.from.1 - label.y).abs() > 3.0 {
            canvas.line((label.from.0 + label.clear, label.from.1), at, label.hue, 0.75);
        }
        let first = label.y - (label.lines.len() - 1) as f64 * LINE / 2.0 + TICK * 0.36;
        for (i, line) in label.lines.iter().enumerate() {
            let baseline = first + i as f64 * LINE;
            canvas.text((plot_right + REACH, baseline), Anchor::Start, TICK, Weight::Regular, Hue::Ink, line);
        }
    }
}

/// The x axis: ticks whose labels do not touch, and its name at the right end.
fn below(axis: &Axis, x: (f64, f64), canvas: &Canvas, plot: &Plot, plot_box: (f64, f64, f64), panel: (f64, f64)) {
    let (left, right, bottom) = plot_box;
    canvas.line((left, bottom), (right, bottom), Hue::Faint, 1.0);
    let place = |most| {
        let mut used = f64::NEG_INFINITY;
        let place_one = |(value, label): (f64, String)| {
            let (at, _) = plot.pixel((value, 0.0));
            let half = width(&label, TICK, Weight::Regular) / 2.0;
            let middle = at.min(panel.1 - half).max(panel.0 + half);
            let fits = middle - half >= used + 10.0 && middle + half <= panel.1 + 0.5;
            used = middle + half;
            (at, middle, label, fits)
        };
        ticks(x, axis.unit, most).into_iter().map(place_one).collect::<Vec<_>>()
    };
    // As many as have room; where not even two have, those that do.
    let fitting = (2..=8).rev().map(place).find(|placed| placed.iter().all(|(.., fits)| *fits)).unwrap_or_else(|| place(2));
    for (at, middle, label, _) in fitting.into_iter().filter(|(.., fits)| *fits) {
        canvas.line((at, bottom), (at, bottom + 4.0), Hue::Faint, 1.0);
        canvas.text((middle, bottom + 17.0), Anchor::Middle, TICK, Weight::Regular, Hue::Soft, &label);
    }
    let name = fit(&axis.label, TICK, Weight::Regular, right - panel.0);
    canvas.text((right, bottom + 34.0), Anchor::End, TICK, Weight::Regular, Hue::Soft, &name);
}

/// Keeps marks within the ranges, and their number within what can be seen.
struct Inside {
    x: (f64, f64),
    y: (f64, f64),
    /// Pixels across, and from top to bottom.
    columns: f64,
    rows: f64,
}

impl Inside {
    fn mark(&self, mark: &Mark, plot: &Plot) {
        match mark {
            Mark::Line { points, hue, stroke, .. } => {
                let (stroke, opacity) = match stroke {
                    Stroke::Strong => (2.25, 1.0),
                    Stroke::Thin => (1.5, 1.0),
                    Stroke::Raw => (1.0, 0.22),
                };
                for piece in points.split(|&(x, y)| !x.is_finite() || !y.is_finite()) {
                    let piece: Vec<_> = piece.iter().filter(|(x, _)| self.holds_x(*x)).map(|&point| self.clamp(point)).collect();
                    if piece.len() > 1 {
                        plot.line(&thin(&piece, self.columns), *hue, stroke, opacity);
                    }
                }
            }
            Mark::Band { points, hue } => {
                let points: Vec<_> =
                    points.iter().filter(|(x, low, high)| self.holds_x(*x) && low.is_finite() && high.is_finite()).collect();
                let lower = points.iter().map(|(x, low, _)| self.clamp((*x, *low)));
                let upper = points.iter().rev().map(|(x, _, high)| self.clamp((*x, *high)));
                if points.len() > 1 {
                    plot.area(&lower.chain(upper).collect::<Vec<_>>(), *hue, 0.18);
                }
            }
            Mark::Dots { points, hue, .. } => {
                for &point in points.iter().filter(|point| self.holds(**point)) {
                    plot.dot(point, 3.5, *hue);
                }
            }
            Mark::Ring { at, hue, .. } if self.holds(*at) => {
                plot.dot(*at, RING, *hue);
                plot.dot(*at, 3.0, Hue::Surface);
            }
            Mark::Whisker { x, low, high, hue } if self.holds_x(*x) && !low.is_nan() && !high.is_nan() => {
                let (lower, upper) = (self.clamp((*x, *low)), self.clamp((*x, *high)));
                plot.line(&[lower, upper], *hue, 1.5, 1.0);
                // An arrow says that a bound is open.
                let (dx, dy) = (4.0 * (self.x.1 - self.x.0) / self.columns, 5.0 * (self.y.1 - self.y.0) / self.rows);
                for (tip, dy, open) in [(lower, dy, *low == f64::NEG_INFINITY), (upper, -dy, *high == f64::INFINITY)] {
                    if open {
                        plot.line(&[(tip.0 - dx, tip.1 + dy), tip, (tip.0 + dx, tip.1 + dy)], *hue, 1.5, 1.0);
                    }
                }
            }
            Mark::Level { y, .. } => {
                if self.holds((self.x.0, *y)) {
                    plot.line(&[(self.x.0, *y), (self.x.1, *y)], Hue::Faint, 1.25, 1.0);
                }
            }
            Mark::Columns { bins, hue } => {
                let gap = (self.x.1 - self.x.0) / self.columns * 0.5;
                for &(from, to, height) in bins.iter().filter(|(_, _, height)| height.is_finite() && *height > 0.0) {
                    let gap = gap.min((to - from) * 0.2);
                    plot.column(self.clamp((from + gap, self.y.0.max(0.0))), self.clamp((to - gap, height)), *hue);
                }
            }
            Mark::Specks { points, hue } => {
                let beside = SPECKS_BESIDE * (self.x.1 - self.x.0) / self.columns;
                for &(x, y) in points.iter().filter(|point| self.holds(**point)) {
                    plot.dot((x + beside, y), 2.25, *hue);
                }
            }
            Mark::Ring { .. } | Mark::Whisker { .. } | Mark::Upright { .. } | Mark::Names { .. } => (),
        }
    }

    /// What a whisker takes up, in pixels: names keep clear of it.
    fn upright_line(&self, mark: &Mark, plot: &Plot) -> Option<[f64; 4]> {
        let Mark::Whisker { x, low, high, .. } = mark else { return None };
        if !self.holds_x(*x) || low.is_nan() || high.is_nan() {
            return None;
        }
        let ((x, bottom), (_, top)) = (plot.pixel(self.clamp((*x, *low))), plot.pixel(self.clamp((*x, *high))));
        Some([x - 2.0, top, x + 2.0, bottom])
    }

    fn holds_x(&self, x: f64) -> bool {
        let slack = (self.x.1 - self.x.0) * 1e-9;
        x >= self.x.0 - slack && x <= self.x.1 + slack
    }

    fn holds(&self, (x, y): (f64, f64)) -> bool {
        let slack = (self.y.1 - self.y.0) * 1e-9;
        self.holds_x(x) && y >= self.y.0 - slack && y <= self.y.1 + slack
    }

    fn clamp(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (x.clamp(self.x.0, self.x.1), y.clamp(self.y.0, self.y.1))
    }
}

/// Of each column of pixels the first, lowest, highest and last point: what a line over it shows.
fn thin(points: &[(f64, f64)], columns: f64) -> Vec<(f64, f64)> {
    if points.len() as f64 <= columns * 2.0 {
        return points.to_vec();
    }
    let (first, last) = (points[0].0, points[points.len() - 1].0);
    let column = |x: f64| ((x - first) / (last - first).max(f64::MIN_POSITIVE) * columns) as i64;
    let mut thinned = Vec::new();
    for bucket in points.chunk_by(|a, b| column(a.0) == column(b.0)) {
        let by_height = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let mut kept: Vec<_> = [bucket.first(), bucket.iter().min_by(by_height), bucket.iter().max_by(by_height), bucket.last()]
            .into_iter()
            .flatten()
            .collect();
        kept.sort_by(|a, b| a.0.total_cmp(&b.0));
        kept.dedup();
        thinned.extend(kept);
    }
    thinned
}

fn uprights(plane: &Plane, canvas: &Canvas, plot: &Plot, inside: &Inside, plot_top: f64, room: (f64, f64)) {
    let marks = plane.marks.iter().filter_map(|mark| match mark {
        Mark::Upright { x, label } => Some((*x, label)),
        _ => None,
    });
    for (row, (x, label)) in marks.enumerate() {
        if !inside.holds_x(x) {
            continue;
        }
        let baseline = plot_top - 6.0 - row as f64 * LINE;
        let (at, bottom) = plot.pixel((x, inside.y.0));
        let label = fit(label, TICK, Weight::Regular, room.1 - room.0);
        let half = width(&label, TICK, Weight::Regular) / 2.0;
        let middle = at.min(room.1 - half).max(room.0 + half);
        canvas.line((at, baseline + 4.0), (at, bottom), Hue::Ink, 1.25);
        canvas.text((middle, baseline), Anchor::Middle, TICK, Weight::Regular, Hue::Ink, &label);
    }
}

fn label_of(mark: &Mark) -> &str {
    match mark {
        Mark::Line { label, .. } | Mark::Dots { label, .. } | Mark::Ring { label, .. } | Mark::Level { label, .. } => label,
        _ => "",
    }
}

/// The widest label, up to a share of the panel; longer ones are wrapped.
fn label_room(plane: &Plane, panel_width: f64) -> f64 {
    let widest = plane.marks.iter().map(|mark| width(label_of(mark), TICK, Weight::Regular)).fold(0.0, f64::max);
    // A label that just fits must not be wrapped for a rounding.
    if widest > 0.0 { (widest + 0.5).min((panel_width * 0.27).max(98.0)) } else { 0.0 }
}

fn end_labels(plane: &Plane, plot: &Plot, inside: &Inside, plot_right: f64, room: f64) -> Vec<EndLabel> {
    let mut labels = Vec::new();
    for mark in plane.marks.iter().filter(|mark| !label_of(mark).is_empty()) {
        let (from, hue) = match mark {
            Mark::Line { points, hue, .. } | Mark::Dots { points, hue, .. } => {
                let Some(&end) = points.iter().rfind(|point| point.1.is_finite() && inside.holds_x(point.0)) else { continue };
                (plot.pixel(inside.clamp(end)), *hue)
            }
            Mark::Ring { at, hue, .. } if at.1.is_finite() && inside.holds_x(at.0) => (plot.pixel(inside.clamp(*at)), *hue),
            Mark::Level { y, .. } if inside.holds((inside.x.0, *y)) => ((plot_right, plot.pixel((inside.x.1, *y)).1), Hue::Faint),
            _ => continue,
        };
        let mut lines = wrap(label_of(mark), TICK, Weight::Regular, room);
        if lines.len() > 3 {
            lines.truncate(3);
            lines[2] = fit(&format!("{}…", lines[2]), TICK, Weight::Regular, room);
        }
        let clear = if matches!(mark, Mark::Ring { .. }) { RING } else { 0.0 };
        labels.push(EndLabel { lines, from, clear, y: from.1, hue });
    }
    labels
}

/// Moves labels apart, in the order of their curves, within the room; the last ones go where there is none.
fn spread(labels: &mut Vec<EndLabel>, top: f64, bottom: f64) {
    labels.sort_by(|a, b| a.y.total_cmp(&b.y));
    let half = |label: &EndLabel| label.lines.len() as f64 * LINE / 2.0;
    while labels.iter().map(half).sum::<f64>() * 2.0 > bottom - top && labels.len() > 1 {
        labels.pop();
    }
    let mut edge = top;
    for label in labels.iter_mut() {
        let half = half(label);
        label.y = label.y.max(edge + half);
        edge = label.y + half;
    }
    let mut edge = bottom;
    for label in labels.iter_mut().rev() {
        let half = half(label);
        label.y = label.y.min(edge - half);
        edge = label.y - half;
    }
}

fn xs(mark: &Mark) -> Vec<f64> {
    match mark {
        Mark::Line { points, .. } | Mark::Dots { points, .. } | Mark::Specks { points, .. } => {
            points.iter().map(|point| point.0).collect()
        }
        Mark::Band { points, .. } => points.iter().map(|point| point.0).collect(),
        Mark::Ring { at, .. } => vec![at.0],
        Mark::Whisker { x, .. } | Mark::Upright { x, .. } => vec![*x],
        Mark::Columns { bins, .. } => bins.iter().flat_map(|bin| [bin.0, bin.1]).collect(),
        Mark::Names { points } => points.iter().map(|(at, _)| at.0).collect(),
        Mark::Level { .. } => Vec::new(),
    }
}

fn ys(mark: &Mark) -> Vec<f64> {
    match mark {
        // Raw values may be cut: one spike must not flatten everything else.
        Mark::Line { stroke: Stroke::Raw, .. } | Mark::Upright { .. } | Mark::Names { .. } => Vec::new(),
        Mark::Line { points, .. } | Mark::Dots { points, .. } | Mark::Specks { points, .. } => {
            points.iter().map(|point| point.1).collect()
        }
        Mark::Band { points, .. } => points.iter().flat_map(|point| [point.1, point.2]).collect(),
        Mark::Ring { at, .. } => vec![at.1],
        Mark::Whisker { low, high, .. } => vec![*low, *high],
        Mark::Level { y, .. } => vec![*y],
        Mark::Columns { bins, .. } => bins.iter().map(|bin| bin.2).chain([0.0]).collect(),
    }
}

/// The axis that panels share: what shows the marks of all of them.
pub(crate) fn shared_y(marks: &[&[Mark]], unit: Unit, include: &[f64]) -> (f64, f64) {
    let axis = Axis::new("", unit).include(include.iter().copied());
    range(&axis, marks.iter().flat_map(|marks| marks.iter()).flat_map(ys), 0.06)
}
