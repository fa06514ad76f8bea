//! The points of a sweep side by side, for each figure that differs between them.

use std::collections::BTreeSet;

use super::drawing::{Bars, Drawing, Panel, Row, Shape};
use crate::report::results::{Point, Results};
use crate::report::words::{at, point_name, within};
use crate::text::fixed;

const FIGURES: [(&str, &str, &str); 10] = [
    ("legality", "rate", "Legal moves"),
    ("agreement", "top1", "Agreement, top-1"),
    ("agreement", "top5", "Agreement, top-5"),
    ("full_games", "clean", "Games without an illegal move"),
    ("full_games", "plies", "Mean length of games, in plies"),
    ("mass", "mean", "Mass on legal moves"),
    ("calibration", "ece", "Calibration error"),
    ("puzzles", "solved", "Puzzles solved"),
    ("probe", "accuracy", "Squares told by a probe"),
    ("loss", "nats", "Loss over all of validation, in nats per token"),
];

pub(crate) fn draw(results: &Results) -> Option<Drawing> {
    if results.points.len() < 2 {
        return None;
    }
    let mut panels: Vec<_> = FIGURES.into_iter().filter_map(|figure| panel(results, figure)).collect();
    panels.extend(loss(results));
    let subtitle =
        "One row a point of the sweep; lines: 95 % intervals. Each panel has its own range, which need not start at zero.";
    let alt = format!("{} figures of {} points", panels.len(), results.points.len());
    let title = "Figures that differ between the points".to_owned();
    (!panels.is_empty()).then(|| Drawing { title, subtitle: subtitle.to_owned(), alt, columns: 1, panels })
}

fn panel(results: &Results, (metric, name, heading): (&str, &str, &str)) -> Option<Panel> {
    // Every final score of the metric: a temperature is told where a point has more than one.
    let mut keys = BTreeSet::new();
    let mut rows = Vec::new();
    for point in &results.points {
        let scores = point.finals(metric);
        for score in &scores {
            let Some(value) = score.value(name) else { continue };
            keys.insert(score.key);
            let label = match (scores.len(), score.temperature()) {
                (2.., asked @ Some(_)) => point_name(point) + &at(asked),
                _ => point_name(point),
            };
            rows.push(Row::measured(label, value, within(metric, value)));
        }
    }
    (keys.len() > 1).then(|| Panel::Bars(Bars::new(heading, Shape::Dot, rows)))
}

fn loss(results: &Results) -> Option<Panel> {
    let best = |point: &Point| {
        let training = point.training.as_ref()?;
        Some((training.key, training.best?.loss))
    };
    let keys: BTreeSet<_> = results.points.iter().filter_map(best).map(|(key, _)| key).collect();
    let rows = results.points.iter().filter_map(|point| {
        let (_, loss) = best(point)?;
        Some(Row::new(point_name(point), loss, fixed(loss, 4)))
    });
    let heading = "Best validation loss, in nats per token";
    (keys.len() > 1).then(|| Panel::Bars(Bars::new(heading, Shape::Dot, rows.collect())))
}
