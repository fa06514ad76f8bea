//! A source to an archive: the very bytes that were asked for, verified, inside the store.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use fs_err as fs;
use serde::{Deserialize, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

use crate::corpus::config::Source;
use crate::error::Fixable;
use crate::plan::{Artifact, Cx, Stage};
use crate::progress::Progress;

/// Where months of the archive are published.
const ARCHIVE: &str = "https://database.lichess.org/standard";

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
    type Output = Archive;

    fn run(&self, cx: &Cx, out: &Path) -> Result<()> {
        let archive = out.join("archive");
        let result = match &self.source {
            Source::File { blake3, .. } => file(blake3, cx, &archive),
            Source::Month { sha256, .. } => month(&self.source.name(), sha256.as_deref(), cx, &archive),
        };
        let (name, digest) = result.inspect_err(|_| {
            // What is not what was asked for must not lie around to be taken for it.
            fs::remove_file(&archive).ok();
        })?;
        let origin = Origin { name, bytes: fs::metadata(&archive)?.len(), digest };
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

/// Takes a month from the data folder, and makes sure that it is what the archive published.
fn month(name: &str, pinned: Option<&str>, cx: &Cx, archive: &Path) -> Result<(String, Digest)> {
    let path = cx.machine.data.join(name);
    if !path.is_file() {
        return Err(Fixable::failed(format!("`{name}` is not in the data folder `{}`", cx.machine.data.display()))
            .hint(format!("fetch it by hand from {ARCHIVE}/{name}"))
            .into());
    }
    // A month has tens of gigabytes: it is linked where the store lies on the same disk.
    if fs::hard_link(&path, archive).is_err() {
        fs::copy(&path, archive)?;
    }
    let mut hasher = Sha256::new();
    pieces(archive, cx.progress, |piece| hasher.update(piece))?;
    let seen = format!("{:x}", hasher.finalize());
    let (wanted, by) = match pinned {
        Some(pinned) => (Some(pinned.to_ascii_lowercase()), "the experiment"),
        None => (listed(&cx.machine.data.join("sha256sums.txt"), name)?, "sha256sums.txt"),
    };
    match wanted {
        Some(wanted) if wanted != seen => Err(Fixable::failed(format!(
            "`{}` has another SHA-256 than {by} says: `{wanted}` wanted, `{seen}` seen, and nothing was kept",
            path.display()
        ))
        .hint(format!("fetch it again from {ARCHIVE}/{name}"))
        .into()),
        Some(_) => Ok((name.to_owned(), Digest::Sha256(seen))),
        None => {
            cx.progress.note(format!("`{name}` is not verified: neither the experiment nor a sha256sums.txt has its SHA-256"));
            Ok((name.to_owned(), Digest::Sha256(seen)))
        }
    }
}

/// The digest of a file in a list of lines `digest  name`, if the list is there and names it.
fn listed(list: &Path, name: &str) -> Result<Option<String>> {
    if !list.is_file() {
        return Ok(None);
    }
    let text = fs::read_to_string(list)?;
    let line = text.lines().find_map(|line| {
        let (digest, listed) = line.split_once(char::is_whitespace)?;
        (listed.trim_start().trim_start_matches('*').trim_end() == name).then(|| digest.to_ascii_lowercase())
    });
    Ok(line)
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

    fn by_month(sha256: Option<String>) -> Source {
        Source::Month { month: "2021-10".into(), sha256 }
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

    #[test]
    fn a_month_is_verified_against_the_pin_or_the_list_or_recorded() {
        let mut bench = Bench::default();
        let name = by_month(None).name();
        let (error, _) = bench.fail(Fetch { source: by_month(None) });
        let fixable = error.downcast::<Fixable>().expect("the user can mend it");
        assert!(fixable.message.contains(&name) && fixable.message.contains(&bench.machine.data.display().to_string()));
        assert!(fixable.hint.expect("a hint").ends_with(&format!("{ARCHIVE}/{name}")));

        fs::write(bench.machine.data.join(&name), TEXT).expect("written");
        let sha256 = format!("{:x}", Sha256::digest(TEXT));
        let right = bench.make(Fetch { source: by_month(Some(sha256.to_uppercase())) });
        assert_eq!(bench.open(right).name, name);
        let (error, out) = bench.fail(Fetch { source: by_month(Some("0".repeat(64))) });
        let message = message(error);
        assert!(message.contains(&"0".repeat(64)) && message.contains(&sha256) && message.contains("nothing was kept"));
        assert_eq!(fs::read_dir(out).expect("a folder").count(), 0);

        let list = bench.machine.data.join("sha256sums.txt");
        fs::write(&list, format!("{}  {name}\n", "1".repeat(64))).expect("written");
        assert!(self::message(bench.fail(Fetch { source: by_month(None) }).0).contains("sha256sums.txt"));
        fs::write(&list, format!("{}  other.zst\n{sha256}  {name}\n", "1".repeat(64))).expect("written");
        let listed = bench.make(Fetch { source: by_month(None) });
        let origin = fs::read_to_string(bench.dir("fetch", listed).join("source.json")).expect("read");
        assert!(origin.contains(&format!("\"sha256\": \"{sha256}\"")), "{origin}");
    }
}
