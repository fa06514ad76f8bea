//! What a device does on the work of a training: measured in the worker, asked for by the commands.

mod against_cpu;
pub mod asked;
mod check;
pub mod device;
pub mod loader;
pub mod place;
mod resumed;
pub mod train;
