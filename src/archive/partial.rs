//! What has come so far of a file: its first bytes, and what the mirror said of it when it began to send them.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Result;
use fs_err as fs;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::client::{Head, Stopped};
use crate::progress::Progress;

/// What tells whether the file on the mirror is still the one whose first bytes are here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Origin {
    pub(super) url: String,
    pub(super) etag: Option<String>,
    pub(super) last_modified: Option<String>,
    /// Bytes of the whole file; 0 is unknown.
    pub(super) total: u64,
}

/// The extension of the note while it is written.
const NEW: &str = "origin.new";

pub(super) struct Partial {
    path: PathBuf,
    file: fs::File,
    /// Bytes that are here.
    pub(super) done: u64,
    pub(super) origin: Origin,
    hasher: Sha256,
}

impl Origin {
    pub(super) fn of(url: &str, head: &Head, total: u64) -> Self {
        Self { url: url.to_owned(), etag: head.etag.clone(), last_modified: head.last_modified.clone(), total }
    }

    /// What `If-Range` may carry: a weak tag says nothing of the bytes.
    pub(super) fn validator(&self) -> Option<&str> {
        self.etag.as_deref().filter(|tag| !tag.starts_with("W/")).or(self.last_modified.as_deref())
    }

    /// Whether an answer from the same place contradicts what was said before.
    pub(super) fn differs(&self, now: &Self) -> bool {
        let both = |then: &Option<String>, now: &Option<String>| then.is_some() && now.is_some() && then != now;
        let same_place = self.url == now.url;
        (same_place && (both(&self.etag, &now.etag) || both(&self.last_modified, &now.last_modified)))
            || (self.total > 0 && now.total > 0 && self.total != now.total)
    }
}

impl Partial {
    /// Opens what earlier tries left, or begins with nothing.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let file = fs::OpenOptions::new().create(true).truncate(false).read(true).append(true).open(path)?;
        // A note that was cut short is as good as none.
        let origin = fs::read(beside(path)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        let done = file.metadata()?.len();
        Ok(Self { path: path.to_owned(), file, done, origin, hasher: Sha256::new() })
    }

    /// Hashes what is here already, so that the digest is ready when the rest has come.
    pub(super) fn hash_what_is_here(&mut self, progress: Progress) -> Result<Result<(), Stopped>> {
        let mut file = fs::File::open(&self.path)?;
        let mut piece = vec![0; 1 << 20];
        let mut read = 0;
        self.hasher = Sha256::new();
        loop {
            if progress.should_stop() {
                return Ok(Err(Stopped));
            }
            let count = file.read(&mut piece)?;
            if count == 0 {
                return Ok(Ok(()));
            }
            self.hasher.update(&piece[..count]);
            let before: u64 = read;
            read += count as u64;
            if read >> 26 > before >> 26 {
                progress.done(read, self.done, "bytes checked");
            }
        }
    }

    /// Whether nothing is missing, as far as the mirror told.
    pub(super) fn is_whole(&self) -> bool {
        self.origin.total > 0 && self.done == self.origin.total
    }

    /// Throws away what is here, and begins anew.
    pub(super) fn restart(&mut self) -> Result<()> {
        fs::remove_file(beside(&self.path)).or_else(absent)?;
        self.file.set_len(0)?;
        (self.done, self.origin, self.hasher) = (0, Origin::default(), Sha256::new());
        Ok(())
    }

    /// Notes beside the bytes what the mirror says of the file. Before any byte of it: a kill must not part them.
    pub(super) fn remember(&mut self, origin: Origin) -> Result<()> {
        if self.origin != origin {
            let (note, new) = (beside(&self.path), self.path.with_extension(NEW));
            fs::write(&new, serde_json::to_vec(&origin)?)?;
            fs::rename(new, note)?;
            self.origin = origin;
        }
        Ok(())
    }

    pub(super) fn push(&mut self, piece: &[u8]) -> Result<()> {
        self.file.write_all(piece)?;
        self.hasher.update(piece);
        self.done += piece.len() as u64;
        Ok(())
    }

    /// The digest of all bytes, in lower case.
    pub(super) fn digest(self) -> String {
        format!("{:x}", self.hasher.finalize())
    }
}

/// Throws away whatever has come of a file, and the note beside it.
pub fn discard(path: &Path) -> Result<()> {
    let unfinished = path.with_extension(NEW);
    [path, &beside(path), &unfinished].into_iter().try_for_each(|path| Ok(fs::remove_file(path).or_else(absent)?))
}

fn beside(path: &Path) -> PathBuf {
    path.with_extension("origin.json")
}

fn absent(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == std::io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::silent;

    #[test]
    fn what_is_here_is_hashed_as_if_it_had_just_come() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("a.part");
        Partial::open(&path).expect("new").push(b"1. e4").expect("written");
        let mut partial = Partial::open(&path).expect("there");
        assert_eq!((partial.done, &partial.origin), (5, &Origin::default()));
        partial.hash_what_is_here(silent()).expect("read").expect("not stopped");
        partial.push(b" e5").expect("written");
        assert_eq!(partial.digest(), format!("{:x}", Sha256::digest(b"1. e4 e5")));
    }

    #[test]
    fn a_weak_tag_is_no_validator_and_a_new_tag_or_size_is_another_file() {
        let origin = |etag: Option<&str>, total| Origin { etag: etag.map(Into::into), total, ..Origin::default() };
        assert_eq!(origin(Some("\"a\""), 0).validator(), Some("\"a\""));
        assert_eq!(origin(Some("W/\"a\""), 0).validator(), None);
        assert_eq!(Origin { last_modified: Some("then".into()), ..origin(Some("W/\"a\""), 0) }.validator(), Some("then"));
        assert!(origin(Some("a"), 5).differs(&origin(Some("b"), 5)));
        assert!(origin(None, 5).differs(&origin(None, 6)));
        assert!(!origin(Some("a"), 5).differs(&origin(None, 0)), "what is not told contradicts nothing");
        let elsewhere = Origin { url: "http://other".into(), ..origin(Some("b"), 5) };
        assert!(!origin(Some("a"), 5).differs(&elsewhere), "each mirror has tags of its own");
    }

    #[test]
    fn a_restart_and_a_discard_leave_nothing() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("a.part");
        let mut partial = Partial::open(&path).expect("new");
        partial.remember(Origin { total: 9, ..Origin::default() }).expect("noted");
        partial.push(b"abc").expect("written");
        assert_eq!(Partial::open(&path).expect("there").origin.total, 9);
        partial.restart().expect("emptied");
        assert_eq!((partial.done, partial.origin.total), (0, 0));
        partial.push(b"x").expect("written at the beginning");
        assert_eq!(fs::read(&path).expect("read"), b"x");
        discard(&path).expect("gone");
        assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), 0);
        discard(&path).expect("nothing to do");
    }
}
