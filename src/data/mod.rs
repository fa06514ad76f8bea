//! Games as tokens in files, how they are split, what the sides share, and which windows of them are trained on.

pub mod duplicates;
pub mod each;
pub mod game_table;
pub mod overlap;
pub mod packing;
pub mod positions;
pub mod prefixes;
pub mod sampler;
pub mod split;
pub mod tokens;
mod walk;
