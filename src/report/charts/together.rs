//! The curves of all points of a sweep over each other, by the tokens that each had seen.

use super::curves::{Sample, samples, without_untrained};
use super::drawing::{Axis, Drawing, Mark, Panel, Plane, Stroke, Unit};
use super::style::Hue;
use crate::report::compare::Subject;
use crate::report::results::{Point, Results};
use crate::report::sweep::Sweep;
use crate::text::{fixed, percent, plural, temperature};

/// Curves with a name at their end.
const MOST_NAMES: usize = 9;

pub(crate) fn losses(results: &Results) -> Option<Drawing> {
    let sweep = Sweep::of(results)?;
    let figure = sweep.figures.iter().find(|figure| figure.metric == "loss");
    // On other windows a loss is another figure.
    if figure.is_some_and(|figure| !figure.comparable) {
        return None;
    }
    let curve = |point: &Point| {
        let training = point.training.as_ref()?;
        let of = |tokens: u64, value| Sample { tokens: tokens as f64, value, low: f64::NAN, high: f64::NAN, n: 0 };
        Some(training.validation.iter().map(|at| of(at.tokens, at.loss)).collect())
    };
    let how = "Cross-entropy on the same windows of validation games; lower is better.";
    draw(&sweep, &curve, "Validation loss of all points, by training tokens", how, "nats per token", Unit::Number)
}

pub(crate) fn legality(results: &Results) -> Option<Drawing> {
    let first = results.points.first()?.snapshots("legality").first().and_then(|score| score.temperature());
    let at = first.map_or_else(String::new, |t| format!(" at T = {}", temperature(t)));
    let how = format!("Share of tokens sampled without a mask{at} that were legal moves, at snapshots.");
    of_metric(results, ("legality", "rate"), "Legal moves of all points, by training tokens", &how, "legal moves")
}

pub(crate) fn agreement(results: &Results) -> Option<Drawing> {
    let how = "Share of validation positions where the first choice is the move played, at snapshots.";
    let title = "Agreement of all points, top-1, by training tokens";
    of_metric(results, ("agreement", "top1"), title, how, "first choice is the move played")
}

fn of_metric(results: &Results, (metric, name): (&str, &str), title: &str, how: &str, axis: &str) -> Option<Drawing> {
    let sweep = Sweep::of(results)?;
    let protocol = |point: &Point| point.snapshots(metric).first().map(|score| score.score.fingerprint.clone());
    let first = protocol(results.points.first()?)?;
    let curve = |point: &Point| {
        // Another protocol is another axis.
        protocol(point).filter(|other| *other == first)?;
        Some(samples(&point.snapshots(metric), name))
    };
    draw(&sweep, &curve, title, how, axis, Unit::Share)
}

/// The curve of a point; none where it has none that compares.
type Curve<'c> = &'c dyn Fn(&Point) -> Option<Vec<Sample>>;

/// None where all that there is to draw are the curves of one training.
fn draw(sweep: &Sweep, curve: Curve, title: &str, how: &str, axis: &str, unit: Unit) -> Option<Drawing> {
    let mut curves: Vec<(usize, Vec<Vec<Sample>>)> = sweep
        .settings
        .iter()
        .enumerate()
        .map(|(at, setting)| (at, of_setting(setting, curve)))
        .filter(|(_, all)| !all.is_empty())
        .collect();
    let trainings: std::collections::BTreeSet<_> = sweep
        .settings
        .iter()
        .flat_map(|setting| &setting.members)
        .filter_map(|member| Some(member.point.training.as_ref()?.key))
        .collect();
    if curves.len() < 2 || trainings.len() < 2 {
        return None;
    }
    // Untrained models are on all curves or on none.
    let all = || curves.iter().flat_map(|(_, seeds)| seeds);
    let hides = all().any(|samples| without_untrained(samples.clone()).1.is_some());
    let has = all().all(|samples| samples[0].tokens <= 0.0);
    if hides || !has {
        curves.iter_mut().flat_map(|(_, seeds)| seeds).for_each(|samples| samples.retain(|at| at.tokens > 0.0));
    }
    let order = ranked(sweep, &curves);
    let (first, last) = (order[0], order[order.len() - 1]);
    let named: Vec<usize> = if order.len() <= MOST_NAMES { order.clone() } else { vec![first, last] };
    let hue = |at: usize| {
        if at == last {
            Hue::Blue
        } else if at == first {
            Hue::Orange
        } else {
            Hue::Faint
        }
    };
    let end = |value: f64| if unit == Unit::Share { percent(value, 1) } else { fixed(value, 2) };
    let (mut marks, mut has_bands) = (Vec::new(), false);
    // Those with a colour lie above the others.
    let mut layers: Vec<&(usize, Vec<Vec<Sample>>)> = curves.iter().collect();
    layers.sort_by_key(|(at, _)| hue(*at) != Hue::Faint);
    for (at, seeds) in layers {
        let longest = seeds.iter().max_by(|a, b| a.len().cmp(&b.len()))?;
        let mean = if seeds.len() > 1 { mean(seeds) } else { longest.clone() };
        if seeds.len() > 1 {
            marks.extend(seeds.iter().map(|samples| line(samples, hue(*at), Stroke::Fine, String::new())));
        }
        if hue(*at) != Hue::Faint && mean.iter().all(|at| at.low.is_finite() && at.high.is_finite()) {
            has_bands = true;
            marks.push(Mark::Band { points: mean.iter().map(|at| (at.tokens, at.low, at.high)).collect(), hue: hue(*at) });
        }
        let label = mean
            .last()
            .filter(|_| named.contains(at))
            .map_or_else(String::new, |last| format!("{}: {}", sweep.settings[*at].name, end(last.value)));
        let stroke = if hue(*at) == Hue::Faint { Stroke::Thin } else { Stroke::Strong };
        marks.push(line(&mean, hue(*at), stroke, label));
    }
    let mut subtitle = vec![how.to_owned()];
    let of = |at: usize| &sweep.settings[at].name;
    subtitle.push(format!(
        "Blue: {}; orange: {}{}.",
        of(last),
        of(first),
        if order.len() > 2 { "; grey: all others" } else { "" }
    ));
    if curves.iter().any(|(_, seeds)| seeds.len() > 1) {
        subtitle.push("Of several seeds the mean is drawn, and each of them as a fine line.".to_owned());
    }
    if has_bands {
        subtitle.push("Bands: 95 % intervals of the positions asked.".to_owned());
    }
    if hides {
        subtitle.push("Untrained models lie far from these, and are left out.".to_owned());
    }
    let alt = format!("{}, each by tokens", plural("curve", curves.iter().map(|(_, seeds)| seeds.len() as u64).sum()));
    let panel = Plane {
        heading: String::new(),
        x: Axis::new("training tokens", Unit::Count),
        y: Axis::new(axis, unit),
        marks,
        height: 280.0,
    };
    Some(Drawing::one(title, subtitle.join(" "), alt, Panel::Plane(panel)))
}

fn line(samples: &[Sample], hue: Hue, stroke: Stroke, label: String) -> Mark {
    Mark::Line { points: samples.iter().map(|at| (at.tokens, at.value)).collect(), hue, stroke, label }
}

fn of_setting(setting: &Subject, curve: Curve) -> Vec<Vec<Sample>> {
    setting.members.iter().filter_map(|member| curve(member.point)).filter(|samples| samples.len() > 1).collect()
}

/// Settings along the first axis of numbers, else as they stand in the file.
fn ranked(sweep: &Sweep, curves: &[(usize, Vec<Vec<Sample>>)]) -> Vec<usize> {
    let order = sweep.axes.iter().find_map(crate::report::sweep::Axis::ascending);
    let order = order.unwrap_or_else(|| (0..sweep.settings.len()).collect());
    order.into_iter().filter(|at| curves.iter().any(|(known, _)| known == at)).collect()
}

/// The mean of curves where all have a point, within intervals as wide as those of one: all were asked the same.
fn mean(curves: &[Vec<Sample>]) -> Vec<Sample> {
    let mean = |at: &Sample| {
        let found = |curve: &Vec<Sample>| curve.iter().find(|other| other.tokens.total_cmp(&at.tokens).is_eq()).copied();
        let all: Vec<Sample> = curves.iter().map(found).collect::<Option<_>>()?;
        let of = |pick: fn(&Sample) -> f64| all.iter().map(pick).sum::<f64>() / all.len() as f64;
        Some(Sample { value: of(|at| at.value), low: of(|at| at.low), high: of(|at| at.high), ..*at })
    };
    curves[0].iter().filter_map(mean).collect()
}
