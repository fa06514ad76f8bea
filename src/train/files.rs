//! The files a training leaves: lines that grow with it, and small JSON documents that are whole or absent.
//! No libtorch here.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use fs_err::File;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::reading::Reading;
use crate::disk;

pub const CURVE: &str = "curve.jsonl";
pub const VALIDATION: &str = "validation.jsonl";
pub const SPEED: &str = "speed.jsonl";

/// The published weights after `step` steps.
pub fn snapshot_file(out: &Path, step: u64) -> PathBuf {
    out.join("snapshots").join(format!("step-{step:08}.safetensors"))
}

/// The exponential moving average of the weights after the last step, where one is kept.
pub fn ema_file(out: &Path) -> PathBuf {
    out.join("ema.safetensors")
}

/// One line of `curve.jsonl`: a step counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, serde::Deserialize)]
pub struct CurvePoint {
    pub step: u64,
    /// Tokens trained on up to and with this step.
    pub tokens: u64,
    /// Mean cross-entropy over the step's windows, in nats per token, before its update.
    pub loss: f64,
    pub learning_rate: f64,
    /// Global norm before clipping.
    pub gradient_norm: f64,
    /// A spike that changed nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub skipped: bool,
}

/// One line of `validation.jsonl`: the loss after so many steps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, serde::Deserialize)]
pub struct ValidationPoint {
    pub step: u64,
    pub tokens: u64,
    pub loss: f64,
}

/// One line of `speed.jsonl`: the steps since the last line, without validation and checkpoints.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, serde::Deserialize)]
pub struct SpeedPoint {
    pub step: u64,
    pub seconds: f64,
    pub tokens_per_second: f64,
    /// What the device told at the end of these steps.
    #[serde(flatten)]
    pub reading: Reading,
}

/// A file of JSON lines that can be taken back to an earlier length.
pub struct Lines {
    /// `None` where nobody reads them.
    file: Option<File>,
    bytes: u64,
}

impl Lines {
    /// Opens a file at the length it had; what was written after that is forgotten.
    ///
    /// # Errors
    ///
    /// Where the file is shorter than that.
    pub fn open(path: &Path, bytes: u64) -> Result<Self> {
        let file = fs_err::OpenOptions::new().create(true).append(true).open(path)?;
        let there = file.metadata()?.len();
        anyhow::ensure!(there >= bytes, "`{}` has {there} bytes, and had {bytes} before", path.display());
        file.set_len(bytes)?;
        Ok(Self { file: Some(file), bytes })
    }

    /// Lines that another rank writes.
    pub fn nowhere() -> Self {
        Self { file: None, bytes: 0 }
    }

    pub fn push(&mut self, line: &impl Serialize) -> Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        file.write_all(&text)?;
        self.bytes += text.len() as u64;
        Ok(())
    }

    /// Brings all lines to the disk, and says how many bytes they are.
    pub fn sync(&self) -> Result<u64> {
        if let Some(file) = &self.file {
            file.sync_all()?;
        }
        Ok(self.bytes)
    }
}

/// Reads all lines of a file.
pub fn read_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let text = fs_err::read_to_string(path)?;
    let read =
        |(at, line)| serde_json::from_str(line).with_context(|| format!("reading line {} of `{}`", at + 1, path.display()));
    text.lines().enumerate().map(read).collect()
}

/// Writes a JSON document, whole or absent under its name.
pub fn write_json(path: &Path, document: &impl Serialize) -> Result<()> {
    let mut text = serde_json::to_vec_pretty(document)?;
    text.push(b'\n');
    disk::write_whole(path, &text).with_context(|| format!("writing `{}`", path.display()))
}

pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T> {
    serde_json::from_slice(&fs_err::read(path)?).with_context(|| format!("reading `{}`", path.display()))
}
