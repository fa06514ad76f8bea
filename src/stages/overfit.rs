//! Gate: a fresh model learns a few games by heart, by the very code and settings of the run.

use std::path::Path;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::data::tokens::TokenStream;
use crate::error::Fixable;
use crate::model::config::ModelConfig;
use crate::model::device;
use crate::passes::{Count, Passes};
use crate::plan::{Cost, Cx, Handle, Stage};
use crate::train::config::{Overfit, TrainConfig};
use crate::train::files::write_json;
use crate::train::gates::overfit;

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
    // 1, 2: as `train`, whose code path it takes.
    const VERSION: u32 = 2;
    type Output = Verdict;

    fn run(&self, cx: &Cx, out: &Path) -> Result<()> {
        let tokens = cx.open(self.tokens)?;
        let games = self.gate.games as usize;
        let last = games.checked_sub(1);
        let Some(&end) = last.and_then(|last| tokens.train.ends().get(last)) else {
            return Err(Fixable::refused(format!(
                "the overfit gate asks for {} training games, and there are `{}`",
                self.gate.games,
                tokens.train.games()
            ))
            .hint("set gates.overfit.games to no more than there are, and at least 1")
            .into());
        };
        let device = device::open(&cx.machine.device, cx.machine.threads(), None)?;
        let few = TokenStream { tokens: &tokens.train.tokens()[..end as usize], ends: &tokens.train.ends()[..games] };
        let reached = overfit(&self.train, &self.model, self.gate, few, out, device, cx.progress)?;
        let verdict = Verdict {
            gate: Self::NAME.to_owned(),
            measured: reached.loss,
            wanted: format!("below {} within {} steps; reached in {}", self.gate.below, self.gate.steps, reached.steps),
            passed: true,
        };
        write_json(&out.join("verdict.json"), &verdict)
    }

    fn cost(&self) -> Cost {
        let tokens = self.gate.steps as f64 * self.train.tokens_per_step(self.model.context) as f64;
        Cost { flops: tokens * self.model.flops_per_token() as f64, ..Cost::default() }
    }

    /// It ends with the step that passes.
    fn passes(&self) -> Option<Passes> {
        let tokens = self.gate.steps * self.train.tokens_per_step(self.model.context);
        Some(Passes::learning(Self::NAME, Some(Count::at_most(tokens))))
    }
}
