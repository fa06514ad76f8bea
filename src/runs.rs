//! The folders for people: `runs/<name>/<run>/`, and how a run is named on the command line.

use std::fs::TryLockError;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use fs_err as fs;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::disk::write_whole;
use crate::error::Fixable;
use crate::plan::{Node, Plan};
use crate::run::{Outcome, Run};

mod now;
mod spans;

pub use now::{Entry, Now, now};
pub use spans::spans;

/// `run.json`: which run this is, and on what it ran.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunRecord {
    pub schema: u32,
    pub id: String,
    pub name: String,
    /// RFC 3339, UTC.
    pub started: String,
    pub finished: Option<String>,
    /// `running`, `done`, `partial`, `failed`, `refused`, `interrupted`; `killed` where it ended without a word.
    pub outcome: String,
    pub philidor: String,
    pub git: String,
    pub host: String,
    pub device: String,
    pub threads: usize,
    pub libtorch: String,
    /// The command that makes it again.
    pub command: String,
    /// The gates that refused and were passed over.
    #[serde(default)]
    pub despite: Vec<String>,
}

/// `plan.json`: every node, and how it ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlanRecord {
    pub schema: u32,
    pub nodes: Vec<NodeRecord>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NodeRecord {
    #[serde(flatten)]
    pub node: Node,
    /// `kept`, `made`, `failed`, `refused`, `skipped` or `pending`.
    pub state: String,
    pub seconds: Option<f64>,
    pub message: Option<String>,
}

impl PlanRecord {
    pub fn new(plan: &Plan, run: Option<&Run>) -> Self {
        let nodes = plan.nodes.iter().map(|node| {
            let outcome = run.and_then(|run| run.outcome(node.key));
            let (state, seconds, message) = match outcome {
                None | Some(Outcome::Pending) => ("pending", None, None),
                Some(Outcome::Kept) => ("kept", None, None),
                Some(Outcome::Made { seconds }) => ("made", Some(*seconds), None),
                Some(Outcome::Failed(failure)) if failure.exit == crate::error::Exit::Refused => {
                    ("refused", None, Some(failure.message.clone()))
                }
                Some(Outcome::Failed(failure)) if failure.exit == crate::error::Exit::Interrupted => ("pending", None, None),
                Some(Outcome::Failed(failure)) => ("failed", None, Some(failure.message.clone())),
                Some(Outcome::Skipped { .. }) => ("skipped", None, None),
            };
            NodeRecord { node: node.clone(), state: state.to_owned(), seconds, message }
        });
        Self { schema: 1, nodes: nodes.collect() }
    }
}

/// A folder `runs/<name>/<id>/`.
#[derive(Clone, Debug)]
pub struct RunFolder {
    pub path: PathBuf,
    /// Locked as long as the program lives that runs it, however that ends.
    _held: Option<Arc<std::fs::File>>,
}

/// Events of the run, which holds a lock on it while it lives.
pub const JOURNAL: &str = "events.jsonl";

impl RunFolder {
    pub fn create(runs: &Path, name: &str, id: &str) -> Result<Self> {
        let path = runs.join(name).join(id);
        fs::create_dir_all(&path)?;
        let journal = fs::OpenOptions::new().create(true).append(true).open(path.join(JOURNAL))?.into_parts().0;
        // Where a file system has no locks, a killed run is told as a running one.
        journal.try_lock().ok();
        Ok(Self { path, _held: Some(Arc::new(journal)) })
    }

    /// The folder of a run that is there.
    pub fn at(path: PathBuf) -> Self {
        Self { path, _held: None }
    }

    pub fn write<T: Serialize>(&self, file: &str, value: &T) -> Result<()> {
        write_whole(&self.path.join(file), &serde_json::to_vec_pretty(value)?)
    }

    /// Which run this is; `killed` where it says that it runs, and nobody does.
    pub fn record(&self) -> Result<RunRecord> {
        let mut record: RunRecord = self.read("run.json")?;
        if record.outcome == "running" && !self.is_held() {
            "killed".clone_into(&mut record.outcome);
        }
        Ok(record)
    }

    /// Whether the program that runs it still lives.
    fn is_held(&self) -> bool {
        let Ok(journal) = fs::File::open(self.path.join(JOURNAL)) else { return false };
        match journal.file().try_lock_shared() {
            Ok(()) => false,
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => true,
        }
    }

    pub fn plan(&self) -> Result<PlanRecord> {
        self.read("plan.json")
    }

    pub fn resolved(&self) -> Result<Value> {
        self.read("resolved.json")
    }

    fn read<T: for<'de> Deserialize<'de>>(&self, file: &str) -> Result<T> {
        let path = self.path.join(file);
        let read = serde_json::from_slice(&fs::read(&path)?);
        Ok(read.map_err(|error| damaged(&path, &error))?)
    }

    /// Takes back a run that stopped at a lock, and points `latest` at the one before, if there was one.
    pub fn withdraw(self, before: Option<&Self>) -> Result<()> {
        match before {
            Some(before) => before.link_latest()?,
            None => fs::remove_file(self.path.with_file_name("latest"))?,
        }
        Ok(fs::remove_dir_all(self.path)?)
    }

    /// Points `runs/<name>/latest` here, in one step.
    pub fn link_latest(&self) -> Result<()> {
        let parent = self.path.parent().expect("a run lies in the folder of its name");
        let partial = parent.join(format!(".latest.{}", std::process::id()));
        fs::remove_file(&partial).ok();
        fs_err::os::unix::fs::symlink(self.path.file_name().expect("a run has an id"), &partial)?;
        Ok(fs::rename(&partial, parent.join("latest"))?)
    }
}

/// What to say of a file of a run's folder that is there and no longer what was written.
pub fn damaged(path: &Path, error: &serde_json::Error) -> Fixable {
    Fixable::failed(format!("`{}` is damaged: {error}", path.display()))
        .hint("run its experiment again: that makes a new folder, and what the store keeps is not made again")
}

/// The newest run of a name.
pub fn latest(runs: &Path, name: &str) -> Option<RunFolder> {
    let path = fs::canonicalize(runs.join(name).join("latest")).ok()?;
    path.join("run.json").exists().then(|| RunFolder::at(path))
}

/// All runs, by name and then by age. A folder whose `run.json` cannot be read is passed over.
pub fn all(runs: &Path) -> Vec<(RunFolder, RunRecord)> {
    let folders = |path: &Path| -> Vec<PathBuf> {
        let mut paths: Vec<_> = fs::read_dir(path)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.is_dir() && !path.is_symlink())
            .collect();
        paths.sort();
        paths
    };
    folders(runs)
        .iter()
        .flat_map(|name| folders(name))
        .filter_map(|path| {
            let folder = RunFolder::at(path);
            let record = folder.record().ok()?;
            Some((folder, record))
        })
        .collect()
}

/// A run's folder, its name (the newest run of it), or a unique prefix of its id.
///
/// # Errors
///
/// Where nothing or more than one thing answers to it; the candidates are listed.
pub fn find(runs: &Path, wanted: &str) -> Result<RunFolder> {
    let as_path = PathBuf::from(wanted);
    if as_path.join("run.json").exists() {
        return Ok(RunFolder::at(fs::canonicalize(as_path)?));
    }
    if as_path.join("latest/run.json").exists() {
        return Ok(RunFolder::at(fs::canonicalize(as_path.join("latest"))?));
    }
    if as_path.join("plan.json").exists() {
        return Err(Fixable::failed(format!("`{wanted}` is a run's folder that has lost its `run.json`"))
            .hint("its results are in the store: run the experiment again, which makes nothing twice")
            .into());
    }
    if let Some(folder) = latest(runs, wanted) {
        return Ok(folder);
    }
    let known = all(runs);
    // The link is a convenience: without it the times tell which is the newest.
    let of_that_name = known.iter().filter(|(_, record)| record.name == wanted);
    if let Some((folder, _)) = of_that_name.max_by(|(_, a), (_, b)| a.started.cmp(&b.started)) {
        return Ok(folder.clone());
    }
    let matching: Vec<_> = known.iter().filter(|(_, record)| record.id.starts_with(wanted)).collect();
    match matching.as_slice() {
        [(folder, _)] => Ok(folder.clone()),
        [] => {
            let mut names: Vec<&str> = known.iter().map(|(_, record)| record.name.as_str()).collect();
            names.dedup();
            let hint = if names.is_empty() {
                "there are no runs yet: philidor run experiments/quickstart.toml".to_owned()
            } else {
                format!("the names are {}; `philidor ls` lists the runs", names.join(", "))
            };
            Err(Fixable::usage(format!("no run is called `{wanted}` in `{}`", runs.display())).hint(hint).into())
        }
        several => {
            let ids: Vec<_> = several.iter().map(|(_, record)| format!("{} ({})", record.id, record.name)).collect();
            Err(Fixable::usage(format!("`{wanted}` is the beginning of {} runs", several.len()))
                .hint(format!("say more of one of {}", ids.join(", ")))
                .into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(runs: &Path, name: &str, id: &str) -> RunFolder {
        let folder = RunFolder::create(runs, name, id).expect("a folder");
        let text = |text: &str| text.to_owned();
        let record = RunRecord {
            schema: 1,
            id: text(id),
            name: text(name),
            started: text("2026-11-29T22:41:05Z"),
            finished: None,
            outcome: text("running"),
            philidor: String::new(),
            git: String::new(),
            host: String::new(),
            device: String::new(),
            threads: 1,
            libtorch: String::new(),
            command: String::new(),
            despite: Vec::new(),
        };
        folder.write("run.json", &record).expect("written");
        folder.link_latest().expect("linked");
        folder
    }

    fn id(runs: &Path, wanted: &str) -> Result<String> {
        find(runs, wanted).and_then(|folder| folder.record()).map(|record| record.id)
    }

    #[test]
    fn a_run_is_found_by_its_folder_its_name_or_the_beginning_of_its_id() {
        let dir = tempfile::tempdir().expect("a folder");
        let old = run(dir.path(), "one", "20261129-1");
        run(dir.path(), "one", "20261130-1");
        run(dir.path(), "two", "20261201-1");
        assert_eq!(id(dir.path(), "one").expect("the newest of its name"), "20261130-1");
        assert_eq!(id(dir.path(), "20261129").expect("one begins so"), "20261129-1");
        assert_eq!(id(dir.path(), &old.path.to_string_lossy()).expect("its folder"), "20261129-1");
        let of_name = dir.path().join("one");
        assert_eq!(id(dir.path(), &of_name.to_string_lossy()).expect("the newest in the folder"), "20261130-1");
    }

    #[test]
    fn a_beginning_of_several_ids_names_them_and_an_unknown_name_the_names() {
        let dir = tempfile::tempdir().expect("a folder");
        let hint = |wanted: &str| {
            let error = find(dir.path(), wanted).expect_err("no single run");
            let fixable = error.downcast::<Fixable>().expect("a user can mend it");
            assert_eq!(fixable.exit, crate::error::Exit::Usage);
            (fixable.message.clone(), fixable.hint.clone().expect("a next step"))
        };
        assert!(hint("one").1.starts_with("there are no runs yet"));
        run(dir.path(), "one", "20261129-1");
        run(dir.path(), "two", "20261129-2");
        let (message, hint_several) = hint("20261129");
        assert_eq!(message, "`20261129` is the beginning of 2 runs");
        assert_eq!(hint_several, "say more of one of 20261129-1 (one), 20261129-2 (two)");
        assert!(hint("three").1.starts_with("the names are one, two;"));
    }

    #[test]
    fn a_run_whose_program_has_ended_without_a_word_was_killed() {
        let dir = tempfile::tempdir().expect("a folder");
        let running = run(dir.path(), "one", "20261129-1");
        let outcome = || all(dir.path()).remove(0).1.outcome;
        assert_eq!(outcome(), "running");
        drop(running);
        assert_eq!(outcome(), "killed");
    }
}
