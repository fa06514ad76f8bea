//! Games that the model plays against itself without a mask: how many stay legal, and how long they last.

use std::fmt::Write as _;

use super::curves::{curve_to, measured_at, samples, share_label, tokens_axis};
use super::drawing::{Axis, Bars, Drawing, Mark, Panel, Plane, Row, Shape, Stroke, Unit};
use super::style::Hue;
use crate::measure::score::Value;
use crate::report::results::{Measured, Point, Results};
use crate::text::{fixed, number_within, percent_within, plural, significant, temperature, thousands};

/// Fewer temperatures are rows and no curve.
const LEAST_FOR_CURVE: usize = 3;

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
    let panels = if scores.len() < LEAST_FOR_CURVE { as_rows(point, scores) } else { as_curves(point, scores) };
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
    let columns = if scores.len() < LEAST_FOR_CURVE { 1 } else { 2 };
    Some(Drawing { title: "Full games, by sampling temperature".to_owned(), subtitle, alt, columns, panels })
}

/// Two temperatures say nothing of what lies between them.
fn as_rows(point: &Point, scores: &[&Measured]) -> Vec<Panel> {
    let rows = |name: &str, show: fn(&Value) -> String| -> Vec<Row> {
        let row = |score: &&Measured| {
            let value = score.value(name)?;
            Some(Row::measured(format!("T = {}", temperature(score.temperature()?)), value, show(value)))
        };
        scores.iter().filter_map(row).collect()
    };
    let clean = rows("clean", |value| {
        let share = percent_within(value.value, Some(value.low), Some(value.high));
        format!("{} of {} · {share}", fixed((value.value * value.n as f64).round(), 0), thousands(value.n))
    });
    let mut plies = rows("plies", |value| number_within(value.value, Some(value.low), Some(value.high)));
    if let Some(value) = drawn_games(point) {
        let text = format!("{} · n = {}", number_within(value.value, Some(value.low), Some(value.high)), thousands(value.n));
        plies.push(Row { hue: Hue::Faint, ..Row::measured(VALIDATION_GAMES, value, text) });
    } else if let Some((name, mean)) = real_games(point) {
        plies.push(Row { hue: Hue::Faint, ..Row::new(name, mean, significant(mean, 3)) });
    }
    let [(_, shares, _), (_, lengths, _)] = PANELS;
    vec![
        Panel::Bars(Bars::new(shares, Shape::Bar, clean).axis("share of games", Unit::Share)),
        Panel::Bars(Bars::new(lengths, Shape::Bar, plies).axis("plies", Unit::Number)),
    ]
}

fn as_curves(point: &Point, scores: &[&Measured]) -> Vec<Panel> {
    let measured: Vec<f64> = scores.iter().filter_map(|score| score.temperature()).collect();
    let (low, high) = measured.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &one| (low.min(one), high.max(one)));
    let pad = ((high - low) * 0.06).max(0.02);
    let panel = |(name, heading, unit): (&str, &str, Unit)| {
        let values: Vec<_> = scores.iter().filter_map(|score| Some((score.temperature()?, score.value(name)?))).collect();
        let points: Vec<_> = values.iter().map(|(x, value)| (*x, value.value)).collect();
        let mut marks: Vec<_> =
            values.iter().map(|(x, value)| Mark::Whisker { x: *x, low: value.low, high: value.high, hue: Hue::Blue }).collect();
        marks.push(Mark::Line { points: points.clone(), hue: Hue::Blue, stroke: Stroke::Thin, label: String::new() });
        marks.push(Mark::Dots { points, hue: Hue::Blue, label: String::new() });
        if unit == Unit::Number {
            marks.extend(level(point));
        }
        let y = Axis::new("", unit).include([0.0]);
        let x = Axis::new("temperature", Unit::Number).range((low - pad, high + pad)).ticks(measured.iter().copied());
        Panel::Plane(Plane { heading: heading.to_owned(), x, y, marks, height: 230.0 })
    };
    PANELS.into_iter().map(panel).collect()
}

pub(crate) fn by_tokens(_: &Results, point: &Point) -> Option<Drawing> {
    let scores = point.snapshots("full_games");
    let asked = scores.first()?.temperature();
    let last = point.finals("full_games").into_iter().find(|score| score.temperature() == asked);
    let (mut alt, mut n, mut panels, mut zeros) = (Vec::new(), 0, Vec::new(), None);
    for (name, heading, unit) in PANELS {
        // Both axes begin at zero, where the untrained model is.
        let shown = samples(&scores, name);
        if shown.len() < 2 {
            continue;
        }
        let end = shown[shown.len() - 1];
        n = end.n;
        let at_last = last.and_then(|score| score.value(name));
        if unit == Unit::Share
            && shown.iter().map(|sample| sample.value).chain(at_last.map(|value| value.value)).all(|share| share == 0.0)
        {
            let figure =
                at_last.map_or_else(String::new, |value| format!(", and none of {} as the final figure", thousands(value.n)));
            let said = format!("No game was without an illegal move: none of {} at any snapshot{figure}.", thousands(n));
            alt.push(said.trim_end_matches('.').to_owned());
            zeros = Some(said);
            continue;
        }
        let (value, of) = last.and_then(|score| score.value(name)).map_or((end.value, end.n), |value| (value.value, value.n));
        let label = if unit == Unit::Share { share_label(value, of) } else { significant(value, 3) };
        alt.push(format!("{heading}: {label} {}", if last.is_some() { "as the final figure" } else { "at the end" }));
        let mut marks = curve_to(&shown, last, name, Hue::Blue, &label);
        if unit == Unit::Number {
            marks.extend(level(point));
        }
        let y = Axis::new("", unit).include([0.0]);
        panels.push(Panel::Plane(Plane { heading: heading.to_owned(), x: tokens_axis(), y, marks, height: 190.0 }));
    }
    let mut subtitle = format!(
        "The model plays both sides from the start at T = {}, without a mask. Line: snapshots of {}; band: 95 % interval",
        temperature(asked?),
        plural("game", n)
    );
    let mut notes = Vec::from_iter(zeros);
    if let Some((score, value)) = last.and_then(|score| Some((score, score.value("clean")?))) {
        write!(subtitle, "; star and label: the final figure, of {}", thousands(value.n)).expect("written to a string");
        notes.push(measured_at(score));
    }
    let title = "Full games, by training tokens".to_owned();
    let columns = panels.len();
    let drawing = Drawing { title, subtitle: subtitle + ".", alt: alt.join("; "), columns, panels };
    (!drawing.panels.is_empty()).then(|| drawing.note(notes.join(" ")))
}

fn level(point: &Point) -> Option<Mark> {
    let (name, mean) = real_games(point)?;
    Some(Mark::Level { y: mean, label: format!("{name} {}", significant(mean, 3)) })
}

/// The mean plies of games of people, and which they are.
fn real_games(point: &Point) -> Option<(&'static str, f64)> {
    Some((if drawn_games(point).is_some() { VALIDATION_GAMES } else { "kept games" }, point.real_plies()?))
}

const VALIDATION_GAMES: &str = "validation games";

/// The mean plies of the validation games that the metric drew.
fn drawn_games(point: &Point) -> Option<&Value> {
    point.scores.iter().rev().find_map(|score| score.value("real_plies"))
}
