//! Tables of what evaluations keep game by game and move by move.

use anyhow::Result;
use polars::prelude::{DataFrame, df};

use super::{frame, rows, some};
use crate::report::charts::survival_curve;
use crate::report::results::{Asked, Measured, Point, Results};

/// The share of games still without an illegal token, along human games and in the model's own.
pub(super) fn survival(results: &Results) -> Result<Option<DataFrame>> {
    let curves = rows(results, |point| {
        let scores = finals(point, "dense").chain(finals(point, "full_games"));
        scores.flat_map(|score| survival_curve(score).into_iter().map(move |at| (score, at))).collect()
    });
    Ok(some(frame!(curves, row => {
        "point": row.point,
        "metric": row.of.0.metric.name(),
        "temperature": row.of.0.temperature(),
        "checkpoint": row.of.0.score.checkpoint.name.as_str(),
        "plies": row.of.1.0,
        "value": row.of.1.1.value,
        "low": row.of.1.1.low,
        "high": row.of.1.1.high,
        "n": row.of.1.1.n,
        "key": row.of.0.key.full(),
    })?))
}

/// Every game that the model played for a final figure.
pub(super) fn own_games(results: &Results) -> Result<Option<DataFrame>> {
    let games = rows(results, |point| {
        finals(point, "full_games").flat_map(|score| score.own_games.iter().enumerate().map(move |game| (score, game))).collect()
    });
    Ok(some(frame!(games, row => {
        "point": row.point,
        "temperature": row.of.0.temperature(),
        "checkpoint": row.of.0.score.checkpoint.name.as_str(),
        "game": row.of.1.0 as u64,
        "end": row.of.1.1.end.as_str(),
        "plies": row.of.1.1.plies,
        "key": row.of.0.key.full(),
    })?))
}

/// Every legal move after a beginning.
pub(super) fn openings(results: &Results) -> Result<Option<DataFrame>> {
    let moves = rows(results, |point| {
        finals(point, "openings").flat_map(|score| score.next_moves.iter().map(move |next| (score, next))).collect()
    });
    Ok(some(frame!(moves, row => {
        "point": row.point,
        "checkpoint": row.of.0.score.checkpoint.name.as_str(),
        "prefix": row.of.1.prefix.as_str(),
        "move": row.of.1.uci.as_str(),
        "model_probability": row.of.1.probability,
        "corpus_games": row.of.1.games,
        "key": row.of.0.key.full(),
    })?))
}

fn finals<'a>(point: &'a Point, metric: &'a str) -> impl Iterator<Item = &'a Measured> {
    point.scores.iter().filter(move |score| score.asked == Asked::Final && score.metric.name() == metric)
}
