//! What an independent implementation of the same decoder and optimiser computed, for tests.
//!
//! `tests/data/tiny-decoder.*` holds its weights whole and every 97th number of the rest; the full files are used too
//! where the project's shared data lie beside the checkout.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tch::{Device, Kind, Tensor};

use super::config::ModelConfig;
use super::decoder::Decoder;

pub(crate) struct Reference {
    tensors: BTreeMap<String, Tensor>,
    told: Value,
    stride: i64,
    folder: tempfile::TempDir,
}

/// The cut-down reference, and the full one where it is at hand.
pub(crate) fn references() -> Vec<Reference> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let full = ["../shared/data/reference", "../../shared/data/reference"].map(|place| root.join(place));
    let full: Option<PathBuf> = full.into_iter().find(|place| place.join("tiny-decoder.json").exists());
    std::iter::once(root.join("tests/data")).chain(full).map(|folder| Reference::read(&folder)).collect()
}

impl Reference {
    fn read(folder: &Path) -> Self {
        let text = fs_err::read(folder.join("tiny-decoder.json")).expect("the fixture is committed");
        let told: Value = serde_json::from_slice(&text).expect("the fixture is JSON");
        let tensors = Tensor::read_safetensors(folder.join("tiny-decoder.safetensors")).expect("the fixture is committed");
        let stride = told["stride"].as_i64().unwrap_or(1);
        Self { tensors: tensors.into_iter().collect(), told, stride, folder: tempfile::tempdir().expect("a folder") }
    }

    pub(crate) fn decoder(&self) -> Decoder {
        let config = ModelConfig { layers: 3, heads: 4, width: 64, hidden: 192, context: 64 };
        let path = self.folder.path().join("weights.safetensors");
        let weights: Vec<(&str, &Tensor)> =
            self.tensors.iter().filter_map(|(name, tensor)| Some((name.strip_prefix("weights.")?, tensor))).collect();
        Tensor::write_safetensors(&weights, &path).expect("the folder can be written");
        Decoder::load(&path, &config, Device::Cpu).expect("the fixture holds the model")
    }

    /// Inputs and targets of a batch.
    pub(crate) fn batch(&self, index: i64) -> [Tensor; 2] {
        let tokens = self.tensor("tokens").get(index).to_kind(Kind::Int64);
        [tokens.narrow(1, 0, 64), tokens.narrow(1, 1, 64)].map(|half| half.contiguous())
    }

    pub(crate) fn tensor(&self, name: &str) -> &Tensor {
        self.tensors.get(name).expect("the fixture holds it")
    }

    /// A number of the JSON file, by its path such as `steps.0.loss`.
    pub(crate) fn told(&self, path: &str) -> f64 {
        self.told.pointer(&format!("/{}", path.replace('.', "/"))).and_then(Value::as_f64).expect("the fixture tells it")
    }

    /// The numbers of a tensor that the fixture kept.
    pub(crate) fn sampled(&self, tensor: &Tensor) -> Tensor {
        if self.stride == 1 { tensor.shallow_clone() } else { tensor.flatten(0, -1).slice(0, 0, None, self.stride) }
    }
}

/// The largest difference is at most `tolerance` times the largest number wanted.
pub(crate) fn assert_near(name: &str, seen: &Tensor, wanted: &Tensor, tolerance: f64) {
    assert_eq!(seen.size(), wanted.size(), "{name}");
    let apart = (seen - wanted).abs().max().double_value(&[]) / wanted.abs().max().double_value(&[]);
    assert!(apart <= tolerance, "{name} is {apart:e} apart, relative to its largest number");
}
