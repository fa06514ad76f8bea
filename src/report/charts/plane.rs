//! Draws a panel with two axes and what lies between them.

use super::canvas::{Anchor, Canvas, InData as _, Plot};
use super::drawing::{Axis, Mark, Plane, Stroke, Unit};
use super::labels::{self, Frame};
use super::marks::Inside;
use super::names;
use super::scale::{range, ticks_of};
use super::style::{Hue, LEADING, TEXT, TICK, Weight, fit, width};

const HEADING: f64 = 24.0;
const LINE: f64 = TICK * LEADING;
/// Below the plot: tick labels, and the name of the axis.
const BELOW: f64 = 40.0;
/// From the plot to the labels at its right.
const REACH: f64 = 12.0;
/// Pixels of the height of a plot for each tick of the y axis.
const EACH_TICK: f64 = 34.0;
/// An axis shows at least so many times the widest interval on it: what is not known must not fill the panel.
const INTERVALS: f64 = 3.0;

/// What lies around a plot, in pixels; panels that share it have their plots in line.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Margins {
    /// Above it: the heading, the name of the y axis, labels of upright lines.
    above: f64,
    /// At its left, for tick labels.
    ticks: f64,
    /// At its right, for the labels that cannot stand inside, and for all of them.
    labels: [f64; 2],
    /// No label stands inside: somewhere there is no room for one.
    crowded: bool,
}

impl Margins {
    pub(crate) fn of(plane: &Plane, panel_width: f64) -> Self {
        let ticks = y_ticks(plane).1.into_iter().map(|(_, label)| width(&label, TICK, Weight::Regular));
        let labels = labels::rooms(plane, x_range(plane), panel_width);
        let free = Self { above: above(plane), ticks: ticks.fold(0.0, f64::max), labels, crowded: false };
        free.checked(plane, panel_width)
    }

    /// Crowded, where the labels of this panel have no room within these margins.
    pub(crate) fn checked(self, plane: &Plane, panel_width: f64) -> Self {
        let frame = frame(plane, (0.0, 0.0), panel_width, self);
        Self { crowded: self.crowded || labels::inner(plane, &frame).is_none(), ..self }
    }

    pub(crate) fn most(self, other: Self) -> Self {
        Self {
            above: self.above.max(other.above),
            ticks: self.ticks.max(other.ticks),
            labels: [0, 1].map(|i| self.labels[i].max(other.labels[i])),
            crowded: self.crowded || other.crowded,
        }
    }

    /// Those of a row of panels: only what lies above is shared by all that stand side by side.
    pub(crate) fn in_row(self, row: Self) -> Self {
        Self { above: row.above, ..self }
    }

    fn at_right(self) -> f64 {
        self.labels[usize::from(self.crowded)]
    }
}

pub(crate) fn height(plane: &Plane, margins: Margins) -> f64 {
    margins.above + plane.height + BELOW
}

fn x_range(plane: &Plane) -> (f64, f64) {
    range(&plane.x, plane.marks.iter().flat_map(xs).chain(plane.x.ticks.iter().copied()), 0.0)
}

/// The range of the y axis, and its ticks.
pub(crate) fn y_ticks(plane: &Plane) -> ((f64, f64), Vec<(f64, String)>) {
    let y = y_range(&plane.y, plane.marks.iter());
    (y, ticks_of(&plane.y, y, (plane.height / EACH_TICK) as usize))
}

fn y_range<'a>(axis: &Axis, marks: impl Iterator<Item = &'a Mark> + Clone) -> (f64, f64) {
    let (low, high) = range(axis, marks.clone().flat_map(ys), 0.06);
    let lacking = INTERVALS * marks.flat_map(intervals).fold(0.0, f64::max) - (high - low);
    if axis.range.is_some() || lacking <= 0.0 || !lacking.is_finite() {
        return (low, high);
    }
    // An end that was asked for stays; a share has its own.
    let is_share = axis.unit == Unit::Share && low >= 0.0 && high <= 1.0;
    let (low, high) = if axis.include.contains(&low) {
        (low, high + lacking)
    } else if axis.include.contains(&high) {
        (low - lacking, high)
    } else {
        (low - lacking / 2.0, high + lacking / 2.0)
    };
    if is_share { (low.max(0.0), high.min(1.0)) } else { (low, high) }
}

fn above(plane: &Plane) -> f64 {
    let uprights = plane.marks.iter().filter(|mark| matches!(mark, Mark::Upright { .. })).count();
    let heading = if plane.heading.is_empty() { 0.0 } else { HEADING };
    let label = if plane.y.label.is_empty() { 0.0 } else { LINE };
    heading + label + uprights as f64 * LINE + 8.0
}

fn frame(plane: &Plane, (left, top): (f64, f64), panel_width: f64, margins: Margins) -> Frame {
    let room = margins.at_right();
    let from = left + margins.ticks + 8.0;
    let top = top + margins.above;
    Frame {
        left: from,
        right: (left + panel_width - if room > 0.0 { room + REACH } else { 10.0 }).max(from + 20.0),
        top,
        bottom: top + plane.height,
        x: x_range(plane),
        y: y_ticks(plane).0,
    }
}

pub(crate) fn draw(plane: &Plane, canvas: &Canvas, (left, top): (f64, f64), panel_width: f64, margins: Margins) {
    let frame = frame(plane, (left, top), panel_width, margins);
    let Frame { x, y, .. } = frame;
    let plot = canvas.plot(x.0..x.1, y.0..y.1, (frame.left, frame.top), (frame.right, frame.bottom));

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
    for (value, label) in &y_ticks(plane).1 {
        let (_, at) = plot.pixel((x.0, *value));
        canvas.line((frame.left, at), (frame.right, at), Hue::Grid, 1.0);
        canvas.text((frame.left - 8.0, at + 4.0), Anchor::End, TICK, Weight::Regular, Hue::Soft, label);
    }
    below(&plane.x, x, canvas, (frame.left, frame.right, frame.bottom), (left, left + panel_width));

    let inside = Inside { x, y, columns: frame.right - frame.left, rows: plane.height };
    for mark in &plane.marks {
        inside.mark(mark, &plot);
    }
    for mark in &plane.marks {
        if let Mark::Names { points } = mark {
            let lines: Vec<[f64; 4]> = plane.marks.iter().filter_map(|mark| inside.upright_line(mark, &plot)).collect();
            let room = [frame.left, frame.top, frame.right, frame.bottom];
            names::draw(points, canvas, |at| inside.holds(at).then(|| plot.pixel(at)), &lines, room);
        }
    }
    uprights(plane, canvas, &plot, &inside, frame.top, (frame.left, left + panel_width));
    // Names of points take the room in which a label could lie.
    let has_names = plane.marks.iter().any(|mark| matches!(mark, Mark::Names { .. }));
    let inner = if margins.crowded || has_names { None } else { labels::inner(plane, &frame) };
    for label in labels::outer(plane, &frame, inner.is_none(), margins.at_right()) {
        at_right(&label, canvas, frame.right);
    }
    for label in inner.into_iter().flatten() {
        canvas.text((label.left, label.baseline), Anchor::Start, TICK, Weight::Regular, Hue::Ink, &label.text);
    }
}

/// A label beside the plot, with a line to what it belongs to where it had to move.
fn at_right(label: &labels::Outer, canvas: &Canvas, right: f64) {
    if (label.from.0 - right).abs() > 3.0 || (label.from.1 - label.y).abs() > 3.0 {
        canvas.line((label.from.0 + label.clear, label.from.1), (right + REACH - 3.0, label.y), label.hue, 0.75);
    }
    let first = label.y - (label.lines.len() - 1) as f64 * LINE / 2.0 + TICK * 0.36;
    for (i, line) in label.lines.iter().enumerate() {
        let baseline = first + i as f64 * LINE;
        canvas.text((right + REACH, baseline), Anchor::Start, TICK, Weight::Regular, Hue::Ink, line);
    }
}

/// A tick of an x axis, on the sheet.
pub(crate) struct Placed {
    pub(crate) at: f64,
    /// The middle of the label; none where it has no room.
    label: Option<(f64, String)>,
}

/// The ticks of an x axis that goes from left to right, so many that their labels do not touch.
pub(crate) fn placed(axis: &Axis, x: (f64, f64), (left, right): (f64, f64), panel: (f64, f64)) -> Vec<Placed> {
    let ticks = |most| {
        let mut used = f64::NEG_INFINITY;
        let place_one = |(value, label): (f64, String)| {
            let at = left + (value - x.0) / (x.1 - x.0) * (right - left);
            let half = width(&label, TICK, Weight::Regular) / 2.0;
            let middle = at.min(panel.1 - half).max(panel.0 + half);
            let fits = middle - half >= used + 10.0 && middle + half <= panel.1 + 0.5;
            // What does not fit takes no room from the next.
            if fits {
                used = middle + half;
            }
            Placed { at, label: fits.then_some((middle, label)) }
        };
        ticks_of(axis, x, most).into_iter().map(place_one).collect::<Vec<_>>()
    };
    // As many as have room; where not even two have, those that do.
    (2..=8).rev().map(ticks).find(|placed| placed.iter().all(|tick| tick.label.is_some())).unwrap_or_else(|| ticks(2))
}

/// The x axis with its ticks, and its name at the right end. Left, right and height of the axis; left and right of the panel.
pub(crate) fn below(axis: &Axis, x: (f64, f64), canvas: &Canvas, (left, right, bottom): (f64, f64, f64), panel: (f64, f64)) {
    canvas.line((left, bottom), (right, bottom), Hue::Faint, 1.0);
    for Placed { at, label } in placed(axis, x, (left, right), panel) {
        canvas.line((at, bottom), (at, bottom + 4.0), Hue::Faint, 1.0);
        if let Some((middle, label)) = label {
            canvas.text((middle, bottom + 17.0), Anchor::Middle, TICK, Weight::Regular, Hue::Soft, &label);
        }
    }
    let name = fit(&axis.label, TICK, Weight::Regular, panel.1 - panel.0);
    let end = right.max(panel.0 + width(&name, TICK, Weight::Regular));
    canvas.text((end, bottom + 34.0), Anchor::End, TICK, Weight::Regular, Hue::Soft, &name);
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

fn xs(mark: &Mark) -> Vec<f64> {
    match mark {
        Mark::Line { points, .. } | Mark::Dots { points, .. } | Mark::Specks { points, .. } => {
            points.iter().map(|point| point.0).collect()
        }
        Mark::Band { points, .. } => points.iter().map(|point| point.0).collect(),
        Mark::Star { at, .. } => vec![at.0],
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
        Mark::Star { at, .. } => vec![at.1],
        Mark::Whisker { low, high, .. } => vec![*low, *high],
        Mark::Level { y, .. } => vec![*y],
        Mark::Columns { bins, .. } => bins.iter().map(|bin| bin.2).chain([0.0]).collect(),
    }
}

/// How wide the intervals of a mark are.
fn intervals(mark: &Mark) -> Vec<f64> {
    let wide = |low: f64, high: f64| Some(high - low).filter(|wide| wide.is_finite()).unwrap_or(0.0);
    match mark {
        Mark::Band { points, .. } => points.iter().map(|point| wide(point.1, point.2)).collect(),
        Mark::Whisker { low, high, .. } => vec![wide(*low, *high)],
        _ => Vec::new(),
    }
}

/// The axis that panels share: what shows the marks of all of them.
pub(crate) fn shared_y(marks: &[&[Mark]], unit: Unit, include: &[f64]) -> (f64, f64) {
    let axis = Axis::new("", unit).include(include.iter().copied());
    y_range(&axis, marks.iter().flat_map(|marks| marks.iter()))
}
