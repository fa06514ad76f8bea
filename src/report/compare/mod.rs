//! Runs side by side: what differs in what was asked, and what differs in what came out, as far as it can be told.
//!
//! Only what was measured by one protocol is subtracted. Only what had one budget is ranked.

mod answer;
mod caveats;
mod chance;
mod column;
mod comparison;
mod count;
mod differing;
mod document;
mod folder;
mod grid;
mod label;
mod levels;
mod line;
mod markdown;
mod needed;
mod page;
mod paired;
mod render;
mod section;
mod subject;
mod table;
mod terminal;
mod terms;
#[cfg(test)]
mod tests;
mod trend;
mod unlike;
mod verdict;

pub use comparison::{Axis, Comparison, Wanted};
pub use levels::Budget;
pub(crate) use line::lines;
pub use markdown::markdown;
pub use page::write;
pub use render::{csv, json};
pub(crate) use subject::without_seed;
pub use subject::{Member, Subject, choose, name, subjects};
pub use terminal::terminal;
pub use verdict::Verdict;
pub(crate) use verdict::WITHIN;
