//! Philidor: declared experiments on chess language models. This file is the map.

pub mod disk;
pub mod error;
pub mod gpus;
pub mod machine;
pub mod memory;
pub mod progress;
pub mod random;
pub mod ranks;
pub mod text;

// The spine: what is asked, what must happen, how each step is done, what is kept, what happened, what it means.
pub mod estimate;
pub mod experiment;
pub mod explain;
pub mod growth;
pub mod key;
pub mod passes;
pub mod plan;
pub mod provenance;
pub mod report;
pub mod run;
pub mod runs;
pub mod stages;
pub mod store;
pub mod taint;
pub mod worker;

// The domain: plain values in, plain values out; none of it knows the spine.
pub mod archive;
pub mod arena;
pub mod chess;
pub mod corpus;
pub mod data;
pub mod measure;
pub mod model;
pub mod stats;
pub mod train;

// The edges.
pub mod cli;
pub mod commands;
pub mod export;
pub mod ui;
