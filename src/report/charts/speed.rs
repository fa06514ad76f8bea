//! Tokens a second over the training, and what share of the device's matmul rate they come to.

use std::fmt::Write as _;

use super::drawing::{Axis, Drawing, Mark, Panel, Plane, Stroke, Unit};
use super::style::Hue;
use crate::report::results::{Point, Results, Training};
use crate::text::{percent, si, significant};

pub(crate) fn draw(results: &Results, point: &Point) -> Option<Drawing> {
    let training = point.training.as_ref()?;
    let speeds: Vec<_> = training.speed.iter().map(|at| (at.step as f64, at.tokens_per_second)).collect();
    if speeds.len() < 2 {
        return None;
    }
    let median = median(speeds.iter().map(|point| point.1))?;
    let mut alt = format!("The median is {} tokens a second", si(median));
    let y = Axis::new("tokens/s", Unit::Count).include([0.0]);
    let mut panels = vec![panel("Tokens a second", y, speeds.clone(), (median, format!("median {}", si(median))))];
    let mut subtitle = "Each point is the mean of some steps, without validation and checkpoints; grey: the median.".to_owned();
    let doubt = doubt(results, training);
    if let Some(share) = matmul_share(training).filter(|_| doubt.is_none()) {
        let used = speeds.iter().map(|(step, speed)| (*step, speed * share)).collect();
        let y = Axis::new("MFU", Unit::Share).include([0.0, 1.0]);
        let label = format!("median {}", percent(median * share, 1));
        panels.push(panel("Share of the measured matmul rate", y, used, (median * share, label)));
        subtitle += " MFU: the operations that the training needs, of those of a large matrix product on this device.";
        write!(alt, ", which is an MFU of {}", percent(median * share, 1)).expect("written to a string");
    }
    let columns = panels.len();
    let drawing = Drawing { title: "Speed of the training".to_owned(), subtitle, alt, columns, panels };
    Some(drawing.note(doubt.unwrap_or_default()))
}

/// Rates of one device that differ by more were not measured on a quiet machine.
const MOST_APART: f64 = 0.2;

/// Why the rate of the matrix product can't be right, in sentences: it is below what the training came to, or below what the same
/// device came to at another point.
pub(crate) fn doubt(results: &Results, training: &Training) -> Option<String> {
    let share = matmul_share(training)?;
    let rate = |training: &Training| training.device.as_ref()?.matmul_flops_per_second.filter(|rate| rate.is_finite());
    let device = |training: &Training| training.device.as_ref().map(|device| (device.device.clone(), device.threads));
    let own = rate(training)?;
    let trainings = results.points.iter().filter_map(|point| point.training.as_ref());
    let alike = trainings.filter(|other| device(other) == device(training)).filter_map(rate);
    let most = alike.fold(own, f64::max);
    let why = if training.speed.iter().any(|lap| lap.tokens_per_second * share > 1.0) {
        "the training itself was faster".to_owned()
    } else if own < most * (1.0 - MOST_APART) {
        format!("it came to {}, and at another point of this run to {}", of_flops(own), of_flops(most))
    } else {
        return None;
    };
    Some(format!(
        "The matrix product was timed while the machine was busy, since {why}: MFU is not to be trusted, and not drawn."
    ))
}

fn of_flops(rate: f64) -> String {
    let (size, unit) = if rate >= 1e12 { (1e12, "TFLOP/s") } else { (1e9, "GFLOP/s") };
    format!("{} {unit}", significant(rate / size, 3))
}

/// What a token a second is of the device's matmul rate.
fn matmul_share(training: &Training) -> Option<f64> {
    let rate = training.device.as_ref()?.matmul_flops_per_second.filter(|rate| *rate > 0.0)?;
    Some(training.summary.flops_per_token / rate).filter(|share| share.is_finite() && *share > 0.0)
}

fn panel(heading: &str, y: Axis, points: Vec<(f64, f64)>, (median, label): (f64, String)) -> Panel {
    let marks =
        vec![Mark::Line { points, hue: Hue::Blue, stroke: Stroke::Thin, label: String::new() }, Mark::Level { y: median, label }];
    Panel::Plane(Plane { heading: heading.to_owned(), x: Axis::new("step", Unit::Whole).include([0.0]), y, marks, height: 150.0 })
}

pub(crate) fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<_> = values.filter(|value| value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
