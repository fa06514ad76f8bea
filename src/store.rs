//! What is kept: one folder a key, whole or absent.
//!
//! `v1/<stage>/<key>/` is finished and holds `manifest.json`; `<key>.part/` is unfinished, and resumed or
//! looked at; `v1/locks/<key>` is held by the one process that makes it, and released by the kernel. Files
//! are written to the part, fsynced, listed with their digests in the manifest, and the folder renamed last.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result};
use fs_err as fs;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::disk::{blake3_of, is_unfinished, sync_dir, write_whole};
use crate::error::{Exit, Fixable};
pub use crate::key::Key;
use crate::progress::Measured;
use crate::taint::{self, Refusal};

pub use pieces::{Taken, Unfinished};

/// What lies beside the files of an artifact: what was hashed, what came out, and who made it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Manifest {
    pub schema: u32,
    pub key: Key,
    /// `{"stage", "version", "with"}`, exactly what was hashed.
    pub made_of: Value,
    pub files: BTreeMap<String, FileDigest>,
    /// Recorded, not hashed.
    pub made_by: MadeBy,
}

impl Manifest {
    /// Reads the one that lies in a folder.
    pub fn read(dir: &Path) -> Result<Self> {
        let path = dir.join(Store::MANIFEST);
        serde_json::from_slice(&fs::read(&path)?).with_context(|| format!("reading `{}`", path.display()))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDigest {
    pub bytes: u64,
    pub blake3: String,
}

/// Provenance: nothing here decides the content, all of it may explain it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct MadeBy {
    /// Seconds of work, over all tries.
    pub seconds: f64,
    /// When it was finished, as RFC 3339 in UTC.
    pub at: String,
    pub host: String,
    pub philidor: String,
    pub git: String,
    pub device: String,
    pub threads: usize,
    pub libtorch: String,
    pub cost: Cost,
    /// What the stage measured of its own work, in the order in which it told.
    #[serde(default)]
    pub measured: Vec<Measured>,
    /// The gates that refused and were passed over on the way to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub despite: Vec<Refusal>,
    /// What was read of inputs before they were finished, by it or by what it is made of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taken: Vec<Taken>,
}

/// The size of the work that makes an artifact; 0 is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    pub flops: f64,
    /// Bytes that come from outside this machine, such as a month of the archive.
    pub input_bytes: u64,
    /// Bytes the artifact will take.
    pub disk_bytes: u64,
    /// Peak memory on the device.
    pub device_bytes: u64,
}

/// Where an artifact goes, and what the store needs to know of it.
#[derive(Clone, Copy, Debug)]
pub struct Slot<'a> {
    pub stage: &'a str,
    pub key: Key,
    /// For people.
    pub label: &'a str,
    /// Whether a second try may start from the files of the first.
    pub resumes: bool,
}

/// How far an unfinished artifact is; a stage that resumes writes it as `resume.json` with each checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resume {
    pub done: u64,
    pub total: u64,
    pub unit: String,
}

impl Resume {
    pub const FILE: &'static str = "resume.json";
}

/// What the store holds of an artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    Kept,
    /// Unfinished, to be resumed from there.
    Resumable(Resume),
    Absent,
}

/// Whether to wait for another process that makes the same artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    Yes,
    No,
}

/// How often a waiting process looks whether the lock is free, or the user has enough of waiting.
const LOOK_EVERY: Duration = Duration::from_millis(50);

pub enum Claim {
    Kept,
    Make(Claimed),
}

/// The right to make an artifact, held as long as this value lives.
pub struct Claimed {
    part: PathBuf,
    whole: PathBuf,
    replaces: Replaces,
    key: Key,
    _lock: File,
}

/// What may lie under the key of an artifact that is made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Replaces {
    /// A whole one, which the user wants made again.
    Outdated,
    /// One that lacks files.
    Damaged,
}

const SPENT: &str = ".seconds";

pub struct Store {
    root: PathBuf,
}

impl Store {
    const VERSION: &'static str = "v1";
    const MANIFEST: &'static str = "manifest.json";

    /// Opens a store, and makes it where there is none.
    pub fn new(root: &Path) -> Result<Self> {
        fs::create_dir_all(root.join(Self::VERSION).join("locks"))?;
        let tag = root.join("CACHEDIR.TAG");
        if !tag.exists() {
            fs::write(
                &tag,
                "Signature: 8a477f597d28d172789f06886806bc55\n# Artifacts of philidor, each under the hash of what it is made of.\n",
            )?;
        }
        Ok(Self { root: root.to_owned() })
    }

    /// A store to look into, which need not exist.
    pub fn at(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn dir(&self, stage: &str, key: Key) -> PathBuf {
        self.root.join(Self::VERSION).join(stage).join(key.full())
    }

    /// A file beside the artifacts, for what is good to know and may be lost.
    pub fn note(&self, name: &str) -> PathBuf {
        self.root.join(Self::VERSION).join(name)
    }

    pub fn part(&self, stage: &str, key: Key) -> PathBuf {
        self.dir(stage, key).with_extension("part")
    }

    pub fn state(&self, slot: Slot) -> State {
        if self.is_whole(slot) {
            return State::Kept;
        }
        let resume = self.part(slot.stage, slot.key).join(Resume::FILE);
        match fs::read(resume).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()) {
            Some(resume) if slot.resumes => State::Resumable(resume),
            _ => State::Absent,
        }
    }

    fn is_whole(&self, slot: Slot) -> bool {
        self.dir(slot.stage, slot.key).exists() && self.damage(slot.stage, slot.key).is_none()
    }

    /// What is wrong with a finished artifact, as far as names, sizes and what it was made of tell; `None` too where there is none.
    pub fn damage(&self, stage: &str, key: Key) -> Option<String> {
        let dir = self.dir(stage, key);
        if !dir.exists() {
            return None;
        }
        let manifest = match self.manifest(stage, key) {
            Ok(manifest) => manifest,
            Err(error) => return Some(format!("{error:#}")),
        };
        let damaged = manifest.files.iter().find_map(|(name, digest)| match fs::metadata(dir.join(name)) {
            Ok(found) if found.len() == digest.bytes => None,
            Ok(found) => Some(format!("`{name}` has {} bytes, and {} were written", found.len(), digest.bytes)),
            Err(_) => Some(format!("`{name}` is missing")),
        });
        damaged.or_else(|| self.came_out_otherwise(&manifest.made_by.taken))
    }

    /// Reads the manifest of a finished artifact.
    pub fn manifest(&self, stage: &str, key: Key) -> Result<Manifest> {
        Manifest::read(&self.dir(stage, key))
    }

    /// The manifests of all finished artifacts of a stage; unreadable ones are passed over.
    pub fn manifests(&self, stage: &str) -> Vec<Manifest> {
        let Ok(entries) = fs::read_dir(self.root.join(Self::VERSION).join(stage)) else { return Vec::new() };
        entries
            .flatten()
            .filter_map(|entry| Key::parse(entry.file_name().to_str()?))
            .filter_map(|key| self.manifest(stage, key).ok())
            .collect()
    }

    /// Claims the making of a node, or finds it made. `waiting` is called once, with the holder, before a wait, which ends
    /// early once `stop` is set.
    ///
    /// # Errors
    ///
    /// [`Exit::Locked`] where another process makes it and `wait` says no; [`Exit::Interrupted`] where the wait was stopped.
    pub fn claim(&self, slot: Slot, wait: Wait, force: bool, stop: &AtomicBool, waiting: &mut dyn FnMut(&str)) -> Result<Claim> {
        let lock = self.lock(slot, wait, stop, waiting)?;
        let (whole, part) = (self.dir(slot.stage, slot.key), self.part(slot.stage, slot.key));
        if !force && self.is_whole(slot) {
            return Ok(Claim::Kept);
        }
        if force || !slot.resumes || !part.is_dir() {
            clear(&part)?;
        }
        fs::create_dir_all(&part)?;
        clear(&part.join(pieces::FOLDER))?;
        let replaces = if force { Replaces::Outdated } else { Replaces::Damaged };
        Ok(Claim::Make(Claimed { part, whole, replaces, key: slot.key, _lock: lock }))
    }

    /// Holds the unfinished folder of a node, waiting for whoever still writes there.
    pub fn lock_folder(&self, slot: Slot) -> Result<File> {
        let path = self.root.join(Self::VERSION).join("locks").join(format!("{}.folder", slot.key.full()));
        let file = fs::OpenOptions::new().create(true).truncate(false).write(true).open(&path)?.into_file();
        file.lock().with_context(|| format!("waiting for `{}`", path.display()))?;
        Ok(file)
    }

    fn lock(&self, slot: Slot, wait: Wait, stop: &AtomicBool, waiting: &mut dyn FnMut(&str)) -> Result<File> {
        let path = self.root.join(Self::VERSION).join("locks").join(slot.key.full());
        let mut file = fs::OpenOptions::new().create(true).truncate(false).read(true).write(true).open(&path)?.into_file();
        match file.try_lock() {
            Ok(()) => (),
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                file.read_to_string(&mut holder).ok();
                let holder = if holder.is_empty() { "another process".to_owned() } else { holder };
                if wait == Wait::No {
                    return Err(Fixable::new(Exit::Locked, format!("`{}` is being made by {holder}", slot.label))
                        .hint("leave out --no-wait to wait for it")
                        .into());
                }
                waiting(&holder);
                while let Err(TryLockError::WouldBlock) = file.try_lock() {
                    if stop.load(Ordering::Relaxed) {
                        return Err(Fixable::interrupted(format!("no longer waiting for {holder}")).into());
                    }
                    std::thread::sleep(LOOK_EVERY);
                }
            }
            Err(TryLockError::Error(error)) => return Err(error).with_context(|| format!("locking `{}`", path.display())),
        }
        // The name of the holder is for people; the lock itself is the kernel's.
        let mut sign = || {
            file.set_len(0)?;
            file.rewind()?;
            write!(file, "process {}", std::process::id())
        };
        sign().with_context(|| format!("writing `{}`", path.display()))?;
        Ok(file)
    }
}

impl Claimed {
    /// Where the files go.
    pub fn part(&self) -> &Path {
        &self.part
    }

    /// Seconds that earlier tries spent on this part.
    pub fn seconds_spent(&self) -> f64 {
        let text = fs::read_to_string(self.part.join(SPENT)).unwrap_or_default();
        text.trim().parse().unwrap_or(0.0)
    }

    /// Leaves a note of the seconds spent, for the next try to add to. Losing it loses an estimate, no more.
    pub fn spend(&self, seconds: f64) {
        fs::write(self.part.join(SPENT), format!("{seconds:.3}")).ok();
    }

    /// Makes the part whole: digests, fsync, manifest, rename.
    pub fn commit(self, made_of: &Value, made_by: MadeBy) -> Result<Manifest> {
        // A manifest is of an earlier try that was killed before the rename.
        for name in [Resume::FILE, SPENT, taint::FILE, pieces::FOLDER, Store::MANIFEST] {
            clear(&self.part.join(name))?;
        }
        let mut files = BTreeMap::new();
        digest_files(&self.part, &self.part, &mut files)?;
        let manifest = Manifest { schema: 1, key: self.key, made_of: made_of.clone(), files, made_by };
        write_whole(&self.part.join(Store::MANIFEST), &serde_json::to_vec_pretty(&manifest)?)?;
        sync_dir(&self.part)?;
        if self.whole.exists() {
            let old = self.whole.with_extension(match self.replaces {
                Replaces::Outdated => "old",
                // Hours of training may be in it yet: it is for its owner to throw away.
                Replaces::Damaged => "damaged",
            });
            clear(&old)?;
            fs::rename(&self.whole, &old)?;
            fs::rename(&self.part, &self.whole)?;
            if self.replaces == Replaces::Outdated {
                clear(&old)?;
            }
        } else {
            fs::rename(&self.part, &self.whole)?;
        }
        sync_dir(self.whole.parent().expect("an artifact lies in the folder of its stage"))?;
        Ok(manifest)
    }
}

/// Removes whatever lies under a name, if anything does.
fn clear(path: &Path) -> Result<()> {
    match fs::symlink_metadata(path) {
        Err(_) => Ok(()),
        Ok(found) if found.is_dir() => Ok(fs::remove_dir_all(path)?),
        Ok(_) => Ok(fs::remove_file(path)?),
    }
}

fn digest_files(root: &Path, dir: &Path, files: &mut BTreeMap<String, FileDigest>) -> Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            digest_files(root, &path, files)?;
            sync_dir(&path)?;
            continue;
        }
        if is_unfinished(&path) {
            // What a process was writing when it was killed is no part of what the next one made.
            fs::remove_file(&path)?;
            continue;
        }
        fs::File::open(&path)?.sync_all()?;
        let name = path.strip_prefix(root).expect("the walk began at the root").to_string_lossy().into_owned();
        files.insert(name, digest(&path)?);
    }
    Ok(())
}

fn digest(path: &Path) -> Result<FileDigest> {
    Ok(FileDigest { bytes: fs::metadata(path)?.len(), blake3: blake3_of(path)? })
}

mod checked;
mod pieces;
