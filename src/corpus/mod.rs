//! Games of people: where they come from, how they are packed, cut and read, and which are kept.

pub mod clock;
pub mod config;
mod cut;
pub mod date;
mod keep;
mod movetext;
pub mod packed;
pub mod pgn;
pub mod report;
pub mod rows;
pub mod seen;
mod tags;
