//! The weights with the lowest validation loss so far, the earlier of equals.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::{Deserialize, Serialize};

/// The lowest validation loss so far, and the step it was reached at.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Best {
    pub step: u64,
    pub loss: f64,
}

/// Where they wait for the end of the training.
pub fn best_file(out: &Path, step: u64) -> PathBuf {
    out.join("best").join(format!("step-{step:08}.safetensors"))
}

/// Removes best weights but those of these steps; a training that was done has none left.
pub fn remove_but(out: &Path, steps: &[u64]) -> Result<()> {
    let folder = out.join("best");
    if !folder.exists() {
        return Ok(());
    }
    for entry in fs_err::read_dir(folder)? {
        let path = entry?.path();
        if !steps.iter().any(|&step| path == best_file(out, step)) {
            fs_err::remove_file(path)?;
        }
    }
    Ok(())
}
