//! How the share of legal moves grows with the tokens seen.

use std::fmt::Write as _;

use super::curves::{curve, figure, measured_at, samples, share_label, tokens_axis, without_untrained};
use super::drawing::{Axis, Drawing, Panel, Plane, Unit};
use super::style::Hue;
use crate::report::results::{Point, Results};
use crate::text::{percent, percent_within, plural, temperature, thousands};

pub(crate) fn draw(_: &Results, point: &Point) -> Option<Drawing> {
    let scores = point.snapshots("legality");
    let all = samples(&scores, "rate");
    let (shown, untrained) = without_untrained(all);
    if shown.len() < 2 {
        return None;
    }
    let last = shown[shown.len() - 1];
    let mut subtitle = format!(
        "Share of tokens sampled without a mask at T = {} that were legal moves. Line: snapshots of {}; band: 95 % interval",
        temperature(scores[0].temperature()?),
        plural("position", last.n)
    );
    let mut notes = Vec::new();
    // Only a figure of the same temperature belongs to the same curve.
    let figure_of = point.finals("legality").into_iter().find(|score| score.temperature() == scores[0].temperature());
    let end = percent_within(last.value, Some(last.low), Some(last.high));
    let mut alt = vec![format!("From {} to {end}", percent(shown[0].value, 1))];
    let mut marks = Vec::new();
    if let Some((score, value)) = figure_of.and_then(|score| Some((score, score.value("rate")?))) {
        marks.extend(curve(&shown, Hue::Blue, ""));
        let shown = percent_within(value.value, Some(value.low), Some(value.high));
        write!(subtitle, "; star: the final figure, of {}", thousands(value.n)).expect("written to a string");
        notes.push(measured_at(score));
        alt.push(format!("the final figure is {shown}"));
        marks.extend(figure(score, "rate", Hue::Orange, format!("final {}", shown.split(" [").next().unwrap_or_default())));
    } else {
        marks.extend(curve(&shown, Hue::Blue, &share_label(last.value, last.n)));
    }
    if let Some(untrained) = untrained {
        notes.push(format!("The untrained model ({}) is not drawn.", percent(untrained.value, 1)));
    }
    let y = Axis::new("legal moves", Unit::Share);
    let panel = Plane { heading: String::new(), x: tokens_axis(), y, marks, height: 250.0 };
    let drawing = Drawing::one("Legal moves, by training tokens", subtitle + ".", alt.join("; "), Panel::Plane(panel));
    Some(drawing.note(notes.join(" ")))
}
