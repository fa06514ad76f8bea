//! Known answers of whole steps: losses as they were, and one step made in two ways.

use tch::{Device, Tensor};

use super::config::{Sampler, TrainConfig};
use super::files::CurvePoint;
use super::trainer::Trainer;
use crate::model::config::ModelConfig;
use crate::model::decoder::Decoder;

const MODEL: ModelConfig = ModelConfig { layers: 2, heads: 2, width: 32, hidden: 64, context: 16 };

fn steps(config: &TrainConfig, count: u64) -> (Vec<CurvePoint>, Decoder) {
    let tokens: Vec<u16> = (0..4000_u32).map(|at| (at * at % 1971) as u16).collect();
    let decoder = Decoder::new(&MODEL, config.seed, Device::Cpu).expect("the CPU has memory");
    let mut trainer = Trainer::new(config, decoder, &tokens, count).expect("enough tokens");
    let mut point = || trainer.advance().expect("a step").read().expect("a number");
    let curve = (0..count).map(|_| point()).collect();
    (curve, trainer.decoder)
}

#[test]
fn ten_steps_of_a_tiny_model_have_the_losses_and_norms_that_they_had() {
    let (curve, _) = steps(&TrainConfig { batch: 4, ..TrainConfig::tiny() }, 10);
    let golden = [
        (7.569_900, 1.077_178),
        (7.578_022, 1.068_680),
        (7.611_053, 1.168_185),
        (7.590_783, 1.494_200),
        (7.425_325, 1.423_159),
        (7.496_302, 1.424_457),
        (7.245_851, 1.173_611),
        (7.334_182, 0.877_585),
        (7.298_355, 0.971_348),
        (7.122_767, 1.205_953),
    ];
    for (point, (loss, norm)) in curve.iter().zip(golden) {
        // Another processor adds in another order.
        assert!((point.loss / loss - 1.0).abs() < 1e-5 && (point.gradient_norm / norm - 1.0).abs() < 1e-4, "{curve:?}");
    }
    assert_eq!(curve.len(), golden.len());
}

#[test]
fn four_accumulated_passes_of_four_windows_make_the_steps_of_sixteen() {
    for sampler in [Sampler::Epoch, Sampler::Windows] {
        let with = |batch, accumulate| steps(&TrainConfig { batch, accumulate, sampler, ..TrainConfig::tiny() }, 4);
        let ((one, decoder), (four, other)) = (with(16, 1), with(4, 4));
        for (one, four) in one.iter().zip(&four) {
            assert!((one.loss / four.loss - 1.0).abs() < 1e-6, "{sampler:?}: {one:?} and {four:?}");
            assert!((one.gradient_norm / four.gradient_norm - 1.0).abs() < 1e-5, "{sampler:?}: {one:?} and {four:?}");
        }
        for ((name, one), (_, four)) in decoder.weights().named().into_iter().zip(other.weights().named()) {
            // Adam divides by what is nearly nothing where a gradient is: rounding shows there.
            let apart = (one - four).abs().max().double_value(&[]);
            let most = Tensor::max(&one.abs()).double_value(&[]);
            assert!(apart <= 1e-3 * most, "{sampler:?}: {name} is {apart:e} apart");
        }
    }
}
