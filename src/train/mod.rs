//! Training: windows of tokens to weights, and everything that is told on the way.
//!
//! Weights depend on the settings, the tokens and the seed; on nothing else. On the CPU an interrupted training ends
//! with the same bits as one that was never stopped.

pub mod average;
pub mod bench;
pub mod best;
pub mod checkpoint;
pub mod config;
mod copies;
pub mod exchange;
pub mod files;
pub mod gates;
pub mod gauges;
#[cfg(test)]
mod golden;
pub mod grow;
pub mod loader;
pub mod matmul;
pub mod needs;
pub mod optimiser;
pub mod reading;
pub mod rows;
pub mod run;
pub mod schedule;
pub mod shortage;
mod slot;
pub mod speed;
pub mod trainer;
pub mod validation;
pub mod watch;
pub mod windows;
