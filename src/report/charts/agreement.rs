//! How often the model's first choice, and one of its first five, is the move that was played.

use super::curves::{curve_to, ring_words, samples, together, tokens_axis};
use super::drawing::{Axis, Drawing, Panel, Plane, Unit};
use super::style::Hue;
use crate::report::results::{Point, Results};
use crate::text::{percent, plural};

const SERIES: [(&str, &str, Hue); 2] = [("top5", "top-5", Hue::Orange), ("top1", "top-1", Hue::Blue)];

pub(crate) fn draw(_: &Results, point: &Point) -> Option<Drawing> {
    let scores = point.snapshots("agreement");
    let final_score = point.finals("agreement").into_iter().next();
    let mut marks = Vec::new();
    let (mut n, mut alt) = (0, Vec::new());
    let (curves, hidden) = together(SERIES.map(|(name, ..)| samples(&scores, name)));
    for ((name, label, hue), shown) in SERIES.into_iter().zip(curves) {
        if shown.len() < 2 {
            continue;
        }
        let last = shown[shown.len() - 1];
        n = last.n;
        let end = final_score.and_then(|score| score.value(name)).map_or(last.value, |value| value.value);
        marks.extend(curve_to(&shown, final_score, name, hue, &format!("{label} {}", percent(end, 1))));
        alt.push(format!(
            "{label} agreement {} {}",
            if final_score.is_some() { "is finally" } else { "ends at" },
            percent(end, 1)
        ));
    }
    if marks.is_empty() {
        return None;
    }
    let mut subtitle = vec![format!(
        "Share of validation positions where the move played is the model's first choice (top-1), or one of its first five \
         (top-5). Lines: snapshots, {} each; bands: their 95 % intervals.",
        plural("position", n)
    )];
    if let Some((score, value)) = final_score.and_then(|score| Some((score, score.value("top1")?))) {
        subtitle.push(ring_words(score, "Rings and labels: the final figures", &plural("position", value.n)));
    }
    if hidden {
        subtitle.push("The untrained model is not drawn.".to_owned());
    }
    let y = Axis::new("move played predicted", Unit::Share);
    let panel = Plane { heading: String::new(), x: tokens_axis(), y, marks, height: 250.0 };
    Some(Drawing::one(
        "Agreement with the move played, by training tokens",
        subtitle.join(" "),
        alt.join("; "),
        Panel::Plane(panel),
    ))
}
