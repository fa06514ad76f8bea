//! The validation loss: the mean over fixed windows, the same ones each time, so that two values differ by the weights alone.

use anyhow::Result;
use tch::Tensor;

use super::config::TrainConfig;
use super::windows::{Batch, Windows};
use crate::model::decoder::Decoder;

/// Mean cross-entropy in nats per token over `validate.batches` batches, in the precision of the training.
pub fn loss(decoder: &Decoder, config: &TrainConfig, windows: &Windows) -> Result<f64> {
    let _guard = tch::no_grad_guard();
    let mut losses = Vec::with_capacity(config.validate.batches as usize);
    for index in 0..config.validate.batches {
        let Batch { inputs_bt, targets_bt } = windows.batch(u64::from(index))?;
        losses.push(decoder.loss(config.precision, &inputs_bt, &targets_bt));
    }
    Ok(Tensor::f_stack(&losses, 0)?.f_mean(tch::Kind::Double)?.f_double_value(&[])?)
}
