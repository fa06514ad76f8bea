//! How long measuring takes: beside the passes that it needs, and beside the way that was published.

mod lawful;
mod published;
mod recorded;
pub mod timed;
