//! The loss over the tokens seen: as a whole against guessing, and closer once it has come down.

use std::fmt::Write as _;

use super::curves::tokens_axis;
use super::drawing::{Axis, Drawing, Mark, Panel, Plane, Stroke, Unit};
use super::style::Hue;
use crate::chess::vocabulary::VOCABULARY_SIZE;
use crate::report::results::{Point, Results, Training};
use crate::report::words::validation_tokens;
use crate::text::{fixed, plural};

pub(crate) fn draw(_: &Results, point: &Point) -> Option<Drawing> {
    let training = point.training.as_ref()?;
    let raw: Vec<_> = training.curve.iter().map(|step| (step.tokens as f64, step.loss)).collect();
    if raw.len() < 2 {
        return None;
    }
    // As long as the end of which the mean is told: the curve ends at that figure.
    let window = training.last_steps();
    let smooth = smoothed(&raw, window);
    let validation: Vec<_> = training.validation.iter().map(|at| (at.tokens as f64, at.loss)).collect();
    let guessing = (VOCABULARY_SIZE as f64).ln();

    let mut whole = marks(&raw, &smooth, &validation, Labels::Short);
    whole.push(Mark::Level { y: guessing, label: format!("guessing,\u{a0}ln\u{a0}{VOCABULARY_SIZE}") });
    let y = || Axis::new("nats per token", Unit::Number);
    let mut panels = vec![plane("The whole training", y().include([0.0]), whole, tokens_axis())];

    let end = raw[raw.len() - 1].0;
    let late = |points: &[(f64, f64)]| points.iter().copied().filter(|point| point.0 >= end * 0.1).collect::<Vec<_>>();
    if raw.len() >= 50 {
        let late_raw = late(&raw);
        let close = marks(&late_raw, &late(&smooth), &late(&validation), Labels::Values);
        panels.push(plane(
            "After its first tenth",
            y().include(most_of(&late_raw)),
            close,
            Axis::new("training tokens", Unit::Count),
        ));
    }
    let mean =
        if window > 1 { format!(", mean of {} over the raw values", plural("step", window as u64)) } else { String::new() };
    let mut subtitle =
        format!("Cross-entropy of the next token; lower is better. Blue: training{mean}. Grey: guessing, {guessing:.2}.");
    if !validation.is_empty() {
        let tokens = validation_tokens(point);
        write!(subtitle, " Orange: validation, on the same {} each time.", plural("token", tokens)).expect("written to a string");
    }
    if training.unfinished {
        subtitle += " The training is not finished.";
    }
    let columns = panels.len();
    Some(Drawing { title: "Loss, by training tokens".to_owned(), subtitle, alt: alt(training), columns, panels })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Labels {
    Short,
    Values,
}

fn marks(raw: &[(f64, f64)], smooth: &[(f64, f64)], validation: &[(f64, f64)], labels: Labels) -> Vec<Mark> {
    let label = |name: &str, points: &[(f64, f64)]| match (labels, points.last()) {
        (Labels::Values, Some((_, value))) => format!("{name} {}", fixed(*value, 3)),
        _ => name.to_owned(),
    };
    let mut marks = Vec::new();
    if raw.len() != smooth.len() || raw != smooth {
        marks.push(Mark::Line { points: raw.to_vec(), hue: Hue::Blue, stroke: Stroke::Raw, label: String::new() });
    }
    marks.push(Mark::Line { points: smooth.to_vec(), hue: Hue::Blue, stroke: Stroke::Strong, label: label("training", smooth) });
    if !validation.is_empty() {
        let points = validation.to_vec();
        marks.push(Mark::Line { points, hue: Hue::Orange, stroke: Stroke::Thin, label: label("validation", validation) });
    }
    if validation.len() <= 30 {
        marks.push(Mark::Dots { points: validation.to_vec(), hue: Hue::Orange, label: String::new() });
    }
    marks
}

/// The range of all but the odd value: one spike must not flatten the rest.
fn most_of(points: &[(f64, f64)]) -> Vec<f64> {
    let mut values: Vec<_> = points.iter().map(|point| point.1).filter(|value| value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    let odd = values.len() / 200;
    values.get(odd).into_iter().chain(values.get((values.len().max(1) - 1).saturating_sub(odd))).copied().collect()
}

fn plane(heading: &str, y: Axis, marks: Vec<Mark>, x: Axis) -> Panel {
    Panel::Plane(Plane { heading: heading.to_owned(), x, y, marks, height: 230.0 })
}

/// The mean of `window` values up to each.
fn smoothed(raw: &[(f64, f64)], window: usize) -> Vec<(f64, f64)> {
    let mut sum = 0.0;
    let mut smooth = Vec::with_capacity(raw.len());
    for (i, &(x, y)) in raw.iter().enumerate() {
        if !y.is_finite() {
            // From a gap on, the running sum is of no use: what follows is shown as it is.
            return smooth.into_iter().chain(raw[i..].iter().copied()).collect();
        }
        sum += y;
        if i >= window {
            sum -= raw[i - window].1;
        }
        smooth.push((x, sum / window.min(i + 1) as f64));
    }
    smooth
}

fn alt(training: &Training) -> String {
    let trained = training.final_loss().map_or_else(String::new, |loss| format!("Training loss ends at {}", fixed(loss, 3)));
    match training.validation.last() {
        Some(last) => format!("{trained}, validation loss at {}", fixed(last.loss, 3)),
        None => trained,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smoothing_is_the_mean_of_the_last_values_and_keeps_gaps() {
        let raw = [(0.0, 4.0), (1.0, 2.0), (2.0, 0.0)];
        assert_eq!(smoothed(&raw, 2), [(0.0, 4.0), (1.0, 3.0), (2.0, 1.0)]);
        let gap = smoothed(&[(0.0, 1.0), (1.0, f64::NAN), (2.0, 5.0)], 2);
        assert!(gap.len() == 3 && gap[1].1.is_nan() && (gap[2].1 - 5.0).abs() < 1e-12);
    }
}
