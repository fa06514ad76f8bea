//! The report as a whole, over runs that went well, badly, and not at all.

use std::time::Instant;

use super::fixture::{Fixture, Wish, experiment, write as run};
use super::*;

/// Where to leave the report for people to look at; a temporary folder otherwise.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

#[test]
fn a_finished_run_has_its_page_tables_and_charts_in_well_under_a_second() {
    let dir = folder();
    let Fixture { run_dir, store } = run(dir.path(), &[experiment(16_300)], &Wish::default());
    let begin = Instant::now();
    let written = write(&run_dir, &store).expect("a report");
    let took = begin.elapsed();
    eprintln!("{took:?} {}", written.html.display());
    if let Ok(keep) = std::env::var("KEEP_REPORT") {
        fs::remove_dir_all(&keep).ok();
        fs::rename(&run_dir, keep).expect("a folder to keep");
    }
}
