//! How the share of legal moves grows with the tokens seen.

use super::curves::{curve, figure, ring_words, samples, tokens_axis, without_untrained};
use super::drawing::{Axis, Drawing, Panel, Plane, Unit};
use super::style::Hue;
use crate::report::results::{Point, Results};
use crate::text::{percent, percent_within, plural, temperature};

pub(crate) fn draw(_: &Results, point: &Point) -> Option<Drawing> {
    let scores = point.snapshots("legality");
    let all = samples(&scores, "rate");
    let (shown, untrained) = without_untrained(all);
    if shown.len() < 2 {
        return None;
    }
    let last = shown[shown.len() - 1];
    let mut subtitle = vec![format!(
        "Share of tokens sampled without a mask at T = {} that were legal moves. Line: snapshots, {} each; band: their 95 % interval.",
        temperature(scores[0].temperature()?),
        plural("position", last.n)
    )];
    // Only a figure of the same temperature belongs to the same curve.
    let figure_of = point.finals("legality").into_iter().find(|score| score.temperature() == scores[0].temperature());
    let end = percent_within(last.value, Some(last.low), Some(last.high));
    let mut alt = vec![format!("From {} to {end}", percent(shown[0].value, 1))];
    let mut marks = Vec::new();
    if let Some((score, value)) = figure_of.and_then(|score| Some((score, score.value("rate")?))) {
        marks.extend(curve(&shown, Hue::Blue, ""));
        let shown = percent_within(value.value, Some(value.low), Some(value.high));
        subtitle.push(ring_words(score, "Orange ring: the final figure", &plural("position", value.n)));
        alt.push(format!("the final figure is {shown}"));
        marks.extend(figure(score, "rate", Hue::Orange, format!("final {}", shown.split(" [").next().unwrap_or_default())));
    } else {
        marks.extend(curve(&shown, Hue::Blue, &percent(last.value, 1)));
    }
    if let Some(untrained) = untrained {
        subtitle.push(format!("The untrained model ({}) is not drawn.", percent(untrained.value, 1)));
    }
    let y = Axis::new("legal moves", Unit::Share);
    let panel = Plane { heading: String::new(), x: tokens_axis(), y, marks, height: 250.0 };
    Some(Drawing::one("Legal moves, by training tokens", subtitle.join(" "), alt.join("; "), Panel::Plane(panel)))
}
