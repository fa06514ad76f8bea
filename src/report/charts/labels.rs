//! Where the labels of a plot stand: at the end of what they belong to, inside the plot where that is clear, else at its right.

use super::drawing::{Mark, Plane, Stroke};
use super::style::{LEADING, TICK, Weight, fit, width, wrap};

const LINE: f64 = TICK * LEADING;
/// From the end of a curve to its label inside of the plot.
const NEAR: f64 = 8.0;
/// Around a label: no line comes so close.
const CLEAR: f64 = 2.0;
/// A curve that ends in this last share of the plot has its label at the right of it.
const LAST: f64 = 0.06;
/// The radius of a star.
pub(super) const STAR: f64 = 7.0;

/// A plot on the sheet: its sides in pixels, and what they are in data coordinates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    pub(super) x: (f64, f64),
    pub(super) y: (f64, f64),
}

impl Frame {
    fn pixel(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let along = |value: f64, (low, high): (f64, f64)| (value.clamp(low, high) - low) / (high - low);
        (self.left + along(x, self.x) * (self.right - self.left), self.bottom - along(y, self.y) * (self.bottom - self.top))
    }

    fn shows(&self, x: f64) -> bool {
        let slack = (self.x.1 - self.x.0) * 1e-9;
        x >= self.x.0 - slack && x <= self.x.1 + slack
    }
}

/// A label inside of the plot.
pub(super) struct Inner {
    pub(super) left: f64,
    pub(super) baseline: f64,
    pub(super) text: String,
}

/// A label at the right of the plot.
pub(super) struct Outer {
    pub(super) lines: Vec<String>,
    /// Where the curve ends.
    pub(super) from: (f64, f64),
    /// What lies around that end and must stay clear of the line to the label.
    pub(super) clear: f64,
    /// The middle of the label; moved by [`spread`].
    pub(super) y: f64,
    pub(super) hue: super::style::Hue,
}

/// The labels inside of the plot; none where one of them has no clear place there, and all must stand at the right.
pub(super) fn inner(plane: &Plane, frame: &Frame) -> Option<Vec<Inner>> {
    let lines = obstacles(plane, frame);
    let mut taken: Vec<[f64; 4]> = Vec::new();
    let mut placed = Vec::new();
    for mark in plane.marks.iter().filter(|mark| may_stand_inside(mark, frame.x)) {
        let Some(end) = end_of(mark, frame) else { continue };
        let text = label_of(mark);
        let wide = width(text, TICK, Weight::Regular);
        let (left, baseline) = places(mark, end, wide, frame).find(|&(left, baseline)| {
            let own = [left, baseline - 0.76 * TICK, left + wide, baseline + 0.22 * TICK];
            let fits =
                own[0] >= frame.left && own[2] <= frame.right + 0.5 && own[1] >= frame.top - 2.0 && own[3] <= frame.bottom - 1.0;
            let wider = [own[0] - CLEAR, own[1] - CLEAR, own[2] + CLEAR, own[3] + CLEAR];
            fits && !taken.iter().any(|other| touch(&wider, other)) && !lines.iter().any(|line| crosses(line, &wider))
        })?;
        taken.push([left, baseline - 0.76 * TICK, left + wide, baseline + 0.22 * TICK]);
        placed.push(Inner { left, baseline, text: text.to_owned() });
    }
    Some(placed)
}

/// The widths that labels at the right need: where some stand inside, and where all stand there.
pub(super) fn rooms(plane: &Plane, x: (f64, f64), panel_width: f64) -> [f64; 2] {
    let room = |is_outer: &dyn Fn(&Mark) -> bool| {
        let outer = plane.marks.iter().filter(|mark| is_outer(mark));
        let widest = outer.map(|mark| width(label_of(mark), TICK, Weight::Regular)).fold(0.0, f64::max);
        // A label that just fits must not be wrapped for a rounding.
        if widest > 0.0 { (widest + 0.5).min((panel_width * 0.27).max(98.0)) } else { 0.0 }
    };
    [room(&|mark| !may_stand_inside(mark, x)), room(&|_| true)]
}

/// The labels at the right: all, or those that may not stand inside. The room wraps them.
pub(super) fn outer(plane: &Plane, frame: &Frame, all: bool, room: f64) -> Vec<Outer> {
    let mut labels = Vec::new();
    for mark in plane.marks.iter().filter(|mark| !label_of(mark).is_empty() && (all || !may_stand_inside(mark, frame.x))) {
        let Some(from) = end_of(mark, frame) else { continue };
        let mut lines = wrap(label_of(mark), TICK, Weight::Regular, room);
        if lines.len() > 3 {
            lines.truncate(3);
            lines[2] = fit(&format!("{}…", lines[2]), TICK, Weight::Regular, room);
        }
        let clear = if matches!(mark, Mark::Star { .. }) { STAR } else { 0.0 };
        labels.push(Outer { lines, from, clear, y: from.1, hue: hue_of(mark) });
    }
    spread(&mut labels, frame.top - 2.0, frame.bottom + 8.0);
    labels
}

/// Moves labels apart, in the order of their curves, within the room; the last ones go where there is none.
fn spread(labels: &mut Vec<Outer>, top: f64, bottom: f64) {
    labels.sort_by(|a, b| a.y.total_cmp(&b.y));
    let half = |label: &Outer| label.lines.len() as f64 * LINE / 2.0;
    while labels.iter().map(half).sum::<f64>() * 2.0 > bottom - top && labels.len() > 1 {
        labels.pop();
    }
    // Those that would touch move apart evenly, so that none goes far.
    for _ in 0..labels.len() * 4 {
        for at in 1..labels.len() {
            let wanted = half(&labels[at - 1]) + half(&labels[at]);
            let lacking = wanted - (labels[at].y - labels[at - 1].y);
            if lacking > 0.0 {
                labels[at - 1].y -= lacking / 2.0;
                labels[at].y += lacking / 2.0;
            }
        }
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

fn label_of(mark: &Mark) -> &str {
    match mark {
        Mark::Line { label, .. } | Mark::Dots { label, .. } | Mark::Star { label, .. } | Mark::Level { label, .. } => label,
        _ => "",
    }
}

fn hue_of(mark: &Mark) -> super::style::Hue {
    match mark {
        Mark::Line { hue, .. } | Mark::Dots { hue, .. } | Mark::Star { hue, .. } => *hue,
        _ => super::style::Hue::Faint,
    }
}

/// A level, and a curve that ends well before the right side.
fn may_stand_inside(mark: &Mark, x: (f64, f64)) -> bool {
    if label_of(mark).is_empty() {
        return false;
    }
    match mark {
        Mark::Level { .. } => true,
        Mark::Line { points, .. } | Mark::Dots { points, .. } => {
            points.iter().rfind(|point| point.1.is_finite()).is_some_and(|end| end.0 < x.1 - LAST * (x.1 - x.0))
        }
        _ => false,
    }
}

/// Where the label of a mark belongs; none where that is outside of the plot.
fn end_of(mark: &Mark, frame: &Frame) -> Option<(f64, f64)> {
    let shown = |point: &&(f64, f64)| point.1.is_finite() && frame.shows(point.0);
    match mark {
        Mark::Line { points, .. } | Mark::Dots { points, .. } => points.iter().rfind(shown).map(|&end| frame.pixel(end)),
        Mark::Star { at, .. } => Some(at).filter(shown).map(|&at| frame.pixel(at)),
        Mark::Level { y, .. } => {
            let slack = (frame.y.1 - frame.y.0) * 1e-9;
            (*y >= frame.y.0 - slack && *y <= frame.y.1 + slack).then(|| frame.pixel((frame.x.1, *y)))
        }
        _ => None,
    }
}

/// Where a label might stand, the best place first.
fn places<'a>(mark: &Mark, end: (f64, f64), wide: f64, frame: &Frame) -> Box<dyn Iterator<Item = (f64, f64)> + 'a> {
    let frame = *frame;
    if matches!(mark, Mark::Level { .. }) {
        let lefts = [1.0, 0.0, 0.75, 0.5, 0.25].map(|share| frame.left + 3.0 + share * (frame.right - frame.left - wide - 6.0));
        return Box::new(
            [end.1 - 5.0, end.1 + TICK + 2.0].into_iter().flat_map(move |baseline| lefts.map(|left| (left, baseline))),
        );
    }
    let middle = end.1 + TICK * 0.36;
    Box::new([0.0, -11.0, 11.0, -20.0, 20.0].into_iter().map(move |down| (end.0 + NEAR, middle + down)))
}

/// All that is drawn with a line, as pieces of lines; what fills areas may lie below a label.
fn obstacles(plane: &Plane, frame: &Frame) -> Vec<[(f64, f64); 2]> {
    let mut lines = Vec::new();
    let around = |(x, y): (f64, f64), radius: f64| [[(x - radius, y), (x + radius, y)], [(x, y - radius), (x, y + radius)]];
    for mark in &plane.marks {
        match mark {
            Mark::Line { stroke: Stroke::Raw, .. } | Mark::Band { .. } | Mark::Names { .. } => (),
            Mark::Line { points, .. } => lines.extend(
                points
                    .windows(2)
                    .filter(|pair| pair.iter().all(|point| point.1.is_finite() && frame.shows(point.0)))
                    .map(|pair| [frame.pixel(pair[0]), frame.pixel(pair[1])]),
            ),
            Mark::Dots { points, .. } | Mark::Specks { points, .. } => {
                let shown = points.iter().filter(|point| point.1.is_finite() && frame.shows(point.0));
                lines.extend(shown.flat_map(|&point| around(frame.pixel(point), 4.0)));
            }
            Mark::Star { at, .. } if at.1.is_finite() => lines.extend(around(frame.pixel(*at), STAR)),
            Mark::Whisker { x, low, high, .. } if !low.is_nan() && !high.is_nan() => {
                lines.push([frame.pixel((*x, *low)), frame.pixel((*x, *high))]);
            }
            Mark::Level { y, .. } if y.is_finite() => lines.push([frame.pixel((frame.x.0, *y)), frame.pixel((frame.x.1, *y))]),
            Mark::Upright { x, .. } if x.is_finite() => lines.push([frame.pixel((*x, frame.y.0)), frame.pixel((*x, frame.y.1))]),
            Mark::Columns { bins, .. } => lines.extend(bins.iter().filter(|bin| bin.2.is_finite()).map(|bin| {
                let middle = f64::midpoint(bin.0, bin.1);
                [frame.pixel((middle, 0.0)), frame.pixel((middle, bin.2))]
            })),
            Mark::Star { .. } | Mark::Whisker { .. } | Mark::Level { .. } | Mark::Upright { .. } => (),
        }
    }
    lines
}

fn touch(a: &[f64; 4], b: &[f64; 4]) -> bool {
    a[0].max(b[0]) < a[2].min(b[2]) && a[1].max(b[1]) < a[3].min(b[3])
}

/// Whether a line goes through a box (Liang and Barsky 1984).
fn crosses(line: &[(f64, f64); 2], of: &[f64; 4]) -> bool {
    let [(x, y), (to_x, to_y)] = *line;
    let (dx, dy) = (to_x - x, to_y - y);
    let (mut enters, mut leaves) = (0.0_f64, 1.0_f64);
    for (towards, room) in [(-dx, x - of[0]), (dx, of[2] - x), (-dy, y - of[1]), (dy, of[3] - y)] {
        if towards == 0.0 {
            if room < 0.0 {
                return false;
            }
        } else if towards < 0.0 {
            enters = enters.max(room / towards);
        } else {
            leaves = leaves.min(room / towards);
        }
    }
    enters <= leaves
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::charts::drawing::{Axis, Unit};
    use crate::report::charts::style::Hue;

    fn plane(marks: Vec<Mark>) -> (Plane, Frame) {
        let axis = || Axis::new("", Unit::Number).range((0.0, 100.0));
        let frame = Frame { left: 0.0, right: 300.0, top: 0.0, bottom: 200.0, x: (0.0, 100.0), y: (0.0, 100.0) };
        (Plane { heading: String::new(), x: axis(), y: axis(), marks, height: 200.0 }, frame)
    }

    fn line(points: &[(f64, f64)], label: &str) -> Mark {
        Mark::Line { points: points.to_vec(), hue: Hue::Blue, stroke: Stroke::Strong, label: label.to_owned() }
    }

    #[test]
    fn a_level_is_labelled_along_it_where_no_line_goes_and_at_the_right_where_there_is_no_such_place() {
        let level = || Mark::Level { y: 50.0, label: "guessing".to_owned() };
        let (free, frame) = plane(vec![level(), line(&[(0.0, 90.0), (100.0, 80.0)], "")]);
        let placed = inner(&free, &frame).expect("there is room");
        assert!(placed[0].left > 200.0 && placed[0].baseline < 100.0, "above its right end");
        let comb: Vec<_> = (0..200).map(|i| (f64::from(i) / 2.0, if i % 2 == 0 { 0.0 } else { 100.0 })).collect();
        let (full, frame) = plane(vec![level(), line(&comb, "")]);
        assert!(inner(&full, &frame).is_none());
        assert_eq!(outer(&full, &frame, true, 98.0).len(), 1);
    }

    #[test]
    fn a_curve_that_ends_early_has_its_label_beside_its_end_and_clear_of_other_curves() {
        let (plane, frame) = plane(vec![line(&[(0.0, 90.0), (30.0, 10.0)], "a"), line(&[(20.0, 90.0), (40.0, 10.0)], "b")]);
        let placed = inner(&plane, &frame).expect("there is room");
        assert!(outer(&plane, &frame, false, 98.0).is_empty());
        for label in &placed {
            let own = [label.left, label.baseline - 9.0, label.left + 7.0, label.baseline + 2.0];
            assert!(!obstacles(&plane, &frame).iter().any(|line| crosses(line, &own)), "`{}`", label.text);
        }
    }

    #[test]
    fn a_line_crosses_a_box_only_where_it_does() {
        let of = [10.0, 10.0, 20.0, 20.0];
        assert!(crosses(&[(0.0, 0.0), (30.0, 30.0)], &of) && crosses(&[(12.0, 12.0), (13.0, 13.0)], &of));
        assert!(!crosses(&[(0.0, 0.0), (30.0, 9.0)], &of) && !crosses(&[(0.0, 0.0), (9.0, 9.0)], &of));
        assert!(crosses(&[(15.0, 0.0), (15.0, 30.0)], &of) && !crosses(&[(25.0, 0.0), (25.0, 30.0)], &of));
    }
}
