//! One fully resolved point of an experiment. Every value was visible in a file or on the command line.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::corpus::config::{Keep, Source, Split};
use crate::error::Fixable;
use crate::measure::metric::{Checkpoint, Metric};
use crate::model::config::ModelConfig;
use crate::train::config::{InitialLoss, Length, Overfit, TrainConfig};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    pub name: String,
    /// The first comment of the file: what the experiment asks.
    pub question: String,
    /// What sets this point of a sweep apart, such as `width=128 seed=1`; the experiment's name where there is no sweep.
    pub point: String,
    pub corpus: Corpus,
    pub model: ModelConfig,
    #[serde(flatten)]
    pub weights: Weights,
    pub gates: Gates,
    pub measure: Measure,
    /// Printed beside what was measured, by names such as `legality.rate`.
    pub published: BTreeMap<String, Published>,
}

/// Where the weights come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weights {
    Train(TrainConfig),
    /// From elsewhere: nothing is trained.
    Import {
        /// What people call them.
        name: String,
        /// BLAKE3 of the file, in hexadecimal.
        blake3: String,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Corpus {
    /// In the order of the file: months, or files.
    pub sources: Vec<Source>,
    pub moves: Option<u64>,
    pub keep: Keep,
    pub split: Split,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gates {
    /// Games to replay; 0 replays none.
    pub replay: u32,
    pub initial_loss: Option<InitialLoss>,
    pub overfit: Option<Overfit>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// At every snapshot.
    pub snapshots: Vec<Metric>,
    /// The published figures.
    pub last: Vec<Metric>,
    pub checkpoint: Checkpoint,
}

/// A value from a publication, and its interval and size where they were given.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Published {
    pub value: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub n: Option<u64>,
}

impl Experiment {
    /// How the model is trained; none where its weights are imported.
    pub fn train(&self) -> Option<&TrainConfig> {
        match &self.weights {
            Weights::Train(train) => Some(train),
            Weights::Import { .. } => None,
        }
    }

    /// The training that a command is about.
    ///
    /// # Errors
    ///
    /// Where the weights are imported.
    pub fn must_train(&self) -> Result<&TrainConfig, Fixable> {
        self.train().ok_or_else(|| {
            Fixable::usage(format!("`{}` trains nothing: its weights are imported", self.point))
                .hint("name an experiment with a [train] section, or take model.weights out")
        })
    }

    /// The training, for tests to change.
    #[cfg(test)]
    pub(crate) fn training(&mut self) -> &mut TrainConfig {
        match &mut self.weights {
            Weights::Train(train) => train,
            Weights::Import { name, .. } => panic!("`{name}` is imported"),
        }
    }

    /// The steps whose weights are published: 0, every so many, and the last. Empty where the length is told in
    /// epochs, since the number of steps is known only when the tokens are, and where nothing is trained.
    pub fn snapshot_steps(&self) -> Vec<u64> {
        let Some(TrainConfig { length: Length::Steps(steps), snapshots, .. }) = self.train() else { return Vec::new() };
        crate::train::config::snapshot_steps(*steps, snapshots.every)
    }
}
