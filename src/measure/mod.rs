//! What a model has learned: instruments that pass known-answer tests before they measure.
//!
//! A metric is one file with its `VERSION`, which is raised by hand when it would measure something else and is in the
//! key of every evaluation, how its items are `DRAWN`, and `measure`; and one line in each of [`measure`],
//! [`protocol`] and [`Metric::version`]. Models come in as a [`predictor::Predictor`]; only `decoder` knows libtorch.

mod agreement;
pub mod answers;
mod batched;
pub mod bench;
mod board;
mod calibration;
mod decoder;
mod dense;
pub mod draw;
pub mod facts;
#[cfg(test)]
mod fakes;
mod full_games;
pub mod items;
mod lanes;
mod legality;
mod loss;
mod mass;
mod material;
pub mod metric;
mod on_device;
pub mod openings;
pub mod pairs;
pub mod parts;
pub mod positions;
pub mod predictor;
pub mod probe;
pub mod puzzles;
mod rules;
pub mod sampling;
pub mod score;
pub mod tokens;
pub mod values;

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};

use crate::progress::Progress;

use answers::Answers;
use items::Items;
pub use material::Material;
use metric::Metric;
use predictor::Predictor;
use score::{Protocol, Value};

/// What a metric found, still without the weights' name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    pub values: Vec<Value>,
    pub counts: BTreeMap<String, u64>,
    /// The games that were played, one a line, for metrics that play.
    pub games: Vec<String>,
    /// What came out item by item, for metrics whose items stand in no table of answers.
    pub items: Vec<Items>,
}

/// Measures a predictor.
///
/// # Errors
///
/// Where there is nothing to measure on, the predictor fails, or the user stops the work.
pub fn measure(metric: &Metric, predictor: &dyn Predictor, on: &Material, progress: &Progress) -> Result<Measured> {
    match *metric {
        Metric::FullGames { games, temperature, seed } => {
            full_games::measure(predictor, &on.games, games, temperature, seed, progress)
        }
        Metric::Loss => loss::measure(predictor, on.validation, progress),
        Metric::Openings { ref prefixes, seed } => openings::measure(predictor, on.training()?, prefixes, seed, progress),
        Metric::Puzzles { puzzles, seed, .. } => puzzles::measure(predictor, on.puzzles()?, puzzles, seed, progress),
        Metric::Probe { positions, test, seed } => {
            probe::measure(probe::Sizes { positions, test, seed }, predictor, on, progress)
        }
        _ => {
            let (draw, temperature) = metric.asks().context("a metric of positions asks about some")?;
            judge(metric, &answers::ask(predictor, &on.games, draw, temperature.as_slice(), progress)?)
        }
    }
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
        Metric::Mass { positions, .. } => mass::of(answers, positions),
        Metric::Calibration { positions, seed } => calibration::of(answers, positions, seed),
        Metric::Dense { games, temperature, .. } => dense::of(answers, games, temperature),
        Metric::FullGames { .. } | Metric::Loss | Metric::Openings { .. } | Metric::Puzzles { .. } | Metric::Probe { .. } => {
            bail!("`{}` is no metric of positions", metric.name())
        }
    })
}

/// By which protocol [`measure`] measures a predictor of this context and precision, on data of this digest.
pub fn protocol(metric: &Metric, data: &str, context: u32, precision: &str) -> Protocol {
    let drawn_for_probe;
    let (drawn, temperature, seed) = match *metric {
        Metric::Legality { temperature, seed, .. } => (positions::DRAWN, Some(temperature), seed),
        Metric::Agreement { seed, .. } | Metric::Mass { seed, .. } | Metric::Calibration { seed, .. } => {
            (positions::DRAWN, None, seed)
        }
        Metric::Rules { seed, .. } => (rules::DRAWN, None, seed),
        Metric::Dense { temperature, seed, .. } => (dense::DRAWN, Some(temperature), seed),
        Metric::FullGames { temperature, seed, .. } => (full_games::DRAWN, Some(temperature), seed),
        // Nothing is drawn.
        Metric::Loss => (loss::DRAWN, None, 0),
        Metric::Openings { seed, .. } => (openings::DRAWN, None, seed),
        Metric::Puzzles { seed, .. } => (puzzles::DRAWN, None, seed),
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
