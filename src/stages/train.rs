//! Tokens to weights: snapshots, the best and the last, and the curve of the loss.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use fs_err as fs;
use serde::{Deserialize, Serialize};

use crate::error::Fixable;
use crate::measure::metric::Checkpoint;
use crate::model::config::ModelConfig;
use crate::plan::{Artifact, Cx, Handle, Stage};
use crate::train::config::TrainConfig;

use super::encode::Tokens;

#[derive(Serialize, Deserialize)]
pub struct Train {
    pub tokens: Handle<Tokens>,
    pub model: ModelConfig,
    pub train: TrainConfig,
}

pub struct Trained {
    pub dir: PathBuf,
    config: ModelConfig,
    tokens_per_step: u64,
}

impl Stage for Train {
    const NAME: &'static str = "train";
    const VERSION: u32 = 1;
    const RESUMES: bool = true;
    type Output = Trained;

    fn run(&self, _cx: &Cx, _out: &Path) -> Result<()> {
        bail!("not built yet")
    }
}

impl Trained {
    /// The weights of a checkpoint.
    ///
    /// # Errors
    ///
    /// Where no snapshot was published at the step.
    pub fn weights(&self, checkpoint: Checkpoint) -> Result<PathBuf> {
        if checkpoint == Checkpoint::Best {
            return Ok(self.dir.join("best.safetensors"));
        }
        let step = self.step_of(checkpoint)?;
        let path = self.dir.join("snapshots").join(format!("step-{step:08}.safetensors"));
        if !path.exists() {
            return Err(Fixable::failed(format!("the training published no weights at step `{step}`"))
                .hint("take a multiple of `train.snapshots.every`")
                .into());
        }
        Ok(path)
    }

    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// The step of a checkpoint.
    pub fn step_of(&self, checkpoint: Checkpoint) -> Result<u64> {
        let number = |file: &str, field: &str| -> Result<u64> {
            let json: serde_json::Value = serde_json::from_slice(&fs::read(self.dir.join(file))?)?;
            json[field].as_u64().with_context(|| format!("`{file}` tells no `{field}`"))
        };
        match checkpoint {
            Checkpoint::Best => number("best.json", "step"),
            Checkpoint::Last => number("training.json", "steps"),
            Checkpoint::Step(step) => Ok(step),
        }
    }

    /// Training tokens seen by a step.
    pub fn tokens_at(&self, step: u64) -> u64 {
        step * self.tokens_per_step
    }
}

impl Artifact for Trained {
    fn open(dir: &Path) -> Result<Self> {
        let config = serde_json::from_slice(&fs::read(dir.join("model.json"))?)?;
        let training: serde_json::Value = serde_json::from_slice(&fs::read(dir.join("training.json"))?)?;
        let tokens_per_step = training["tokens_per_step"].as_u64().context("`training.json` tells no `tokens_per_step`")?;
        Ok(Self { dir: dir.to_owned(), config, tokens_per_step })
    }
}
