//! Games of people: where they come from, how they are packed, cut and read, and which are kept.

pub mod archive;
pub mod config;
mod cut;
mod keep;
mod movetext;
pub mod packed;
pub mod pgn;
pub mod report;
