//! Gate: the untrained model guesses. A loss below chance is a leak to chase, one above is a broken start.

use std::path::Path;

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

use crate::model::config::ModelConfig;
use crate::plan::{Artifact, Cx, Handle, Stage};
use crate::train::config::InitialLoss;

use super::encode::Tokens;

#[derive(Serialize, Deserialize)]
pub struct InitialLossGate {
    pub tokens: Handle<Tokens>,
    pub model: ModelConfig,
    pub seed: u64,
    pub gate: InitialLoss,
}

/// The verdict of a gate that passed: what was measured, and against what.
#[derive(Serialize, Deserialize)]
pub struct Verdict {
    pub gate: String,
    pub measured: f64,
    pub wanted: String,
    pub passed: bool,
}

impl Stage for InitialLossGate {
    const NAME: &'static str = "initial_loss";
    const VERSION: u32 = 1;
    type Output = Verdict;

    fn run(&self, _cx: &Cx, _out: &Path) -> Result<()> {
        bail!("not built yet")
    }
}

impl Artifact for Verdict {
    fn open(dir: &Path) -> Result<Self> {
        Ok(serde_json::from_slice(&fs_err::read(dir.join("verdict.json"))?)?)
    }
}
