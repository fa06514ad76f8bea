//! What a model has learned: instruments that pass known-answer tests before they measure.
//!
//! A metric is one file with its `VERSION`, which is raised by hand when it would measure something else and is in the
//! key of every evaluation, how its items are `DRAWN`, and `measure`; and one line in each of [`measure`],
//! [`protocol`] and [`Metric::version`]. Models come in as a [`predictor::Predictor`]; only `decoder` knows libtorch.

mod agreement;
mod batched;
mod board;
mod decoder;
#[cfg(test)]
mod fakes;
mod full_games;
mod legality;
pub mod metric;
pub mod positions;
pub mod predictor;
mod rules;
pub mod sampling;
pub mod score;

use std::collections::BTreeMap;

use anyhow::Result;

use crate::progress::Progress;

use metric::Metric;
use positions::ValidationGames;
use predictor::Predictor;
use score::{Protocol, Value};

/// What a metric found, still without the weights' name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    pub values: Vec<Value>,
    pub counts: BTreeMap<String, u64>,
    /// The games that were played, one a line, for metrics that play.
    pub games: Vec<String>,
}

/// Measures a predictor.
///
/// # Errors
///
/// Where there are no games to measure on, the predictor fails, or the user stops the work.
pub fn measure(metric: &Metric, predictor: &dyn Predictor, games: &ValidationGames, progress: &Progress) -> Result<Measured> {
    match *metric {
        Metric::Legality { positions, temperature, seed } => {
            legality::measure(predictor, games, positions, temperature, seed, progress)
        }
        Metric::Agreement { positions, seed } => agreement::measure(predictor, games, positions, seed, progress),
        Metric::Rules { positions, seed } => rules::measure(predictor, games, positions, seed, progress),
        Metric::FullGames { games: count, temperature, seed } => {
            full_games::measure(predictor, games, count, temperature, seed, progress)
        }
    }
}

/// By which protocol [`measure`] measures `predictor`, on data of this digest.
pub fn protocol(metric: &Metric, data: &str, predictor: &dyn Predictor) -> Protocol {
    let (drawn, temperature, seed) = match *metric {
        Metric::Legality { temperature, seed, .. } => (positions::DRAWN, Some(temperature), seed),
        Metric::Agreement { seed, .. } => (positions::DRAWN, None, seed),
        Metric::Rules { seed, .. } => (rules::DRAWN, None, seed),
        Metric::FullGames { temperature, seed, .. } => (full_games::DRAWN, Some(temperature), seed),
    };
    Protocol {
        metric: metric.name().to_owned(),
        version: metric.version(),
        data: data.to_owned(),
        positions: drawn.to_owned(),
        temperature,
        masked: false,
        context: predictor.context() as u32,
        precision: predictor.precision().to_owned(),
        seed,
    }
}
