//! The curves of compared models over each other, by the tokens that each had seen: the first beside each of the others.

use super::curves::{Sample, curve, figure, samples, share_label, tokens_axis};
use super::drawing::{Axis, Drawing, Mark, Panel, Plane, Stroke, Unit};
use super::plane::shared_y;
use super::style::Hue;
use crate::report::compare::Subject;
use crate::report::results::{Measured, Point};
use crate::text::{fixed, temperature};

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

fn of_metric(subjects: &[Subject], wanted: &Figure) -> Option<Drawing> {
    let protocol = |point: &Point| Some(point.snapshots(wanted.metric).first()?.score.fingerprint.clone());
    let first = protocol(subjects[0].first())?;
    let curves: Vec<Option<Vec<Sample>>> = subjects
        .iter()
        .map(|subject| {
            // Another protocol is another axis.
            protocol(subject.first()).filter(|other| *other == first)?;
            let mut shown = samples(&subject.first().snapshots(wanted.metric), wanted.value);
            shown.retain(|sample| sample.tokens > 0.0);
            (shown.len() > 1).then_some(shown)
        })
        .collect();
    // The final figure of the same protocol, if there is one.
    let last = |at: usize| -> Option<&Measured> {
        let finals = subjects[at].first().finals(wanted.metric);
        finals.into_iter().find(|score| score.score.fingerprint == first && score.value(wanted.value).is_some())
    };
    let stars =
        if (0..subjects.len()).any(|at| curves[at].is_some() && last(at).is_some()) { "; stars: final figures" } else { "" };
    let t = subjects[0].first().snapshots(wanted.metric)[0].temperature();
    let sampled = t.map_or_else(String::new, |t| format!(" Sampled without a mask at T = {}.", temperature(t)));
    let seeds = first_seeds(subjects);
    let subtitle = format!(
        "Snapshots of each training, after the tokens it had seen; bands: 95 % intervals of the sample, not of another seed{stars}.{sampled}{seeds}"
    );
    let marks = |at: usize, hue| {
        let shown = curves[at].as_ref()?;
        let label = |value: f64, n: u64| format!("{}: {}", subjects[at].label, share_label(value, n));
        let Some((score, value)) = last(at).and_then(|score| Some((score, score.value(wanted.value)?))) else {
            let end = shown.last()?;
            return Some(curve(shown, hue, &label(end.value, end.n)));
        };
        let mut marks = curve(shown, hue, "");
        marks.extend(figure(score, wanted.value, hue, label(value.value, value.n)));
        Some(marks)
    };
    facets(subjects, wanted.title, subtitle, wanted.axis, Unit::Share, &marks)
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
        let label = format!("{}: {}", subject.label, fixed(points.last()?.1, 3));
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

/// Of the first and of each other: as in the charts of a sweep the largest model is blue, and the first has one colour in all panels.
fn hues(subjects: &[Subject]) -> [Hue; 2] {
    let size = |subject: &Subject| subject.first().experiment.model.flops_per_token();
    let largest = subjects.iter().map(size).max();
    if largest.is_some_and(|largest| largest > size(&subjects[0])) { [Hue::Orange, Hue::Blue] } else { [Hue::Blue, Hue::Orange] }
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
    let [hue, other] = hues(subjects);
    let pairs: Vec<(usize, Vec<Mark>)> =
        (1..subjects.len()).filter_map(|at| Some((at, marks(at, other)?.into_iter().chain(marks(0, hue)?).collect()))).collect();
    let range = shared_y(&pairs.iter().map(|(_, marks)| marks.as_slice()).collect::<Vec<_>>(), unit, &[]);
    let several = pairs.len() > 1;
    let ends = |marks: &[Mark]| {
        let labels = marks.iter().filter_map(|mark| match mark {
            Mark::Line { label, .. } | Mark::Star { label, .. } if !label.is_empty() => Some(label.clone()),
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
