//! Whether the device worked as it was measured to: the rate that the training needed, and what the device told of itself.

use super::drawing::{Axis, Drawing, Mark, Panel, Plane, Stroke, Unit};
use super::speed::{doubt, median};
use super::style::Hue;
use crate::report::results::{Point, Results, Speed, Training};
use crate::text::{percent, plural, significant, thousands};

/// What a device may tell at the end of some steps.
struct Quantity {
    heading: &'static str,
    unit: &'static str,
    of: fn(&Speed) -> Option<f64>,
}

const TOLD: [Quantity; 3] = [
    Quantity { heading: "Power", unit: "W", of: |lap| lap.power_watts },
    Quantity { heading: "Clock of the multiprocessors", unit: "MHz", of: |lap| lap.clock_mhz },
    Quantity { heading: "Temperature", unit: "°C", of: |lap| lap.temperature_celsius },
];

pub(crate) fn draw(results: &Results, point: &Point) -> Option<Drawing> {
    let training = point.training.as_ref()?;
    let mut panels = Vec::new();
    let mut said = Vec::new();
    for quantity in TOLD {
        let points: Vec<_> = training.speed.iter().filter_map(|lap| Some((lap.step as f64, (quantity.of)(lap)?))).collect();
        let Some(median) = median(points.iter().map(|point| point.1)).filter(|_| points.len() > 1) else { continue };
        let label = format!("median {} {}", thousands(median.round().max(0.0) as u64), quantity.unit);
        said.push(format!("{}: {label}", quantity.heading));
        panels.push(panel(quantity.heading, quantity.unit, points, vec![(median, label)]));
    }
    // The rate alone is the speed once more.
    if panels.is_empty() {
        return None;
    }
    let mut subtitle = "What the device told of itself while it trained; grey: medians.";
    let doubt = doubt(results, training);
    if let Some((panel, alt)) = rate(training).filter(|_| doubt.is_none()) {
        panels.insert(0, panel);
        said.insert(0, alt);
        subtitle = "Operations a second that the training needed, beside those of a large matrix product on the same device: the \
                    closer, the better it is used. The rest is what it told of itself.";
    }
    let device = training.device.as_ref()?;
    let threads = if device.threads > 0 { format!(", {}", plural("thread", device.threads)) } else { String::new() };
    let note = format!(
        "Device: {}{threads}. Each point is of some steps, or from their end. {}",
        device.device,
        doubt.unwrap_or_else(|| "The matrix product was timed once, after the first of them.".to_owned())
    );
    let columns = panels.len().min(2);
    let drawing =
        Drawing { title: "Device check".to_owned(), subtitle: subtitle.to_owned(), alt: said.join("; "), columns, panels };
    Some(drawing.note(note))
}

/// Operations a second that the training needed, below those of a large matrix product.
fn rate(training: &Training) -> Option<(Panel, String)> {
    let peak = training.device.as_ref()?.matmul_flops_per_second.filter(|rate| rate.is_finite() && *rate > 0.0)?;
    let (unit, size) = if peak >= 1e12 { ("TFLOP/s", 1e12) } else { ("GFLOP/s", 1e9) };
    let per_token = training.summary.flops_per_token / size;
    let points: Vec<_> = training.speed.iter().map(|lap| (lap.step as f64, lap.tokens_per_second * per_token)).collect();
    let used = median(points.iter().map(|point| point.1)).filter(|used| points.len() > 1 && *used > 0.0)?;
    let whole = format!("matrix product {}", significant(peak / size, 3));
    let label = format!("training {}, {}", significant(used, 3), percent(used * size / peak, 0));
    let alt = format!("The training needed {} of {} {unit}", significant(used, 3), significant(peak / size, 3));
    Some((panel("Operations a second", unit, points, vec![(peak / size, whole), (used, label)]), alt))
}

fn panel(heading: &str, unit: &str, points: Vec<(f64, f64)>, levels: Vec<(f64, String)>) -> Panel {
    let mut marks = vec![Mark::Line { points, hue: Hue::Blue, stroke: Stroke::Thin, label: String::new() }];
    marks.extend(levels.into_iter().map(|(y, label)| Mark::Level { y, label }));
    let (x, y) = (Axis::new("step", Unit::Whole).include([0.0]), Axis::new(unit, Unit::Number).include([0.0]));
    Panel::Plane(Plane { heading: heading.to_owned(), x, y, marks, height: 150.0 })
}
