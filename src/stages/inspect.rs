//! Tokens looked at before anything is trained on them: replay of sampled games, overlap of validation and training.

use std::path::Path;

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

use crate::plan::{Artifact, Cx, Handle, Stage};

use super::encode::Tokens;

#[derive(Serialize, Deserialize)]
pub struct Inspect {
    pub tokens: Handle<Tokens>,
    /// Sampled games replayed on a board; one that does not replay refuses the run.
    pub replay: u32,
}

pub struct Inspection;

impl Stage for Inspect {
    const NAME: &'static str = "inspect";
    const VERSION: u32 = 1;
    type Output = Inspection;

    fn run(&self, _cx: &Cx, _out: &Path) -> Result<()> {
        bail!("not built yet")
    }
}

impl Artifact for Inspection {
    fn open(_dir: &Path) -> Result<Self> {
        Ok(Self)
    }
}
