//! Our parameters and Llama's: the same numbers under other names, with queries, keys and values apart.

use std::borrow::Cow;
use std::collections::BTreeMap;

use anyhow::{Context as _, Result};

use crate::chess::vocabulary::VOCABULARY_SIZE;
use crate::export::tensors::Tensor;
use crate::model::config::ModelConfig;

/// What `transformers` puts before the names of all that is no head.
pub const PREFIX: &str = "model.";

/// A parameter of ours, and the parameters of Llama that lie in it, row block by row block.
pub struct Parameter {
    pub ours: String,
    /// Of ours; each of Llama's has an equal share of the rows.
    pub shape: Vec<usize>,
    /// Without [`PREFIX`].
    pub llama: Vec<String>,
}

impl Parameter {
    /// The shape of each of Llama's.
    pub fn llama_shape(&self) -> Vec<usize> {
        let mut shape = self.shape.clone();
        shape[0] /= self.llama.len();
        shape
    }
}

/// Every parameter of a model. The head is the embedding, and none of them.
pub fn parameters(model: &ModelConfig) -> Vec<Parameter> {
    let [c, hidden] = [model.width, model.hidden].map(|size| size as usize);
    let one = |ours: String, shape: &[usize], llama: String| Parameter { ours, shape: shape.to_vec(), llama: vec![llama] };
    let mut all = vec![one("tok_emb.weight".into(), &[VOCABULARY_SIZE, c], "embed_tokens.weight".into())];
    for layer in 0..model.layers {
        let ours = |name: &str| format!("blocks.{layer}.{name}.weight");
        let llama = |name: &str| format!("layers.{layer}.{name}.weight");
        let qkv = ["q_proj", "k_proj", "v_proj"].map(|name| llama(&format!("self_attn.{name}")));
        all.extend([
            one(ours("norm_attn"), &[c], llama("input_layernorm")),
            Parameter { ours: ours("attn.qkv"), shape: vec![3 * c, c], llama: qkv.to_vec() },
            one(ours("attn.proj"), &[c, c], llama("self_attn.o_proj")),
            one(ours("norm_mlp"), &[c], llama("post_attention_layernorm")),
            one(ours("mlp.gate"), &[hidden, c], llama("mlp.gate_proj")),
            one(ours("mlp.up"), &[hidden, c], llama("mlp.up_proj")),
            one(ours("mlp.down"), &[c, hidden], llama("mlp.down_proj")),
        ]);
    }
    all.push(one("norm_final.weight".into(), &[c], "norm.weight".into()));
    all
}

/// Our tensors as Llama's, under the names that `transformers` gives them.
pub fn to_llama<'a>(ours: &'a BTreeMap<String, Tensor<'a>>, model: &ModelConfig) -> Result<BTreeMap<String, Tensor<'a>>> {
    let mut named = BTreeMap::new();
    for parameter in parameters(model) {
        let tensor = ours.get(&parameter.ours).with_context(|| format!("the weights have no `{}`", parameter.ours))?;
        anyhow::ensure!(tensor.shape == parameter.shape, "`{}` is {:?}, not {:?}", parameter.ours, tensor.shape, parameter.shape);
        let shares = tensor.bytes.chunks_exact(tensor.bytes.len() / parameter.llama.len());
        for (name, bytes) in parameter.llama.iter().zip(shares) {
            let share = Tensor { dtype: tensor.dtype, shape: parameter.llama_shape(), bytes: Cow::Borrowed(bytes) };
            named.insert(format!("{PREFIX}{name}"), share);
        }
    }
    Ok(named)
}

/// Llama's tensors as ours. `llama` is asked for each by its name without [`PREFIX`].
pub fn from_llama<'a>(
    mut llama: impl FnMut(&str) -> Result<Tensor<'a>>,
    model: &ModelConfig,
) -> Result<BTreeMap<String, Tensor<'a>>> {
    let mut named = BTreeMap::new();
    for parameter in parameters(model) {
        let mut shares = parameter.llama.iter().map(|name| llama(name)).collect::<Result<Vec<_>>>()?;
        let tensor = if shares.len() == 1 {
            shares.remove(0)
        } else {
            let bytes = shares.iter().flat_map(|share| share.bytes.iter().copied()).collect();
            Tensor { dtype: shares[0].dtype, shape: parameter.shape, bytes: Cow::Owned(bytes) }
        };
        named.insert(parameter.ours, tensor);
    }
    Ok(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_keys_and_values_are_the_thirds_of_the_fused_matrix_and_come_together_again() {
        let model = ModelConfig { layers: 2, heads: 2, width: 4, hidden: 6, context: 8 };
        let mut next = 0.0_f32;
        let mut tensor = |shape: &[usize]| {
            let values: Vec<f32> = (0..shape.iter().product::<usize>()).map(|at| next + at as f32).collect();
            next += 1000.0;
            Tensor::floats(shape, &values)
        };
        let ours: BTreeMap<_, _> =
            parameters(&model).into_iter().map(|parameter| (parameter.ours, tensor(&parameter.shape))).collect();
        let llama = to_llama(&ours, &model).expect("whole");
        assert_eq!(llama.len(), 2 + 2 * 9);
        let fused = &ours["blocks.1.attn.qkv.weight"].bytes;
        for (third, name) in ["q_proj", "k_proj", "v_proj"].into_iter().enumerate() {
            let share = &llama[&format!("model.layers.1.self_attn.{name}.weight")];
            assert_eq!((share.shape.as_slice(), &share.bytes[..]), (&[4, 4][..], &fused[third * 64..(third + 1) * 64]));
        }
        let borrow = |name: &str| {
            let Tensor { dtype, shape, bytes } = &llama[&format!("model.{name}")];
            Ok(Tensor { dtype: *dtype, shape: shape.clone(), bytes: Cow::Borrowed(bytes) })
        };
        let again = from_llama(borrow, &model).expect("whole");
        for (name, tensor) in &ours {
            assert_eq!((&again[name].shape, &again[name].bytes), (&tensor.shape, &tensor.bytes), "{name}");
        }
    }
}
