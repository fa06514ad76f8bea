//! A whole training, from tokens to published weights, that can be stopped at any moment and gone on with.
//!
//! Everything needed to go on lies in `out`. A kill loses the steps since the last checkpoint and nothing else; they are
//! done again, and on the CPU come out as they were.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use serde_json::json;
use tch::Device;

use super::checkpoint::{self, Best, State};
use super::config::TrainConfig;
use super::files::{
    CURVE, CurvePoint, Lines, SPEED, SpeedPoint, VALIDATION, ValidationPoint, read_lines, snapshot_file, sync_dir, write_json,
};
use super::reading::{Reading, summary};
use super::speed::{LAP, Laps, median};
use super::trainer::{Launched, Trainer};
use super::windows::Windows;
use super::{matmul, validation};
use crate::error::Fixable;
use crate::model::config::ModelConfig;
use crate::model::decoder::Decoder;
use crate::model::{device, shim};
use crate::progress::Progress;

/// The streams of a training: games as `<bos>` moves `<eos>`, back to back.
#[derive(Clone, Copy)]
pub struct TrainingTokens<'a> {
    pub train: &'a [u16],
    pub validation: &'a [u16],
}

/// Where and how a training runs: nothing here decides the weights.
#[derive(Clone, Copy)]
pub struct Session<'a> {
    pub device: Device,
    pub threads: usize,
    /// Time between two checkpoints; zero saves after each step.
    pub checkpoint_every: Duration,
    /// A monotonic clock.
    pub clock: &'a dyn Fn() -> Duration,
    pub progress: Progress<'a>,
}

/// Of the windows that validation losses are measured on: the same for every seed of a training, so that a difference
/// between two seeds is one of the models.
const VALIDATION_SEED: u64 = 0;

/// The last file written: where it is, the training is done.
const DONE: &str = "training.json";

/// Trains, or goes on with what lies in `out`, to the last step.
///
/// # Errors
///
/// [`Exit::Interrupted`](crate::error::Exit::Interrupted) once the user asked to stop and a checkpoint is saved; else where
/// the data are too short, the loss is no number, or the device fails.
pub fn train(config: &TrainConfig, model: &ModelConfig, tokens: TrainingTokens, out: &Path, session: Session) -> Result<()> {
    check(config)?;
    if !out.join(DONE).exists() {
        let mut run = Run::open(config, tokens, model, out, session)?;
        run.go()?;
        run.finish(tokens)?;
    }
    // All is there; what is left of the way to it goes.
    checkpoint::remove(out)?;
    let best = out.join("best");
    if best.exists() {
        fs_err::remove_dir_all(best)?;
    }
    Ok(())
}

struct Run<'a> {
    config: &'a TrainConfig,
    out: &'a Path,
    session: Session<'a>,
    trainer: Trainer<'a>,
    validation_windows: Windows<'a>,
    best: Option<Best>,
    curve: Lines,
    validation: Lines,
    speed: Lines,
    /// The step of the last checkpoint, and when it was saved.
    saved: (u64, Duration),
    told: Duration,
}

impl<'a> Run<'a> {
    fn open(
        config: &'a TrainConfig,
        tokens: TrainingTokens<'a>,
        model: &ModelConfig,
        out: &'a Path,
        session: Session<'a>,
    ) -> Result<Self> {
        fs_err::create_dir_all(out.join("snapshots"))?;
        fs_err::create_dir_all(out.join("best"))?;
        write_json(&out.join("model.json"), model)?;
        let steps = config.steps(model.context, tokens.train.len() as u64);
        let saved = checkpoint::newest(out, model, session.device).map_err(|error| unusable(out, error))?;
        let state = saved.as_ref().map_or_else(State::default, |saved| saved.state);
        belongs(out, state, steps).map_err(|error| unusable(out, error))?;
        let trainer = match saved {
            None => Trainer::new(config, Decoder::new(model, config.seed, session.device)?, tokens.train, steps)?,
            Some(saved) => {
                session.progress.note(format!("resuming after step {} of {steps}", state.step));
                Trainer::new(config, saved.decoder, tokens.train, steps)?.at(state.step, &saved.moments)
            }
        };
        let now = (session.clock)();
        Ok(Self {
            validation_windows: Windows::fixed(VALIDATION_SEED, config.batch, tokens.validation, model.context, session.device)?,
            curve: Lines::open(&out.join(CURVE), state.curve)?,
            validation: Lines::open(&out.join(VALIDATION), state.validation)?,
            speed: Lines::open(&out.join(SPEED), state.speed)?,
            best: state.best,
            saved: (state.step, now),
            told: now,
            config,
            out,
            session,
            trainer,
        })
    }

    fn go(&mut self) -> Result<()> {
        let (steps, clock) = (self.trainer.steps(), self.session.clock);
        if self.trainer.step() == 0 {
            self.snapshot()?;
        }
        let mut laps = Laps::new(clock, self.trainer.step());
        let mut under_way: Option<Launched> = None;
        while self.trainer.step() < steps {
            let launched = self.trainer.advance()?;
            // The loss of a step is read once the next one has been given to the device, which so never waits.
            if let Some(before) = under_way.replace(launched) {
                self.tell(before)?;
            }
            let step = self.trainer.step();
            let last = step == steps;
            let validate = last || step.is_multiple_of(self.config.validate.every);
            let snapshot = last || step.is_multiple_of(self.config.snapshots.every);
            let interrupted = !last && self.session.progress.should_stop();
            let save = interrupted || (!last && clock().saturating_sub(self.saved.1) >= self.session.checkpoint_every);
            if !(validate || snapshot || save || step.is_multiple_of(LAP)) {
                continue;
            }
            if let Some(launched) = under_way.take() {
                self.tell(launched)?;
            }
            laps.pause();
            if let Some(lap) = laps.finished(step, self.config.tokens_per_step(self.trainer.decoder.config().context)) {
                self.speed.push(&lap)?;
                self.session.progress.metric("tokens_per_second", step, lap.tokens_per_second);
            }
            if validate {
                self.validate()?;
            }
            if snapshot {
                self.snapshot()?;
            }
            if save {
                self.save()?;
            }
            if interrupted {
                return Err(Fixable::interrupted(format!(
                    "training stopped after step {step} of {steps}, and all of it is kept"
                ))
                .hint("the same command goes on from there")
                .into());
            }
            laps.resume();
        }
        Ok(())
    }

    /// Writes a step into the curve, and tells the user a few times a second.
    fn tell(&mut self, launched: Launched) -> Result<()> {
        let point: CurvePoint = launched.read().map_err(|error| match error.downcast::<Fixable>() {
            Ok(fixable) => fixable.hint(self.way_out()).into(),
            Err(error) => error,
        })?;
        self.curve.push(&point)?;
        let (now, steps) = ((self.session.clock)(), self.trainer.steps());
        if now.saturating_sub(self.told) >= Duration::from_millis(300) || point.step == steps {
            self.told = now;
            self.session.progress.done(point.step, steps, "steps");
            self.session.progress.metric("loss", point.step, point.loss);
        }
        Ok(())
    }

    fn way_out(&self) -> String {
        let good = match self.saved.0 {
            0 => "there is no checkpoint before it".to_owned(),
            step => format!("the last good checkpoint is step {step}"),
        };
        format!("{good}; lower train.learning_rate.peak, or make its warmup longer")
    }

    fn validate(&mut self) -> Result<()> {
        let loss = validation::loss(&self.trainer.decoder, self.config, &self.validation_windows)?;
        let (step, tokens) = (self.trainer.step(), self.trainer.tokens());
        self.validation.push(&ValidationPoint { step, tokens, loss })?;
        self.session.progress.metric("validation_loss", step, loss);
        if self.best.is_none_or(|best| loss < best.loss) {
            self.best = Some(Best { step, loss });
            self.trainer.decoder.weights().write(&best_file(self.out, step))?;
        }
        Ok(())
    }

    fn snapshot(&self) -> Result<()> {
        self.trainer.decoder.weights().write(&snapshot_file(self.out, self.trainer.step()))
    }

    fn save(&mut self) -> Result<()> {
        let state = State {
            step: self.trainer.step(),
            best: self.best,
            curve: self.curve.sync()?,
            validation: self.validation.sync()?,
            speed: self.speed.sync()?,
        };
        checkpoint::save(self.out, &self.trainer, state)?;
        // Only now does no checkpoint name an older best.
        if let Some(best) = self.best {
            remove_best_but(self.out, best)?;
        }
        self.saved = (state.step, (self.session.clock)());
        Ok(())
    }

    /// Writes what is told of the whole training, the file that says it is done last.
    fn finish(&mut self, tokens: TrainingTokens) -> Result<()> {
        let best = self.best.expect("the last step is validated");
        let chosen = self.out.join("best.safetensors");
        fs_err::copy(best_file(self.out, best.step), &chosen)?;
        fs_err::File::open(&chosen)?.sync_all()?;
        write_json(&self.out.join("best.json"), &best)?;
        for lines in [&self.curve, &self.validation, &self.speed] {
            lines.sync()?;
        }
        write_json(&self.out.join("device.json"), &self.device_facts()?)?;
        sync_dir(self.out)?;
        let model = self.trainer.decoder.config();
        let facts = json!({
            "steps": self.trainer.steps(),
            "tokens_per_step": self.config.tokens_per_step(model.context),
            "parameters": model.parameters(),
            "flops_per_token": model.flops_per_token(),
            "train_tokens": tokens.train.len(),
            "validation_tokens": tokens.validation.len(),
        });
        write_json(&self.out.join(DONE), &facts)
    }

    fn device_facts(&self) -> Result<serde_json::Value> {
        let Session { device, threads, clock, .. } = self.session;
        let peak_memory_bytes = match device {
            Device::Cuda(index) => shim::peak_bytes(index).ok(),
            _ => None,
        };
        let peak_flops = matmul::flops_per_second(device, self.config.precision, clock);
        let laps = read_lines::<SpeedPoint>(&self.out.join(SPEED))?;
        let tokens_per_second = median(&laps);
        let readings: Vec<Reading> = laps.iter().map(|lap| lap.reading).collect();
        let flops_per_token = self.trainer.decoder.config().flops_per_token() as f64;
        Ok(json!({
            "device": device::name(device),
            "threads": threads,
            "matmul_flops_per_second": peak_flops,
            "tokens_per_second": tokens_per_second,
            "mfu": tokens_per_second.map(|rate| rate * flops_per_token / peak_flops),
            "peak_memory_bytes": peak_memory_bytes,
            "read": summary(&readings),
        }))
    }
}

/// Sees that the other files of an unfinished training are those that its checkpoint was saved with.
fn belongs(out: &Path, state: State, steps: u64) -> Result<()> {
    anyhow::ensure!(state.step < steps.max(1), "it was saved after step {} of {steps}", state.step);
    if let Some(best) = state.best {
        fs_err::metadata(best_file(out, best.step))?;
    }
    for (name, bytes) in [(CURVE, state.curve), (VALIDATION, state.validation), (SPEED, state.speed)] {
        let there = fs_err::metadata(out.join(name)).map_or(0, |found| found.len());
        anyhow::ensure!(there >= bytes, "`{name}` has {there} bytes, and had {bytes} then");
    }
    Ok(())
}

/// A checkpoint that cannot be gone on with. It is never removed unasked: it may be the work of days. What libtorch says
/// is of the device, and no fault of the files.
fn unusable(out: &Path, error: anyhow::Error) -> anyhow::Error {
    if error.chain().any(|cause| matches!(cause.downcast_ref(), Some(tch::TchError::Torch(_)))) {
        return error;
    }
    let checkpoints = out.join("checkpoints");
    Fixable::failed(format!("the checkpoint in `{}` is damaged: {error:#}", checkpoints.display()))
        .hint("put its files back from a copy, or begin anew with --force train, which removes what is there")
        .into()
}

fn best_file(out: &Path, step: u64) -> PathBuf {
    out.join("best").join(format!("step-{step:08}.safetensors"))
}

/// Removes best weights that were bettered.
fn remove_best_but(out: &Path, best: Best) -> Result<()> {
    for entry in fs_err::read_dir(out.join("best"))? {
        let path = entry?.path();
        if path != best_file(out, best.step) {
            fs_err::remove_file(path)?;
        }
    }
    Ok(())
}

fn check(config: &TrainConfig) -> Result<()> {
    for (value, name) in [
        (u64::from(config.batch), "batch"),
        (u64::from(config.accumulate), "accumulate"),
        (config.validate.every, "validate.every"),
        (u64::from(config.validate.batches), "validate.batches"),
        (config.snapshots.every, "snapshots.every"),
    ] {
        if value == 0 {
            return Err(Fixable::usage(format!("train.{name} is `0`, and must be above it")).into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
