//! Files of games and of weights enter by their content: BLAKE3 of the bytes, remembered for large files that have not changed.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use fs_err as fs;
use serde::{Deserialize, Serialize};

use crate::corpus::config::Source;
use crate::disk;

use super::source::Place;

/// Below this, hashing takes less time than anybody notices.
const WORTH_REMEMBERING_BYTES: u64 = 64 << 20;

pub(super) struct Files {
    working_dir: PathBuf,
    /// `<store>/v1/digests.json`: digests by path, size and time of change.
    memory: PathBuf,
    worth_remembering_bytes: u64,
    /// Digests of this load, and where the files lie.
    seen: RefCell<BTreeMap<PathBuf, String>>,
}

#[derive(Serialize, Deserialize)]
struct Remembered {
    bytes: u64,
    changed_ns: u64,
    blake3: String,
}

impl Files {
    pub(super) fn new(working_dir: &Path, store: &Path) -> Self {
        let memory = working_dir.join(store).join("v1").join("digests.json");
        Self {
            working_dir: working_dir.to_owned(),
            memory,
            worth_remembering_bytes: WORTH_REMEMBERING_BYTES,
            seen: RefCell::default(),
        }
    }

    /// A path as seen from the working folder.
    pub(super) fn beside(&self, path: &str) -> PathBuf {
        self.working_dir.join(path)
    }

    /// A path relative to the file that names it; from `--set`, to the working folder.
    pub(super) fn beside_place(&self, path: &str, place: &Place) -> PathBuf {
        match place {
            Place::File { source, .. } => source.path.parent().unwrap_or(Path::new("")).join(path),
            _ => self.beside(path),
        }
    }

    /// Where the files that were read lie, by the digest of their content.
    pub(super) fn paths(self) -> BTreeMap<String, PathBuf> {
        self.seen.into_inner().into_iter().map(|(path, digest)| (digest, path)).collect()
    }

    /// # Errors
    ///
    /// What is wrong with the file, for a problem.
    pub(super) fn source(&self, path: &Path) -> Result<Source, String> {
        let name = path.file_name().ok_or_else(|| format!("`{}` names no file", path.display()))?;
        let known = self.seen.borrow().get(path).cloned();
        let blake3 = match known {
            Some(blake3) => blake3,
            None => self.digest(path)?,
        };
        self.seen.borrow_mut().insert(path.to_owned(), blake3.clone());
        Ok(Source::File { name: name.to_string_lossy().into_owned(), blake3 })
    }

    fn digest(&self, path: &Path) -> Result<String, String> {
        let info = match fs::metadata(path) {
            Ok(info) if info.is_file() => info,
            Ok(_) => return Err(format!("`{}` is no file", path.display())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(format!("no such file: looked at `{}`", path.display()));
            }
            Err(error) => return Err(error.to_string()),
        };
        let changed_ns = info.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let changed_ns = changed_ns.map_or(0, |since| since.as_nanos() as u64);
        let (bytes, key) = (info.len(), path.to_string_lossy().into_owned());
        let mut remembered = if bytes < self.worth_remembering_bytes { BTreeMap::new() } else { self.recall() };
        if let Some(known) = remembered.get(&key).filter(|known| (known.bytes, known.changed_ns) == (bytes, changed_ns)) {
            return Ok(known.blake3.clone());
        }
        let blake3 = disk::blake3_of(path).map_err(|error| format!("{error:#}"))?;
        if bytes >= self.worth_remembering_bytes {
            remembered.insert(key, Remembered { bytes, changed_ns, blake3: blake3.clone() });
            self.remember(&remembered);
        }
        Ok(blake3)
    }

    fn recall(&self) -> BTreeMap<String, Remembered> {
        fs::read(&self.memory).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    /// A store that cannot be written to costs the time of hashing again, and no more.
    fn remember(&self, remembered: &BTreeMap<String, Remembered>) {
        let folder = self.memory.parent().expect("the memory lies in the store");
        if let (Ok(()), Ok(json)) = (fs::create_dir_all(folder), serde_json::to_vec_pretty(remembered)) {
            disk::write_whole(&self.memory, &json).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn a_large_file_is_hashed_again_only_when_it_has_changed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("games.pgn");
        let digest = |text: &str, time: SystemTime, worth_remembering_bytes| {
            fs::write(&path, text).expect("a file");
            fs::OpenOptions::new().write(true).open(&path).expect("it is there").into_file().set_modified(time).expect("a time");
            let files = Files { worth_remembering_bytes, ..Files::new(folder.path(), Path::new("store")) };
            files.digest(&path).expect("a digest")
        };
        let blake3 = |text: &str| blake3::hash(text.as_bytes()).to_hex().to_string();
        let time = SystemTime::now();
        assert_eq!(digest("one", time, 4), blake3("one"));
        assert!(!folder.path().join("store").exists(), "a small file is not worth it");
        assert_eq!(digest("one", time, 3), blake3("one"));
        assert_eq!(digest("two", time, 3), blake3("one"), "same path, size and time: remembered");
        assert_eq!(digest("two", time + Duration::from_micros(1), 3), blake3("two"));
        assert_eq!(digest("three", time + Duration::from_micros(1), 3), blake3("three"));
    }
}
