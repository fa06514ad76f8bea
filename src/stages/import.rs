//! Weights that were trained elsewhere, as if they had been trained here: one checkpoint, and no curve.

use std::path::Path;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::error::Fixable;
use crate::export::folder::with_weights;
use crate::export::tensors;
use crate::model::config::ModelConfig;
use crate::plan::{Cost, Cx, Stage};
use crate::train::files::write_json;

use super::train::Trained;

#[derive(Serialize, Deserialize)]
pub struct Import {
    pub model: ModelConfig,
    /// Of the file of weights, which is all that a key knows of it.
    pub blake3: String,
    /// What people call it.
    #[serde(skip)]
    pub name: String,
}

impl Stage for Import {
    const NAME: &'static str = "import";
    // 1: `best.safetensors` under our names, in float32.
    const VERSION: u32 = 1;
    type Output = Trained;

    fn run(&self, cx: &Cx, out: &Path) -> Result<()> {
        let path = cx.machine.files.get(&self.blake3).ok_or_else(|| {
            Fixable::failed(format!("no weights with the BLAKE3 digest `{}` are at hand", self.blake3))
                .hint("run the experiment that names their folder")
        })?;
        with_weights(path, &self.model, |weights, seen| {
            if seen != self.blake3 {
                return Err(Fixable::failed(format!(
                    "`{}` is not the file that the experiment was read with: BLAKE3 `{}` wanted, `{seen}` seen, and nothing was kept",
                    path.display(),
                    self.blake3
                ))
                .hint("run again, with the file as it is now")
                .into());
            }
            tensors::write(&out.join("best.safetensors"), weights, None)
        })?;
        let (model, blake3) = (&self.model, &self.blake3);
        write_json(&out.join("model.json"), model)?;
        // How long they were trained is not told.
        write_json(&out.join("best.json"), &json!({ "step": 0 }))?;
        write_json(
            &out.join("training.json"),
            &json!({ "imported": true, "blake3": blake3, "steps": 0, "tokens_per_step": 0, "parameters": model.parameters() }),
        )
    }

    fn cost(&self) -> Cost {
        Cost { disk_bytes: 4 * (self.model.parameters() + self.model.embedding_parameters()), ..Cost::default() }
    }

    fn detail(&self) -> String {
        self.name.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::export::hf::weights::parameters;
    use crate::export::tensors::{Tensor, TensorFile};
    use crate::measure::metric::Checkpoint;
    use crate::stages::bench::Bench;

    const MODEL: ModelConfig = ModelConfig { layers: 1, heads: 2, width: 4, hidden: 6, context: 8 };

    fn weights(dir: &Path) -> Vec<u8> {
        let tensor = |shape: &[usize]| Tensor::floats(shape, &vec![0.5; shape.iter().product()]);
        let named: BTreeMap<_, _> =
            parameters(&MODEL).into_iter().map(|one| (format!("_orig_mod.{}", one.ours), tensor(&one.shape))).collect();
        let path = dir.join("w.safetensors");
        tensors::write(&path, &named, None).expect("written");
        fs_err::read(path).expect("read")
    }

    #[test]
    fn imported_weights_are_the_best_and_the_last_and_no_step() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut bench = Bench::default();
        let blake3 = bench.file("w.safetensors", &weights(dir.path()));
        let made = bench.make(Import { model: MODEL, blake3, name: "w".into() });
        let trained = bench.open(made);
        let path = trained.weights(Checkpoint::Best).expect("they are there");
        assert_eq!(trained.weights(Checkpoint::Last).expect("they are there"), path);
        assert!(trained.weights(Checkpoint::Step(500)).is_err());
        assert_eq!((trained.step_of(Checkpoint::Last).expect("told"), trained.is_imported()), (0, true));
        assert!(TensorFile::read(&path).expect("whole").tensors().contains_key("blocks.0.attn.qkv.weight"));
    }

    #[test]
    fn weights_that_changed_since_the_experiment_was_read_are_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut bench = Bench::default();
        let blake3 = bench.file("w.safetensors", &weights(dir.path()));
        let stage = || Import { model: MODEL, blake3: blake3.clone(), name: "w".into() };
        let path = bench.machine.files[&blake3].clone();
        let mut bytes = fs_err::read(&path).expect("read");
        *bytes.last_mut().expect("a byte") ^= 1;
        fs_err::write(&path, bytes).expect("written");
        let (error, out) = bench.fail(stage());
        assert!(error.to_string().contains("nothing was kept"), "{error}");
        assert_eq!(fs_err::read_dir(out).expect("a folder").count(), 0);
        bench.machine.files.clear();
        assert!(bench.fail(stage()).0.to_string().starts_with("no weights with"));
    }
}
