//! A model as a folder that Hugging Face's `transformers` loads as `LlamaForCausalLM`, and such a folder read.

pub mod card;
pub mod check;
pub mod config;
pub mod llama;
#[cfg(test)]
mod tests;
pub mod tokenizer;
pub mod weights;
mod write;

pub use write::write;
