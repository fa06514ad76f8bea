//! What others can use, and what we take from them: the vocabulary and the games as text, models as Hugging Face's Llama.

pub mod folder;
pub mod games;
pub mod hf;
pub mod layout;
pub mod tensorboard;
pub mod tensors;
pub mod vocab;
