//! How long games stay without an illegal token: along validation games, and in the model's own.

use std::fmt::Write as _;

use super::drawing::{Axis, Drawing, Mark, Panel, Plane, Stroke, Unit};
use super::own_games::hottest_and_coolest;
use super::style::Hue;
use crate::measure::metric::Metric;
use crate::measure::score::Value;
use crate::report::results::{Measured, Point, Results};
use crate::report::words::at;
use crate::stats::Estimate;
use crate::stats::survival::{Watched, survival};
use crate::text::{percent, plural, temperature};

/// Most points of a curve.
const MOST_POINTS: u32 = 50;
/// A curve ends where fewer games go on, unless an illegal token ended all others too.
const FEWEST: usize = 5;

pub(crate) fn draw(_: &Results, point: &Point) -> Option<Drawing> {
    let drawn = |score| (score, until_none(curve(score)));
    let human: Vec<_> = point.finals("dense").into_iter().take(1).map(drawn).collect();
    let own: Vec<_> = hottest_and_coolest(point).into_iter().map(drawn).collect();
    let last = human.iter().chain(&own).filter_map(|(_, curve)| Some(curve.last()?.0)).max()?;
    let mut panels = Vec::new();
    let mut said = Vec::new();
    for (heading, words, scores) in
        [("Along validation games", "along validation games", &human), ("In its own games", "of its own games", &own)]
    {
        let mut all = Vec::new();
        for ((score, curve), hue) in scores.iter().zip([Hue::Blue, Hue::Orange]) {
            let (Some(t), Some((plies, end))) = (score.temperature(), curve.last()) else { continue };
            all.extend(marks(curve, hue, format!("T\u{a0}=\u{a0}{}: {}", temperature(t), label(curve))));
            said.push(format!("{words}{}, {} are left after {plies} plies", at(Some(t)), percent(end.value, 1)));
        }
        if !all.is_empty() {
            panels.push(panel(heading, all, last));
        }
    }
    let columns = panels.len();
    let title = "How long games stay legal".to_owned();
    let subtitle =
        "Share of games that are still without an illegal token after so many plies; bands: 95 % intervals.".to_owned();
    let drawing = Drawing { title, subtitle, alt: said.join("; "), columns, panels };
    (!drawing.panels.is_empty()).then(|| drawing.note(note(&human, &own)))
}

/// Where no game is left there is nothing more to draw.
fn until_none(mut curve: Vec<(u32, Estimate)>) -> Vec<(u32, Estimate)> {
    if let Some(none) = curve.iter().position(|(_, share)| share.value <= 0.0) {
        curve.truncate(none + 1);
    }
    curve
}

/// When half of the games are lost, as closely as it was looked at, or what is left of them.
fn label(curve: &[(u32, Estimate)]) -> String {
    let Some(half) = curve.iter().position(|(_, share)| share.value <= 0.5) else {
        return curve.last().map_or_else(String::new, |(plies, end)| format!("{} after ply\u{a0}{plies}", percent(end.value, 1)));
    };
    let (before, by) = (half.checked_sub(1).map_or(0, |before| curve[before].0), curve[half].0);
    if by - before == 1 { format!("half by ply\u{a0}{by}") } else { format!("half between plies\u{a0}{before} and\u{a0}{by}") }
}

/// Whether every ply was looked at: the share changes at plies, and not between them.
fn is_complete(curve: &[(u32, Estimate)]) -> bool {
    curve.first().is_some_and(|first| first.0 == 1) && curve.windows(2).all(|pair| pair[1].0 - pair[0].0 == 1)
}

type Curve<'a> = (&'a Measured, Vec<(u32, Estimate)>);

fn note(human: &[Curve], own: &[Curve]) -> String {
    let mut note = "Kaplan-Meier: games that end are not counted from there on. Intervals: log-log.".to_owned();
    let shares = || human.iter().chain(own).flat_map(|(_, curve)| curve);
    if shares().any(|(_, share)| share.value <= 0.0) {
        note += " Where no game is left, that scale has none: the upper bound is the one from before the last was lost.";
    }
    if shares().any(|(_, share)| share.value >= 1.0) {
        note += " Where none is lost yet, the lower bound is Wilson's.";
    }
    if human.iter().chain(own).any(|(_, curve)| !is_complete(curve)) {
        note += " A straight line joins plies that were looked at, and says nothing of those between.";
    }
    if let Some((score, _)) = human.first() {
        let games = score.score.counts.get("games").map_or_else(|| "games".to_owned(), |games| plural("game", *games));
        let at = at(score.temperature());
        write!(note, " Validation games: at each ply of {games} a token is sampled{at}, and the game goes on as it was played.")
            .expect("written to a string");
    }
    let games = |(score, _): &Curve| plural("game", score.own_games.len() as u64) + &at(score.temperature());
    if !own.is_empty() {
        write!(note, " Its own games: {}.", own.iter().map(games).collect::<Vec<_>>().join(", ")).expect("written to a string");
    }
    note
}

/// Plies, and the share of games that is without an illegal token after them.
pub(crate) fn curve(score: &Measured) -> Vec<(u32, Estimate)> {
    match score.metric {
        Metric::Dense { .. } => along_human_games(score),
        _ => in_own_games(score),
    }
}

fn along_human_games(score: &Measured) -> Vec<(u32, Estimate)> {
    let after = |value: &Value| {
        let plies = value.slice.split(' ').nth(1)?.parse().ok()?;
        Some((plies, Estimate { value: value.value, low: value.low, high: value.high, n: value.n }))
    };
    score.parts("survival").filter_map(after).collect()
}

fn in_own_games(score: &Measured) -> Vec<(u32, Estimate)> {
    // An illegal token comes after the last ply; of a clean game no more is known than its plies.
    let watched: Vec<Watched> = score
        .own_games
        .iter()
        .map(|game| Watched { until: (game.plies + u32::from(!game.is_clean())).max(1), event: !game.is_clean() })
        .collect();
    let last = watched.iter().map(|one| one.until).max().unwrap_or(0);
    let step = last.div_ceil(MOST_POINTS).max(1);
    let is_told = |ply: u32| {
        let still = watched.iter().filter(|one| one.until >= ply).count();
        still >= FEWEST || watched.iter().all(|one| one.event)
    };
    let plies = (1..=last).take_while(|ply| is_told(*ply)).filter(|ply| ply % step == 0 || *ply == 1);
    plies.map_while(|ply| Some((ply, survival(&watched, ply)?))).collect()
}

fn marks(curve: &[(u32, Estimate)], hue: Hue, label: String) -> Vec<Mark> {
    let points: Vec<_> = curve.iter().map(|(plies, share)| (f64::from(*plies), share.value)).collect();
    let start = (0.0, [1.0, 1.0, 1.0]);
    let shares = curve.iter().map(|(plies, share)| (f64::from(*plies), [share.value, share.low, share.high]));
    let mut corners: Vec<(f64, [f64; 3])> = std::iter::once(start).chain(shares).collect();
    let steps = is_complete(curve);
    if steps {
        // Up to a ply the share is that of the ply before.
        let stairs = corners.windows(2).flat_map(|pair| [(pair[1].0, pair[0].1), pair[1]]);
        corners = std::iter::once(start).chain(stairs).collect();
    }
    let mut marks = vec![
        Mark::Band { points: corners.iter().map(|(plies, [_, low, high])| (*plies, *low, *high)).collect(), hue },
        Mark::Line {
            points: corners.iter().map(|(plies, [share, ..])| (*plies, *share)).collect(),
            hue,
            stroke: if steps { Stroke::Strong } else { Stroke::Thin },
            label,
        },
    ];
    if !steps && points.len() <= 12 {
        marks.push(Mark::Dots { points, hue, label: String::new() });
    }
    marks
}

/// One x axis for all: the panels can be held against each other.
fn panel(heading: &str, marks: Vec<Mark>, last: u32) -> Panel {
    let x = Axis::new("plies", Unit::Whole).range((0.0, f64::from(last.max(1))));
    let y = Axis::new("games without an illegal token", Unit::Share).range((0.0, 1.0));
    Panel::Plane(Plane { heading: heading.to_owned(), x, y, marks, height: 200.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(shares: &[(u32, f64)]) -> Vec<(u32, Estimate)> {
        shares.iter().map(|&(ply, value)| (ply, Estimate { value, low: value, high: value, n: 60 })).collect()
    }

    #[test]
    fn half_of_the_games_are_lost_at_a_ply_that_was_looked_at_or_between_two_of_them() {
        assert_eq!(label(&at(&[(10, 0.83), (20, 0.1)])), "half between plies\u{a0}10 and\u{a0}20");
        assert_eq!(label(&at(&[(1, 0.9), (2, 0.4), (3, 0.1)])), "half by ply\u{a0}2");
        assert_eq!(label(&at(&[(1, 0.2)])), "half by ply\u{a0}1");
        assert_eq!(label(&at(&[(10, 0.9), (20, 0.6)])), "60.0 % after ply\u{a0}20");
    }

    #[test]
    fn a_share_falls_in_steps_only_where_every_ply_was_looked_at() {
        let line = |curve: &[(u32, Estimate)]| match &marks(curve, Hue::Blue, String::new())[1] {
            Mark::Line { points, .. } => points.clone(),
            _ => Vec::new(),
        };
        assert_eq!(line(&at(&[(1, 0.9), (2, 0.4)])), [(0.0, 1.0), (1.0, 1.0), (1.0, 0.9), (2.0, 0.9), (2.0, 0.4)]);
        assert_eq!(line(&at(&[(10, 0.9), (20, 0.4)])), [(0.0, 1.0), (10.0, 0.9), (20.0, 0.4)]);
    }
}
