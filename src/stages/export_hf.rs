//! Weights to a folder for Hugging Face's `transformers`, kept only where two forward passes agree on it.

use std::path::Path;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::export::hf::check::{Compared, check};
use crate::export::hf::write;
use crate::measure::metric::Checkpoint;
use crate::model::config::ModelConfig;
use crate::model::decoder::Decoder;
use crate::model::device;
use crate::plan::{Artifact, Cx, Handle, Stage};
use crate::train::files::{read_json, write_json};

use super::train::Trained;

#[derive(Serialize, Deserialize)]
pub struct ExportHf {
    pub trained: Handle<Trained>,
    pub checkpoint: Checkpoint,
}

/// `export.json`, which is not for the folder: what was exported, and how the check went.
#[derive(Serialize, Deserialize)]
pub struct Exported {
    pub model: ModelConfig,
    pub step: u64,
    /// Training tokens seen by then; 0 where nobody knows.
    pub tokens: u64,
    pub compared: Vec<Compared>,
}

impl Exported {
    pub const FILE: &'static str = "export.json";
}

impl Stage for ExportHf {
    const NAME: &'static str = "export_hf";
    const VERSION: u32 = 1;
    type Output = Exported;

    fn run(&self, cx: &Cx, out: &Path) -> Result<()> {
        let trained = cx.open(self.trained)?;
        let (weights, model, threads) = (trained.weights_as_written(self.checkpoint)?, trained.config(), cx.machine.threads());
        cx.progress.note("writing the weights");
        write(&weights, model, out)?;
        // In float32 on the CPU, whatever the machine has: rounding is all that may lie between the two passes.
        let decoder = Decoder::load(&weights, model, device::open("cpu", threads, None)?)?;
        cx.progress.note("checking them by a second forward pass");
        let compared = check(out, model.context, &|tokens| decoder.sequence_logits(tokens), threads)?;
        let step = trained.step_of(self.checkpoint)?;
        write_json(&out.join(Exported::FILE), &Exported { model: model.clone(), step, tokens: trained.tokens_at(step), compared })
    }

    fn detail(&self) -> String {
        match self.checkpoint {
            Checkpoint::Best => "best".to_owned(),
            Checkpoint::Last => "last".to_owned(),
            Checkpoint::Ema => "ema".to_owned(),
            Checkpoint::Step(step) => format!("step {step}"),
        }
    }
}

impl Artifact for Exported {
    fn open(dir: &Path) -> Result<Self> {
        read_json(&dir.join(Self::FILE))
    }
}
