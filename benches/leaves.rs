//! The leaves of philidor that read games, built without the rest.

#[path = "../src/chess/mod.rs"]
pub mod chess;
#[path = "../src/corpus/mod.rs"]
pub mod corpus;
#[path = "../src/error.rs"]
pub mod error;
#[path = "../src/progress.rs"]
pub mod progress;
#[path = "../src/random.rs"]
pub mod random;
