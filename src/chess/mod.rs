//! The vocabulary, and games of it on a board.

pub mod replay;
pub mod vocabulary;
