//! Events to `log.txt`: what the terminal said, with the time, for whoever reads it later.

use std::io::Write as _;
use std::path::Path;
use std::sync::Mutex;

use anyhow::Result;
use fs_err as fs;

use crate::plan::Plan;
use crate::provenance::now;
use crate::run::Event;
use crate::ui::lines::Lines;
use crate::ui::paint::Paint;

pub struct Log {
    file: Mutex<fs::File>,
    lines: Lines,
}

impl Log {
    /// Goes on where an earlier run of the folder ended.
    pub fn append(path: &Path, plan: &Plan) -> Result<Self> {
        let file = fs::OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self { file: Mutex::new(file), lines: Lines::new(plan, Paint::none()) })
    }

    /// Writes an event. A full disk must not stop the work that it tells of, so a failure is passed over.
    pub fn write(&self, event: &Event) {
        let Ok(mut file) = self.file.lock() else { return };
        for line in self.lines.of(event) {
            writeln!(file, "{}  {line}", now()).ok();
        }
    }
}
