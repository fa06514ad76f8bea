//! A training that begins where a finished one ended: the same settings, and the same rates up to there.
//!
//! On the CPU it ends with the bits of one that took the whole way.

use std::path::Path;

use anyhow::{Context as _, Result};
use fs_err as fs;

use super::best::{Best, best_file};
use super::checkpoint;
use super::config::snapshot_steps;
use super::files::{CURVE, SPEED, VALIDATION, read_json, snapshot_file};
use crate::disk::make_whole;

/// Gives the unfinished folder `out` what the finished training in `from` left, and its last checkpoint. Large files are
/// linked where the two lie on one disk: nobody writes into a file of weights. Snapshots come along at each `every`th step.
///
/// # Errors
///
/// Where `from` keeps no checkpoint, or a file cannot be read or written.
pub fn adopt(from: &Path, out: &Path, every: u64) -> Result<()> {
    let (step, checkpoint) =
        checkpoint::all(from)?.pop().with_context(|| format!("`{}` keeps no checkpoint to go on from", from.display()))?;
    for name in [CURVE, VALIDATION, SPEED] {
        fs::copy(from.join(name), out.join(name))?;
    }
    for at in snapshot_steps(step, every).into_iter().filter(|at| at.is_multiple_of(every.max(1))) {
        link(&snapshot_file(from, at), &snapshot_file(out, at))?;
    }
    let best: Best = read_json(&from.join("best.json"))?;
    link(&from.join("best.safetensors"), &best_file(out, best.step))?;
    // Last, for a checkpoint says that all else is there.
    let whole = checkpoint::folder(out, step);
    let part = whole.with_extension("part");
    fs::create_dir_all(&part)?;
    for entry in fs::read_dir(checkpoint)? {
        let path = entry?.path();
        link(&path, &part.join(path.file_name().context("a file has a name")?))?;
    }
    Ok(fs::rename(part, whole)?)
}

fn link(from: &Path, to: &Path) -> Result<()> {
    if to.exists() {
        fs::remove_file(to)?;
    }
    if fs::hard_link(from, to).is_err() {
        // Whoever measures a snapshot as it appears takes it for whole.
        make_whole(to, |unfinished| Ok(fs::copy(from, unfinished).map(|_| ())?))?;
    }
    Ok(())
}
