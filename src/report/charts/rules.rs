//! The four rules that need more than the geometry of a piece, side by side on one axis.

use super::curves::{Sample, figure, measured_at, samples, share_label, together, tokens_axis};
use super::drawing::{Axis, Bars, Drawing, Mark, Panel, Plane, Row, Shape, Stroke, Unit};
use super::plane::shared_y;
use super::style::Hue;
use crate::report::results::{Measured, Point, Results};
use crate::text::{percent, percent_within, plural, thousands};

pub(crate) const RULES: [(&str, &str); 4] =
    [("castling", "Castling"), ("en_passant", "En passant"), ("promotion", "Promotion"), ("check", "In check")];
pub(crate) const ASPECTS: [(&str, &str, Hue, Stroke); 3] = [
    ("legal", "legal", Hue::Blue, Stroke::Strong),
    ("mass", "mass", Hue::Faint, Stroke::Thin),
    ("human", "played", Hue::Orange, Stroke::Strong),
];

const WHERE: &str = "Positions where the move played is of this kind, or its side stands in check.";

pub(crate) fn draw(_: &Results, point: &Point) -> Option<Drawing> {
    let scores = point.snapshots("rules");
    let last = point.finals("rules").into_iter().next();
    if scores.len() < 2 { last.and_then(figures) } else { curves(&scores, last) }
}

fn curves(scores: &[&Measured], last: Option<&Measured>) -> Option<Drawing> {
    let mut panels = Vec::new();
    let of_rule = |rule| ASPECTS.map(|(aspect, ..)| samples(scores, &format!("{rule}.{aspect}")));
    let hidden = RULES.into_iter().any(|(rule, _)| together(of_rule(rule)).1);
    for (rule, heading) in RULES {
        let (mut marks, mut stars, mut n, mut of_last) = (Vec::new(), Vec::new(), 0, 0);
        for ((aspect, label, hue, stroke), mut shown) in ASPECTS.into_iter().zip(of_rule(rule)) {
            let name = format!("{rule}.{aspect}");
            shown.retain(|sample| !hidden || sample.tokens > 0.0);
            let Some(end) = shown.last() else { continue };
            n = n.max(end.n);
            let figure_of = last.and_then(|score| score.value(&name));
            of_last = of_last.max(figure_of.map_or(0, |value| value.n));
            let (end, of) = figure_of.map_or((end.value, end.n), |value| (value.value, value.n));
            marks.extend(band(&shown, hue));
            let points = shown.iter().map(|sample| (sample.tokens, sample.value)).collect();
            // A mass is a mean, and no count.
            let end = if aspect == "mass" { percent(end, 1) } else { share_label(end, of) };
            let label = format!("{label} {end}");
            let figure = last.map(|score| figure(score, &name, hue, label.clone())).unwrap_or_default();
            marks.push(Mark::Line { points, hue, stroke, label: if figure.is_empty() { label } else { String::new() } });
            stars.push(figure);
        }
        marks.extend(apart(stars));
        if !marks.is_empty() {
            // Of snapshots, and of the final figures.
            let n =
                if of_last > 0 && of_last != n { format!("{}, then {}", thousands(n), thousands(of_last)) } else { thousands(n) };
            panels.push((heading, n, marks));
        }
    }
    let range = shared_y(&panels.iter().map(|(.., marks)| marks.as_slice()).collect::<Vec<_>>(), Unit::Share, &[1.0]);
    let alt =
        format!("By rule: {}", panels.iter().map(|(heading, _, marks)| said(heading, marks)).collect::<Vec<_>>().join("; "));
    let panels: Vec<_> = panels
        .into_iter()
        .map(|(heading, n, marks)| {
            let y = Axis::new("", Unit::Share).range(range);
            Panel::Plane(Plane { heading: format!("{heading}, n = {n}"), x: tokens_axis(), y, marks, height: 190.0 })
        })
        .collect();
    if panels.is_empty() {
        return None;
    }
    let stars = if last.is_some() { "; stars: the final figures" } else { "" };
    let subtitle = format!(
        "{WHERE} Legal, played: what the model's first choice is. Mass: of probability, on all legal moves. Bands: 95 % \
         intervals{stars}."
    );
    let mut notes =
        vec!["n: positions of a snapshot, and then of a final figure where these are others. One axis for all.".to_owned()];
    if let Some(score) = last {
        notes.push(measured_at(score));
        notes.push("Stars that would lie over each other stand side by side.".to_owned());
    }
    if hidden {
        notes.push("The untrained model is not drawn.".to_owned());
    }
    let title = "Four rules, by training tokens".to_owned();
    Some(Drawing { title, subtitle, alt, columns: 2, panels }.note(notes.join(" ")))
}

/// Shares that differ by less have stars that lie over each other.
const TOUCHING: f64 = 0.07;
/// How far apart these stand, as a share of the tokens.
const ASIDE: f64 = 0.06;

/// The final figures of a rule, each a whisker and a star, with those aside that would hide another.
fn apart(figures: Vec<Vec<Mark>>) -> Vec<Mark> {
    let mut placed: Vec<(f64, f64)> = Vec::new();
    let mut all = Vec::new();
    for mut figure in figures {
        let star = figure.iter().find_map(|mark| if let Mark::Star { at, .. } = mark { Some(*at) } else { None });
        if let Some((at, share)) = star {
            let hidden = placed.iter().filter(|(_, other)| (other - share).abs() < TOUCHING).count();
            let x = at * (1.0 - ASIDE * hidden as f64);
            for mark in &mut figure {
                match mark {
                    Mark::Star { at, .. } => at.0 = x,
                    Mark::Whisker { x: at, .. } => *at = x,
                    _ => (),
                }
            }
            placed.push((x, share));
        }
        all.extend(figure);
    }
    all
}

/// Bands of the two hues only: the third line is there to compare with.
fn band(samples: &[Sample], hue: Hue) -> Option<Mark> {
    let points = samples.iter().map(|sample| (sample.tokens, sample.low, sample.high)).collect();
    (hue != Hue::Faint).then_some(Mark::Band { points, hue })
}

fn said(heading: &str, marks: &[Mark]) -> String {
    let labels: Vec<_> = marks
        .iter()
        .filter_map(|mark| match mark {
            Mark::Line { label, .. } | Mark::Star { label, .. } if !label.is_empty() => Some(label.as_str()),
            _ => None,
        })
        .collect();
    format!("{heading}: {}", labels.join(", "))
}

/// Without snapshots: the final figures alone.
fn figures(score: &Measured) -> Option<Drawing> {
    let headings = ["First choice is legal", "Probability mass on legal moves", "First choice is the move played"];
    let panels: Vec<_> = ASPECTS
        .into_iter()
        .zip(headings)
        .filter_map(|((aspect, ..), heading)| {
            let rows: Vec<_> = RULES
                .into_iter()
                .filter_map(|(rule, label)| {
                    let value = score.value(&format!("{rule}.{aspect}"))?;
                    Some(Row::measured(
                        format!("{label}, n = {}", thousands(value.n)),
                        value,
                        percent_within(value.value, Some(value.low), Some(value.high)),
                    ))
                })
                .collect();
            let bars = Bars::new(heading, Shape::Bar, rows).axis("share of positions", Unit::Share);
            let is_some = !bars.rows.is_empty();
            is_some.then_some(Panel::Bars(Bars { whole: Some(1.0), ..bars }))
        })
        .collect();
    let n = score.score.values.iter().map(|value| value.n).max()?;
    let subtitle = format!("{WHERE} Up to {} a rule. Whiskers and brackets: 95 % intervals.", plural("position", n));
    let alt = "The final figures by rule".to_owned();
    (!panels.is_empty()).then(|| Drawing { title: "Four rules".to_owned(), subtitle, alt, columns: 1, panels })
}
