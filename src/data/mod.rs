//! Games as tokens in files, how they are split, and which windows of them are trained on.

pub mod game_table;
pub mod sampler;
pub mod split;
pub mod tokens;
