//! What a training needs to go on as if it had never stopped: weights, moments, and how long its files were.
//!
//! A checkpoint is a folder, whole or absent under its name; the last two are kept, should one be damaged. It holds no state of
//! a generator and no place in the data: both follow from the seed and the step.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tch::{Device, TchError};

use super::best::{self, Best};
use super::files::{CURVE, SPEED, VALIDATION, read_json, snapshot_file, write_json};
use super::trainer::Trainer;
use super::watch::Watch;
use crate::disk::{blake3_of, sync_dir};
use crate::error::Fixable;
use crate::model::config::ModelConfig;
use crate::model::decoder::Decoder;
use crate::model::weights::{Weights, write_tensors};

const FOLDER: &str = "checkpoints";
const AVERAGE: &str = "average.safetensors";
const WEIGHTS: &str = "weights.safetensors";
const STATE: &str = "state.json";
/// BLAKE3 of all files of a checkpoint, by name.
const DIGESTS: &str = "digests.json";
/// Checkpoints of an unfinished training.
const KEPT: usize = 2;

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
    /// What is expected of the next steps.
    #[serde(default)]
    pub watch: Watch,
}

/// Writes a checkpoint into `out`, and `resume.json`, which says how far it is. The one before it stays.
pub fn save(out: &Path, trainer: &Trainer, state: State) -> Result<()> {
    let whole = folder(out, state.step);
    let part = whole.with_extension("part");
    fs_err::create_dir_all(out.join(FOLDER))?;
    // What an earlier save had no room for takes none from this one.
    for entry in fs_err::read_dir(out.join(FOLDER))? {
        let old = entry?.path();
        if old == whole || old.extension().is_some_and(|extension| extension == "part") {
            fs_err::remove_dir_all(old)?;
        }
    }
    fs_err::create_dir_all(&part)?;
    trainer.decoder.weights().write(&part.join(WEIGHTS))?;
    let [first, second] = trainer.optimiser.moments();
    write_tensors(&part.join("first.safetensors"), &first)?;
    write_tensors(&part.join("second.safetensors"), &second)?;
    if let Some(average) = &trainer.average {
        average.write(&part.join(AVERAGE))?;
    }
    write_json(&part.join(STATE), &state)?;
    write_json(&part.join(DIGESTS), &digests(&part)?)?;
    fs_err::rename(&part, &whole)?;
    sync_dir(&out.join(FOLDER))?;
    write_json(&out.join("resume.json"), &json!({ "done": state.step, "total": trainer.steps(), "unit": "steps" }))?;
    keep(out, state.step, KEPT)
}

/// Removes all checkpoints but the last few up to `step`, and weights that were the best and are named by none of them.
pub fn keep(out: &Path, step: u64, most: usize) -> Result<()> {
    // One of a later step was damaged, or this training would have begun there.
    let (before, after): (Vec<_>, Vec<_>) = all(out)?.into_iter().partition(|(at, _)| *at <= step);
    let (old, kept) = before.split_at(before.len().saturating_sub(most));
    for (_, folder) in old.iter().chain(&after) {
        fs_err::remove_dir_all(folder)?;
    }
    let states = kept.iter().filter_map(|(_, folder)| read_json::<State>(&folder.join(STATE)).ok());
    best::remove_but(out, &states.filter_map(|state| Some(state.best?.step)).collect::<Vec<_>>())
}

/// A checkpoint as it was read.
pub struct Saved {
    pub state: State,
    pub decoder: Decoder,
    /// The first and the second moments of the gradients.
    pub moments: [Weights; 2],
    /// Where one is kept.
    pub average: Option<Weights>,
}

/// The newest checkpoint in `out` that a training can go on from, if there is any at all; `length` is its steps, and those
/// between two snapshots. `note` is told of newer ones that are damaged.
///
/// # Errors
///
/// Where there are some and none can be gone on from. They are never removed unasked: they may be the work of days.
pub fn newest(out: &Path, model: &ModelConfig, device: Device, length: [u64; 2], note: &dyn Fn(String)) -> Result<Option<Saved>> {
    let mut damaged = None;
    for (step, folder) in all(out)?.into_iter().rev() {
        match read(out, &folder, model, device, length) {
            Ok(saved) => {
                if let Some((step, error)) = damaged {
                    note(format!("the checkpoint of step {step} is damaged ({error:#}); the one before it is whole"));
                }
                return Ok(Some(saved));
            }
            // What libtorch says is of the device, and no fault of the files.
            Err(error) if error.chain().any(|cause| matches!(cause.downcast_ref(), Some(TchError::Torch(_)))) => {
                return Err(error);
            }
            Err(error) => {
                damaged.get_or_insert((step, error));
            }
        }
    }
    match damaged {
        None => Ok(None),
        Some((_, error)) => {
            Err(Fixable::failed(format!("the checkpoint in `{}` is damaged: {error:#}", out.join(FOLDER).display()))
                .hint("put its files back from a copy, or begin anew with --force train, which removes what is there")
                .into())
        }
    }
}

fn read(out: &Path, folder: &Path, model: &ModelConfig, device: Device, [steps, every]: [u64; 2]) -> Result<Saved> {
    let state: State = read_json(&folder.join(STATE))?;
    belongs(out, state, steps)?;
    let moments = |name: &str| Weights::read(&folder.join(name), model, device);
    let average = if folder.join(AVERAGE).exists() { Some(moments(AVERAGE)?) } else { None };
    let saved = Saved {
        state,
        decoder: Decoder::load(&folder.join(WEIGHTS), model, device)?,
        moments: [moments("first.safetensors")?, moments("second.safetensors")?],
        average,
    };
    // Last, for the name of a tensor tells more than a digest does.
    let (seen, wanted) = (digests(folder)?, read_json::<BTreeMap<String, String>>(&folder.join(DIGESTS))?);
    if let Some(name) = wanted.keys().chain(seen.keys()).find(|name| seen.get(*name) != wanted.get(*name)) {
        let digest =
            |of: &BTreeMap<String, String>| of.get(name).map_or_else(|| "none".to_owned(), |digest| format!("`{digest}`"));
        anyhow::bail!("the BLAKE3 of `{name}` is {}, and {} is wanted", digest(&seen), digest(&wanted));
    }
    published(out, fs_err::metadata(folder.join(WEIGHTS))?.len(), state.step, every)?;
    Ok(saved)
}

/// Sees that the snapshots before a step are there, each with the bytes of the weights.
fn published(out: &Path, size: u64, before: u64, every: u64) -> Result<()> {
    for step in (0..before).step_by(every.max(1) as usize) {
        let path = snapshot_file(out, step);
        let there = fs_err::metadata(&path)?.len();
        anyhow::ensure!(there == size, "`{}` has {there} bytes, and {size} are wanted", path.display());
    }
    Ok(())
}

/// BLAKE3 of the files in a folder, but for the digests themselves.
fn digests(folder: &Path) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    for entry in fs_err::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name != DIGESTS {
            found.insert(name, blake3_of(&path)?);
        }
    }
    Ok(found)
}

/// Sees that the other files of an unfinished training are those that its checkpoint was saved with.
fn belongs(out: &Path, state: State, steps: u64) -> Result<()> {
    anyhow::ensure!(state.step <= steps, "it was saved after step {} of {steps}", state.step);
    if let Some(best) = state.best {
        fs_err::metadata(best::best_file(out, best.step))?;
    }
    for (name, bytes) in [(CURVE, state.curve), (VALIDATION, state.validation), (SPEED, state.speed)] {
        let there = fs_err::metadata(out.join(name)).map_or(0, |found| found.len());
        anyhow::ensure!(there >= bytes, "`{name}` has {there} bytes, and had {bytes} then");
    }
    Ok(())
}

/// Removes what only an unfinished training needs.
pub fn remove(out: &Path) -> Result<()> {
    let folder = out.join(FOLDER);
    if folder.exists() {
        fs_err::remove_dir_all(folder)?;
    }
    Ok(())
}

pub(super) fn folder(out: &Path, step: u64) -> PathBuf {
    out.join(FOLDER).join(format!("step-{step:08}"))
}

/// Whole checkpoints by step, the newest last.
pub(super) fn all(out: &Path) -> Result<Vec<(u64, PathBuf)>> {
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
