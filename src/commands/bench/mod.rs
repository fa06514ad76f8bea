//! `philidor bench`: what this machine can do, measured on what it will work on.

pub mod corpus;
mod cpu;
pub mod device;
mod findings;
pub mod loader;
pub mod measure;
mod part;
mod peers;
mod rounds;
mod steps;
mod table;
pub mod train;
