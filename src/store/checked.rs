//! Files of an artifact, held against their digests: lengths are all that a look at the store compares.

use std::path::Path;

use anyhow::{Context as _, Result};
use fs_err as fs;

use super::{Key, Manifest, Store};
use crate::error::Fixable;

impl Store {
    /// The content of a small file, where it is still what was written.
    ///
    /// # Errors
    ///
    /// Where it is missing, or has another digest than the manifest tells.
    pub fn checked(&self, stage: &str, key: Key, file: &str) -> Result<Vec<u8>> {
        let manifest = self.manifest(stage, key).with_context(|| format!("reading the manifest of {stage} {key}"))?;
        let path = self.dir(stage, key).join(file);
        let bytes = fs::read(&path)?;
        manifest.hold(file, &path, &blake3::hash(&bytes).to_hex())?;
        Ok(bytes)
    }
}

impl Manifest {
    /// Whether the file at `path` is the one that was written under this name, by its BLAKE3. A name that is not told is held
    /// against nothing.
    ///
    /// # Errors
    ///
    /// Where it is another one: both digests, and how to make it again.
    pub fn hold(&self, name: &str, path: &Path, seen: &str) -> Result<()> {
        let Some(wanted) = self.files.get(name).filter(|wanted| wanted.blake3 != seen) else { return Ok(()) };
        let (path, wanted) = (path.display(), &wanted.blake3);
        let stage = self.made_of["stage"].as_str().unwrap_or("STAGE");
        Err(Fixable::failed(format!("`{path}` is no longer what was written: BLAKE3 `{wanted}` wanted, `{seen}` seen"))
            .hint(format!("make it again: philidor run FILE --force {stage}"))
            .into())
    }
}
