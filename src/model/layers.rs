//! The small parts: RMSNorm, rotary positions, SwiGLU.

use tch::{Device, Kind, Tensor};

use super::config::ModelConfig;
use super::linear::linear;

const NORM_EPS: f64 = 1e-6;
const ROPE_THETA: f64 = 10_000.0;

/// `x / rms(x) · weight` over the last dimension, in float32.
pub(super) fn rms_norm(x_btc: &Tensor, weight_c: &Tensor) -> Tensor {
    x_btc.internal_fused_rms_norm(weight_c.size(), Some(weight_c), NORM_EPS).0
}

/// `down(silu(gate(x)) · up(x))` (Shazeer 2020, <https://arxiv.org/abs/2002.05202>).
pub(super) fn swiglu(x_btc: &Tensor, gate: &Tensor, up: &Tensor, down: &Tensor) -> Tensor {
    let hidden = linear(x_btc, gate).silu() * linear(x_btc, up);
    linear(&hidden, down)
}

/// Rotary positions (Su et al. 2021, <https://arxiv.org/abs/2104.09864>): dimensions i and i + d/2 of a head turn together,
/// by `position · 10,000^(−2i/d)`.
pub(super) struct Rope {
    /// Both halves alike.
    cos_td: Tensor,
    /// The first half negated, so that `x · cos + swapped(x) · sin` is the rotation.
    sin_td: Tensor,
}

impl Rope {
    /// Angles are rounded to float32 before their sine is taken, as other implementations of Llama do.
    pub(super) fn new(config: &ModelConfig, device: Device) -> Self {
        let (context, width) = (config.context as usize, (config.width / config.heads) as usize);
        let (mut cos, mut sin) = (vec![0_f32; context * width], vec![0_f32; context * width]);
        for position in 0..context {
            for i in 0..width / 2 {
                let frequency = 1.0 / ROPE_THETA.powf(2.0 * i as f64 / width as f64) as f32;
                let (sine, cosine) = f64::from(position as f32 * frequency).sin_cos();
                let (first, second) = (position * width + i, position * width + i + width / 2);
                (cos[first], cos[second]) = (cosine as f32, cosine as f32);
                (sin[first], sin[second]) = (-sine as f32, sine as f32);
            }
        }
        let table = |values: &[f32]| Tensor::from_slice(values).view([context as i64, width as i64]).to_device(device);
        Self { cos_td: table(&cos), sin_td: table(&sin) }
    }

    pub(super) fn shallow_clone(&self) -> Self {
        Self { cos_td: self.cos_td.shallow_clone(), sin_td: self.sin_td.shallow_clone() }
    }

    /// The rotation at positions 0 … `length` − 1 of every row.
    pub(super) fn first(&self, length: i64) -> Turn {
        let at = |table: &Tensor| table.narrow(0, 0, length).unsqueeze(1).unsqueeze(1);
        Turn { cos: at(&self.cos_td), sin: at(&self.sin_td) }
    }

    /// The rotation at one position of each row, or at one of all.
    pub(super) fn at(&self, positions_b: &Tensor) -> Turn {
        let at = |table: &Tensor| table.index_select(0, positions_b).unsqueeze(1).unsqueeze(1).unsqueeze(1);
        Turn { cos: at(&self.cos_td), sin: at(&self.sin_td) }
    }
}

/// A rotation ready for tensors shaped [b, t, 2, h, d]: queries and keys side by side.
pub(super) struct Turn {
    cos: Tensor,
    sin: Tensor,
}

impl Turn {
    /// Rotates in float32 and gives back the kind that came.
    pub(super) fn apply(&self, qk: &Tensor) -> Tensor {
        let half = self.cos.size().last().expect("the tables have dimensions") / 2;
        let turned = (qk * &self.cos).addcmul(&qk.roll([half], [-1]).to_kind(Kind::Float), &self.sin);
        turned.to_kind(qk.kind())
    }
}
