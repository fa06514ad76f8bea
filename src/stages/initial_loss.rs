//! Gate: the untrained model guesses. A loss below chance is a leak to chase, one above is a broken start.

use std::path::Path;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::model::config::ModelConfig;
use crate::model::device;
use crate::plan::{Artifact, Cx, Handle, Stage};
use crate::train::config::InitialLoss;
use crate::train::files::write_json;
use crate::train::gates::{initial_loss, initial_range, judge_initial};

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

    fn run(&self, cx: &Cx, out: &Path) -> Result<()> {
        let tokens = cx.open(self.tokens)?;
        let device = device::open(&cx.machine.device, cx.machine.threads(), None)?;
        let measured = initial_loss(&self.model, self.seed, tokens.validation.tokens(), device)?;
        judge_initial(measured, self.gate)?;
        let [low, high] = initial_range(self.gate);
        let wanted = format!("{low:.3} … {high:.3}, around ln(1971)");
        write_json(&out.join("verdict.json"), &Verdict { gate: Self::NAME.to_owned(), measured, wanted, passed: true })
    }
}

impl Artifact for Verdict {
    fn open(dir: &Path) -> Result<Self> {
        Ok(serde_json::from_slice(&fs_err::read(dir.join("verdict.json"))?)?)
    }
}
