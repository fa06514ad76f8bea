//! Runs side by side: what differs in what was asked, and what differs in what came out, as far as it can be told.
//!
//! Only what was measured by one protocol is subtracted. Only what had one budget is ranked.

mod comparison;
mod differing;
mod levels;
mod line;
mod page;
mod paired;
mod render;
mod subject;
mod table;
#[cfg(test)]
mod tests;
mod trend;
mod unlike;
mod verdict;

pub use comparison::{Axis, Comparison, Wanted};
pub use levels::Budget;
pub(crate) use line::lines;
pub use page::write;
pub use render::{csv, json, markdown, terminal};
pub(crate) use subject::without_seed;
pub use subject::{Member, Subject, choose, name, subjects};
pub use verdict::Verdict;
pub(crate) use verdict::WITHIN;
