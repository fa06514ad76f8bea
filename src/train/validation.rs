//! The validation loss: the mean over fixed windows, the same ones each time, so that two values differ by the weights alone.

use anyhow::Result;
use tch::{Device, Kind, Tensor};

use super::config::TrainConfig;
use super::windows::Windows;
use crate::model::decoder::Decoder;

/// Mean cross-entropy in nats per target over `validate.batches` batches, in the precision of
/// the training; and how many targets those were. The windows are
/// packed as those of the training are; so the losses of two packings are no measure of which is better: a game that stands
/// alone has no game before it to look at, and what follows `<eos>` is asked in one of them only.
pub fn loss(decoder: &Decoder, config: &TrainConfig, windows: &Windows) -> Result<(f64, u64)> {
    let _guard = tch::no_grad_guard();
    let (mut losses, mut targets) = (Vec::new(), Vec::new());
    for index in 0..config.validate.batches {
        let batch = windows.batch(u64::from(index))?;
        losses.push(batch.loss(decoder, config.precision));
        targets.push(batch.targets.here);
    }
    let all = targets.iter().sum();
    let losses = Tensor::f_stack(&losses, 0)?;
    if targets.iter().all(|count| *count == targets[0]) {
        return Ok((losses.f_mean(Kind::Double)?.f_double_value(&[])?, all));
    }
    let weights: Vec<f64> = targets.iter().map(|&count| count as f64 / all as f64).collect();
    let mean = losses.f_to_kind(Kind::Double)?.f_to_device(Device::Cpu)?.f_dot(&Tensor::from_slice(&weights))?;
    Ok((mean.f_double_value(&[])?, all))
}
