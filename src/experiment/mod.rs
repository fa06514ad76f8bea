//! What is asked: TOML to checked, resolved experiments. The only modules that know TOML.
//!
//! Layers, weakest first: the machine's built-in defaults, `philidor.toml`, what the experiment extends, the experiment,
//! `PHILIDOR_…` (of the machine only), `--set`. No value that decides a result has a default here.

mod asked;
pub mod mine;

// From text to a tree with places.
mod layers;
mod overrides;
mod raw;
mod source;
mod tree;

// From a tree to values.
mod keep;
mod kind;
mod problem;
mod resolved;
mod sweep;
mod table;

// The sections, one a file.
mod corpus;
mod files;
mod gates;
mod machine;
mod measure;
mod model;
mod published;
mod train;

mod load;

pub use asked::{Corpus, Experiment, Gates, Measure, Published, Weights};
pub use load::{Loaded, Request, load, machine};
pub use problem::{Problem, Problems};
pub use resolved::{Origins, Show};
pub use sweep::Axis;

#[cfg(test)]
mod tests;
