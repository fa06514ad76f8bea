//! What is measured: a point of an experiment that trains.

use std::ops::Deref;

use crate::error::Fixable;
use crate::experiment::Experiment;
use crate::train::config::TrainConfig;

#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    point: &'a Experiment,
    pub(super) train: &'a TrainConfig,
}

impl<'a> Subject<'a> {
    /// # Errors
    ///
    /// Where its weights are imported.
    pub(super) fn of(point: &'a Experiment) -> Result<Self, Fixable> {
        Ok(Self { point, train: point.must_train()? })
    }
}

impl Deref for Subject<'_> {
    type Target = Experiment;

    fn deref(&self) -> &Experiment {
        self.point
    }
}
