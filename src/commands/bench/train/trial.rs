//! One batch size, tried in a process of its own: memory comes back only with the process, and one that dies of too large a
//! batch is an outcome of that batch.

use std::sync::atomic::AtomicBool;

use anyhow::{Context as _, Result};

use super::subject::Subject;
use crate::error::{Exit, Fixable};
use crate::machine::Machine;
use crate::memory;
use crate::train::bench::asked::{Bench, StepsMeasured, TrainBench};
use crate::train::config::TrainConfig;
use crate::ui::say::aside;
use crate::worker::Worker;

pub(super) struct Trials<'a> {
    pub(super) point: Subject<'a>,
    pub(super) machine: &'a Machine,
    /// Steps to time.
    pub(super) steps: u64,
    pub(super) stop: &'a AtomicBool,
}

pub(super) struct Trial {
    pub(super) batch: u32,
    /// Forward passes of the steps that were timed.
    pub(super) passes: u32,
    pub(super) outcome: Outcome,
}

pub(super) enum Outcome {
    Ok(Box<StepsMeasured>),
    /// What was said of it.
    OutOfMemory(String),
    /// Not tried, since smaller ones show that it would not fit.
    TooLarge(String),
    /// Not tried, and why.
    NotTried(String),
}

impl Trial {
    pub(super) fn measured(&self) -> Option<&StepsMeasured> {
        match &self.outcome {
            Outcome::Ok(measured) => Some(measured),
            Outcome::OutOfMemory(_) | Outcome::TooLarge(_) | Outcome::NotTried(_) => None,
        }
    }
}

impl Trials<'_> {
    /// Times steps of a batch with so many forward passes each, for so many seconds at most, where they are given.
    ///
    /// # Errors
    ///
    /// Where the worker cannot be started, fails for another reason than memory, or the user asked to stop.
    pub(super) fn attempt(&self, batch: u32, passes: u32, seconds: Option<f64>) -> Result<Trial> {
        aside(format!("batch {batch} × {passes} …"));
        let train = TrainConfig { batch, accumulate: passes, ..self.point.train.clone() };
        let asked = Bench::Train(TrainBench { model: self.point.model.clone(), train, steps: self.steps, seconds });
        let answer = Worker::start(self.machine)?.bench(&asked, self.machine, self.stop, &|_| ());
        let outcome = match answer {
            Ok(answer) => Outcome::Ok(serde_json::from_value(answer).context("reading what the worker measured")?),
            Err(error) => Outcome::OutOfMemory(lack(error)?),
        };
        Ok(Trial { batch, passes, outcome })
    }
}

/// What is said of too little memory; any other failure is an error still. The system ends a process that takes too much by
/// signal 9.
fn lack(error: anyhow::Error) -> Result<String> {
    match error.downcast_ref::<Fixable>() {
        Some(failure)
            if failure.exit == Exit::Failed
                && (memory::is_lack(&failure.message) || failure.message.contains("was killed by signal 9")) =>
        {
            Ok(failure.message.clone())
        }
        _ => Err(error),
    }
}
