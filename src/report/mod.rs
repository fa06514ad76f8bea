//! What a run means: its results as tables, charts and one page. Always redrawn, from JSON files alone.
//!
//! Nothing here needs libtorch. What is missing leaves out a chart or a line; it never invents one.

mod charts;
pub mod compare;
mod cores;
mod drawn;
#[cfg(test)]
pub(crate) mod fixture;
mod page;
mod published;
pub mod results;
mod settings;
mod sweep;
mod tables;
mod tensorboard;
#[cfg(test)]
mod tests;
mod words;

use std::path::{Path, PathBuf};

use anyhow::Result;
use fs_err as fs;

use crate::store::Store;
use drawn::{draw, drawn, pictures};
use page::{Drawn, Page};

use results::Results;

pub use tensorboard::tensorboard;

/// Where the report went.
#[derive(Debug)]
pub struct Written {
    pub html: PathBuf,
    pub markdown: PathBuf,
    pub tables: PathBuf,
    pub charts: PathBuf,
}

/// Writes the report of a run, finished or not, into its folder: `report.html`, `report.md`, `tables/`, `charts/`.
///
/// # Errors
///
/// Where the folder is no run's, or cannot be written.
pub fn write(run_dir: &Path, store: &Store) -> Result<Written> {
    let results = Results::load(run_dir, store)?;
    let written = Written {
        html: run_dir.join("report.html"),
        markdown: run_dir.join("report.md"),
        tables: run_dir.join("tables"),
        charts: run_dir.join("charts"),
    };
    let drawn = draw(&results);
    // Tables and pictures are the dear parts, and independent of each other.
    let tables = std::thread::scope(|scope| {
        let tables = scope.spawn(|| tables::write(&results, &written.tables));
        let pictures = pictures(&drawn, &written.charts);
        let tables = tables.join().expect("a panic in a table is a bug, and is passed on");
        pictures.and(tables)
    })?;
    let page = Page::new(&results, &drawn, &tables);
    replace(&written.html, &page.html(false)?)?;
    replace(&written.markdown, &page.markdown()?)?;
    Ok(written)
}

/// The page of a run as it is now, which keeps itself up to date where it is served; nothing is written.
///
/// # Errors
///
/// As [`write()`].
pub fn live(run_dir: &Path, store: &Store) -> Result<String> {
    let results = Results::load(run_dir, store)?;
    Page::new(&results, &draw(&results), &[]).html(true)
}

/// Writes a file that is old or new, and never half. It can be drawn again, so nothing waits for the disk.
fn replace(path: &Path, text: &str) -> Result<()> {
    let beside = path.with_extension("new");
    fs::write(&beside, text)?;
    Ok(fs::rename(beside, path)?)
}
