//! Games of people: where they come from, how they are packed, cut and read, and which are kept.

mod border;
pub mod clock;
pub mod config;
mod cut;
pub mod date;
mod feed;
mod games;
mod keep;
pub mod mainline;
mod movetext;
mod ordered;
pub mod packed;
pub mod pgn;
mod plain;
pub mod report;
pub mod rows;
pub mod seen;
mod tags;
#[cfg(test)]
mod tests;
mod threads;
mod zstd_frames;

pub use games::Depth;
