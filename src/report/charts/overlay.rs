//! The curves of compared models over each other, by the tokens that each had seen: the first beside each of the others.

use super::curves::{Sample, curve, samples, tokens_axis};
use super::drawing::{Axis, Drawing, Mark, Panel, Plane, Stroke, Unit};
use super::plane::shared_y;
use super::style::Hue;
use crate::report::compare::Subject;
use crate::report::results::Point;
use crate::text::{fixed, percent, temperature};

struct Figure {
    name: &'static str,
    metric: &'static str,
    value: &'static str,
    title: &'static str,
    axis: &'static str,
}

const FIGURES: [Figure; 3] = [
    Figure { name: "legality", metric: "legality", value: "rate", title: "Legal moves, by training tokens", axis: "legal moves" },
    Figure {
        name: "agreement",
        metric: "agreement",
        value: "top1",
        title: "The first choice is the move played, by training tokens",
        axis: "first choice is the move played",
    },
    Figure {
        name: "full-games",
        metric: "full_games",
        value: "clean",
        title: "Full games without an illegal move, by training tokens",
        axis: "games without an illegal move",
    },
];

/// The charts of a comparison that have their numbers, each with the name of its file. Of several seeds the first is drawn.
pub(crate) fn overlays(subjects: &[Subject]) -> Vec<(&'static str, Drawing)> {
    let measured = FIGURES.iter().filter_map(|figure| Some((figure.name, of_metric(subjects, figure)?)));
    loss(subjects).map(|drawing| ("loss", drawing)).into_iter().chain(measured).collect()
}

fn of_metric(subjects: &[Subject], figure: &Figure) -> Option<Drawing> {
    let protocol = |point: &Point| Some(point.snapshots(figure.metric).first()?.score.fingerprint.clone());
    let first = protocol(subjects[0].first())?;
    let curves: Vec<Option<Vec<Sample>>> = subjects
        .iter()
        .map(|subject| {
            // Another protocol is another axis.
            protocol(subject.first()).filter(|other| *other == first)?;
            let mut shown = samples(&subject.first().snapshots(figure.metric), figure.value);
            shown.retain(|sample| sample.tokens > 0.0);
            (shown.len() > 1).then_some(shown)
        })
        .collect();
    let t = subjects[0].first().snapshots(figure.metric)[0].temperature();
    let sampled = t.map_or_else(String::new, |t| format!(" Sampled without a mask at T = {}.", temperature(t)));
    let seeds = first_seeds(subjects);
    let subtitle = format!(
        "Snapshots of each training, after the tokens it had seen; bands: 95 % intervals of the positions, not of another seed.{sampled}{seeds}"
    );
    let marks = |at: usize, hue| {
        let shown = curves[at].as_ref()?;
        Some(curve(shown, hue, &format!("{} {}", subjects[at].label, percent(shown.last()?.value, 1))))
    };
    facets(subjects, figure.title, subtitle, figure.axis, Unit::Share, &marks)
}

/// The validation losses of trainings that were validated on the very same windows.
fn loss(subjects: &[Subject]) -> Option<Drawing> {
    let windows = |subject: &Subject| {
        let (member, train) = (subject.members[0], subject.first().experiment.train()?);
        let is_its =
            |node: &crate::plan::Node| node.stage == "encode" && node.points.iter().any(|name| name == member.point.title());
        let tokens = member.results.nodes.iter().find(|outcome| is_its(&outcome.node))?.node.key;
        let so_many = u64::from(train.validate.batches) * u64::from(train.batch) * u64::from(train.accumulate);
        Some((tokens, so_many, subject.first().experiment.model.context, train.packing))
    };
    let first = windows(&subjects[0])?;
    let marks = |at: usize, hue| {
        let subject = &subjects[at];
        windows(subject).filter(|other| *other == first)?;
        let points: Vec<(f64, f64)> =
            subject.first().training.as_ref()?.validation.iter().map(|at| (at.tokens as f64, at.loss)).collect();
        let label = format!("{} {}", subject.label, fixed(points.last()?.1, 3));
        (points.len() > 1).then(|| vec![Mark::Line { points, hue, stroke: Stroke::Strong, label }])
    };
    let seeds = first_seeds(subjects);
    let subtitle = format!("Mean cross-entropy over the same windows of validation games, in nats per token.{seeds}");
    facets(subjects, "Validation loss, by training tokens", subtitle, "nats per token", Unit::Number, &marks)
}

/// Of which subjects one seed alone is drawn.
fn first_seeds(subjects: &[Subject]) -> String {
    let several: Vec<&str> =
        subjects.iter().filter(|subject| subject.seeds() > 1).map(|subject| subject.label.as_str()).collect();
    if several.is_empty() { String::new() } else { format!(" Of {} the first seed is drawn.", several.join(", ")) }
}

/// One panel for each subject but the first, which is in each of them; none where no two have their curve.
fn facets(
    subjects: &[Subject],
    title: &str,
    subtitle: String,
    axis: &str,
    unit: Unit,
    marks: &dyn Fn(usize, Hue) -> Option<Vec<Mark>>,
) -> Option<Drawing> {
    let pairs: Vec<(usize, Vec<Mark>)> = (1..subjects.len())
        .filter_map(|at| Some((at, marks(at, Hue::Orange)?.into_iter().chain(marks(0, Hue::Blue)?).collect())))
        .collect();
    let range = shared_y(&pairs.iter().map(|(_, marks)| marks.as_slice()).collect::<Vec<_>>(), unit, &[]);
    let several = pairs.len() > 1;
    let ends = |marks: &[Mark]| {
        let labels = marks.iter().filter_map(|mark| match mark {
            Mark::Line { label, .. } if !label.is_empty() => Some(label.clone()),
            _ => None,
        });
        labels.collect::<Vec<_>>().join(" beside ")
    };
    let alt = pairs.iter().map(|(_, marks)| ends(marks)).collect::<Vec<_>>().join("; ");
    let panels: Vec<Panel> = pairs
        .into_iter()
        .map(|(at, marks)| {
            let heading = if several { subjects[at].label.clone() } else { String::new() };
            let y = Axis::new(if several { "" } else { axis }, unit).range(range);
            Panel::Plane(Plane { heading, x: tokens_axis(), y, marks, height: if several { 190.0 } else { 250.0 } })
        })
        .collect();
    let columns = if several { 2 } else { 1 };
    (!panels.is_empty()).then(|| Drawing { title: title.to_owned(), subtitle, alt, columns, panels })
}
