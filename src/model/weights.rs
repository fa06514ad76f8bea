//! The parameters of a decoder under their published names, and the files they are kept in.
//!
//! A file is read only where its names, shapes and dtypes are exactly those of the model asked for.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context as _, Result};
use tch::{Device, Kind, Tensor};

use super::config::ModelConfig;
use crate::chess::vocabulary::VOCABULARY_SIZE;
use crate::disk;
use crate::error::Fixable;
use crate::text::bytes;

/// All parameters, float32; or matrices in another kind, after `cast`.
pub struct Weights {
    /// [v, c], for the lookup.
    pub tok_emb: Tensor,
    /// The same tensor, for the projection to logits; apart from it only after a cast.
    pub(super) unembed: Tensor,
    pub blocks: Vec<Block>,
    pub norm_final: Tensor,
}

/// One pre-norm block.
pub struct Block {
    pub norm_attn: Tensor,
    /// [3c, c], rows in the order q, k, v.
    pub qkv: Tensor,
    pub proj: Tensor,
    pub norm_mlp: Tensor,
    pub gate: Tensor,
    pub up: Tensor,
    pub down: Tensor,
}

impl Weights {
    /// Asks `make` for each parameter by name and shape, in the order of the forward pass.
    pub(super) fn build(config: &ModelConfig, mut make: impl FnMut(&str, &[i64]) -> Result<Tensor>) -> Result<Self> {
        let [c, hidden, v] = [i64::from(config.width), i64::from(config.hidden), VOCABULARY_SIZE as i64];
        let tok_emb = make("tok_emb.weight", &[v, c])?;
        let blocks = (0..config.layers)
            .map(|layer| {
                let mut make = |name: &str, shape: &[i64]| make(&format!("blocks.{layer}.{name}.weight"), shape);
                Ok(Block {
                    norm_attn: make("norm_attn", &[c])?,
                    qkv: make("attn.qkv", &[3 * c, c])?,
                    proj: make("attn.proj", &[c, c])?,
                    norm_mlp: make("norm_mlp", &[c])?,
                    gate: make("mlp.gate", &[hidden, c])?,
                    up: make("mlp.up", &[hidden, c])?,
                    down: make("mlp.down", &[c, hidden])?,
                })
            })
            .collect::<Result<_>>()?;
        Ok(Self { unembed: tok_emb.shallow_clone(), tok_emb, blocks, norm_final: make("norm_final.weight", &[c])? })
    }

    /// Every parameter with its name, in the order of the forward pass.
    pub fn named(&self) -> Vec<(String, &Tensor)> {
        let mut named = vec![("tok_emb.weight".to_owned(), &self.tok_emb)];
        for (layer, block) in self.blocks.iter().enumerate() {
            for (name, tensor) in [
                ("norm_attn", &block.norm_attn),
                ("attn.qkv", &block.qkv),
                ("attn.proj", &block.proj),
                ("norm_mlp", &block.norm_mlp),
                ("mlp.gate", &block.gate),
                ("mlp.up", &block.up),
                ("mlp.down", &block.down),
            ] {
                named.push((format!("blocks.{layer}.{name}.weight"), tensor));
            }
        }
        named.push(("norm_final.weight".to_owned(), &self.norm_final));
        named
    }

    /// Matrices in another kind; the lookup and the norms stay float32. Differentiable.
    pub(super) fn cast(&self, kind: Kind) -> Self {
        self.with_matrices(|matrix| matrix.to_kind(kind))
    }

    /// Other matrices; the lookup and the norms stay as they are.
    pub(super) fn with_matrices(&self, other: impl Fn(&Tensor) -> Tensor) -> Self {
        Self {
            tok_emb: self.tok_emb.shallow_clone(),
            unembed: other(&self.unembed),
            blocks: self
                .blocks
                .iter()
                .map(|block| Block {
                    norm_attn: block.norm_attn.shallow_clone(),
                    qkv: other(&block.qkv),
                    proj: other(&block.proj),
                    norm_mlp: block.norm_mlp.shallow_clone(),
                    gate: other(&block.gate),
                    up: other(&block.up),
                    down: other(&block.down),
                })
                .collect(),
            norm_final: self.norm_final.shallow_clone(),
        }
    }

    /// Reads a safetensors file.
    ///
    /// # Errors
    ///
    /// Where a tensor is missing, unknown, or of another shape or dtype than the model has; it is named.
    pub fn read(path: &Path, config: &ModelConfig, device: Device) -> Result<Self> {
        // The library tells of a missing file in its own words; the system's are better.
        fs_err::File::open(path)?;
        let mut found: BTreeMap<String, Tensor> =
            Tensor::read_safetensors(path).with_context(|| format!("reading `{}`", path.display()))?.into_iter().collect();
        let odd = |what: String| {
            Fixable::failed(format!("`{}` does not hold this model: {what}", path.display()))
                .hint("compare layers, width and hidden with the model.json beside the weights")
        };
        let weights = Self::build(config, |name, shape| {
            let tensor = found.remove(name).ok_or_else(|| odd(format!("`{name}` is missing")))?;
            if tensor.size() != shape {
                return Err(odd(format!("`{name}` is {:?}, and {shape:?} is wanted", tensor.size())).into());
            }
            if tensor.kind() != Kind::Float {
                return Err(odd(format!("`{name}` is {:?}, and float32 is wanted", tensor.kind())).into());
            }
            Ok(tensor.f_to_device(device)?)
        })?;
        match found.keys().next() {
            None => Ok(weights),
            Some(name) => Err(odd(format!("`{name}` is no part of it")).into()),
        }
    }

    /// Writes a safetensors file, whole or absent under its name.
    pub fn write(&self, path: &Path) -> Result<()> {
        write_tensors(path, &self.named())
    }
}

/// Writes named tensors as safetensors beside `path`, and renames once they are on the disk.
pub fn write_tensors(path: &Path, named: &[(String, &Tensor)]) -> Result<()> {
    let here: Vec<(&str, Tensor)> = named
        .iter()
        .map(|(name, tensor)| Ok((name.as_str(), tensor.f_detach()?.f_to_device(Device::Cpu)?.f_contiguous()?)))
        .collect::<Result<_>>()?;
    let write = |unfinished: &Path| Tensor::write_safetensors(&here, unfinished).map_err(|error| refusal(error.into()));
    disk::make_whole(path, write).with_context(|| unwritten(path, named))
}

/// What could not be written, the room that it takes and the room that there is.
fn unwritten(path: &Path, named: &[(String, &Tensor)]) -> String {
    let wanted = named.iter().map(|(_, tensor)| 4 * tensor.numel() as u64).sum();
    let free =
        path.parent().and_then(disk::free_bytes).map_or_else(String::new, |free| format!(", where {} are free", bytes(free)));
    format!("writing `{}`, which takes {}{free}", path.display(), bytes(wanted))
}

/// What the system refuses under its own name: the library tells of it in its text only.
fn refusal(error: anyhow::Error) -> anyhow::Error {
    let said = format!("{error:#}");
    let known = [ErrorKind::StorageFull, ErrorKind::QuotaExceeded, ErrorKind::FileTooLarge];
    match known.into_iter().find(|kind| said.contains(&format!("{kind:?}"))) {
        Some(kind) => std::io::Error::from(kind).into(),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::decoder::Decoder;

    #[test]
    fn weights_come_back_from_a_file_as_they_were_and_no_other_shape_is_taken() -> Result<()> {
        let dir = tempfile::tempdir()?;
        let path = dir.path().join("w.safetensors");
        let config = ModelConfig { layers: 2, heads: 2, width: 32, hidden: 64, context: 16 };
        let decoder = Decoder::new(&config, 3, Device::Cpu)?;
        decoder.weights().write(&path)?;
        let again = Decoder::load(&path, &config, Device::Cpu)?;
        for ((name, one), (_, other)) in decoder.weights().named().into_iter().zip(again.weights().named()) {
            assert_eq!(one, other, "{name}");
        }
        for (wrong, named) in [
            (ModelConfig { layers: 3, ..config.clone() }, "`blocks.2.norm_attn.weight` is missing"),
            (ModelConfig { layers: 1, ..config.clone() }, "`blocks.1.attn.proj.weight` is no part of it"),
            (ModelConfig { hidden: 96, ..config.clone() }, "`blocks.0.mlp.gate.weight` is [64, 32], and [96, 32] is wanted"),
        ] {
            let error = Decoder::load(&path, &wrong, Device::Cpu).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(named), "{error}");
        }
        // Where the disk is full, what was there stays, and nothing half-written beside it.
        let part = disk::unfinished(&path);
        std::os::unix::fs::symlink("/dev/full", &part)?;
        let error = again.weights().write(&path).expect_err("there is no room");
        assert_eq!(crate::error::io_kind(&error), Some(ErrorKind::StorageFull), "{error:#}");
        assert!(
            error.to_string().contains("w.safetensors`, which takes ") && error.to_string().ends_with(" are free"),
            "{error:#}"
        );
        assert!(!part.exists() && Decoder::load(&path, &config, Device::Cpu).is_ok());
        fs_err::write(&path, b"cut short")?;
        assert!(Decoder::load(&path, &config, Device::Cpu).is_err());
        Ok(())
    }
}
