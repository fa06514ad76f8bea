//! How a model is trained: all that decides the weights, and nothing that does not. No libtorch here.

use serde::{Deserialize, Serialize};

pub use crate::model::config::Precision;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainConfig {
    /// How long: optimiser steps, or passes over the training tokens.
    pub length: Length,
    /// Windows in one forward pass.
    pub batch: u32,
    /// Forward passes in one optimiser step; their mean is the loss.
    pub accumulate: u32,
    pub sampler: Sampler,
    pub learning_rate: LearningRate,
    /// On matrices only.
    pub weight_decay: f64,
    pub betas: [f64; 2],
    /// Largest global norm of the gradient.
    pub clip: f64,
    pub precision: Precision,
    pub seed: u64,
    pub validate: Validate,
    /// Weights are published at step 0, every so many steps, and at the end.
    pub snapshots: Snapshots,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Length {
    Steps(u64),
    Epochs(f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sampler {
    /// Random windows with replacement, as published.
    Windows,
    /// A seeded permutation of all windows, each once per epoch.
    Epoch,
}

/// Linear warm-up `(step + 1) / warmup` to the peak, then a cosine to the floor at the last step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LearningRate {
    pub peak: f64,
    pub floor: f64,
    /// Steps.
    pub warmup: u64,
}

/// Validation loss on `batches` batches, the same ones each time, every so many steps and at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validate {
    pub every: u64,
    pub batches: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshots {
    pub every: u64,
}

impl TrainConfig {
    /// Tokens in one optimiser step.
    pub fn tokens_per_step(&self, context: u32) -> u64 {
        u64::from(self.batch) * u64::from(self.accumulate) * u64::from(context)
    }

    /// Optimiser steps, for training data of so many tokens.
    pub fn steps(&self, context: u32, train_tokens: u64) -> u64 {
        match self.length {
            Length::Steps(steps) => steps,
            Length::Epochs(epochs) => (epochs * train_tokens as f64 / self.tokens_per_step(context) as f64).ceil() as u64,
        }
    }
}

/// What must hold before the run is trained.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct InitialLoss {
    /// Largest distance from ln(1971), the loss of guessing, in nats.
    pub within: f64,
}

/// A fresh model must learn a few games by heart, with the run's own settings but these.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overfit {
    pub games: u32,
    pub steps: u64,
    pub batch: u32,
    /// The training loss to get below, in nats.
    pub below: f64,
}

/// The steps whose weights are published: 0, every `every`, and the last.
pub fn snapshot_steps(steps: u64, every: u64) -> Vec<u64> {
    let mut at: Vec<u64> = (0..steps).step_by(every.max(1) as usize).collect();
    at.push(steps);
    at
}

#[cfg(test)]
impl TrainConfig {
    /// A training of a moment, for tests to change what they are about.
    pub(crate) fn tiny() -> Self {
        Self {
            length: Length::Steps(7),
            batch: 2,
            accumulate: 1,
            sampler: Sampler::Windows,
            learning_rate: LearningRate { peak: 1e-2, floor: 1e-3, warmup: 2 },
            weight_decay: 0.1,
            betas: [0.9, 0.95],
            clip: 1.0,
            precision: Precision::F32,
            seed: 5,
            validate: Validate { every: 2, batches: 2 },
            snapshots: Snapshots { every: 3 },
        }
    }
}
