//! A source to an archive: the very bytes that were asked for, verified, inside the store.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

use crate::corpus::config::Source;
use crate::plan::{Artifact, Cx, Stage};

#[derive(Serialize, Deserialize)]
pub struct Fetch {
    pub source: Source,
}

/// One PGN file, packed or not.
pub struct Archive {
    pub path: PathBuf,
}

impl Stage for Fetch {
    const NAME: &'static str = "fetch";
    // 1: the bytes under the name `archive`.
    const VERSION: u32 = 1;
    type Output = Archive;

    fn run(&self, _cx: &Cx, _out: &Path) -> Result<()> {
        bail!("not built yet")
    }
}

impl Artifact for Archive {
    fn open(dir: &Path) -> Result<Self> {
        Ok(Self { path: dir.join("archive") })
    }
}
