//! An archive to games: the kept ones as moves in the vocabulary, the rejected ones counted by reason.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

use crate::corpus::config::Keep;
use crate::plan::{Artifact, Cx, Handle, Stage};

use super::fetch::Archive;

#[derive(Serialize, Deserialize)]
pub struct Parse {
    pub archive: Handle<Archive>,
    pub keep: Keep,
    /// Stop at the end of the game that reaches so many moves.
    pub moves: Option<u64>,
}

pub struct Games {
    pub dir: PathBuf,
}

impl Stage for Parse {
    const NAME: &'static str = "parse";
    const VERSION: u32 = 1;
    type Output = Games;

    fn run(&self, _cx: &Cx, _out: &Path) -> Result<()> {
        bail!("not built yet")
    }
}

impl Artifact for Games {
    fn open(dir: &Path) -> Result<Self> {
        Ok(Self { dir: dir.to_owned() })
    }
}
