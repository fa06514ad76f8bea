//! A folder with a model in it, ours or one of Hugging Face's `transformers`: which file, and which shape.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use fs_err as fs;
use serde_json::Value;

use super::hf::{config, tokenizer};
use super::layout::{Layout, Naming};
use super::tensors::{self, Tensor, TensorFile};
use crate::error::Fixable;
use crate::model::config::ModelConfig;

/// What a folder holds, as far as its names and shapes tell.
#[derive(Clone, Debug)]
pub struct ModelFolder {
    /// What people call it: the folder's name.
    pub name: String,
    /// The safetensors file.
    pub weights: PathBuf,
    pub model: ModelConfig,
    pub layout: Layout,
}

impl ModelFolder {
    /// Looks into a folder, or at a safetensors file with its configuration beside it.
    ///
    /// # Errors
    ///
    /// Where there is no model, or one that is none of our decoders, with all that differs.
    pub fn open(path: &Path) -> Result<Self> {
        if !path.exists() {
            return Err(Fixable::usage(format!("`{}` is not there", path.display()))
                .hint("name a folder with a `config.json` or `model.json` and a safetensors file")
                .into());
        }
        let (folder, weights) = if path.is_dir() {
            (path.to_owned(), weights_in(path)?)
        } else {
            (path.parent().unwrap_or(Path::new("")).to_owned(), path.to_owned())
        };
        if !weights.is_file() {
            return Err(Fixable::usage(format!("`{}` is no plain file", weights.display()))
                .hint("name a safetensors file, or a folder with one")
                .into());
        }
        let model = shape_in(&folder, &weights)?;
        let shapes = tensors::shapes(&weights)?;
        let layout = Layout::of(&shapes, &model).map_err(|what| {
            let hint = "compare the shape that its configuration tells with the tensors of the file";
            Fixable::failed(format!("`{}` does not hold the model of its configuration: {what}", weights.display())).hint(hint)
        })?;
        let name = fs::canonicalize(&folder)?.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, weights, model, layout })
    }

    /// Its layout in a word or two.
    pub fn kind(&self) -> &'static str {
        match self.layout.naming {
            Naming::Ours => "Philidor's own layout",
            Naming::Llama => "a Llama of Hugging Face's transformers",
        }
    }
}

/// Writes a model in our own layout: `model.json` and `model.safetensors`.
pub fn write(folder: &Path, model: &ModelConfig, tensors: &BTreeMap<String, Tensor>) -> Result<()> {
    tensors::write(&folder.join("model.safetensors"), tensors, None)?;
    Ok(fs::write(folder.join("model.json"), serde_json::to_string_pretty(model)? + "\n")?)
}

/// The tensors of a file under our names, in float32, and its digest.
///
/// # Errors
///
/// Where the file is not whole, does not hold the model, has a head of its own, or holds what is no number.
pub fn with_weights<T>(
    weights: &Path,
    model: &ModelConfig,
    take: impl FnOnce(&BTreeMap<String, Tensor>, &str) -> Result<T>,
) -> Result<T> {
    let file = TensorFile::read(weights)?;
    let read = Layout::read(&file, &tensors::shapes(weights)?, model);
    let read = read.with_context(|| format!("reading `{}`", weights.display()))?;
    for (name, tensor) in &read {
        let numbers = tensor.bytes.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().expect("four bytes")));
        if let Some(odd) = numbers.into_iter().find(|number| !number.is_finite()) {
            let message = format!("`{}` has `{odd}` in `{name}`, and numbers are wanted", weights.display());
            return Err(Fixable::failed(message).hint("the training that made it has diverged, or the file is damaged").into());
        }
    }
    take(&read, &file.digest())
}

/// The one file of weights of a folder: `model.safetensors`, or the only one there is.
fn weights_in(folder: &Path) -> Result<PathBuf> {
    let mut names: Vec<String> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect::<Result<_>>()?;
    names.sort();
    let ends = |ending: &str| names.iter().any(|name| name.ends_with(ending));
    if ends(".safetensors.index.json") {
        return Err(Fixable::usage(format!("the weights in `{}` are cut into several files", folder.display()))
            .hint("save them as one: model.save_pretrained(folder, max_shard_size=\"100GB\")")
            .into());
    }
    let mut found = names.iter().filter(|name| name.ends_with(".safetensors") && *name != "check.safetensors");
    match (names.iter().find(|name| *name == "model.safetensors"), found.next(), found.next()) {
        (Some(name), ..) | (None, Some(name), None) => Ok(folder.join(name)),
        (None, Some(one), Some(other)) => {
            Err(Fixable::usage(format!("`{}` has several files of weights, such as `{one}` and `{other}`", folder.display()))
                .hint(format!("name one of them: {}", folder.join(one).display()))
                .into())
        }
        (None, None, _) => {
            let pickled = ends(".bin") || ends(".pt") || ends(".pth");
            let hint = if pickled {
                "what PyTorch pickled can run code when it is read; save it with safetensors.torch.save_file"
            } else {
                "name a folder with a `config.json` or `model.json` and a safetensors file"
            };
            Err(Fixable::usage(format!("there is no safetensors file in `{}`", folder.display())).hint(hint).into())
        }
    }
}

fn shape_in(folder: &Path, weights: &Path) -> Result<ModelConfig> {
    let places = ["model.json", "config.json"].map(|name| folder.join(name));
    let Some(place) = places.iter().find(|place| place.exists()) else {
        return Err(Fixable::usage(format!("there is neither `model.json` nor `config.json` beside `{}`", weights.display()))
            .hint("write model.json: {\"layers\": …, \"heads\": …, \"width\": …, \"hidden\": …, \"context\": …}")
            .into());
    };
    let odd = |what: String, hint: &str| Fixable::usage(format!("`{}`: {what}", place.display())).hint(hint);
    let ours = "our own layout wants {\"layers\": …, \"heads\": …, \"width\": …, \"hidden\": …, \"context\": …}";
    let document: Value = serde_json::from_slice(&fs::read(place)?).map_err(|error| odd(error.to_string(), ours))?;
    if !config::is_hf(&document) {
        let model: ModelConfig = serde_json::from_value(document).map_err(|error| odd(error.to_string(), ours))?;
        sound(&model).map_err(|what| odd(what, ours))?;
        return Ok(model);
    }
    let only = "only a Llama of our vocabulary, with tied embeddings and without biases, can be imported";
    let model = config::shape(&document).map_err(|problems| odd(problems.join("; "), only))?;
    sound(&model).map_err(|what| odd(what, only))?;
    let words = folder.join("tokenizer.json");
    if words.exists() {
        let tokenizer: Value = serde_json::from_slice(&fs::read(&words)?).unwrap_or_default();
        if let Some(misfit) = tokenizer::misfit(&tokenizer) {
            return Err(Fixable::usage(format!("`{}` is of another vocabulary: {misfit}", words.display()))
                .hint("philidor export vocab prints ours")
                .into());
        }
    }
    Ok(model)
}

fn sound(model: &ModelConfig) -> Result<(), String> {
    let ModelConfig { layers, heads, width, hidden, context } = *model;
    if [layers, heads, width, hidden, context].contains(&0) {
        return Err("a size is 0".to_owned());
    }
    if !width.is_multiple_of(heads) || !(width / heads).is_multiple_of(2) {
        return Err(format!("a width of {width} cannot be cut into {heads} heads of an even width"));
    }
    if layers > 1024 || heads > 1024 {
        return Err(format!("{layers} layers and {heads} heads, and 1,024 of each is the most"));
    }
    if context < 8 {
        return Err(format!("a context of {context} is below 8"));
    }
    Ok(())
}
