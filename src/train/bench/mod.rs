//! What a device does on the work of a training: measured in the worker, asked for by the commands.

pub mod asked;
pub mod device;
pub mod loader;
pub mod place;
pub mod train;
