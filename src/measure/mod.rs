//! What a model has learned: instruments that pass a known-answer test before they measure.

pub mod metric;
pub mod score;
