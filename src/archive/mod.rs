//! The public archive over HTTP: where its files are, how one comes whole, what is known of those not yet here.

pub mod client;
mod date;
pub mod download;
mod meaning;
pub mod mirror;
pub mod partial;
pub mod patience;
pub mod sizes;
pub mod sums;
