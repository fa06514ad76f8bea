//! The arrows between modules: who may name whom. A new edge that is meant is a line here, read by the next reviewer.

use std::path::{Path, PathBuf};

use crate::support::repository;

const SPINE: &[&str] = &[
    "key.rs",
    "passes.rs",
    "plan.rs",
    "plan",
    "store.rs",
    "store",
    "run.rs",
    "run",
    "explain.rs",
    "growth.rs",
    "estimate.rs",
    "worker.rs",
    "runs.rs",
    "taint.rs",
];
const DOMAIN: &[&str] = &["archive", "chess", "corpus", "data", "model", "train", "measure", "arena", "stats"];
const LEAVES: &[&str] =
    &["disk.rs", "error.rs", "gpus.rs", "progress.rs", "random.rs", "machine.rs", "memory.rs", "ranks.rs", "ranks", "text.rs"];

#[test]
fn the_spine_names_neither_the_domain_nor_its_libraries() {
    let own: Vec<String> =
        DOMAIN.iter().copied().chain(["experiment", "stages", "report", "commands", "cli", "ui"]).map(module).collect();
    let libraries = ["shakmaty", "tch", "polars", "plotters", "toml", "ureq", "zstd"].map(library);
    for file in SPINE.iter().flat_map(|place| files(&source(place))) {
        forbid(&file, own.iter().chain(&libraries));
    }
}

#[test]
fn the_spine_is_read_in_one_direction() {
    // Each may name those before it.
    let order = ["key", "passes", "taint", "store", "plan", "growth", "explain", "estimate", "run", "runs", "worker"];
    for (at, name) in order.iter().enumerate() {
        let later: Vec<String> = order[at + 1..].iter().copied().map(module).collect();
        let folder = source(name);
        let below = if folder.is_dir() { files(&folder) } else { Vec::new() };
        for file in below.into_iter().chain([source(&format!("{name}.rs"))]) {
            forbid(&file, later.iter());
        }
    }
}

#[test]
fn the_domain_and_the_leaves_never_name_the_spine() {
    let spine: Vec<String> = [
        "passes",
        "plan",
        "store",
        "taint",
        "run",
        "runs",
        "explain",
        "growth",
        "estimate",
        "worker",
        "stages",
        "experiment",
        "report",
        "commands",
        "cli",
        "ui",
        "provenance",
    ]
    .map(module)
    .into();
    for place in DOMAIN.iter().chain(LEAVES) {
        for file in files(&source(place)) {
            forbid(&file, spine.iter());
        }
    }
}

#[test]
fn each_heavy_library_has_its_home() {
    let homes: &[(&str, &[&str])] = &[
        ("tch", &["model", "train", "measure", "arena/model.rs"]),
        // The table of games is a file of columns: one file of the domain writes it and knows its form.
        ("polars", &["report", "measure", "data/game_table.rs"]),
        ("plotters", &["report"]),
        ("resvg", &["report"]),
        ("minijinja", &["report"]),
        ("toml", &["experiment"]),
        ("clap", &["cli.rs", "cli", "main.rs", "commands/completions.rs"]),
        ("indicatif", &["ui", "commands/mine.rs"]),
        ("chrono", &["provenance.rs", "archive/date.rs"]),
        ("ureq", &["archive"]),
        ("mpi", &["ranks"]),
        ("nvml_wrapper", &["gpus.rs"]),
    ];
    for file in files(&source("")) {
        for (name, allowed) in homes {
            if !allowed.iter().any(|home| file.starts_with(source(home))) {
                forbid(&file, [library(name)].iter());
            }
        }
    }
}

#[test]
fn only_the_interface_and_the_commands_print() {
    for file in files(&source("")) {
        if !file.starts_with(source("ui")) && !file.starts_with(source("commands")) {
            forbid(
                &file,
                ["clippy::print_".to_owned(), "std::io::stdout".to_owned(), "io::stderr".to_owned()]
                    .iter()
                    .filter(|_| !file.ends_with("bin/worker.rs")),
            );
        }
    }
}

#[test]
fn no_file_is_longer_than_it_can_be_read() {
    for file in files(&source("")) {
        let lines = std::fs::read_to_string(&file).expect("a source file").lines().count();
        assert!(lines <= 400, "{} has {lines} lines: split it", file.display());
    }
}

fn module(name: &str) -> String {
    format!("crate::{name}::")
}

fn library(name: &str) -> String {
    format!("{name}::")
}

fn source(name: &str) -> PathBuf {
    repository().join("src").join(name)
}

fn files(place: &Path) -> Vec<PathBuf> {
    if place.is_file() {
        return vec![place.to_owned()];
    }
    let entries = std::fs::read_dir(place).unwrap_or_else(|error| panic!("{}: {error}", place.display()));
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .flat_map(|entry| files(&entry.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "rs"))
        .collect();
    found.sort();
    found
}

/// Fails with file and line where one of `names` begins a word in the code; comments may speak of anything.
#[expect(clippy::needless_pass_by_value, reason = "it is cloned for each line")]
fn forbid<'a>(file: &Path, names: impl Iterator<Item = &'a String> + Clone) {
    // A test may lean on anything.
    if file.ends_with("tests.rs") {
        return;
    }
    let text = std::fs::read_to_string(file).expect("a source file");
    for (index, line) in text.lines().take_while(|line| *line != "#[cfg(test)]").enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        for name in names.clone() {
            let found = code
                .match_indices(name.as_str())
                .any(|(at, _)| !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':'));
            assert!(!found, "{}:{} names `{name}`", file.display(), index + 1);
        }
    }
}
