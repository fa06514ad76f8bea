//! What is asked: TOML to checked, resolved experiments. The only modules that know TOML.

mod asked;
pub mod mine;

pub use asked::{Corpus, Experiment, Gates, Measure, Published};
