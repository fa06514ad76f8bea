//! A small file of an artifact, read only where it is still what was written: lengths are all that a look at the store holds
//! against the manifest.

use anyhow::{Context as _, Result};
use fs_err as fs;

use super::{Key, Store};
use crate::error::Fixable;

impl Store {
    /// The content of a file.
    ///
    /// # Errors
    ///
    /// Where it is missing, or has another digest than the manifest tells.
    pub fn checked(&self, stage: &str, key: Key, file: &str) -> Result<Vec<u8>> {
        let manifest = self.manifest(stage, key).with_context(|| format!("reading the manifest of {stage} {key}"))?;
        let path = self.dir(stage, key).join(file);
        let bytes = fs::read(&path)?;
        let seen = blake3::hash(&bytes).to_hex();
        match manifest.files.get(file).filter(|wanted| *wanted.blake3 != *seen) {
            None => Ok(bytes),
            Some(wanted) => Err(Fixable::failed(format!(
                "`{}` is no longer what was written: BLAKE3 `{}` wanted, `{seen}` seen",
                path.display(),
                wanted.blake3
            ))
            .hint(format!("make it again: philidor run FILE --force {stage}"))
            .into()),
        }
    }
}
