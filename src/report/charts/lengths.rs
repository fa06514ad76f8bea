//! How long the kept games are.

use super::drawing::{Axis, Drawing, Mark, Panel, Plane, Unit};
use super::style::Hue;
use crate::report::results::{Point, Results};
use crate::text::{plural, thousands};

pub(crate) fn draw(_: &Results, point: &Point) -> Option<Drawing> {
    let corpus = point.corpus()?;
    let mean = corpus.mean_plies()?;
    let (shortest, longest) = (corpus.lengths.first()?.0, corpus.lengths.last()?.0);
    // Even bins only: a game ends after White's or after Black's move, and an odd bin would show that as a comb.
    let bin = [2, 4, 6, 10, 20, 50, 100].into_iter().find(|bin| (longest - shortest) / bin < 60).unwrap_or(200);
    let first = shortest / bin;
    let mut bins = vec![0_u64; (longest / bin - first + 1) as usize];
    for (plies, games) in &corpus.lengths {
        bins[(plies / bin - first) as usize] += games;
    }
    let bins = bins
        .into_iter()
        .enumerate()
        .map(|(i, games)| {
            let from = f64::from((first + i as u32) * bin);
            (from, from + f64::from(bin), games as f64)
        })
        .collect();
    let marks = vec![Mark::Columns { bins, hue: Hue::Blue }, Mark::Upright { x: mean, label: format!("mean {mean:.1} plies") }];
    let subtitle =
        format!("{} by their length, in steps of {}.", plural("kept game", corpus.kept), plural("ply", u64::from(bin)));
    let alt = format!("{} games have {mean:.1} plies on average, from {shortest} to {longest}", thousands(corpus.kept));
    let y = Axis::new("games", Unit::Count).include([0.0]);
    let x = Axis::new("plies", Unit::Whole).include([0.0]);
    let panel = Plane { heading: String::new(), x, y, marks, height: 200.0 };
    Some(Drawing::one("Length of the kept games", subtitle, alt, Panel::Plane(panel)))
}
