//! An exponential moving average of the weights, beside them on the device (Polyak and Juditsky 1992, with exponential weights).

use std::path::Path;

use anyhow::{Context as _, Result};
use tch::Tensor;

use super::config::Ema;
use crate::model::shim;
use crate::model::weights::{Weights, write_tensors};

pub struct Average {
    decay: f64,
    /// In the order of the model's own.
    named: Vec<(String, Tensor)>,
}

impl Average {
    /// The average of the weights at hand, before any step.
    pub fn of(ema: Ema, weights: &Weights) -> Self {
        let copy = |(name, weight): (String, &Tensor)| (name, tch::no_grad(|| weight.detach().copy()));
        Self { decay: ema.decay, named: weights.named().into_iter().map(copy).collect() }
    }

    /// After a step: `decay · average + (1 − decay) · weights`. Nothing where `skip`, a scalar on the device, is 1.
    pub fn follow(&self, weights: &Weights, skip: Option<&Tensor>) -> Result<()> {
        let to: Vec<&Tensor> = self.named.iter().map(|(_, tensor)| tensor).collect();
        let from: Vec<&Tensor> = weights.named().into_iter().map(|(_, tensor)| tensor).collect();
        shim::lerp(&to, &from, 1.0 - self.decay, skip)
    }

    /// Goes on from an average that was saved.
    pub fn restore(&mut self, saved: &Weights) {
        for ((_, own), (_, saved)) in self.named.iter_mut().zip(saved.named()) {
            *own = saved.shallow_clone();
        }
    }

    /// Writes a safetensors file, whole or absent under its name.
    pub fn write(&self, path: &Path) -> Result<()> {
        let named: Vec<(String, &Tensor)> = self.named.iter().map(|(name, tensor)| (name.clone(), tensor)).collect();
        write_tensors(path, &named).context("writing the average of the weights")
    }
}
