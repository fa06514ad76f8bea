//! The overfit gate: a fresh model learns a few games by heart, or the run does not start.

use super::drawing::{Axis, Drawing, Mark, Panel, Plane, Stroke, Unit};
use super::style::Hue;
use crate::report::results::{Point, Results};
use crate::text::{fixed, plural};

pub(crate) fn draw(_: &Results, point: &Point) -> Option<Drawing> {
    let asked = point.experiment.gates.overfit?;
    let gate = point.gates.iter().find(|gate| gate.stage == "overfit")?;
    let points: Vec<_> = gate.curve.iter().map(|step| (step.step as f64, step.loss)).collect();
    let last = points.last().filter(|_| points.len() > 1)?.1;
    let marks = vec![
        Mark::Line { points, hue: Hue::Blue, stroke: Stroke::Strong, label: format!("training {}", fixed(last, 3)) },
        Mark::Level { y: asked.below, label: format!("below {}", asked.below) },
    ];
    let subtitle = format!(
        "Training loss of a fresh model on {}: it must fall below {} within {}.",
        plural("game", u64::from(asked.games)),
        asked.below,
        plural("step", asked.steps)
    );
    let y = Axis::new("nats per token", Unit::Number).include([0.0]);
    let panel = Plane { heading: String::new(), x: Axis::new("step", Unit::Count), y, marks, height: 150.0 };
    let alt = format!("The loss ends at {}", fixed(last, 3));
    Some(Drawing::one("Gate: learning a few games by heart", subtitle, alt, Panel::Plane(panel)))
}
