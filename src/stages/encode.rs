//! Games to tokens: a training and a validation stream of u16, and where each game begins.

use std::path::Path;

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

use crate::corpus::config::Split;
use crate::data::tokens::{Framing, TokenFile};
use crate::plan::{Artifact, Cx, Handle, Stage};

use super::parse::Games;

#[derive(Serialize, Deserialize)]
pub struct Encode {
    pub games: Vec<Handle<Games>>,
    /// Stop at the end of the game that reaches so many moves, over all sources in order.
    pub moves: Option<u64>,
    pub split: Split,
}

pub struct Tokens {
    pub train: TokenFile,
    pub validation: TokenFile,
}

impl Stage for Encode {
    const NAME: &'static str = "encode";
    const VERSION: u32 = 1;
    type Output = Tokens;

    fn run(&self, _cx: &Cx, _out: &Path) -> Result<()> {
        bail!("not built yet")
    }
}

impl Artifact for Tokens {
    fn open(dir: &Path) -> Result<Self> {
        let open = |name: &str| {
            TokenFile::open(&dir.join(format!("{name}.u16")), &dir.join(format!("{name}.ends.u64")), Framing::Marked)
        };
        Ok(Self { train: open("train")?, validation: open("validation")? })
    }
}
