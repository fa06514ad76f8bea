//! How each step is done: the only modules that know both the spine and the domain.
//!
//! [`plan`] is the graph, and the documentation of the data flow. A new stage is one file, one line in
//! [`LOCAL`] or [`TORCH`], and one `add` in `plan`.

pub mod ask;
#[cfg(test)]
pub(crate) mod bench;
pub mod encode;
pub mod evaluate;
pub mod export_hf;
mod facts;
pub mod fetch;
pub mod import;
pub mod initial_loss;
pub mod inspect;
pub mod overfit;
pub mod parse;
pub mod passes;
#[cfg(test)]
mod pinned;
mod plan;
mod shortage;
pub mod train;
mod work;
mod workshop;

pub use plan::{Handles, plan};
pub use work::{Work, here};
pub use workshop::Workshop;

use work::entry;

/// Stages that the runner does itself.
pub const LOCAL: &[(&str, Work)] = &[
    entry::<fetch::Fetch>(),
    entry::<parse::Parse>(),
    entry::<encode::Encode>(),
    entry::<inspect::Inspect>(),
    entry::<import::Import>(),
];

/// Stages that need libtorch: only `philidor-worker` may name this list, or the runner would link it.
pub const TORCH: &[(&str, Work)] = &[
    entry::<initial_loss::InitialLossGate>(),
    entry::<overfit::OverfitGate>(),
    entry::<train::Train>(),
    entry::<ask::Ask>(),
    entry::<evaluate::Evaluate>(),
    entry::<export_hf::ExportHf>(),
];
