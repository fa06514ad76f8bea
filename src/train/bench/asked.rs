//! What can be measured, as the runner asks for it: plain values, and no libtorch here.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::model::config::ModelConfig;
use crate::train::config::TrainConfig;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "bench", rename_all = "kebab-case")]
pub enum Bench {
    Device(DeviceBench),
    Train(TrainBench),
    Loader(LoaderBench),
}

/// What a device can do, and whether it agrees with the CPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceBench {
    /// Whether the device is held against the CPU too.
    pub checks: bool,
}

/// How fast the steps of a training are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainBench {
    pub model: ModelConfig,
    pub train: TrainConfig,
    /// Steps that are timed, for each batch.
    pub steps: u64,
    /// Windows in one forward pass; each of them is tried.
    pub batches: Vec<u32>,
    /// Little-endian u16 tokens to train on; drawn ones where left out.
    pub tokens: Option<PathBuf>,
}

/// How fast batches are made, with no training behind them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoaderBench {
    pub train: TrainConfig,
    pub context: u32,
    /// Time for each lap, in milliseconds.
    pub milliseconds: u64,
    /// The games to load; drawn ones where left out.
    pub tokens: Option<TokenPaths>,
    /// Tokens of the games that are drawn.
    pub drawn_tokens: u64,
}

/// A token file and the ends of its games.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenPaths {
    pub tokens: PathBuf,
    pub ends: PathBuf,
}
