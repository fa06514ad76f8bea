//! `philidor export`: the vocabulary, the kept games of an experiment, a model of a run.

mod asked;
mod games;
mod hf;

pub use asked::export;
pub(super) use hf::check_free;
