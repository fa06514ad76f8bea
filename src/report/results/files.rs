//! The files of artifacts as a report reads them: each may be absent, or cut short by a kill.

use std::path::Path;

use fs_err as fs;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use crate::data::duplicates::MostRepeated;
use crate::data::overlap::Overlap;

/// Reads a JSON file; none where it is absent or is not what it should be.
pub(super) fn json<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Reads a file of JSON lines; a torn last line is left out.
pub(super) fn lines<T: DeserializeOwned>(path: &Path) -> Vec<T> {
    let bytes = fs::read(path).unwrap_or_default();
    bytes.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

/// `parse/report.json`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ParseReport {
    pub read: u64,
    pub kept: u64,
    pub plies: u64,
    pub rejected: Vec<(String, u64)>,
    /// Plies, and kept games of so many, ascending.
    pub lengths: Vec<(u32, u64)>,
    pub ends: Ends,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Ends {
    pub checkmate: u64,
    pub stalemate: u64,
    pub other_by_rules: u64,
    pub not_by_rules: u64,
}

/// `encode/report.json`.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Encoded {
    pub train_games: u64,
    pub train_tokens: u64,
    pub validation_games: u64,
    pub validation_tokens: u64,
}

/// `inspect/inspection.json`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Inspection {
    pub replayed: u64,
    pub failed: u64,
    pub train_games: u64,
    pub validation_games: u64,
    /// 0 in files from before copies were counted in training.
    pub distinct_train_games: u64,
    pub distinct_validation_games: u64,
    pub most_repeated_train: Option<MostRepeated>,
    pub most_repeated_validation: Option<MostRepeated>,
    pub overlap_games: u64,
    pub overlap_train_games: u64,
    pub overlap: Overlap,
}

/// A line of `train/curve.jsonl`.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct TrainingStep {
    pub step: u64,
    pub tokens: u64,
    /// In nats; not a number where the training diverged.
    #[serde(deserialize_with = "nan_for_null")]
    pub loss: f64,
    #[serde(deserialize_with = "nan_for_null", default)]
    pub learning_rate: f64,
    #[serde(deserialize_with = "nan_for_null", default)]
    pub gradient_norm: f64,
    /// A spike that changed nothing.
    #[serde(default)]
    pub skipped: bool,
}

/// A line of `train/validation.jsonl`.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Validation {
    pub step: u64,
    pub tokens: u64,
    #[serde(deserialize_with = "nan_for_null")]
    pub loss: f64,
}

/// A line of `train/speed.jsonl`.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Speed {
    pub step: u64,
    #[serde(deserialize_with = "nan_for_null")]
    pub seconds: f64,
    #[serde(deserialize_with = "nan_for_null")]
    pub tokens_per_second: f64,
    /// As the device told at the end of these steps, if it does.
    #[serde(default)]
    pub power_watts: Option<f64>,
    #[serde(default)]
    pub clock_mhz: Option<f64>,
    #[serde(default)]
    pub temperature_celsius: Option<f64>,
}

/// `train/best.json`, and `train/ema.json` of the average of the weights.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Best {
    pub step: u64,
    #[serde(deserialize_with = "nan_for_null")]
    pub loss: f64,
}

/// `train/training.json`.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Summary {
    pub steps: u64,
    pub tokens_per_step: u64,
    pub parameters: u64,
    pub flops_per_token: f64,
    /// Where whole games were packed.
    pub packing: Option<Packed>,
}

/// How whole games fill the windows.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Packed {
    pub windows: u64,
    /// Tokens that are predicted, in all windows.
    pub targets: u64,
    /// Games that are longer than a window, and the tokens that they lost.
    pub cut_games: u64,
    pub cut_tokens: u64,
}

/// `train/device.json`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct DeviceReport {
    pub device: String,
    pub threads: u64,
    pub matmul_flops_per_second: Option<f64>,
    pub tokens_per_second: Option<f64>,
    pub mfu: Option<f64>,
    pub peak_memory_bytes: Option<u64>,
}

/// `verdict.json` of a gate.
#[derive(Clone, Debug, Deserialize)]
pub struct Verdict {
    #[serde(deserialize_with = "nan_for_null")]
    pub measured: f64,
    pub wanted: String,
    pub passed: bool,
}

/// JSON has no NaN; what was one is null.
fn nan_for_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::NAN))
}
