//! The vocabulary, and games of it on a board.

pub mod board;
mod ending;
mod geometry;
pub mod hash;
mod legal;
pub mod line;
pub mod notation;
pub mod replay;
mod san;
#[cfg(test)]
mod tests;
pub mod vocabulary;
