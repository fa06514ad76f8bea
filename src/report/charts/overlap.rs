//! How much of the validation games a training has met before, ply by ply: as positions, and as moves from the start.

use super::drawing::{Axis, Drawing, Mark, Panel, Plane, Stroke, Unit};
use super::style::Hue;
use crate::data::overlap::AtPly;
use crate::report::results::{Inspection, Point, Results};
use crate::report::words::{known, known_share};
use crate::text::{plural, thousands};

/// The chart ends after the last ply at which so large a share is known.
const WORTH_SHOWING: f64 = 0.002;
/// Fewer games than these, or than this share of them, are no curve any more.
const LEAST_GAMES: u64 = 20;
const LEAST_SHARE: f64 = 0.01;
const LEAST_PLIES: usize = 20;
/// Curves that are nowhere further apart than this share lie on one another.
const NEARLY_ONE: f64 = 0.03;

pub(crate) fn draw(_: &Results, point: &Point) -> Option<Drawing> {
    let found = point.inspection.as_ref()?;
    let shown = shown(&found.overlap.by_ply);
    let last = shown.last()?;
    if shown.len() < 2 {
        return None;
    }
    let mut marks = Vec::new();
    let mut said = Vec::new();
    // Without transpositions the two are one: the upper line must not hide the lower.
    let apart = shown.iter().filter_map(|at| {
        let [seen, same] = [at.seen, at.prefixes].map(|hits| known(found, hits, at.positions));
        Some((seen?.value - same?.value).abs())
    });
    let are_one = apart.fold(0.0, f64::max) < NEARLY_ONE;
    let upper = if are_one { Stroke::Dashed } else { Stroke::Strong };
    for (hue, stroke, name, hits) in [
        (Hue::Blue, Stroke::Strong, "position", (|at| at.seen) as fn(&AtPly) -> u64),
        (Hue::Orange, upper, "same moves", |at| at.prefixes),
    ] {
        let samples: Vec<_> =
            shown.iter().filter_map(|at| Some((f64::from(at.ply), known(found, hits(at), at.positions)?))).collect();
        if found.sampled() {
            marks.push(Mark::Band { points: samples.iter().map(|(x, share)| (*x, share.low, share.high)).collect(), hue });
        }
        let (ply, end) = samples.last()?;
        // Where the curve goes below one half for good, if it does.
        let half = samples.iter().rev().find(|(_, share)| share.value >= 0.5).filter(|(half, _)| half < ply);
        let label = format!("{name}{}", half.map_or_else(String::new, |(half, _)| format!(", above half to ply {half}")));
        said.push(format!("{label}, {} at ply {ply}", known_share(found, *end)));
        let points = samples.iter().map(|(x, share)| (*x, share.value)).collect();
        marks.push(Mark::Line { points, hue, stroke, label });
    }
    let subtitle = format!(
        "Share of positions of validation games that occur in a training game. Blue: by whatever moves; orange: by the same \
         moves from the start.{}",
        if are_one { " Here the two all but coincide." } else { "" }
    );
    let note = format!("{} The same moves are all that a model without a board can have met.", games_words(found, last));
    let y = Axis::new("in training", Unit::Share).include([0.0, 1.0]);
    let x = Axis::new("plies played", Unit::Whole);
    let panel = Plane { heading: String::new(), x, y, marks, height: 230.0 };
    let alt = said.join("; ");
    let title = "Validation positions already in training, by ply";
    Some(Drawing::one(title, subtitle, alt, Panel::Plane(panel)).note(note))
}

fn games_words(found: &Inspection, last: &AtPly) -> String {
    let (games, left) = (found.overlap.games, format!("{} of them reach ply {}", thousands(last.positions), last.ply));
    if found.sampled() {
        let all = plural("validation game", found.validation_games);
        return format!("{} of {all}, spread evenly; {left}. Bands: 95 % intervals.", thousands(games));
    }
    format!("All {}; {left}.", plural("validation game", games))
}

/// From the start to where hardly anything is known any more, or few games go on.
fn shown(by_ply: &[AtPly]) -> &[AtPly] {
    let games = by_ply.first().map_or(0, |at| at.positions);
    let least = LEAST_GAMES.min(games).max((games as f64 * LEAST_SHARE) as u64).max(1);
    let many = by_ply.iter().take_while(|at| at.positions >= least).count();
    let known = by_ply[..many].iter().rposition(|at| at.seen as f64 >= WORTH_SHOWING * at.positions as f64);
    &by_ply[..many.min((known.unwrap_or(0) + 2).max(LEAST_PLIES + 1))]
}
