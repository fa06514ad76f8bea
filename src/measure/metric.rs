//! What can be measured, and with which settings. No libtorch here.

use serde::{Deserialize, Serialize};

use super::draw::Draw;

/// One metric with the settings that decide its value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// One token sampled without a mask at a random ply of a random validation game: is it a legal move?
    Legality { positions: u32, temperature: f64, seed: u64 },
    /// The most likely token, and the five most likely, against the human move.
    Agreement { positions: u32, seed: u64 },
    /// Positions where the human castled, took en passant, promoted, or stood in check; `positions` of each.
    Rules { positions: u32, seed: u64 },
    /// The probability of all legal moves together.
    Mass { positions: u32, seed: u64 },
    /// The probability of the most likely token against how often it is the human move.
    Calibration { positions: u32, seed: u64 },
    /// Agreement, legality and mass at every ply of so many games, by parts, and how long no sampled token is illegal.
    Dense { games: u32, temperature: f64, seed: u64 },
    /// Both sides played without a mask from the start, until the game ends somehow.
    FullGames { games: u32, temperature: f64, seed: u64 },
    /// The loss over all validation tokens.
    Loss,
    /// The moves after some lines in UCI, beside those of the training games; the seed is of the interval.
    Openings { prefixes: Vec<String>, seed: u64 },
    /// Puzzles of a file, which is known by the BLAKE3 of its content.
    Puzzles { blake3: String, puzzles: u32, seed: u64 },
    /// Linear probes of every layer for what stands on each square, trained on `positions` and asked on `test` others.
    Probe { positions: u32, test: u32, seed: u64 },
}

/// The weights that are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Checkpoint {
    /// Lowest validation loss, the earlier of equals.
    Best,
    Last,
    /// The exponential moving average of the weights, as it is after the last step.
    Ema,
    Step(u64),
}

impl Metric {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Legality { .. } => "legality",
            Self::Agreement { .. } => "agreement",
            Self::Rules { .. } => "rules",
            Self::Mass { .. } => "mass",
            Self::Calibration { .. } => "calibration",
            Self::Dense { .. } => "dense",
            Self::FullGames { .. } => "full_games",
            Self::Loss => "loss",
            Self::Openings { .. } => "openings",
            Self::Puzzles { .. } => "puzzles",
            Self::Probe { .. } => "probe",
        }
    }

    /// The positions that it asks about, and the temperature at which a token is sampled there; none for metrics that play,
    /// read otherwise or look inside.
    pub fn asks(&self) -> Option<(Draw, Option<f64>)> {
        match *self {
            Self::Legality { positions, temperature, seed } => Some((Draw::Anywhere { positions, seed }, Some(temperature))),
            Self::Agreement { positions, seed } => Some((Draw::Anywhere { positions, seed }, None)),
            Self::Rules { positions, seed } => Some((Draw::Rules { positions, seed }, None)),
            Self::Mass { positions, seed } | Self::Calibration { positions, seed } => {
                Some((Draw::Anywhere { positions, seed }, None))
            }
            Self::Dense { games, temperature, seed } => Some((Draw::EveryPly { games, seed }, Some(temperature))),
            Self::FullGames { .. } | Self::Loss | Self::Openings { .. } | Self::Puzzles { .. } | Self::Probe { .. } => None,
        }
    }

    /// The hand-raised `VERSION` of its instrument: another one would measure something else by the same settings.
    pub fn version(&self) -> u32 {
        match self {
            Self::Legality { .. } => super::legality::VERSION,
            Self::Agreement { .. } => super::agreement::VERSION,
            Self::Rules { .. } => super::rules::VERSION,
            Self::Mass { .. } => super::mass::VERSION,
            Self::Calibration { .. } => super::calibration::VERSION,
            Self::Dense { .. } => super::dense::VERSION,
            Self::FullGames { .. } => super::full_games::VERSION,
            Self::Loss => super::loss::VERSION,
            Self::Openings { .. } => super::openings::VERSION,
            Self::Puzzles { .. } => super::puzzles::VERSION,
            Self::Probe { .. } => super::probe::VERSION,
        }
    }
}

impl Checkpoint {
    /// As a score and a file name it: steps sort as text.
    pub fn name(self) -> String {
        match self {
            Self::Step(step) => format!("step-{step:08}"),
            other => other.words(),
        }
    }

    /// As a label says it.
    pub fn words(self) -> String {
        match self {
            Self::Best => "best".to_owned(),
            Self::Last => "last".to_owned(),
            Self::Ema => "ema".to_owned(),
            Self::Step(step) => format!("step {step}"),
        }
    }
}
