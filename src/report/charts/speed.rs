//! Tokens a second over the training.

use super::drawing::{Axis, Drawing, Mark, Panel, Plane, Stroke, Unit};
use super::style::Hue;
use crate::report::results::{Point, Results};
use crate::text::{percent, si};

pub(crate) fn draw(_: &Results, point: &Point) -> Option<Drawing> {
    let training = point.training.as_ref()?;
    let points: Vec<_> = training.speed.iter().map(|at| (at.step as f64, at.tokens_per_second)).collect();
    if points.len() < 2 {
        return None;
    }
    let median = median(points.iter().map(|point| point.1))?;
    let marks = vec![
        Mark::Line { points, hue: Hue::Blue, stroke: Stroke::Thin, label: String::new() },
        Mark::Level { y: median, label: format!("median {}", si(median)) },
    ];
    let mfu = training.device.as_ref().and_then(|device| device.mfu).map_or_else(String::new, |mfu| {
        format!(" At the median, {} of the device's measured matmul rate (MFU).", percent(mfu, 1))
    });
    let subtitle = format!("Training tokens a second, each point the mean of some steps.{mfu}");
    let alt = format!("The median is {} tokens a second", si(median));
    let y = Axis::new("tokens/s", Unit::Count).include([0.0]);
    let panel = Plane { heading: String::new(), x: Axis::new("step", Unit::Count), y, marks, height: 150.0 };
    Some(Drawing::one("Speed of the training", subtitle, alt, Panel::Plane(panel)))
}

pub(crate) fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<_> = values.filter(|value| value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
