//! Whether the model is as often right as it believes: a curve of reliability, and how sure it is.

use super::drawing::{Axis, Drawing, Mark, Panel, Plane, Stroke, Unit};
use super::style::Hue;
use crate::measure::score::Value;
use crate::report::results::{Measured, Point, Results};
use crate::text::{percent, percent_within, plural};

pub(crate) fn draw(_: &Results, point: &Point) -> Option<Drawing> {
    let score = point.finals("calibration").into_iter().next()?;
    let tenths = tenths(score);
    if tenths.is_empty() {
        return None;
    }
    let n: u64 = tenths.iter().map(|tenth| tenth.right.n).sum();
    let error = score.value("ece");
    let said = error.map(|error| percent_within(error.value, Some(error.low), Some(error.high)));
    let subtitle = format!(
        "How often the first choice is the move played, by tenths of its probability, on {}. Whiskers: 95 % intervals. Below \
         the grey line the model is surer than it is right.",
        plural("position", n),
    );
    let note = said.as_ref().map_or_else(String::new, |said| format!("The mean distance from the line (ECE) is {said}."));
    let panels = vec![Panel::Plane(reliability(&tenths)), Panel::Plane(confidence(&tenths, n))];
    let alt =
        said.map_or_else(|| "A curve of reliability".to_owned(), |said| format!("The expected calibration error is {said}"));
    Some(Drawing { title: "Confidence in the first choice".to_owned(), subtitle, alt, columns: 2, panels }.note(note))
}

struct Tenth<'a> {
    /// Of 0 … 1.
    bounds: (f64, f64),
    confidence: &'a Value,
    right: &'a Value,
}

/// The tenths that have positions, from the least sure on.
fn tenths(score: &Measured) -> Vec<Tenth<'_>> {
    let of = |right| {
        let Value { slice, .. }: &Value = right;
        let confidence = score.parts("confidence").find(|value| value.slice == *slice)?;
        let (low, high) = slice.split_once('-')?;
        Some(Tenth { bounds: (low.parse().ok()?, high.parse().ok()?), confidence, right })
    };
    score.parts("right").filter_map(of).collect()
}

fn reliability(tenths: &[Tenth]) -> Plane {
    let points: Vec<_> = tenths.iter().map(|tenth| (tenth.confidence.value, tenth.right.value)).collect();
    let diagonal = vec![(0.0, 0.0), (1.0, 1.0)];
    let mut marks =
        vec![Mark::Line { points: diagonal, hue: Hue::Faint, stroke: Stroke::Thin, label: "as sure as right".to_owned() }];
    marks.extend(tenths.iter().map(|tenth| Mark::Whisker {
        x: tenth.confidence.value,
        low: tenth.right.low,
        high: tenth.right.high,
        hue: Hue::Blue,
    }));
    let label = "model".to_owned();
    marks.push(Mark::Line { points: points.clone(), hue: Hue::Blue, stroke: Stroke::Thin, label });
    marks.push(Mark::Dots { points, hue: Hue::Blue, label: String::new() });
    let x = Axis::new("probability of the first choice", Unit::Share).range((0.0, 1.0));
    let y = Axis::new("is the move played", Unit::Share).range((0.0, 1.0));
    Plane { heading: "How often it is right".to_owned(), x, y, marks, height: 230.0 }
}

fn confidence(tenths: &[Tenth], n: u64) -> Plane {
    let share = |tenth: &Tenth| tenth.right.n as f64 / n.max(1) as f64;
    let bins = tenths.iter().map(|tenth| (tenth.bounds.0, tenth.bounds.1, share(tenth))).collect();
    let mean = tenths.iter().map(|tenth| tenth.confidence.value * share(tenth)).sum::<f64>();
    let mut marks = vec![Mark::Columns { bins, hue: Hue::Blue }];
    if mean.is_finite() {
        marks.push(Mark::Upright { x: mean, label: format!("mean {}", percent(mean, 1)) });
    }
    let x = Axis::new("probability of the first choice", Unit::Share).range((0.0, 1.0));
    let y = Axis::new("positions", Unit::Share).include([0.0]);
    Plane { heading: "How sure it is".to_owned(), x, y, marks, height: 230.0 }
}
