//! What belongs to this machine and never enters a key: folders, devices, threads, engine paths.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Where months of the archive are published.
pub const ARCHIVE: &str = "https://database.lichess.org/standard";

/// Machine settings, resolved. They decide where and how fast, never what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Where artifacts are kept; `runs/store` by default.
    pub store: PathBuf,
    /// Where runs are written for people; `runs` by default.
    pub runs: PathBuf,
    /// Where months of the archive lie; `data` by default.
    pub data: PathBuf,
    /// The address of the folder that months are fetched from where they do not lie in `data`; [`ARCHIVE`] by default.
    /// Empty or `none`: nothing is fetched.
    pub mirror: String,
    /// `cpu`, `cuda` or `cuda:1` (PCI order); `auto` takes the first CUDA device that answers, else the CPU.
    pub device: String,
    /// A second device, where snapshots are measured while the training goes on; none for after it, on the first one.
    #[serde(default)]
    pub measure_device: Option<String>,
    /// The folder of another libtorch's libraries (`…/site-packages/torch/lib`); none for the one that the build linked.
    #[serde(default)]
    pub libtorch: Option<PathBuf>,
    /// Threads of libtorch and of the parser; 0 takes all cores.
    pub threads: usize,
    /// Most that unpacking a corpus may remember, in MiB, over all threads. A month of the archive takes 8 a thread.
    pub memory_mib: u64,
    /// A UCI engine, for `philidor mine` and the arena.
    pub stockfish: PathBuf,
    /// Minutes between two checkpoints of a training.
    pub checkpoint_minutes: f64,
    /// Processes that share a training, each on a device of its own.
    pub ranks: usize,
    /// The command that starts them, with its options; `-n` and the worker follow.
    pub mpirun: String,
    /// Where the corpus files of the experiment at hand lie, by the BLAKE3 digest of their content.
    #[serde(default)]
    pub files: BTreeMap<String, PathBuf>,
}

impl Default for Machine {
    fn default() -> Self {
        Self {
            store: "runs/store".into(),
            runs: "runs".into(),
            data: "data".into(),
            mirror: ARCHIVE.into(),
            device: "auto".into(),
            measure_device: None,
            libtorch: None,
            threads: 0,
            memory_mib: 1024,
            stockfish: "stockfish".into(),
            checkpoint_minutes: 5.0,
            ranks: 1,
            mpirun: "mpirun --oversubscribe --bind-to none".into(),
            files: BTreeMap::new(),
        }
    }
}

impl Machine {
    /// The mirror, where one is set.
    pub fn mirror(&self) -> Option<&str> {
        Some(self.mirror.trim()).filter(|mirror| !mirror.is_empty() && *mirror != "none")
    }

    /// This machine as it is seen from its second device, where one is set. It has as many threads as the first, which share
    /// the cores where both are the CPU: with fewer a measure could round otherwise than after the training.
    pub fn beside(&self) -> Option<Self> {
        let device = self.measure_device.clone()?;
        Some(Self { device, measure_device: None, ranks: 1, ..self.clone() })
    }

    /// The threads to use: as set, or one per core.
    pub fn threads(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            threads => threads,
        }
    }
}
