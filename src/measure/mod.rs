//! What a model has learned: instruments that pass known-answer tests before they measure.
//!
//! A metric is one file with its `VERSION`, which is raised by hand when it would measure something else and is in the
//! key of every evaluation, how its items are `DRAWN`, and `measure`; and one line in each of [`measure`],
//! [`protocol`] and [`Metric::version`]. Models come in as a [`predictor::Predictor`]; only `decoder` knows libtorch.

mod agreement;
pub mod answers;
mod batched;
mod board;
mod decoder;
pub mod draw;
#[cfg(test)]
mod fakes;
mod full_games;
mod legality;
pub mod metric;
pub mod positions;
pub mod predictor;
pub mod probe;
mod rules;
pub mod sampling;
pub mod score;

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};

use crate::progress::Progress;

use answers::Answers;
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
    if let Metric::FullGames { games: count, temperature, seed } = *metric {
        return full_games::measure(predictor, games, count, temperature, seed, progress);
    }
    if let Metric::Probe { .. } = metric {
        bail!("`{}` reads the layers of a decoder: `probe::measure` does", metric.name());
    }
    let (draw, temperature) = metric.asks().context("a metric that asks about no positions must play")?;
    judge(metric, &answers::ask(predictor, games, draw, temperature.as_slice(), progress)?)
}

/// What a metric of positions finds in the answers to what it [asks](Metric::asks).
///
/// # Errors
///
/// Where it asks about none.
pub fn judge(metric: &Metric, answers: &Answers) -> Result<Measured> {
    Ok(match *metric {
        Metric::Legality { positions, temperature, .. } => legality::of(answers, positions, temperature),
        Metric::Agreement { positions, .. } => agreement::of(answers, positions),
        Metric::Rules { positions, .. } => rules::of(answers, positions),
        Metric::FullGames { .. } | Metric::Probe { .. } => bail!("`{}` is no metric of positions", metric.name()),
    })
}

/// By which protocol [`measure`] measures a predictor of this context and precision, on data of this digest.
pub fn protocol(metric: &Metric, data: &str, context: u32, precision: &str) -> Protocol {
    let drawn_for_probe;
    let (drawn, temperature, seed) = match *metric {
        Metric::Legality { temperature, seed, .. } => (positions::DRAWN, Some(temperature), seed),
        Metric::Agreement { seed, .. } => (positions::DRAWN, None, seed),
        Metric::Rules { seed, .. } => (rules::DRAWN, None, seed),
        Metric::FullGames { temperature, seed, .. } => (full_games::DRAWN, Some(temperature), seed),
        Metric::Probe { positions, seed, .. } => {
            drawn_for_probe = probe::drawn(positions);
            (drawn_for_probe.as_str(), None, seed)
        }
    };
    Protocol {
        metric: metric.name().to_owned(),
        version: metric.version(),
        data: data.to_owned(),
        positions: drawn.to_owned(),
        temperature,
        masked: false,
        context,
        precision: precision.to_owned(),
        seed,
    }
}
