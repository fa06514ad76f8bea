//! A Llama-shaped decoder over libtorch: its shape, weights, passes, and the device it lives on.
//!
//! Shapes are told by suffixes: b rows, t positions, c width, h heads, d width of a head, v vocabulary.

mod attention;
pub mod cache;
pub mod config;
pub mod cudart;
pub mod decoder;
pub mod device;
pub mod event;
pub mod host;
mod init;
#[cfg(test)]
mod laws;
mod layers;
pub mod libtorch;
pub(crate) mod linear;
#[cfg(test)]
pub(crate) mod reference;
pub mod shim;
pub mod weights;
