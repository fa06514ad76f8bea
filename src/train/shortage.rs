//! Too little memory, told with what was wanted and what is free, instead of by a panic of libtorch.

use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::{Result, anyhow};
use tch::Device;

use super::config::TrainConfig;
use super::needs;
use crate::error::{Fixable, panic_text};
use crate::memory::{self, Room};
use crate::model::config::ModelConfig;
use crate::model::shim;

/// Turns the panics of tch's plain methods, which are libtorch's errors, into errors.
pub(super) fn caught<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(anyhow!(panic_text(&*panic))))
}

/// Does some work of a training, panics of tch's plain methods caught.
///
/// # Errors
///
/// Those of the work; too little memory says the batch, the model and the bytes that are free.
pub fn guarded<T>(config: &TrainConfig, model: &ModelConfig, device: Device, work: impl FnOnce() -> Result<T>) -> Result<T> {
    caught(work).map_err(|error| {
        let said = format!("{error:#}");
        if error.chain().any(<dyn std::error::Error>::is::<Fixable>) || !memory::is_lack(&said) {
            return error;
        }
        let message = needs::lacking(config, model, room(device), &said);
        Fixable::failed(message).hint(needs::way_out(config)).into()
    })
}

/// What may still be taken of the memory that a device works in.
pub fn room(device: Device) -> Option<Room> {
    match device {
        Device::Cuda(index) => shim::free_bytes(index).ok().map(|bytes| Room { bytes, of: "free on the device".into() }),
        _ => memory::room(),
    }
}
