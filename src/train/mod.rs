//! Training: windows of tokens to weights, and everything that is told on the way.
//!
//! Weights depend on the settings, the tokens and the seed; on nothing else. On the CPU an interrupted training ends
//! with the same bits as one that was never stopped.

pub mod bench;
pub mod checkpoint;
pub mod config;
pub mod files;
pub mod gates;
pub mod gauges;
pub mod matmul;
pub mod optimiser;
pub mod reading;
pub mod run;
pub mod schedule;
pub mod speed;
pub mod trainer;
pub mod validation;
pub mod windows;
