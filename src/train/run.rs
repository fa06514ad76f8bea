//! A whole training, from tokens to published weights, that can be stopped at any moment and gone on with.
//!
//! Everything needed to go on lies in `out`. A kill loses the steps since the last checkpoint and nothing else; they are
//! done again, and on the CPU come out as they were.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use tch::Device;

use super::best::{Best, best_file};
use super::checkpoint::{self, State};
use super::config::{Length, Schedule, TrainConfig};
use super::exchange::same_weights;
use super::files::{CURVE, CurvePoint, Lines, SPEED, VALIDATION, ValidationPoint, snapshot_file, write_json};
use super::gates::judge_first;
use super::gauges::Gauges;
use super::rows::epoch_tokens;
use super::speed::{LAP, Laps};
use super::trainer::{Launched, Trainer};
use super::windows::Windows;
use super::{grow, validation};
use crate::data::tokens::TokenStream;
use crate::error::Fixable;
use crate::model::config::ModelConfig;
use crate::model::decoder::Decoder;
use crate::progress::Progress;
use crate::ranks::Ranks;

/// The streams of a training: games as `<bos>` moves `<eos>`, back to back.
#[derive(Clone, Copy)]
pub struct TrainingTokens<'a> {
    pub train: TokenStream<'a>,
    pub validation: TokenStream<'a>,
}

/// Where and how a training runs: nothing here decides the weights.
#[derive(Clone, Copy)]
pub struct Session<'a> {
    pub device: Device,
    pub threads: usize,
    /// Time between two checkpoints; zero saves after each step.
    pub checkpoint_every: Duration,
    /// The folder of a finished training of the same settings and fewer steps, where this one begins if `out` has no
    /// checkpoint yet. Its rates must be those of this training: see [`LearningRate::trunk`](super::config::LearningRate::trunk).
    pub from: Option<&'a Path>,
    /// A monotonic clock.
    pub clock: &'a dyn Fn() -> Duration,
    pub progress: Progress<'a>,
    /// The processes that share the training. Rank 0 alone writes into the folder; all others only read a checkpoint there.
    pub ranks: &'a dyn Ranks,
}

/// Of the windows that validation losses are measured on: the same for every seed of a training, so that a difference
/// between two seeds is one of the models.
const VALIDATION_SEED: u64 = 0;

/// The last file written: where it is, the training is done.
pub const DONE: &str = "training.json";

/// Trains, or goes on with what lies in `out`, to the last step.
///
/// # Errors
///
/// [`Exit::Interrupted`](crate::error::Exit::Interrupted) once the user asked to stop and a checkpoint is saved; else where
/// the data are too short, the loss is no number, or the device fails.
pub fn train(config: &TrainConfig, model: &ModelConfig, tokens: TrainingTokens, out: &Path, session: Session) -> Result<()> {
    check(config)?;
    let first = session.ranks.is_first();
    let [done] = session.ranks.decide([out.join(DONE).exists()])?;
    if !done {
        std::thread::scope(|scope| {
            let mut run = Run::open(config, tokens, model, out, session)?;
            run.trainer.ahead(scope)?;
            run.go()?;
            run.finish(tokens)
        })?;
    }
    if !first {
        return Ok(());
    }
    // All is there; what is left of the way to it goes. What can be made longer keeps its last checkpoint for that.
    match config.learning_rate.schedule {
        Schedule::Constant => checkpoint::keep(out, u64::MAX, 1)?,
        Schedule::Cosine | Schedule::Wsd { .. } => checkpoint::remove(out)?,
    }
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
    gauges: Gauges,
    /// The measured matmul rate of all devices together, once it is known.
    peak_flops: Option<f64>,
}

impl<'a> Run<'a> {
    fn open(
        config: &'a TrainConfig,
        tokens: TrainingTokens<'a>,
        model: &ModelConfig,
        out: &'a Path,
        session: Session<'a>,
    ) -> Result<Self> {
        let ranks = session.ranks;
        if ranks.is_first() {
            fs_err::create_dir_all(out.join("snapshots"))?;
            fs_err::create_dir_all(out.join("best"))?;
            write_json(&out.join("model.json"), model)?;
            if let Some(from) = session.from.filter(|_| checkpoint::all(out).is_ok_and(|all| all.is_empty())) {
                grow::adopt(from, out, config.snapshots.every)?;
            }
        }
        // None looks for a checkpoint before rank 0 is so far.
        ranks.decide([true])?;
        let steps = match config.length {
            Length::Steps(steps) => steps,
            Length::Epochs(_) => config.steps(model.context, epoch_tokens(config.packing, tokens.train, model.context)?),
        };
        let length = [steps, config.snapshots.every];
        let saved = checkpoint::newest(out, model, session.device, length, &|text| session.progress.note(text))?;
        let state = saved.as_ref().map_or_else(State::default, |saved| saved.state);
        let trainer = match saved {
            None => Trainer::new(config, Decoder::new(model, config.seed, session.device)?, tokens.train, steps)?,
            Some(saved) => {
                session.progress.note(format!("going on after step {} of {steps}", state.step));
                Trainer::new(config, saved.decoder, tokens.train, steps)?.at(
                    state.step,
                    &saved.moments,
                    saved.average.as_ref(),
                    state.watch,
                )
            }
        }
        .among(ranks)?;
        same_weights(ranks, trainer.decoder.weights(), state.step)?;
        if let Some(packed) = trainer.packed().filter(|_| ranks.is_first()) {
            session.progress.note(packed.told(model.context));
        }
        let validation_windows =
            Windows::fixed(VALIDATION_SEED, config.batch, config.packing, tokens.validation, model.context, session.device)?
                .per_step(config.accumulate)
                .rows(ranks.rows(config.batch)?);
        let lines = |name: &str, bytes| if ranks.is_first() { Lines::open(&out.join(name), bytes) } else { Ok(Lines::nowhere()) };
        let now = (session.clock)();
        Ok(Self {
            validation_windows,
            curve: lines(CURVE, state.curve)?,
            validation: lines(VALIDATION, state.validation)?,
            speed: lines(SPEED, state.speed)?,
            best: state.best,
            saved: (state.step, now),
            told: now,
            gauges: Gauges::open(session.device),
            peak_flops: None,
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
            let due = clock().saturating_sub(self.saved.1) >= self.session.checkpoint_every;
            let save = interrupted || if last { self.config.learning_rate.schedule == Schedule::Constant } else { due };
            let [interrupted, save] = self.session.ranks.decide([interrupted, save])?;
            if !(validate || snapshot || save || step.is_multiple_of(LAP)) {
                continue;
            }
            if let Some(launched) = under_way.take() {
                self.tell(launched)?;
            }
            laps.pause();
            if let Some(lap) = laps.finished(step, self.config.tokens_per_step(self.trainer.decoder.config().context)) {
                self.tell_lap(lap)?;
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
        let point: CurvePoint = self.trainer.read(launched).map_err(|error| match error.downcast::<Fixable>() {
            Ok(fixable) => {
                let hint = format!("{}; {}", self.last_good(), fixable.hint.clone().unwrap_or_default());
                fixable.hint(hint).into()
            }
            Err(error) => error,
        })?;
        if point.step == 1 {
            judge_first(point.loss)?;
        }
        if point.skipped {
            let CurvePoint { step, loss, gradient_norm, .. } = point;
            let text = format!("step {step} was a spike and is skipped: loss {loss:.4}, gradient norm {gradient_norm:.4}");
            self.session.progress.note(text);
        }
        self.curve.push(&point)?;
        let (now, steps) = ((self.session.clock)(), self.trainer.steps());
        if now.saturating_sub(self.told) >= Duration::from_millis(300) || point.step == steps {
            self.told = now;
            self.session.progress.done(point.step, steps, "steps");
            self.session.progress.metric("loss", point.step, point.loss);
        }
        Ok(())
    }

    fn last_good(&self) -> String {
        match self.saved.0 {
            0 => "there is no checkpoint before it".to_owned(),
            step => format!("the last good checkpoint is step {step}"),
        }
    }

    fn validate(&mut self) -> Result<()> {
        let (ranks, step, tokens) = (self.session.ranks, self.trainer.step(), self.trainer.tokens());
        same_weights(ranks, self.trainer.decoder.weights(), step)?;
        let loss = self.validation_loss(&self.trainer.decoder)?;
        self.validation.push(&ValidationPoint { step, tokens, loss })?;
        self.session.progress.metric("validation_loss", step, loss);
        if self.best.is_none_or(|best| loss < best.loss) {
            self.best = Some(Best { step, loss });
            if ranks.is_first() {
                self.trainer.decoder.weights().write(&best_file(self.out, step))?;
            }
        }
        Ok(())
    }

    fn validation_loss(&self, decoder: &Decoder) -> Result<f64> {
        let ranks = self.session.ranks;
        let (own, targets) = validation::loss(decoder, self.config, &self.validation_windows)?;
        if ranks.size() == 1 {
            return Ok(own);
        }
        Ok(ranks.total(own * targets as f64)? / ranks.total(targets as f64)?)
    }

    fn snapshot(&self) -> Result<()> {
        if !self.session.ranks.is_first() {
            return Ok(());
        }
        self.trainer.decoder.weights().write(&snapshot_file(self.out, self.trainer.step()))
    }

    fn save(&mut self) -> Result<()> {
        if !self.session.ranks.is_first() {
            return Ok(());
        }
        let state = State {
            step: self.trainer.step(),
            best: self.best,
            curve: self.curve.sync()?,
            validation: self.validation.sync()?,
            speed: self.speed.sync()?,
            watch: self.trainer.watch,
        };
        checkpoint::save(self.out, &self.trainer, state)?;
        self.saved = (state.step, (self.session.clock)());
        Ok(())
    }
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

mod ending;
mod lap;
#[cfg(test)]
mod tests;
