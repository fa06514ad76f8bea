//! A mark in the work of a CUDA device: what was given to it before the mark is done once it is reached.

use std::ffi::{c_char, c_int};
use std::ptr::NonNull;

use anyhow::{Context as _, Result};

use super::shim::said;

/// A `c10::Event`, which only C++ knows.
#[repr(C)]
struct Opaque {
    _private: [u8; 0],
}

#[expect(unsafe_code, reason = "the functions of shim.cpp")]
unsafe extern "C" {
    fn philidor_event_new(event: *mut *mut Opaque) -> *mut c_char;
    fn philidor_event_free(event: *mut Opaque);
    fn philidor_event_record(event: *mut Opaque, device: c_int) -> *mut c_char;
    fn philidor_event_reached(event: *const Opaque, wait: bool, reached: *mut bool) -> *mut c_char;
}

/// Can be set again once it was reached.
pub struct Event(NonNull<Opaque>);

impl Event {
    /// A mark that is not set, for CUDA devices.
    pub fn new() -> Result<Self> {
        let mut event = std::ptr::null_mut();
        #[expect(unsafe_code, reason = "a call into shim.cpp")]
        // SAFETY: `event` is a live pointer; without a message it is a new event, which this side owns.
        said(unsafe { philidor_event_new(&raw mut event) })?;
        Ok(Self(NonNull::new(event).context("libtorch gave no event")?))
    }

    /// Sets the mark after all that this thread has given to the CUDA device so far.
    pub fn record(&mut self, cuda: usize) -> Result<()> {
        #[expect(unsafe_code, reason = "a call into shim.cpp")]
        // SAFETY: the event is alive, and borrowed by nobody else.
        said(unsafe { philidor_event_record(self.0.as_ptr(), cuda as c_int) })
    }

    /// Whether the device has come to the mark.
    pub fn is_reached(&self) -> Result<bool> {
        self.reached(false)
    }

    /// Waits until the device has come to the mark.
    pub fn wait(&self) -> Result<()> {
        self.reached(true).map(drop)
    }

    fn reached(&self, wait: bool) -> Result<bool> {
        let mut reached = false;
        #[expect(unsafe_code, reason = "a call into shim.cpp")]
        // SAFETY: the event is alive, and `reached` is a live bool.
        said(unsafe { philidor_event_reached(self.0.as_ptr(), wait, &raw mut reached) })?;
        Ok(reached)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        #[expect(unsafe_code, reason = "a call into shim.cpp")]
        // SAFETY: the event was made by `philidor_event_new`, and is freed once, here.
        unsafe {
            philidor_event_free(self.0.as_ptr());
        }
    }
}
