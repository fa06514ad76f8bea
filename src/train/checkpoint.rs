//! What a training needs to go on as if it had never stopped: weights, moments, and how long its files were.
//!
//! A checkpoint is a folder, whole or absent under its name; the one before it is removed only then.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tch::Device;

use super::files::{read_json, sync_dir, write_json};
use super::trainer::Trainer;
use crate::model::config::ModelConfig;
use crate::model::decoder::Decoder;
use crate::model::weights::{Weights, write_tensors};

const FOLDER: &str = "checkpoints";

/// The lowest validation loss so far, and the step it was reached at.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Best {
    pub step: u64,
    pub loss: f64,
}

/// The rest of a training's state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Steps done.
    pub step: u64,
    pub best: Option<Best>,
    /// Lengths of the files of lines, in bytes.
    pub curve: u64,
    pub validation: u64,
    pub speed: u64,
}

/// Writes a checkpoint into `out`, and `resume.json`, which says how far it is.
pub fn save(out: &Path, trainer: &Trainer, state: State) -> Result<()> {
    let folder = out.join(FOLDER);
    let whole = folder.join(format!("step-{:08}", state.step));
    let part = whole.with_extension("part");
    for old in [&part, &whole] {
        if old.exists() {
            fs_err::remove_dir_all(old)?;
        }
    }
    fs_err::create_dir_all(&part)?;
    trainer.decoder.weights().write(&part.join("weights.safetensors"))?;
    let [first, second] = trainer.optimiser.moments();
    write_tensors(&part.join("first.safetensors"), &first)?;
    write_tensors(&part.join("second.safetensors"), &second)?;
    write_json(&part.join("state.json"), &state)?;
    fs_err::rename(&part, &whole)?;
    sync_dir(&folder)?;
    write_json(&out.join("resume.json"), &json!({ "done": state.step, "total": trainer.steps(), "unit": "steps" }))?;
    for (step, older) in all(out)? {
        if step != state.step {
            fs_err::remove_dir_all(older)?;
        }
    }
    Ok(())
}

/// A checkpoint as it was read.
pub struct Saved {
    pub state: State,
    pub decoder: Decoder,
    /// The first and the second moments of the gradients.
    pub moments: [Weights; 2],
}

/// The newest checkpoint in `out`, if there is one.
///
/// # Errors
///
/// Where it cannot be read: it was whole, so something else went wrong.
pub fn newest(out: &Path, model: &ModelConfig, device: Device) -> Result<Option<Saved>> {
    let Some((_, folder)) = all(out)?.pop() else { return Ok(None) };
    let read = |name: &str| Weights::read(&folder.join(name), model, device);
    Ok(Some(Saved {
        state: read_json(&folder.join("state.json"))?,
        decoder: Decoder::load(&folder.join("weights.safetensors"), model, device)?,
        moments: [read("first.safetensors")?, read("second.safetensors")?],
    }))
}

/// Removes what only an unfinished training needs.
pub fn remove(out: &Path) -> Result<()> {
    let folder = out.join(FOLDER);
    if folder.exists() {
        fs_err::remove_dir_all(folder)?;
    }
    Ok(())
}

/// Whole checkpoints by step, the newest last.
fn all(out: &Path) -> Result<Vec<(u64, PathBuf)>> {
    let folder = out.join(FOLDER);
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for entry in fs_err::read_dir(folder)? {
        let path = entry?.path();
        let step = path.file_name().and_then(|name| name.to_str()?.strip_prefix("step-")?.parse().ok());
        found.extend(step.map(|step| (step, path)));
    }
    found.sort();
    Ok(found)
}
