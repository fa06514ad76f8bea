//! A file of an artifact that is not finished, for whoever needs no more of it.
//!
//! It is linked into the folder of the node that reads it. So that node does not see what becomes of the unfinished folder,
//! which may be renamed any moment, or whose file may be written again after a kill. What was read is recorded with its
//! digest: should the finished artifact hold another file under that name, what was made of this one is no longer kept.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use fs_err as fs;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Claimed, Key, MadeBy, Manifest, Store, digest};
use crate::taint::Refusal;

/// Where the pieces lie in the folder of the node that reads them, by the key of what they were taken of.
pub(super) const FOLDER: &str = ".pieces";

/// A file that was read before its artifact was finished.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Taken {
    pub stage: String,
    pub key: Key,
    pub file: String,
    pub blake3: String,
}

/// An artifact that is being made, seen by who takes pieces of it.
pub struct Unfinished {
    /// Its folder, in which each file under its own name is whole.
    pub part: PathBuf,
    pub stage: String,
    pub key: Key,
    pub made_of: Value,
    /// The gates that were passed over on the way to it.
    pub despite: Vec<Refusal>,
}

impl Unfinished {
    pub fn has(&self, file: &str) -> bool {
        self.part.join(file).is_file()
    }
}

impl Claimed {
    /// Takes a file of an unfinished artifact. It comes with a manifest, which holds what is known of the artifact so far.
    /// `None` where the file is not there, or no more.
    pub fn take(&self, of: &Unfinished, file: &str) -> Result<Option<Manifest>> {
        let folder = self.part.join(FOLDER).join(of.key.full());
        let (from, to) = (of.part.join(file), folder.join(file));
        fs::create_dir_all(to.parent().context("a file lies in a folder")?)?;
        // A disk without links has room for a copy.
        match fs::hard_link(&from, &to).or_else(|_| fs::copy(&from, &to).map(|_| ())) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            linked => linked?,
        }
        let digest = digest(&to)?;
        let blake3 = digest.blake3.clone();
        let taken = vec![Taken { stage: of.stage.clone(), key: of.key, file: file.to_owned(), blake3 }];
        let manifest = Manifest {
            schema: 1,
            key: of.key,
            made_of: of.made_of.clone(),
            files: std::iter::once((file.to_owned(), digest)).collect(),
            made_by: MadeBy { despite: of.despite.clone(), taken, ..MadeBy::default() },
        };
        fs::write(folder.join(Store::MANIFEST), serde_json::to_vec_pretty(&manifest)?)?;
        Ok(Some(manifest))
    }
}

impl Store {
    /// The folder of an input, for whoever writes into `out`: a piece that was taken for it, or the whole artifact.
    pub fn input(&self, out: &Path, stage: &str, key: Key) -> PathBuf {
        let piece = out.join(FOLDER).join(key.full());
        if piece.is_dir() { piece } else { self.dir(stage, key) }
    }

    /// The first of these files that came out otherwise when its artifact was finished, in words.
    pub(super) fn came_out_otherwise(&self, taken: &[Taken]) -> Option<String> {
        taken.iter().find_map(|Taken { stage, key, file, blake3 }| {
            let whole = self.manifest(stage, *key).ok()?;
            let now = whole.files.get(file).map_or("none", |digest| digest.blake3.as_str());
            (now != blake3).then(|| {
                format!(
                    "it was made of `{file}` while `{stage}` was unfinished, with the BLAKE3 `{blake3}`, and now that is `{now}`"
                )
            })
        })
    }
}
