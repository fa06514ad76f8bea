//! How fast a device multiplies matrices: what the speed of a training is measured against.

use std::time::Duration;

use tch::{Device, Kind, Tensor};

use crate::model::config::Precision;
use crate::model::device;
use crate::model::linear::linear;

/// Time spent on the measurement.
const TIME: Duration = Duration::from_millis(300);

/// FLOP/s of a large square product in the precision of a training, the best of several.
pub fn flops_per_second(on: Device, precision: Precision, clock: &dyn Fn() -> Duration) -> f64 {
    let kind = match precision {
        Precision::F32 | Precision::Tf32 => Kind::Float,
        Precision::Bf16 => Kind::BFloat16,
    };
    let side = if on.is_cuda() { 8192 } else { 1024 };
    let _guard = tch::no_grad_guard();
    let [left, right] = [0.5, 0.25].map(|value| Tensor::full([side, side], value, (kind, on)));
    // The product that a model asks for, by the same kernel.
    let multiply = || {
        let product = linear(&left, &right);
        device::synchronize(on);
        product
    };
    let _warm = multiply();
    let (begin, mut best) = (clock(), 0.0_f64);
    while clock().saturating_sub(begin) < TIME {
        let start = clock();
        let _product = multiply();
        let seconds = clock().saturating_sub(start).as_secs_f64().max(1e-9);
        best = best.max(2.0 * (side as f64).powi(3) / seconds);
    }
    best
}
