//! What can be measured, and with which settings. No libtorch here.

use serde::{Deserialize, Serialize};

/// One metric with the settings that decide its value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// One token sampled without a mask at a random ply of a random validation game: is it a legal move?
    Legality { positions: u32, temperature: f64, seed: u64 },
    /// The most likely token, and the five most likely, against the human move.
    Agreement { positions: u32, seed: u64 },
    /// Positions where the human castled, took en passant, promoted, or stood in check; `positions` of each.
    Rules { positions: u32, seed: u64 },
    /// Both sides played without a mask from the start, until the game ends somehow.
    FullGames { games: u32, temperature: f64, seed: u64 },
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
            Self::FullGames { .. } => "full_games",
        }
    }

    /// The hand-raised `VERSION` of its instrument: another one would measure something else by the same settings.
    pub fn version(&self) -> u32 {
        match self {
            Self::Legality { .. } => super::legality::VERSION,
            Self::Agreement { .. } => super::agreement::VERSION,
            Self::Rules { .. } => super::rules::VERSION,
            Self::FullGames { .. } => super::full_games::VERSION,
        }
    }
}
