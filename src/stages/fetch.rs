//! A source to an archive: the very bytes that were asked for, verified, inside the store.

mod month;
pub mod sizes;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use fs_err as fs;
use serde::{Deserialize, Serialize, Serializer};

use crate::corpus::config::Source;
use crate::error::Fixable;
use crate::plan::{Artifact, Cx, Stage};
use crate::progress::Progress;

#[derive(Serialize, Deserialize)]
pub struct Fetch {
    #[serde(serialize_with = "without_name")]
    pub source: Source,
}

/// One PGN file, packed or not.
pub struct Archive {
    pub path: PathBuf,
    /// What people call it.
    pub name: String,
}

/// `source.json`: what lies under the name `archive`.
#[derive(Serialize, Deserialize)]
struct Origin {
    name: String,
    bytes: u64,
    #[serde(flatten)]
    digest: Digest,
    /// Who said before what a month's digest must be; none where nobody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    verified_by: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Digest {
    Blake3(String),
    Sha256(String),
}

impl Stage for Fetch {
    const NAME: &'static str = "fetch";
    // 1: the bytes under the name `archive`.
    const VERSION: u32 = 1;
    // What came of a month is gone on with.
    const RESUMES: bool = true;
    type Output = Archive;

    fn run(&self, cx: &Cx, out: &Path) -> Result<()> {
        let archive = out.join("archive");
        let result = match &self.source {
            Source::File { blake3, .. } => file(blake3, cx, &archive).map(|(name, digest)| (name, digest, None)),
            Source::Month { sha256, .. } => month::fetch(&self.source.name(), sha256.as_deref(), cx, &archive),
        };
        let (name, digest, verified_by) = result.inspect_err(|_| {
            // What is not what was asked for must not lie around to be taken for it.
            fs::remove_file(&archive).ok();
        })?;
        let verified_by = verified_by.map(str::to_owned);
        let origin = Origin { name, bytes: fs::metadata(&archive)?.len(), digest, verified_by };
        Ok(fs::write(out.join("source.json"), serde_json::to_vec_pretty(&origin)?)?)
    }

    fn detail(&self) -> String {
        self.source.name()
    }
}

impl Artifact for Archive {
    fn open(dir: &Path) -> Result<Self> {
        let path = dir.join("source.json");
        let origin: Origin =
            serde_json::from_slice(&fs::read(&path)?).with_context(|| format!("reading `{}`", path.display()))?;
        Ok(Self { path: dir.join("archive"), name: origin.name })
    }
}

/// A file is its content; its name is for people and would only split the cache.
fn without_name<S: Serializer>(source: &Source, serializer: S) -> Result<S::Ok, S::Error> {
    source.nameless().serialize(serializer)
}

/// Copies a file of the experiment, and makes sure that the copy has the digest that stands for it.
fn file(wanted: &str, cx: &Cx, archive: &Path) -> Result<(String, Digest)> {
    let path = cx.machine.files.get(wanted).ok_or_else(|| {
        Fixable::failed(format!("no file with the BLAKE3 digest `{wanted}` is at hand"))
            .hint("run the experiment that names the file")
    })?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // Never into what an earlier try left there.
    clear(archive)?;
    fs::copy(path, archive)?;
    let mut hasher = blake3::Hasher::new();
    pieces(archive, cx.progress, |piece| {
        hasher.update(piece);
    })?;
    let seen = hasher.finalize().to_hex().to_string();
    if seen != wanted {
        return Err(Fixable::failed(format!(
            "`{name}` is not the file that the experiment was read with: BLAKE3 `{wanted}` wanted, `{seen}` seen, and nothing was kept"
        ))
        .hint("run again, with the file as it is now")
        .into());
    }
    Ok((name, Digest::Blake3(seen)))
}

/// Takes away a file that an earlier try left, if it did.
fn clear(path: &Path) -> std::io::Result<()> {
    fs::remove_file(path).or_else(|error| if error.kind() == std::io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

/// Hands over a file piece by piece, telling how far it is.
fn pieces(path: &Path, progress: Progress, mut take: impl FnMut(&[u8])) -> Result<()> {
    use std::io::Read as _;
    let mut file = fs::File::open(path)?;
    let total = file.metadata()?.len();
    let mut piece = vec![0; 1 << 20];
    let mut done = 0;
    loop {
        if progress.should_stop() {
            return Err(Fixable::interrupted("stopped while a file was being verified").into());
        }
        let count = file.read(&mut piece)?;
        if count == 0 {
            return Ok(());
        }
        take(&piece[..count]);
        let before = done;
        done += count as u64;
        if done >> 26 > before >> 26 {
            progress.done(done, total, "bytes");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;
    use crate::stages::bench::Bench;

    const TEXT: &[u8] = b"1. e4 e5 *\n";

    fn by_content(name: &str) -> Source {
        Source::File { name: name.into(), blake3: blake3::hash(TEXT).to_hex().to_string() }
    }

    fn message(error: anyhow::Error) -> String {
        error.downcast::<Fixable>().expect("the user can mend it").message
    }

    #[test]
    fn a_file_is_copied_and_named_and_its_name_is_in_no_key() {
        let mut bench = Bench::default();
        bench.file("a.pgn", TEXT);
        let archive = bench.make(Fetch { source: by_content("whatever") });
        let archive = bench.open(archive);
        assert_eq!((archive.name.as_str(), fs::read(&archive.path).expect("read")), ("a.pgn", TEXT.to_vec()));
        let mut plan = Plan::default();
        let keys = ["a.pgn", "b.pgn"].map(|name| plan.add(Fetch { source: by_content(name) }, &[]).key());
        assert_eq!(keys[0], keys[1]);
    }

    #[test]
    fn a_file_that_changed_is_refused_and_nothing_kept() {
        let mut bench = Bench::default();
        bench.file("a.pgn", TEXT);
        let path = bench.machine.files.values().next().expect("one file").clone();
        fs::write(path, b"1. d4 *").expect("written");
        let (error, out) = bench.fail(Fetch { source: by_content("a.pgn") });
        let message = message(error);
        let seen = blake3::hash(b"1. d4 *").to_hex().to_string();
        assert!(message.contains("`a.pgn`") && message.contains(&seen), "{message}");
        assert_eq!(fs::read_dir(out).expect("a folder").count(), 0);
        bench.machine.files.clear();
        assert!(self::message(bench.fail(Fetch { source: by_content("a.pgn") }).0).starts_with("no file with"));
    }
}
