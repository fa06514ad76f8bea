//! What can be measured, as the runner asks for it: plain values, and no libtorch here.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::measure::metric::Metric;
use crate::memory::Room;
use crate::model::config::ModelConfig;
use crate::train::config::TrainConfig;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "bench", rename_all = "kebab-case")]
pub enum Bench {
    Device(DeviceBench),
    Train(TrainBench),
    Loader(LoaderBench),
    Measure(MeasureBench),
}

/// What a device can do, and whether it agrees with the CPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceBench {
    /// Whether the device is held against the CPU too.
    pub checks: bool,
}

/// How fast the steps of a training are, and what they take: of one batch, since memory comes back only with a process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainBench {
    pub model: ModelConfig,
    pub train: TrainConfig,
    /// Steps that are timed, after those that warm up.
    pub steps: u64,
    /// After so many seconds of steps no other is begun, where it is given; one is timed in any case.
    pub seconds: Option<f64>,
}

/// What was found of one batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepsMeasured {
    pub device: String,
    pub threads: usize,
    /// Steps that were timed.
    pub steps: u64,
    pub median_seconds: f64,
    pub least_seconds: f64,
    /// One batch without gradients, as validation does it.
    pub validation_seconds: f64,
    /// The most memory of the device that was taken; on the CPU, the most that was resident in the process.
    pub peak_memory_bytes: Option<u64>,
    /// What there was to take before, with what the process took already.
    pub room: Option<Room>,
    pub matmul_flops_per_second: f64,
    /// Power over the timed steps, where the device tells its energy.
    pub watts: Option<f64>,
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

/// How long the measures of an experiment take, beside the passes that they need and the way that was published.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasureBench {
    pub model: ModelConfig,
    /// Kept ones; random ones where left out.
    pub weights: Option<PathBuf>,
    pub validation: TokenPaths,
    pub metrics: Vec<Metric>,
    /// Runs of the measures and of their bare passes, in turn.
    pub rounds: u32,
    /// One of so many positions is measured the published way.
    pub sample: u32,
    /// Games that are held to legal moves, and their length.
    pub games: u32,
    pub plies: u32,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuresTimed {
    pub device: String,
    pub threads: usize,
    /// Passes of the model that the measures need, and tokens that they read.
    pub passes: u64,
    pub tokens: u64,
    pub rounds: Vec<RoundTimed>,
    pub published: Vec<PublishedTimed>,
    pub lawful: LawfulTimed,
}

/// The measures once, and what they asked of the model once more with nothing read back.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoundTimed {
    pub seconds: f64,
    pub bare_seconds: f64,
}

/// A part of one metric, the published way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedTimed {
    pub name: String,
    /// For the part.
    pub seconds: f64,
    /// Positions or games of the part, and of the whole.
    pub measured: u64,
    pub of: u64,
}

impl PublishedTimed {
    /// What the whole would take.
    pub fn scaled_seconds(&self) -> f64 {
        self.seconds * self.of as f64 / self.measured as f64
    }
}

/// Games held to legal moves: on a cache, and with the whole prefix at each ply.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LawfulTimed {
    pub games: u32,
    pub plies: u32,
    pub cached_seconds: f64,
    pub whole_seconds: f64,
}
