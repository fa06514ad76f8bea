//! The leaves of philidor that read games, built without the rest, and what the fuzz targets share.

#[path = "../../../src/chess/mod.rs"]
pub mod chess;
#[path = "../../../src/corpus/mod.rs"]
pub mod corpus;
#[path = "../../../src/error.rs"]
pub mod error;
#[path = "../../../src/progress.rs"]
pub mod progress;

pub mod outcome;
pub mod words;
