//! One integration binary; a file is a theme, and `no_file_is_forgotten` sees that each is listed here.

#[expect(dead_code, reason = "the benches use the rest of it")]
#[path = "../../benches/archive/mod.rs"]
mod archive;
mod bench;
mod beside;
mod cache;
mod chromium;
mod compare;
mod cost;
mod damage;
mod despite;
mod download;
mod errors;
mod experiments;
mod export;
mod fit;
mod growth;
mod keys;
mod layers;
mod linking;
mod loader;
mod lost;
mod mirror;
mod month;
mod months;
#[cfg(feature = "mpi")]
mod mpi;
mod pages;
mod published;
mod resume;
mod scarcity;
mod support;
mod watched;
mod worker;

#[test]
fn no_file_is_forgotten() {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let listed = include_str!("main.rs");
    for entry in std::fs::read_dir(here).expect("this folder") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        if let Some(module) = name.strip_suffix(".rs").filter(|module| *module != "main") {
            assert!(listed.contains(&format!("mod {module};")), "tests/it/{name} is not listed in main.rs");
        }
    }
}
