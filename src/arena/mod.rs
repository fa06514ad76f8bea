//! Engines and the games they play: a UCI client, and the mining of a month of games from it.

pub mod config;
pub mod engine;
pub mod mine;

mod choice;
mod clocks;
mod entry;
mod frames;
mod openings;
mod pgn;
mod play;
mod players;
mod uci;
