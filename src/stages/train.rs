//! Tokens to weights: snapshots, the best and the last, and the curve of the loss.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

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

impl Artifact for Trained {
    fn open(dir: &Path) -> Result<Self> {
        Ok(Self { dir: dir.to_owned() })
    }
}
