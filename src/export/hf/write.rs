//! The files of a folder for `transformers`, but for the model card.

use std::path::Path;

use anyhow::Result;
use serde::Serialize;

use super::weights::to_llama;
use super::{config, tokenizer};
use crate::export::tensors::{self, TensorFile};
use crate::model::config::ModelConfig;

/// Writes configuration, tokenizer and weights; `weights` is a file of ours.
pub fn write(weights: &Path, model: &ModelConfig, folder: &Path) -> Result<()> {
    let file = TensorFile::read(weights)?;
    tensors::write(&folder.join("model.safetensors"), &to_llama(&file.tensors(), model)?, Some("pt"))?;
    json(folder, "config.json", &config::config(model))?;
    json(folder, "generation_config.json", &config::generation(model))?;
    json(folder, "tokenizer.json", &tokenizer::tokenizer())?;
    json(folder, "tokenizer_config.json", &tokenizer::tokenizer_config(model))?;
    json(folder, "special_tokens_map.json", &tokenizer::special_tokens())
}

fn json(folder: &Path, name: &str, document: &impl Serialize) -> Result<()> {
    Ok(fs_err::write(folder.join(name), serde_json::to_string_pretty(document)? + "\n")?)
}
