//! Random weights from a seed, with a generator of our own: no version of libtorch changes them.

use anyhow::Result;
use rand_chacha::ChaCha8Rng;
use tch::{Device, Tensor};

use super::config::ModelConfig;
use super::weights::Weights;
use crate::random;

const SPREAD: f64 = 0.02;

/// N(0, 0.02) for matrices, N(0, 0.02 / √(2 · layers)) for the two that write into the residual stream
/// (Radford et al. 2019, GPT-2), ones for norms. Each tensor draws from a stream of its own.
pub(super) fn init(config: &ModelConfig, seed: u64, device: Device) -> Result<Weights> {
    let residual = SPREAD / (2.0 * f64::from(config.layers)).sqrt();
    Weights::build(config, |name, shape| {
        let count = shape.iter().product::<i64>() as usize;
        let values = if name.contains("norm") {
            vec![1.0; count]
        } else {
            let spread = if name.ends_with("proj.weight") || name.ends_with("down.weight") { residual } else { SPREAD };
            normal(&mut random::stream(seed, name, 0), count, spread)
        };
        Ok(Tensor::from_slice(&values).f_view(shape)?.f_to_device(device)?)
    })
}

/// Box and Muller's transform (1958): two normal numbers from two uniform ones.
fn normal(rng: &mut ChaCha8Rng, count: usize, spread: f64) -> Vec<f32> {
    let mut values = Vec::with_capacity(count + 1);
    while values.len() < count {
        // 1 − u is never 0, so its logarithm is finite.
        let radius = (-2.0 * (1.0 - random::unit(rng)).ln()).sqrt() * spread;
        let (sin, cos) = (std::f64::consts::TAU * random::unit(rng)).sin_cos();
        values.extend([(radius * cos) as f32, (radius * sin) as f32]);
    }
    values.truncate(count);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_have_the_spread_that_their_place_asks_for_and_depend_on_the_seed_alone() {
        let config = ModelConfig { layers: 2, heads: 2, width: 32, hidden: 96, context: 16 };
        let [one, again, other] = [1, 1, 2].map(|seed| init(&config, seed, Device::Cpu).expect("the CPU has memory"));
        for (((name, one), (_, again)), (_, other)) in one.named().into_iter().zip(again.named()).zip(other.named()) {
            assert_eq!(one, again, "{name}");
            if name.contains("norm") {
                assert_eq!(*one, Tensor::ones_like(one), "{name}");
                continue;
            }
            assert_ne!(one, other, "{name}");
            let wanted = if name.contains("proj") || name.contains("down") { 0.01 } else { 0.02 };
            let (mean, spread) = (one.mean(tch::Kind::Double).double_value(&[]), one.std(true).double_value(&[]));
            assert!(mean.abs() < 0.15 * wanted && (spread / wanted - 1.0).abs() < 0.1, "{name}: {mean} {spread}");
        }
    }
}
