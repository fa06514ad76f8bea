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
    #[serde(default, skip_serializing_if = "Packing::is_stream")]
    pub packing: Packing,
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ema: Option<Ema>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spikes: Option<Spikes>,
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

/// What lies in a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Packing {
    /// The stream of games as it comes: a window begins and ends anywhere, and attention sees all of it.
    #[default]
    Stream,
    /// Windows begin at `<bos>`, and attention does not cross games.
    Games,
}

/// Linear warm-up `(step + 1) / warmup` to the peak, and then as the schedule says.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LearningRate {
    pub peak: f64,
    /// Where the rate ends; under [`Schedule::Constant`] it is the peak.
    pub floor: f64,
    /// Steps.
    pub warmup: u64,
    #[serde(default, skip_serializing_if = "Schedule::is_cosine")]
    pub schedule: Schedule,
}

/// What the rate does after the warm-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// Half a cosine to the floor at the last step, as published. Every rate depends on the length of the training.
    #[default]
    Cosine,
    /// Stays at the peak: no rate depends on the length, so a finished training can be made longer.
    Constant,
    /// Warm-up, stable, decay: stays at the peak, and falls in a straight line to the floor over the last `decay` steps.
    Wsd { decay: u64 },
}

/// An exponential moving average of the weights, `decay · average + (1 − decay) · weights` after each step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ema {
    /// Above 0, below 1.
    pub decay: f64,
}

/// When a step is taken for a spike: its loss or the logarithm of its gradient norm lies more than `z` standard deviations
/// above the mean of the steps before. A number that is not finite is always one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spikes {
    pub z: f64,
    /// Steps over which mean and deviation are taken, by exponential weights; none is a spike before so many steps.
    pub window: u64,
    pub then: OnSpike,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnSpike {
    /// The training fails, with the step and its batch.
    Stop,
    /// The step changes no weight and no moment, and the training goes on.
    Skip,
}

impl Packing {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
    fn is_stream(&self) -> bool {
        *self == Self::Stream
    }
}

impl Schedule {
    fn is_cosine(&self) -> bool {
        *self == Self::Cosine
    }
}

/// Validation loss on the windows of `batches` steps, the same ones each time, every so many steps and at the end.
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
            packing: Packing::Stream,
            learning_rate: LearningRate { peak: 1e-2, floor: 1e-3, warmup: 2, schedule: Schedule::Cosine },
            weight_decay: 0.1,
            betas: [0.9, 0.95],
            clip: 1.0,
            precision: Precision::F32,
            seed: 5,
            validate: Validate { every: 2, batches: 2 },
            snapshots: Snapshots { every: 3 },
            ema: None,
            spikes: None,
        }
    }
}
