//! How often the model's first choice, and one of its first five, is the move that was played.

use std::fmt::Write as _;

use super::curves::{curve_to, measured_at, samples, share_label, together, tokens_axis};
use super::drawing::{Axis, Drawing, Panel, Plane, Unit};
use super::style::Hue;
use crate::report::results::{Point, Results};
use crate::text::{percent, plural, thousands};

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
        let (end, of) =
            final_score.and_then(|score| score.value(name)).map_or((last.value, last.n), |value| (value.value, value.n));
        marks.extend(curve_to(&shown, final_score, name, hue, &format!("{label} {}", share_label(end, of))));
        alt.push(format!(
            "{label} agreement {} {}",
            if final_score.is_some() { "is finally" } else { "ends at" },
            percent(end, 1)
        ));
    }
    if marks.is_empty() {
        return None;
    }
    let mut subtitle = format!(
        "How often the move played is the model's first choice (top-1), or one of its first five (top-5). Lines: snapshots of \
         {}; bands: 95 % intervals",
        plural("position", n)
    );
    let mut notes = Vec::new();
    if let Some((score, value)) = final_score.and_then(|score| Some((score, score.value("top1")?))) {
        write!(subtitle, "; stars: final figures, of {}", thousands(value.n)).expect("written to a string");
        notes.push(measured_at(score));
    }
    if hidden {
        notes.push("The untrained model is not drawn.".to_owned());
    }
    let y = Axis::new("move played predicted", Unit::Share);
    let panel = Plane { heading: String::new(), x: tokens_axis(), y, marks, height: 250.0 };
    let title = "Agreement with the move played, by training tokens";
    Some(Drawing::one(title, subtitle + ".", alt.join("; "), Panel::Plane(panel)).note(notes.join(" ")))
}
