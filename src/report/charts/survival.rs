//! How long games stay without an illegal token: along validation games, and in the model's own.

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
    let mut panels = Vec::new();
    let mut said = Vec::new();
    if let Some(score) = point.finals("dense").into_iter().next() {
        let curve = curve(score);
        if let Some((plies, last)) = curve.last() {
            let label = percent(last.value, 1);
            said.push(format!("along validation games{}, {label} are left after {plies} plies", at(score.temperature())));
            panels.push(panel("Along validation games", marks(&curve, Hue::Blue, label)));
        }
    }
    let own: Vec<_> = hottest_and_coolest(point).into_iter().map(|score| (score, curve(score))).collect();
    let mut all = Vec::new();
    for ((score, curve), hue) in own.iter().zip([Hue::Blue, Hue::Orange]) {
        let (Some(t), Some((plies, last))) = (score.temperature(), curve.last()) else { continue };
        let label = format!("T = {}: {}", temperature(t), percent(last.value, 1));
        said.push(format!("of its own games{}, {} are left after {plies} plies", at(Some(t)), percent(last.value, 1)));
        all.extend(marks(curve, hue, label));
    }
    if !all.is_empty() {
        panels.push(panel("In its own games", all));
    }
    let games = |score: &Measured| plural("game", score.own_games.len() as u64);
    let own = own.first().map_or_else(String::new, |(score, _)| format!(" Its own games: {} at each temperature.", games(score)));
    let human = point.finals("dense").first().map_or_else(String::new, |score| {
        let games = score.score.counts.get("games").map_or_else(|| "games".to_owned(), |games| plural("game", *games));
        format!(
            " Validation games: at each ply of {games} a token is sampled{}, and the game goes on as it was played.",
            at(score.temperature())
        )
    });
    let subtitle = format!(
        "Share of games still without an illegal token after so many plies (Kaplan-Meier: games that end are not counted from there on); \
         bands: 95 % intervals.{human}{own}"
    );
    let columns = panels.len();
    let title = "How long games stay legal".to_owned();
    (!panels.is_empty()).then(|| Drawing { title, subtitle, alt: said.join("; "), columns, panels })
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
    let band = curve.iter().map(|(plies, share)| (f64::from(*plies), share.low, share.high));
    let points: Vec<_> = curve.iter().map(|(plies, share)| (f64::from(*plies), share.value)).collect();
    let mut marks = vec![
        Mark::Band { points: std::iter::once((0.0, 1.0, 1.0)).chain(band).collect(), hue },
        Mark::Line {
            points: std::iter::once((0.0, 1.0)).chain(points.iter().copied()).collect(),
            hue,
            stroke: Stroke::Strong,
            label,
        },
    ];
    if points.len() <= 12 {
        marks.push(Mark::Dots { points, hue, label: String::new() });
    }
    marks
}

fn panel(heading: &str, marks: Vec<Mark>) -> Panel {
    let x = Axis::new("plies", Unit::Number).include([0.0]);
    let y = Axis::new("", Unit::Share).range((0.0, 1.0));
    Panel::Plane(Plane { heading: heading.to_owned(), x, y, marks, height: 200.0 })
}
