//! The shape of a decoder, and what follows from it by arithmetic alone. No libtorch here.

use serde::{Deserialize, Serialize};

use crate::chess::vocabulary::VOCABULARY_SIZE;

/// A Llama-shaped decoder: pre-norm, RMSNorm, RoPE, SwiGLU, tied embeddings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelConfig {
    pub layers: u32,
    pub heads: u32,
    pub width: u32,
    /// Width of the SwiGLU's hidden layer.
    pub hidden: u32,
    /// Most tokens that attention sees.
    pub context: u32,
}

/// How matrices are multiplied. The residual stream, norms, softmax and loss are float32 in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    F32,
    /// float32 whose factors may be rounded to `TensorFloat32` (10 bits of mantissa) on devices that have it; else as `F32`.
    Tf32,
    Bf16,
}

impl ModelConfig {
    /// Parameters without embeddings: per layer 4 · width² (attention), 3 · width · hidden (SwiGLU), two norms; and the last norm.
    pub fn parameters(&self) -> u64 {
        let [layers, width, hidden] = [self.layers, self.width, self.hidden].map(u64::from);
        layers * (4 * width * width + 3 * width * hidden + 2 * width) + width
    }

    /// Parameters of the (tied) embedding.
    pub fn embedding_parameters(&self) -> u64 {
        VOCABULARY_SIZE as u64 * u64::from(self.width)
    }

    /// FLOPs of one training step per token: `6 N + 12 · layers · width · context`, N without embeddings.
    pub fn flops_per_token(&self) -> u64 {
        let [layers, width, context] = [self.layers, self.width, self.context].map(u64::from);
        6 * self.parameters() + 12 * layers * width * context
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run1_and_run2_have_the_published_parameters_and_flops() {
        let run1 = ModelConfig { layers: 16, heads: 8, width: 512, hidden: 1408, context: 256 };
        assert_eq!((run1.parameters(), run1.flops_per_token()), (51_397_120, 333_548_544));
        let run2 = ModelConfig { layers: 20, heads: 12, width: 768, hidden: 2048, context: 256 };
        assert_eq!((run2.parameters(), run2.flops_per_token()), (141_589_248, 896_721_408));
    }
}
