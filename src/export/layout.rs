//! Under which names a file keeps a decoder: ours, or those of Hugging Face's Llama, behind any prefix.

use std::collections::BTreeMap;

use anyhow::Result;
use safetensors::Dtype;

use super::hf::weights::{from_llama, parameters};
use super::tensors::{Shapes, Tensor, TensorFile};
use crate::error::Fixable;
use crate::model::config::ModelConfig;

/// Whose names they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// `tok_emb.weight`, `blocks.0.attn.qkv.weight`, …
    Ours,
    /// `embed_tokens.weight`, `layers.0.self_attn.q_proj.weight`, …
    Llama,
}

/// How a file names its tensors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    pub naming: Naming,
    /// Before each name, such as `model.` or `_orig_mod.`.
    pub prefix: String,
}

const EMBEDDINGS: [(Naming, &str); 2] = [(Naming::Ours, "tok_emb.weight"), (Naming::Llama, "embed_tokens.weight")];

impl Layout {
    /// The layout of a file that holds exactly this model. A head that may be a copy of the embedding is passed over.
    ///
    /// # Errors
    ///
    /// The first tensor that is missing, unknown, or of another shape or kind, in words.
    pub fn of(shapes: &Shapes, model: &ModelConfig) -> Result<Self, String> {
        let find = |(naming, embedding): (Naming, &str)| {
            let prefix = shapes.keys().find_map(|name| name.strip_suffix(embedding))?;
            Some(Self { naming, prefix: prefix.to_owned() })
        };
        let layout = EMBEDDINGS.into_iter().find_map(find).ok_or_else(|| {
            "it has neither `tok_emb.weight`, as our models, nor `model.embed_tokens.weight`, as those of transformers".to_owned()
        })?;
        let wanted = layout.wanted(model);
        for (name, shape) in &wanted {
            let Some((dtype, seen)) = shapes.get(name) else { return Err(format!("`{name}` is missing")) };
            if seen != shape {
                return Err(format!("`{name}` is {seen:?}, and {shape:?} is wanted"));
            }
            if ![Dtype::F32, Dtype::BF16, Dtype::F16].contains(dtype) {
                return Err(format!("`{name}` is {dtype:?}, and float32, bfloat16 or float16 is wanted"));
            }
        }
        // Angles of rotary positions are computed, never learned.
        let known = |name: &str| wanted.contains_key(name) || is_head(name) || name.ends_with("rotary_emb.inv_freq");
        match shapes.keys().find(|name| !known(name)) {
            None => Ok(layout),
            Some(name) if name.rsplit('.').next() == Some("bias") => {
                Err(format!("it has a bias, `{name}`, and our decoder has none"))
            }
            Some(name) => Err(format!("`{name}` is no part of the model")),
        }
    }

    /// The tensors of a file under our names, in float32.
    ///
    /// # Errors
    ///
    /// Where the file does not hold the model, or has a head of its own.
    pub fn read<'a>(file: &'a TensorFile, shapes: &Shapes, model: &ModelConfig) -> Result<BTreeMap<String, Tensor<'a>>> {
        let layout = Self::of(shapes, model).map_err(Fixable::failed)?;
        let mut tensors = file.tensors();
        let (_, embedding) = EMBEDDINGS.into_iter().find(|(naming, _)| *naming == layout.naming).expect("each has one");
        let embedding = &tensors[&format!("{}{embedding}", layout.prefix)];
        if let Some((name, _)) = tensors.iter().find(|(name, head)| is_head(name) && head.bytes != embedding.bytes) {
            return Err(Fixable::failed(format!("`{name}` is a head of its own, and ours is the embedding"))
                .hint("only models whose embeddings are tied can be imported")
                .into());
        }
        let mut take = |name: &str| {
            let tensor = tensors.remove(&format!("{}{name}", layout.prefix)).and_then(Tensor::widened);
            Ok(tensor.expect("the layout has looked at it"))
        };
        match layout.naming {
            Naming::Llama => from_llama(take, model),
            Naming::Ours => parameters(model)
                .into_iter()
                .map(|parameter| take(&parameter.ours).map(|tensor| (parameter.ours, tensor)))
                .collect(),
        }
    }

    /// Every name in the file, and its shape.
    fn wanted(&self, model: &ModelConfig) -> BTreeMap<String, Vec<usize>> {
        let parameters = parameters(model).into_iter();
        let named = parameters.flat_map(|parameter| match self.naming {
            Naming::Ours => vec![(parameter.ours, parameter.shape)],
            Naming::Llama => {
                let shape = parameter.llama_shape();
                parameter.llama.into_iter().map(|name| (name, shape.clone())).collect()
            }
        });
        named.map(|(name, shape)| (format!("{}{name}", self.prefix), shape)).collect()
    }
}

/// The projection to logits, which is the embedding where it is tied.
fn is_head(name: &str) -> bool {
    name.ends_with("head.weight")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::tensors::{shapes, write};

    const MODEL: ModelConfig = ModelConfig { layers: 1, heads: 2, width: 4, hidden: 6, context: 8 };

    fn held(layout: &Layout) -> Shapes {
        layout.wanted(&MODEL).into_iter().map(|(name, shape)| (name, (Dtype::F32, shape))).collect()
    }

    #[test]
    fn both_namings_are_known_behind_any_prefix_and_what_does_not_belong_is_named() {
        for (naming, prefix) in [
            (Naming::Llama, "model."),
            (Naming::Llama, ""),
            (Naming::Ours, ""),
            (Naming::Ours, "_orig_mod."),
            (Naming::Ours, "model."),
        ] {
            let layout = Layout { naming, prefix: prefix.to_owned() };
            assert_eq!(Layout::of(&held(&layout), &MODEL), Ok(layout));
        }
        let llama = held(&Layout { naming: Naming::Llama, prefix: "model.".into() });
        let with = |name: &str, shape: &[usize], dtype| {
            let mut odd = llama.clone();
            odd.insert(name.to_owned(), (dtype, shape.to_vec()));
            Layout::of(&odd, &MODEL)
        };
        assert!(with("lm_head.weight", &[1971, 4], Dtype::F32).is_ok());
        for (name, shape, dtype, said) in [
            ("model.layers.0.self_attn.k_proj.weight", &[2, 4][..], Dtype::F32, "is [2, 4], and [4, 4] is wanted"),
            ("model.norm.weight", &[4], Dtype::F64, "is F64, and float32"),
            ("model.layers.0.mlp.up_proj.bias", &[6], Dtype::F32, "it has a bias, `model.layers.0.mlp.up_proj.bias`"),
            ("model.layers.1.input_layernorm.weight", &[4], Dtype::F32, "is no part of the model"),
        ] {
            let error = with(name, shape, dtype).expect_err(name);
            assert!(error.contains(said), "{error}");
        }
        let mut lacking = llama;
        lacking.remove("model.norm.weight");
        assert_eq!(Layout::of(&lacking, &MODEL), Err("`model.norm.weight` is missing".to_owned()));
        assert!(Layout::of(&Shapes::new(), &MODEL).expect_err("empty").starts_with("it has neither"));
    }

    #[test]
    fn a_head_may_be_a_copy_of_the_embedding_and_nothing_else() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("a.safetensors");
        for (head, taken) in [(1.0, true), (2.0, false)] {
            let layout = Layout { naming: Naming::Llama, prefix: "model.".into() };
            let full = |shape: &[usize], value: f32| Tensor::floats(shape, &vec![value; shape.iter().product()]);
            let mut tensors: BTreeMap<_, _> =
                layout.wanted(&MODEL).into_iter().map(|(name, shape)| (name, full(&shape, 1.0))).collect();
            tensors.insert("lm_head.weight".into(), full(&[1971, 4], head));
            write(&path, &tensors, None).expect("written");
            let file = TensorFile::read(&path).expect("whole");
            let read = Layout::read(&file, &shapes(&path).expect("a header"), &MODEL);
            assert_eq!(read.map(|read| read.len()).ok(), taken.then_some(2 + 7), "{head}");
        }
    }
}
