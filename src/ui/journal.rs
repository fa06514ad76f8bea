//! Events to `events.jsonl`, one a line with its time: what the run folder remembers of how it went.

use std::io::Write as _;
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use anyhow::Result;
use fs_err as fs;

use crate::run::Event;
use crate::runs::Entry;

pub struct Journal {
    file: Mutex<fs::File>,
    began: Instant,
}

impl Journal {
    /// Goes on where an earlier run of the folder ended.
    pub fn append(path: &Path) -> Result<Self> {
        Ok(Self { file: Mutex::new(fs::OpenOptions::new().create(true).append(true).open(path)?), began: Instant::now() })
    }

    /// Writes an event. A full disk must not stop the work that it tells of, so a failure is passed over.
    pub fn write(&self, event: &Event) {
        // The time is taken once it is our turn: lines of nodes that are made at once stand in the order of their times.
        let Ok(mut file) = self.file.lock() else { return };
        let entry = Entry { at_seconds: (self.began.elapsed().as_secs_f64() * 1e3).round() / 1e3, event: event.clone() };
        if let Ok(mut line) = serde_json::to_vec(&entry) {
            line.push(b'\n');
            file.write_all(&line).ok();
        }
    }
}
