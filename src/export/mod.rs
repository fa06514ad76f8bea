//! What others can use: the vocabulary and the games as text.

pub mod games;
pub mod vocab;
