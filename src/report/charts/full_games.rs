//! Games that the model plays against itself without a mask: how many stay legal, and how long they last.

use super::curves::{curve_to, ring_words, samples, tokens_axis};
use super::drawing::{Axis, Drawing, Mark, Panel, Plane, Stroke, Unit};
use super::style::Hue;
use crate::report::results::{Measured, Point, Results};
use crate::text::{percent, percent_within, plural, significant, temperature};

const PANELS: [(&str, &str, Unit); 2] =
    [("clean", "Games without an illegal move", Unit::Share), ("plies", "Mean length in plies", Unit::Number)];

pub(crate) fn by_temperature(_: &Results, point: &Point) -> Option<Drawing> {
    temperatures(point, &point.finals("full_games"))
}

/// The temperatures of a sweep, where all its points have the same weights.
pub(crate) fn over_sweep(results: &Results) -> Option<Drawing> {
    match results.over_temperatures().as_slice() {
        [(point, scores)] => temperatures(point, &scores.iter().collect::<Vec<_>>()),
        _ => None,
    }
}

fn temperatures(point: &Point, scores: &[&Measured]) -> Option<Drawing> {
    if scores.len() < 2 {
        return None;
    }
    let (low, high) = scores
        .iter()
        .filter_map(|score| score.temperature())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), temperature| (low.min(temperature), high.max(temperature)));
    let pad = ((high - low) * 0.06).max(0.02);
    let panels = PANELS
        .into_iter()
        .map(|(name, heading, unit)| {
            let values: Vec<_> = scores.iter().filter_map(|score| Some((score.temperature()?, score.value(name)?))).collect();
            let points: Vec<_> = values.iter().map(|(x, value)| (*x, value.value)).collect();
            let mut marks: Vec<_> = values
                .iter()
                .map(|(x, value)| Mark::Whisker { x: *x, low: value.low, high: value.high, hue: Hue::Blue })
                .collect();
            marks.push(Mark::Line { points: points.clone(), hue: Hue::Blue, stroke: Stroke::Thin, label: String::new() });
            marks.push(Mark::Dots { points, hue: Hue::Blue, label: String::new() });
            if unit == Unit::Number {
                marks.extend(real_games(point));
            }
            let y = Axis::new("", unit).include([0.0]);
            let x = Axis::new("temperature", Unit::Number).range((low - pad, high + pad));
            Panel::Plane(Plane { heading: heading.to_owned(), x, y, marks, height: 230.0 })
        })
        .collect();
    let n = scores.iter().filter_map(|score| score.value("clean")).map(|value| value.n).max()?;
    let subtitle = format!(
        "The model plays both sides from the start, without a mask: up to {} at each temperature. Whiskers: 95 % intervals.",
        plural("game", n)
    );
    let alt = scores
        .iter()
        .filter_map(|score| {
            let value = score.value("clean")?;
            let clean = percent_within(value.value, Some(value.low), Some(value.high));
            Some(format!("at T = {} {clean} clean", temperature(score.temperature()?)))
        })
        .collect::<Vec<_>>()
        .join("; ");
    Some(Drawing { title: "Full games, by sampling temperature".to_owned(), subtitle, alt, columns: 2, panels })
}

pub(crate) fn by_tokens(_: &Results, point: &Point) -> Option<Drawing> {
    let scores = point.snapshots("full_games");
    let asked = scores.first()?.temperature();
    let last = point.finals("full_games").into_iter().find(|score| score.temperature() == asked);
    let (mut alt, mut n, mut panels) = (Vec::new(), 0, Vec::new());
    for (name, heading, unit) in PANELS {
        // Both axes begin at zero, where the untrained model is.
        let shown = samples(&scores, name);
        if shown.len() < 2 {
            continue;
        }
        let end = shown[shown.len() - 1];
        n = end.n;
        let value = last.and_then(|score| score.value(name)).map_or(end.value, |value| value.value);
        let label = if unit == Unit::Share { percent(value, 1) } else { significant(value, 3) };
        alt.push(format!("{heading}: {label} {}", if last.is_some() { "as the final figure" } else { "at the end" }));
        let mut marks = curve_to(&shown, last, name, Hue::Blue, &label);
        if unit == Unit::Number {
            marks.extend(real_games(point));
        }
        let y = Axis::new("", unit).include([0.0]);
        panels.push(Panel::Plane(Plane { heading: heading.to_owned(), x: tokens_axis(), y, marks, height: 190.0 }));
    }
    let mut subtitle = vec![format!(
        "The model plays both sides from the start at T = {}, without a mask. Line: snapshots, {} each; band: their 95 % interval.",
        temperature(asked?),
        plural("game", n)
    )];
    if let Some((score, value)) = last.and_then(|score| Some((score, score.value("clean")?))) {
        subtitle.push(ring_words(score, "Ring and label: the final figure", &plural("game", value.n)));
    }
    let title = "Full games, by training tokens".to_owned();
    (!panels.is_empty()).then(|| Drawing { title, subtitle: subtitle.join(" "), alt: alt.join("; "), columns: 2, panels })
}

fn real_games(point: &Point) -> Option<Mark> {
    let mean = point.real_plies()?;
    Some(Mark::Level { y: mean, label: format!("validation games {}", significant(mean, 3)) })
}
