//! A device held against the CPU: the passes, the gradients, the update and the steps of a small model.

use anyhow::Result;
use tch::{Device, Kind, Tensor};

use super::check::{Check, apart, worst};
use crate::chess::vocabulary::VOCABULARY_SIZE;
use crate::model::cache::KvCache;
use crate::model::config::{ModelConfig, Precision};
use crate::model::decoder::Decoder;
use crate::random::{below, stream};
use crate::train::config::{LearningRate, Length, Packing, Sampler, Schedule, Snapshots, TrainConfig, Validate};
use crate::train::optimiser::Optimiser;
use crate::train::trainer::Trainer;

/// Small, with heads of 64 numbers as in run1.
pub(super) const MODEL: ModelConfig = ModelConfig { layers: 2, heads: 2, width: 128, hidden: 352, context: 32 };
pub(super) const STEPS: u64 = 10;

const SEED: u64 = 1;
const ROWS: i64 = 4;

/// Sums in another order differ by some units of float32; bfloat16 has 8 bits.
const F32: f64 = 1e-4;
const BF16: f64 = 0.03;

/// Gradients are sums over all tokens, and differences of large numbers.
const F32_GRADIENTS: f64 = 1e-3;
const BF16_GRADIENTS: f64 = 0.1;

pub(super) fn config(precision: Precision) -> TrainConfig {
    TrainConfig {
        length: Length::Steps(STEPS),
        batch: ROWS as u32,
        accumulate: 1,
        sampler: Sampler::Windows,
        learning_rate: LearningRate { peak: 1e-3, floor: 1e-4, warmup: 2, schedule: Schedule::Cosine },
        weight_decay: 0.1,
        betas: [0.9, 0.95],
        clip: 1.0,
        precision,
        seed: SEED,
        validate: Validate { every: STEPS, batches: 1 },
        snapshots: Snapshots { every: STEPS },
        packing: Packing::Stream,
        ema: None,
        spikes: None,
    }
}

/// Tokens drawn evenly from the vocabulary.
pub(super) fn tokens() -> Vec<u16> {
    let mut rng = stream(SEED, "bench tokens", 0);
    (0..5_000).map(|_| below(&mut rng, VOCABULARY_SIZE as u64) as u16).collect()
}

pub(super) fn checks(device: Device) -> Vec<Check> {
    let both = [(Precision::F32, "f32", F32, F32_GRADIENTS), (Precision::Bf16, "bf16", BF16, BF16_GRADIENTS)];
    let of = |(precision, name, near, gradients_near): (Precision, &str, f64, f64)| {
        [
            Check::within(&format!("logits {name}"), near, || logits(device, precision)),
            Check::within(&format!("gradients {name}"), gradients_near, || gradients(device, precision)),
            Check::within(&format!("cached passes {name}"), near, || cached(device, precision)),
            Check::within(&format!("losses of {STEPS} steps {name}"), near, || losses(device, precision)),
        ]
    };
    let mut checks: Vec<Check> = both.into_iter().flat_map(of).collect();
    checks.push(Check::within("AdamW", 1e-5, || updates(device)));
    checks
}

fn decoder(device: Device) -> Result<Decoder> {
    Decoder::new(&MODEL, SEED, device)
}

/// Inputs and targets of one batch, int64 [b, t].
fn batch(device: Device) -> Result<[Tensor; 2]> {
    let long = i64::from(MODEL.context) + 1;
    let flat: Vec<i64> = tokens().iter().take((ROWS * long) as usize).map(|&token| i64::from(token)).collect();
    let tokens = Tensor::from_slice(&flat).f_view([ROWS, long])?.f_to_device(device)?;
    Ok([tokens.f_narrow(1, 0, long - 1)?, tokens.f_narrow(1, 1, long - 1)?])
}

/// Against float32 on the CPU, in both precisions.
fn logits(device: Device, precision: Precision) -> Result<f64> {
    let _guard = tch::no_grad_guard();
    let [[seen_bt, _], [wanted_bt, _]] = [batch(device)?, batch(Device::Cpu)?];
    apart(&decoder(device)?.with_precision(precision).logits(&seen_bt), &decoder(Device::Cpu)?.logits(&wanted_bt))
}

fn gradients(device: Device, precision: Precision) -> Result<f64> {
    let of = |device, precision| -> Result<Vec<Tensor>> {
        let decoder = decoder(device)?;
        let optimiser = Optimiser::new(&config(precision), decoder.weights());
        let [inputs_bt, targets_bt] = batch(device)?;
        optimiser.gradients(&decoder.loss(precision, &inputs_bt, &targets_bt))
    };
    let (seen, wanted) = (of(device, precision)?, of(Device::Cpu, Precision::F32)?);
    worst(seen.iter().zip(&wanted).map(|(seen, wanted)| apart(seen, wanted)))
}

/// Read token by token, against one pass over all of them on the same device.
fn cached(device: Device, precision: Precision) -> Result<f64> {
    let _guard = tch::no_grad_guard();
    let decoder = decoder(device)?.with_precision(precision);
    let [tokens_bt, _] = batch(device)?;
    let mut cache = KvCache::new(&decoder, ROWS as usize, MODEL.context as usize);
    let first = 12;
    let lengths = vec![first; ROWS as usize];
    let mut distances = vec![apart(
        &decoder.prefill(&tokens_bt.f_narrow(1, 0, first)?, &lengths, &mut cache),
        &decoder.last_logits(&tokens_bt.f_narrow(1, 0, first)?, &lengths),
    )];
    for at in first..first + 8 {
        let seen = decoder.step(&tokens_bt.f_narrow(1, at, 1)?, &mut cache);
        let wanted = decoder.last_logits(&tokens_bt.f_narrow(1, 0, at + 1)?, &vec![at + 1; ROWS as usize]);
        distances.push(apart(&seen, &wanted));
    }
    worst(distances)
}

/// The curve of a training, against that in float32 on the CPU.
fn losses(device: Device, precision: Precision) -> Result<f64> {
    let tokens = tokens();
    let of = |device, precision| -> Result<Tensor> {
        let config = config(precision);
        let mut trainer = Trainer::new(&config, decoder(device)?, &tokens, STEPS)?;
        let mut loss = || -> Result<f64> {
            let launched = trainer.advance()?;
            Ok(trainer.read(launched)?.loss)
        };
        let losses: Vec<f64> = (0..STEPS).map(|_| loss()).collect::<Result<_>>()?;
        Ok(Tensor::from_slice(&losses))
    };
    apart(&of(device, precision)?, &of(Device::Cpu, Precision::F32)?)
}

/// Weights after three fused updates by the same gradients.
fn updates(device: Device) -> Result<f64> {
    let of = |device| -> Result<Decoder> {
        let decoder = decoder(device)?;
        let mut optimiser = Optimiser::new(&config(Precision::F32), decoder.weights());
        // The optimiser's order: matrices, then vectors.
        let (matrices, vectors): (Vec<_>, Vec<_>) =
            decoder.weights().named().into_iter().map(|(_, weight)| weight).partition(|weight| weight.dim() > 1);
        for step in 1..=3 {
            let gradient = |weight: &&Tensor| -> Result<Tensor> {
                let count = weight.numel() as i64;
                let angles = Tensor::f_arange(count, (Kind::Double, Device::Cpu))? * f64::from(step);
                let gradient = (angles.f_sin()? * 1e-3).f_to_kind(Kind::Float)?.f_view(weight.size().as_slice())?;
                Ok(gradient.f_to_device(device)?)
            };
            let gradients: Vec<Tensor> = matrices.iter().chain(&vectors).map(gradient).collect::<Result<_>>()?;
            let _ = optimiser.clip(&gradients)?;
            optimiser.step(&gradients, 1e-3, None)?;
        }
        Ok(decoder)
    };
    let (seen, wanted) = (of(device)?, of(Device::Cpu)?);
    let pairs = seen.weights().named().into_iter().zip(wanted.weights().named());
    worst(pairs.map(|((_, seen), (_, wanted))| apart(seen, wanted)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bfloat16_is_told_from_float32_by_every_distance() {
        // What is computed in the other precision is apart, and so a check compares what it says.
        for distance in [logits, gradients, losses] {
            let (f32, bf16) = (distance(Device::Cpu, Precision::F32), distance(Device::Cpu, Precision::Bf16));
            assert_eq!(f32.expect("measured").to_bits(), 0);
            assert!(bf16.expect("measured") > 1e-5);
        }
    }
}
