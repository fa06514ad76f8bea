//! Gate: a fresh model learns a few games by heart, by the very code and settings of the run.

use std::path::Path;

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

use crate::model::config::ModelConfig;
use crate::plan::{Cx, Handle, Stage};
use crate::train::config::{Overfit, TrainConfig};

use super::encode::Tokens;
use super::initial_loss::Verdict;

#[derive(Serialize, Deserialize)]
pub struct OverfitGate {
    pub tokens: Handle<Tokens>,
    pub model: ModelConfig,
    /// The run's own, but for length, batch and accumulation.
    pub train: TrainConfig,
    pub gate: Overfit,
}

impl Stage for OverfitGate {
    const NAME: &'static str = "overfit";
    const VERSION: u32 = 1;
    type Output = Verdict;

    fn run(&self, _cx: &Cx, _out: &Path) -> Result<()> {
        bail!("not built yet")
    }
}
