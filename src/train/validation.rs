//! The validation loss: the mean over fixed windows, the same ones each time, so that two values differ by the weights alone.

use anyhow::Result;
use tch::{Device, Kind, Tensor};

use super::config::TrainConfig;
use super::windows::Windows;
use crate::model::decoder::Decoder;

/// Mean cross-entropy in nats per target over the windows of `validate.batches` steps, in the precision of the training; and
/// how many targets those were. The windows are
/// packed as those of the training are; so the losses of two packings are no measure of which is better: a game that stands
/// alone has no game before it to look at, and what follows `<eos>` is asked in one of them only.
pub fn loss(decoder: &Decoder, config: &TrainConfig, windows: &Windows) -> Result<(f64, u64)> {
    let _guard = tch::no_grad_guard();
    let (mut losses, mut targets) = (Vec::new(), Vec::new());
    for pass in 0..u64::from(config.validate.batches) * u64::from(config.accumulate) {
        let batch = windows.batch(pass)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::config::ModelConfig;

    #[test]
    fn the_loss_is_of_the_same_windows_in_however_many_passes_a_step_is_made() {
        let model = ModelConfig { layers: 1, heads: 1, width: 8, hidden: 8, context: 8 };
        let decoder = Decoder::new(&model, 1, Device::Cpu).expect("the CPU has memory");
        let tokens: Vec<u16> = (0..400_u32).map(|at| 3 + (at * at % 61) as u16).collect();
        let of = |batch, accumulate| {
            let config = TrainConfig { batch, accumulate, ..TrainConfig::tiny() };
            let windows = Windows::fixed(0, batch, config.packing, &tokens, model.context, Device::Cpu).expect("enough tokens");
            loss(&decoder, &config, &windows.per_step(accumulate)).expect("a number")
        };
        let ((whole, targets), parts) = (of(4, 1), [of(2, 2), of(1, 4)]);
        for (loss, of_so_many) in parts {
            assert!((loss - whole).abs() < 1e-6, "{loss} and {whole}");
            assert_eq!(of_so_many, targets);
        }
        assert!((of(2, 1).0 - whole).abs() > 1e-6, "fewer windows have another loss, or the test would see nothing");
    }
}
