//! Where a bench runs.

use std::time::Duration;

use tch::Device;

use crate::progress::Progress;

#[derive(Clone, Copy)]
pub struct Place<'a> {
    pub device: Device,
    pub threads: usize,
    /// A monotonic clock.
    pub clock: &'a dyn Fn() -> Duration,
    pub progress: Progress<'a>,
}
