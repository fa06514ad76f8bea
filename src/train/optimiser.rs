//! AdamW on all weights at once, with decay on matrices only and the gradient clipped by its global norm.

use anyhow::Result;
use tch::{Kind, Tensor};

use super::config::TrainConfig;
use crate::model::shim::{self, AdamW};
use crate::model::weights::Weights;

const EPS: f64 = 1e-8;

/// The weights being trained, and both moments of their gradients.
pub struct Optimiser {
    /// Matrices first; the same memory as the decoder's.
    weights: Vec<(String, Tensor)>,
    matrices: usize,
    first: Vec<Tensor>,
    second: Vec<Tensor>,
    /// Steps done, as the float32 scalar that the fused kernel reads.
    step: Tensor,
    steps: u64,
    with: AdamW,
    clip: f64,
}

impl Optimiser {
    /// An optimiser that has done no step. From here on gradients are tracked for `weights`.
    pub fn new(config: &TrainConfig, weights: &Weights) -> Self {
        let (matrices, vectors): (Vec<_>, Vec<_>) = weights
            .named()
            .into_iter()
            .map(|(name, weight)| (name, weight.set_requires_grad(true)))
            .partition(|(_, weight)| weight.dim() > 1);
        let count = matrices.len();
        let weights: Vec<_> = matrices.into_iter().chain(vectors).collect();
        let zeros = || weights.iter().map(|(_, weight)| weight.zeros_like().set_requires_grad(false)).collect();
        Self {
            matrices: count,
            first: zeros(),
            second: zeros(),
            step: Tensor::zeros([], (Kind::Float, weights[0].1.device())),
            steps: 0,
            with: AdamW { rate: 0.0, betas: config.betas, decay: config.weight_decay, eps: EPS },
            clip: config.clip,
            weights,
        }
    }

    /// The gradients of a scalar loss, in the order of [`step`](Self::step). They belong to the caller: nothing is kept in
    /// the weights, so nothing has to be set to zero.
    pub fn gradients(&self, loss: &Tensor) -> Result<Vec<Tensor>> {
        let weights: Vec<&Tensor> = self.weights.iter().map(|(_, weight)| weight).collect();
        Ok(Tensor::f_run_backward(&[loss], &weights, false, false)?)
    }

    /// Clips the gradients and does one step. Returns their norm before clipping, a scalar on the device.
    pub fn step(&mut self, gradients: &[Tensor], rate: f64) -> Result<Tensor> {
        let norm = shim::clip(gradients, self.clip)?;
        self.steps += 1;
        let _ = self.step.f_fill_(self.steps as f64)?;
        let weights: Vec<&Tensor> = self.weights.iter().map(|(_, weight)| weight).collect();
        let [gradients, first, second] = [gradients, &self.first, &self.second].map(|list| list.iter().collect::<Vec<_>>());
        for (range, decay) in [(0..self.matrices, self.with.decay), (self.matrices..weights.len(), 0.0)] {
            let moments = [&first[range.clone()], &second[range.clone()]];
            let with = AdamW { rate, decay, ..self.with };
            shim::adamw(&weights[range.clone()], &gradients[range], moments, &self.step, with)?;
        }
        Ok(norm)
    }

    /// Both moments, by the names of their weights.
    pub fn moments(&self) -> [Vec<(String, &Tensor)>; 2] {
        [&self.first, &self.second]
            .map(|moments| self.weights.iter().zip(moments).map(|((name, _), moment)| (name.clone(), moment)).collect())
    }

    /// Goes on after `steps` steps with the moments of then.
    pub fn restore(&mut self, steps: u64, moments: &[Weights; 2]) {
        self.steps = steps;
        let [first, second] = moments.each_ref().map(Weights::named);
        let find = |named: &[(String, &Tensor)], name: &str| {
            let found = named.iter().find(|(other, _)| other == name);
            found.expect("moments have the names of the weights").1.shallow_clone()
        };
        for (((name, _), one), two) in self.weights.iter().zip(&mut self.first).zip(&mut self.second) {
            *one = find(&first, name);
            *two = find(&second, name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::reference::{assert_near, references};
    use crate::train::config::{LearningRate, Length, Precision, Schedule};

    fn config() -> TrainConfig {
        TrainConfig {
            length: Length::Steps(10),
            batch: 4,
            learning_rate: LearningRate { peak: 6e-4, floor: 6e-5, warmup: 3, schedule: Schedule::Cosine },
            seed: 0,
            ..TrainConfig::tiny()
        }
    }

    #[test]
    fn ten_steps_are_those_of_an_independent_implementation() {
        for reference in references() {
            let decoder = reference.decoder();
            let mut optimiser = Optimiser::new(&config(), decoder.weights());
            for step in 0..10 {
                let [inputs_bt, targets_bt] = reference.batch(step);
                let loss = decoder.loss(Precision::F32, &inputs_bt, &targets_bt);
                let gradients = optimiser.gradients(&loss).expect("a loss can be differentiated");
                let rate = config().learning_rate.at(step as u64, 10);
                let norm = optimiser.step(&gradients, rate).expect("a step can be done");
                for (seen, told) in [(&loss, "loss"), (&norm, "grad_norm")] {
                    let wanted = reference.told(&format!("steps.{step}.{told}"));
                    assert!((seen.double_value(&[]) / wanted - 1.0).abs() < 1e-5, "{told} of step {step}: {seen} and {wanted}");
                }
            }
            for (name, weight) in decoder.weights().named() {
                let wanted = reference.tensor(&format!("after10.{name}"));
                assert_near(&name, &reference.sampled(&weight.detach()), wanted, 1e-5);
            }
        }
    }

    #[test]
    fn a_large_gradient_is_scaled_to_the_norm_that_is_allowed() {
        let gradients = [Tensor::from_slice(&[3_f32, 0.0]), Tensor::from_slice(&[4_f32])];
        let norm = shim::clip(&gradients, 1.0).expect("lists match");
        assert!((norm.double_value(&[]) - 5.0).abs() < 1e-6);
        assert!((gradients[0].double_value(&[0]) - 0.6).abs() < 1e-5 && (gradients[1].double_value(&[0]) - 0.8).abs() < 1e-5);
        // A small one is left as it is.
        assert!((shim::clip(&gradients, 2.0).expect("lists match").double_value(&[]) - 1.0).abs() < 1e-5);
        assert!((gradients[1].double_value(&[0]) - 0.8).abs() < 1e-5);
    }

    #[test]
    fn an_error_of_libtorch_comes_back_as_a_message() {
        let (weight, gradient) = (Tensor::from_slice(&[1_f32, 2.0]), Tensor::from_slice(&[1_f32, 2.0, 3.0]));
        let (moment, step) = (Tensor::from_slice(&[0_f32, 0.0]), Tensor::from(1_f32));
        let with = AdamW { rate: 0.1, betas: [0.9, 0.95], decay: 0.0, eps: 1e-8 };
        let error = shim::adamw(&[&weight], &[&gradient], [&[&moment], &[&moment]], &step, with).expect_err("shapes differ");
        assert!(error.to_string().starts_with("libtorch: "), "{error}");
    }
}
