//! What follows from the trials: what fits with a margin, and what the whole experiment takes.

use anyhow::Result;
use serde_json::{Value, json};

use super::expected::Rest;
use super::ladder::passes;
use super::subject::Subject;
use super::trial::{Outcome, Trial};
use crate::error::Fixable;
use crate::memory::Room;
use crate::train::bench::asked::StepsMeasured;
use crate::train::config::TrainConfig;
use crate::train::needs;

/// The share of free memory that is left free by the largest batch: other programs move, and so does what validation needs.
pub(super) const MARGIN: f64 = 0.1;

pub(super) struct Findings<'a> {
    pub(super) point: Subject<'a>,
    pub(super) tried: Vec<Trial>,
    /// Windows of one step of the experiment.
    pub(super) step: u32,
    /// The best of all trials.
    pub(super) matmul_flops_per_second: f64,
    /// The largest batch that keeps the windows of a step and leaves the margin free.
    pub(super) largest: Option<u32>,
    /// None where the number of steps is not known.
    pub(super) expected: Option<Expected>,
    pub(super) untold: u64,
}

/// The whole experiment, by one of the batches.
pub(super) struct Expected {
    pub(super) batch: u32,
    pub(super) steps: u64,
    pub(super) training_seconds: f64,
    pub(super) validation_seconds: f64,
    /// Of all else that is to make, as `plan` estimates it.
    pub(super) rest_seconds: f64,
    /// Of training and validation, where the device tells its energy.
    pub(super) joules: Option<f64>,
}

impl<'a> Findings<'a> {
    /// # Errors
    ///
    /// Where no batch could be trained with.
    pub(super) fn of(point: Subject<'a>, tried: Vec<Trial>, rest: &Rest) -> Result<Self> {
        let step = point.train.batch * point.train.accumulate;
        let worked = || tried.iter().filter_map(|trial| Some((trial, trial.measured()?)));
        if worked().next().is_none() {
            let said = tried.iter().find_map(|trial| match &trial.outcome {
                Outcome::OutOfMemory(said) | Outcome::TooLarge(said) | Outcome::NotTried(said) => Some(said.clone()),
                Outcome::Ok(_) => None,
            });
            return Err(Fixable::failed(said.unwrap_or_else(|| "no batch was tried".to_owned()))
                .hint("take a smaller model.context or model, or another device")
                .into());
        }
        let keeps = |trial: &Trial| passes(step, trial.batch).is_some();
        let largest = worked().filter(|(trial, measured)| keeps(trial) && fits(measured)).map(|(trial, _)| trial.batch).max();
        let by = worked()
            .find(|(trial, _)| trial.batch == point.train.batch)
            .or_else(|| worked().max_by_key(|(trial, _)| (keeps(trial), trial.batch)));
        let expected = by.zip(rest.steps).map(|((trial, measured), steps)| Expected::of(point, trial, measured, steps, rest));
        let matmul = worked().map(|(_, measured)| measured.matmul_flops_per_second).fold(0.0, f64::max);
        Ok(Self { step, matmul_flops_per_second: matmul, largest, expected, untold: rest.untold, point, tried })
    }

    /// Training tokens in a second, and the share of the measured rate of products that they take.
    pub(super) fn speed(&self, trial: &Trial, measured: &StepsMeasured) -> (f64, f64) {
        let tokens_per_second = tokens_per_second(self.point, trial, measured);
        (tokens_per_second, tokens_per_second * self.point.model.flops_per_token() as f64 / self.matmul_flops_per_second)
    }

    /// The peak of memory as `plan` reckons it.
    pub(super) fn reckoned_bytes(&self, trial: &Trial, measured: &StepsMeasured) -> u64 {
        let train = TrainConfig { batch: trial.batch, ..self.point.train.clone() };
        needs::peak_bytes(&train, &self.point.model, &measured.device)
    }

    pub(super) fn first(&self) -> Option<&StepsMeasured> {
        self.tried.iter().find_map(Trial::measured)
    }

    pub(super) fn document(&self) -> Value {
        let (expected, first) = (self.expected.as_ref(), self.first());
        json!({
            "schema": 1,
            "device": first.map(|measured| &measured.device),
            "threads": first.map(|measured| measured.threads),
            "precision": self.point.train.precision,
            "model": self.point.model,
            "parameters": self.point.model.parameters(),
            "flops_per_token": self.point.model.flops_per_token(),
            "matmul_flops_per_second": self.matmul_flops_per_second,
            "batches": self.tried.iter().map(|trial| self.batch(trial)).collect::<Vec<_>>(),
            "largest_batch": self.largest,
            "largest_accumulate": self.largest.and_then(|batch| passes(self.step, batch)),
            "margin": MARGIN,
            "expected_seconds": expected.map(Expected::seconds),
            "expected_joules": expected.and_then(|expected| expected.joules),
            "expected": expected.map(|expected| json!({
                "batch": expected.batch,
                "steps": expected.steps,
                "training_seconds": expected.training_seconds,
                "validation_seconds": expected.validation_seconds,
                "rest_seconds": expected.rest_seconds,
                "nodes_without_estimate": self.untold,
            })),
        })
    }

    fn batch(&self, trial: &Trial) -> Value {
        let mut told = json!({
            "batch": trial.batch,
            // None where no number of passes makes the experiment's step.
            "accumulate": passes(self.step, trial.batch),
        });
        let more = match &trial.outcome {
            Outcome::Ok(measured) => {
                let (tokens_per_second, mfu) = self.speed(trial, measured);
                json!({
                    "outcome": "ok",
                    "steps": measured.steps,
                    "step_passes": trial.passes,
                    "step_seconds": measured.median_seconds,
                    "step_seconds_least": measured.least_seconds,
                    "validation_seconds": measured.validation_seconds,
                    "tokens_per_second": tokens_per_second,
                    "mfu": mfu,
                    "peak_memory_bytes": measured.peak_memory_bytes,
                    "reckoned_memory_bytes": self.reckoned_bytes(trial, measured),
                    "free_memory_bytes": measured.room.as_ref().map(|room| room.bytes),
                    "free_memory": measured.room.as_ref().map(|room| &room.of),
                    "fits": fits(measured),
                    "watts": measured.watts,
                })
            }
            Outcome::OutOfMemory(said) => json!({ "outcome": "out_of_memory", "message": said }),
            Outcome::TooLarge(said) => json!({ "outcome": "too_large", "message": said }),
            Outcome::NotTried(said) => json!({ "outcome": "not_tried", "message": said }),
        };
        if let (Some(told), Value::Object(more)) = (told.as_object_mut(), more) {
            told.extend(more);
        }
        told
    }
}

/// Whether the margin stays free.
pub(super) fn fits(measured: &StepsMeasured) -> bool {
    let Some((peak, Room { bytes, .. })) = measured.peak_memory_bytes.zip(measured.room.as_ref()) else { return true };
    peak as f64 <= *bytes as f64 * (1.0 - MARGIN)
}

fn tokens_per_second(point: Subject, trial: &Trial, measured: &StepsMeasured) -> f64 {
    let windows = f64::from(trial.batch) * f64::from(trial.passes);
    windows * f64::from(point.model.context) / measured.median_seconds
}

impl Expected {
    fn of(point: Subject, trial: &Trial, measured: &StepsMeasured, steps: u64, rest: &Rest) -> Self {
        let tokens = steps as f64 * point.train.tokens_per_step(point.model.context) as f64;
        let training_seconds = tokens / tokens_per_second(point, trial, measured);
        let passes = steps.div_ceil(point.train.validate.every.max(1)) * u64::from(point.train.validate.batches);
        let windows = passes as f64 * f64::from(point.train.batch) * f64::from(point.train.accumulate);
        let validation_seconds = windows / f64::from(trial.batch) * measured.validation_seconds;
        let joules = measured.watts.map(|watts| watts * (training_seconds + validation_seconds));
        Self { batch: trial.batch, steps, training_seconds, validation_seconds, rest_seconds: rest.seconds, joules }
    }

    pub(super) fn seconds(&self) -> f64 {
        self.training_seconds + self.validation_seconds + self.rest_seconds
    }
}

#[cfg(test)]
mod tests;
