//! Weights to a score: one metric, by one protocol, of one checkpoint.

use std::path::Path;

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

use crate::measure::metric::{Checkpoint, Metric};
use crate::plan::{Artifact, Cx, Handle, Stage};

use super::encode::Tokens;
use super::train::Trained;

#[derive(Serialize, Deserialize)]
pub struct Evaluate {
    pub tokens: Handle<Tokens>,
    pub trained: Handle<Trained>,
    pub checkpoint: Checkpoint,
    pub metric: Metric,
}

pub struct Score;

impl Stage for Evaluate {
    const NAME: &'static str = "evaluate";
    const VERSION: u32 = 1;
    type Output = Score;

    fn run(&self, _cx: &Cx, _out: &Path) -> Result<()> {
        bail!("not built yet")
    }

    fn detail(&self) -> String {
        let at = match self.checkpoint {
            Checkpoint::Best => "best".to_owned(),
            Checkpoint::Last => "last".to_owned(),
            Checkpoint::Step(step) => format!("step {step}"),
        };
        match self.metric {
            Metric::Legality { temperature, .. } => format!("legality T={temperature} at {at}"),
            Metric::FullGames { temperature, .. } => format!("full_games T={temperature} at {at}"),
            Metric::Agreement { .. } | Metric::Rules { .. } => format!("{} at {at}", self.metric.name()),
        }
    }
}

impl Artifact for Score {
    fn open(_dir: &Path) -> Result<Self> {
        Ok(Self)
    }
}
