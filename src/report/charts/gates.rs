//! The overfit gate: a fresh model learns a few games by heart, or the run does not start.

use super::drawing::{Axis, Drawing, Mark, Panel, Plane, Stroke, Unit};
use super::style::Hue;
use crate::report::results::{Point, Results};
use crate::text::{plural, significant};

/// The loss that is judged, as the gate measures it.
const JUDGED_STEPS: usize = 10;
/// The second panel begins at so many times the loss that is asked for.
const NEAR: f64 = 2.5;

pub(crate) fn draw(_: &Results, point: &Point) -> Option<Drawing> {
    let asked = point.experiment.gates.overfit?;
    let gate = point.gates.iter().find(|gate| gate.stage == "overfit")?;
    let points: Vec<_> = gate.curve.iter().map(|step| (step.step as f64, step.loss)).collect();
    let last = &points[points.len().saturating_sub(JUDGED_STEPS)..];
    if points.len() < 2 {
        return None;
    }
    let mean = last.iter().map(|point| point.1).sum::<f64>() / last.len() as f64;
    let measured = significant(gate.verdict.as_ref().map_or(mean, |verdict| verdict.measured), 3);
    let near = points.iter().position(|point| point.1 < NEAR * asked.below);
    let near: Vec<_> = near.map_or_else(Vec::new, |from| points[from..].to_vec());
    let judged = vec![(last[0].0, mean), (last[last.len() - 1].0, mean)];
    let line = |points| Mark::Line { points, hue: Hue::Blue, stroke: Stroke::Strong, label: String::new() };
    let level = |label: String| Mark::Level { y: asked.below, label };
    let judged = || {
        let points = judged.clone();
        let mean = Mark::Line { points, hue: Hue::Orange, stroke: Stroke::Thin, label: format!("mean\u{a0}{measured}") };
        [level(format!("limit\u{a0}{}", asked.below)), mean]
    };
    let panel = |heading: &str, marks: Vec<Mark>, y: Axis| {
        let x = Axis::new("step", Unit::Whole);
        Panel::Plane(Plane { heading: heading.to_owned(), x, y, marks, height: 150.0 })
    };
    let y = || Axis::new("nats per token", Unit::Number);
    let whole = y().include([0.0]);
    let panels = if near.len() > 1 {
        let enlarged = y().range((0.0, NEAR * asked.below));
        vec![
            panel("All steps", vec![line(points.clone()), level(String::new())], whole),
            panel("The end, enlarged", std::iter::once(line(near)).chain(judged()).collect(), enlarged),
        ]
    } else {
        vec![panel("", std::iter::once(line(points.clone())).chain(judged()).collect(), whole)]
    };
    let subtitle = format!(
        "Training loss of a fresh model on {}: its mean over {} (orange) must fall below {} (grey) within {}.",
        plural("game", u64::from(asked.games)),
        plural("step", JUDGED_STEPS as u64),
        asked.below,
        plural("step", asked.steps)
    );
    let alt = format!("The mean loss of the last ten steps is {measured}");
    let title = "Gate: learning a few games by heart".to_owned();
    Some(Drawing { title, subtitle, alt, columns: 2, panels })
}
