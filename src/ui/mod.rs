//! What people see while it happens. Only these modules and the commands print.

pub mod error;
pub mod journal;
pub mod lines;
pub mod log;
pub mod loopback;
pub mod paint;
pub mod progress;
pub mod say;
