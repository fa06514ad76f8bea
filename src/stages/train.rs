//! Tokens to weights: snapshots, the best and the last, and the curve of the loss.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use fs_err as fs;
use serde::{Deserialize, Serialize};

use crate::disk::blake3_of;
use crate::error::Fixable;
use crate::growth;
use crate::measure::metric::Checkpoint;
use crate::model::config::ModelConfig;
use crate::model::device;
use crate::passes::{Count, Passes};
use crate::plan::{Artifact, Cost, Cx, Growth, Handle, Piece, Stage};
use crate::store::Manifest;
use crate::train::config::{Length, Schedule, TrainConfig, snapshot_steps};
use crate::train::files::{ema_file, snapshot_file};
use crate::train::run::{DONE, Session, TrainingTokens, train};
use crate::train::{needs, shortage};

use super::encode::Tokens;

#[derive(Serialize, Deserialize)]
pub struct Train {
    pub tokens: Handle<Tokens>,
    pub model: ModelConfig,
    pub train: TrainConfig,
    /// The part before the decay, which trainings of other lengths share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trunk: Option<Handle<Trained>>,
}

pub struct Trained {
    pub dir: PathBuf,
    config: ModelConfig,
    tokens_per_step: u64,
    imported: bool,
}

impl Stage for Train {
    const NAME: &'static str = "train";
    // 1: validation windows drawn by the seed of the training. 2: the same ones for every seed. 3: a step that accumulates has
    // the windows that it has in one pass. 4: float32 on a CPU by other kernels, which round otherwise.
    // 5: a step that accumulates is validated on the windows of one that does not.
    const VERSION: u32 = 5;
    const RESUMES: bool = true;
    type Output = Trained;

    fn run(&self, cx: &Cx, out: &Path) -> Result<()> {
        let tokens = cx.open(self.tokens)?;
        let from = match self.trunk {
            Some(trunk) => Some(cx.open(trunk)?.dir),
            None => growth::start(cx.node, cx.store).map(|start| cx.store.dir(Self::NAME, start.key)),
        };
        let here = cx.ranks.here();
        let threads = (cx.machine.threads() / here.size).max(1);
        let (device, start) = (device::open_among(&cx.machine.device, here, threads)?, Instant::now());
        let session = Session {
            device,
            threads,
            checkpoint_every: Duration::try_from_secs_f64(cx.machine.checkpoint_minutes * 60.0)
                .context("the minutes between two checkpoints are no time")?,
            from: from.as_deref(),
            clock: &|| start.elapsed(),
            progress: cx.progress,
            ranks: cx.ranks,
        };
        let tokens = TrainingTokens { train: tokens.train.stream(), validation: tokens.validation.stream() };
        shortage::guarded(&self.train, &self.model, device, || train(&self.train, &self.model, tokens, out, session))
    }

    /// Unknown where the length is told in epochs: the tokens are not counted yet.
    fn cost(&self) -> Cost {
        let Length::Steps(steps) = self.train.length else { return Cost::default() };
        let trunk = self.trunk_steps(steps);
        let parameters = self.model.parameters() + self.model.embedding_parameters();
        let tokens = (steps - trunk) as f64 * self.train.tokens_per_step(self.model.context) as f64;
        let weights = 1 + snapshot_steps(steps, self.train.snapshots.every).len() as u64;
        Cost {
            flops: tokens * self.model.flops_per_token() as f64,
            input_bytes: 0,
            disk_bytes: weights * 4 * parameters,
            device_bytes: needs::peak_bytes(&self.train, &self.model, "cuda"),
        }
    }

    /// Of its steps alone: what it validates on is little beside them.
    fn passes(&self) -> Option<Passes> {
        let forward = match self.train.length {
            Length::Steps(steps) => {
                Some(Count::exactly((steps - self.trunk_steps(steps)) * self.train.tokens_per_step(self.model.context)))
            }
            Length::Epochs(_) => None,
        };
        Some(Passes::learning(Self::NAME, forward))
    }

    fn growth(&self) -> Option<Growth> {
        let refused = match self.train.learning_rate.schedule {
            Schedule::Constant => None,
            Schedule::Cosine => {
                Some("under a cosine every rate depends on the length; constant and wsd can be made longer".to_owned())
            }
            // It begins at its trunk.
            Schedule::Wsd { .. } => return None,
        };
        Some(Growth {
            size: "/with/train/length/steps".to_owned(),
            unit: "steps".to_owned(),
            // The last step is validated in any case, which a longer training would not do elsewhere.
            multiple_of: self.train.validate.every,
            refused,
        })
    }

    fn detail(&self) -> String {
        match (self.train.learning_rate.schedule, self.train.length) {
            // It may stand beside the training whose trunk it is.
            (Schedule::Constant, Length::Steps(steps)) => format!("to step {steps}"),
            _ => String::new(),
        }
    }
}

impl Train {
    /// The steps that are those of the trunk.
    fn trunk_steps(&self, steps: u64) -> u64 {
        if self.trunk.is_some() { self.train.learning_rate.trunk(steps) } else { 0 }
    }
}

/// The file that a measure of a snapshot reads, which is published long before the training ends; other checkpoints are known
/// when it has.
pub(super) fn snapshot(trained: Handle<Trained>, checkpoint: Checkpoint) -> Option<Piece> {
    let Checkpoint::Step(step) = checkpoint else { return None };
    let file = snapshot_file(Path::new(""), step).to_string_lossy().into_owned();
    Some(Piece { of: trained.key(), file })
}

impl Trained {
    /// The weights of a checkpoint.
    ///
    /// # Errors
    ///
    /// Where no snapshot was published at the step, or no average was kept.
    pub fn weights(&self, checkpoint: Checkpoint) -> Result<PathBuf> {
        match checkpoint {
            Checkpoint::Best => return Ok(self.dir.join("best.safetensors")),
            Checkpoint::Ema => return self.average(),
            Checkpoint::Last if self.imported => return Ok(self.dir.join("best.safetensors")),
            Checkpoint::Last | Checkpoint::Step(_) => (),
        }
        let step = self.step_of(checkpoint)?;
        let path = snapshot_file(&self.dir, step);
        if !path.exists() {
            return Err(Fixable::failed(format!("the training published no weights at step `{step}`"))
                .hint("take a multiple of `train.snapshots.every`")
                .into());
        }
        Ok(path)
    }

    fn average(&self) -> Result<PathBuf> {
        let path = ema_file(&self.dir);
        if !path.exists() {
            return Err(Fixable::failed("the training kept no moving average of its weights")
                .hint("train.ema = { decay = 0.999 } keeps one; `best` and `last` are there in any case")
                .into());
        }
        Ok(path)
    }

    /// The same, for who measures them: as they were written, by the digest in the manifest. One bit of them that has turned would
    /// make a figure that is nobody's.
    ///
    /// # Errors
    ///
    /// As [`weights`](Self::weights); and where they are no longer what was written.
    pub fn weights_as_written(&self, checkpoint: Checkpoint) -> Result<PathBuf> {
        let path = self.weights(checkpoint)?;
        let Ok(bytes) = fs::read(self.dir.join("manifest.json")) else { return Ok(path) };
        let manifest: Manifest = serde_json::from_slice(&bytes)?;
        let name = path.strip_prefix(&self.dir).unwrap_or(&path).to_string_lossy().into_owned();
        manifest.hold(&name, &path, &blake3_of(&path)?)?;
        Ok(path)
    }

    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// Whether the weights come from elsewhere: then there is one checkpoint, and its step is 0.
    pub fn is_imported(&self) -> bool {
        self.imported
    }

    /// The step of a checkpoint.
    pub fn step_of(&self, checkpoint: Checkpoint) -> Result<u64> {
        let number = |file: &str, field: &str| -> Result<u64> {
            let json: serde_json::Value = serde_json::from_slice(&fs::read(self.dir.join(file))?)?;
            json[field].as_u64().with_context(|| format!("`{file}` tells no `{field}`"))
        };
        match checkpoint {
            Checkpoint::Best => number("best.json", "step"),
            Checkpoint::Last | Checkpoint::Ema => number(DONE, "steps"),
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
        if !dir.join(DONE).exists() {
            // A snapshot of an unfinished training comes without what is told at its end, and with what it is made of.
            let made_of = Manifest::read(dir)?.made_of;
            let Train { model, train, .. } = serde_json::from_value(made_of["with"].clone())?;
            let tokens_per_step = train.tokens_per_step(model.context);
            return Ok(Self { dir: dir.to_owned(), config: model, tokens_per_step, imported: false });
        }
        let config = serde_json::from_slice(&fs::read(dir.join("model.json"))?)?;
        let training: serde_json::Value = serde_json::from_slice(&fs::read(dir.join(DONE))?)?;
        let tokens_per_step = training["tokens_per_step"].as_u64().context("`training.json` tells no `tokens_per_step`")?;
        Ok(Self { dir: dir.to_owned(), config, tokens_per_step, imported: training["imported"] == true })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::config::{Keep, Split, SplitBy};
    use crate::error::hint_of;
    use crate::stages::bench::{Bench, random_games};
    use crate::stages::encode::Encode;
    use crate::stages::parse::Parse;

    #[test]
    fn a_side_that_is_shorter_than_a_window_is_told_and_what_to_do() {
        let mut bench = Bench::default();
        bench.machine.device = "cpu".to_owned();
        for (games, context, side, hint) in [
            (2, 512, "training", "keep more games, or lower model.context"),
            (40, 64, "validation", "keep more games, raise corpus.split.validation, or lower model.context"),
        ] {
            let archive = bench.archive(random_games(games, 1).as_bytes());
            let games = vec![bench.make(Parse { archive, keep: Keep::default(), moves: None, source: String::new() })];
            let split = Split { validation: 0.03, by: SplitBy::Draw, seed: 1 };
            let tokens = bench.make(Encode { games, moves: None, split });
            let model = ModelConfig { layers: 1, heads: 1, width: 8, hidden: 8, context };
            let (error, _) = bench.fail(Train { tokens, model, train: TrainConfig::tiny(), trunk: None });
            let wanted = format!("drawing {side} windows: a window of `{context}` tokens and its targets do not fit into ");
            assert!(format!("{error:#}").starts_with(&wanted), "{error:#}");
            assert_eq!(hint_of(&error).as_deref(), Some(hint));
        }
    }
}
