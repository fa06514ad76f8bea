//! What must hold before hours are spent: an untrained model guesses, and a fresh one learns a few games by heart.

use std::path::Path;

use anyhow::Result;
use tch::Device;

use super::config::{InitialLoss, Overfit, Packing, TrainConfig};
use super::files::{CURVE, Lines};
use super::trainer::Trainer;
use super::windows::Windows;
use crate::chess::vocabulary::VOCABULARY_SIZE;
use crate::data::tokens::TokenStream;
use crate::error::{Exit, Fixable};
use crate::model::config::{ModelConfig, Precision};
use crate::model::decoder::Decoder;
use crate::progress::Progress;

/// Windows in the batch that the untrained model is shown.
const INITIAL_BATCH: u32 = 16;

/// How far below guessing a loss is a leak, in nats.
const LEAK: f64 = 0.5;
const LEAKED: &str =
    "a loss below chance is a leak: see whether the model is shown its targets, such as targets that are not shifted by one";

/// The loss of the overfit gate is the mean over so many steps: one step alone may be lucky.
const OVERFIT_MEAN: usize = 10;

/// Mean cross-entropy of an untrained model over a few windows, in nats per token, computed in float32. The windows are cut
/// out of the stream whatever the packing of the training: who guesses does so in both.
pub fn initial_loss(model: &ModelConfig, seed: u64, tokens: &[u16], device: Device) -> Result<f64> {
    let _guard = tch::no_grad_guard();
    let decoder = Decoder::new(model, seed, device)?;
    let batch = Windows::fixed(seed, INITIAL_BATCH, Packing::Stream, tokens, model.context, device)?.batch(0)?;
    Ok(batch.loss(&decoder, Precision::F32).f_double_value(&[])?)
}

/// The losses that a model without knowledge may have: around ln(1971), the loss of guessing.
pub fn initial_range(gate: InitialLoss) -> [f64; 2] {
    let chance = (VOCABULARY_SIZE as f64).ln();
    [chance - gate.within, chance + gate.within]
}

/// # Errors
///
/// [`Exit::Refused`] where the loss is out of range, with what that usually means.
pub fn judge_initial(loss: f64, gate: InitialLoss) -> Result<()> {
    let [low, high] = initial_range(gate);
    if (low..=high).contains(&loss) {
        return Ok(());
    }
    let hint = if loss < low {
        LEAKED
    } else {
        "a loss above chance is a broken start: see the spread of the initial weights and the scale of the logits"
    };
    let message = format!(
        "the untrained model has a loss of `{loss:.3}`, and guessing among {VOCABULARY_SIZE} tokens has {low:.3} … {high:.3}"
    );
    Err(Fixable::refused(message).hint(hint).into())
}

/// The first step of a training is that of an untrained model, which can only guess.
///
/// # Errors
///
/// [`Exit::Refused`] where its loss is half a nat below that of guessing: chance moves the mean over
/// a batch by some hundredths, and a model that sees its targets is a nat and more below.
pub fn judge_first(loss: f64) -> Result<()> {
    let chance = (VOCABULARY_SIZE as f64).ln();
    if loss < chance - LEAK {
        return Err(Fixable::refused(format!(
            "the loss of the first step is `{loss:.3}`, and an untrained model that guesses among {VOCABULARY_SIZE} tokens has {chance:.3}"
        ))
        .hint(LEAKED)
        .into());
    }
    Ok(())
}

/// What the overfit gate reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overfitted {
    /// Mean training loss over the last ten steps.
    pub loss: f64,
    /// Steps done.
    pub steps: u64,
}

/// Trains on `tokens`, a few games, by the code and settings of the run, until the mean loss of ten steps is below the
/// gate's. Writes the curve into `out`.
///
/// # Errors
///
/// [`Exit::Refused`] where all steps did not reach it.
pub fn overfit(
    config: &TrainConfig,
    model: &ModelConfig,
    gate: Overfit,
    tokens: TokenStream,
    out: &Path,
    device: Device,
    progress: Progress,
) -> Result<Overfitted> {
    let decoder = Decoder::new(model, config.seed, device)?;
    std::thread::scope(|scope| {
        let mut trainer = Trainer::new(config, decoder, tokens, gate.steps)?;
        trainer.ahead(scope)?;
        learn_by_heart(trainer, gate, out, progress)
    })
}

fn learn_by_heart(mut trainer: Trainer, gate: Overfit, out: &Path, progress: Progress) -> Result<Overfitted> {
    let mut curve = Lines::open(&out.join(CURVE), 0)?;
    let mut losses = Vec::new();
    let mut mean = f64::INFINITY;
    while trainer.step() < gate.steps {
        if progress.should_stop() {
            return Err(Fixable::interrupted(format!("the overfit gate stopped after step {}", trainer.step())).into());
        }
        let launched = trainer.advance()?;
        let point = trainer.read(launched).map_err(refused)?;
        if point.step == 1 {
            judge_first(point.loss)?;
        }
        curve.push(&point)?;
        losses.push(point.loss);
        if trainer.step().is_multiple_of(10) {
            progress.done(trainer.step(), gate.steps, "steps");
            progress.metric("loss", trainer.step(), point.loss);
        }
        let last = &losses[losses.len().saturating_sub(OVERFIT_MEAN)..];
        mean = last.iter().sum::<f64>() / last.len() as f64;
        if last.len() == OVERFIT_MEAN && mean < gate.below {
            return Ok(Overfitted { loss: mean, steps: trainer.step() });
        }
    }
    Err(Fixable::refused(format!(
        "a fresh model did not learn {} games by heart: its loss is `{mean:.3}` after {} steps, and below {} is wanted",
        gate.games, gate.steps, gate.below
    ))
    .hint("look at the curve: a flat one is a broken optimiser or wrong targets, a falling one needs more gates.overfit.steps")
    .into())
}

/// A loss that is no number is what the gate is there to find: it refuses, where a training would fail.
fn refused(error: anyhow::Error) -> anyhow::Error {
    match error.downcast::<Fixable>() {
        Ok(fixable) => {
            let message = format!("a fresh model did not learn a few games by heart: {}", fixable.message);
            Fixable { message, exit: Exit::Refused, ..fixable }.into()
        }
        Err(error) => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::exit_of;
    use crate::model::reference::references;
    use crate::progress::silent;
    use crate::train::config::{LearningRate, Length, Schedule, Snapshots, Validate};

    const GATE: InitialLoss = InitialLoss { within: 0.3 };

    #[test]
    fn an_untrained_model_passes_and_one_that_is_shown_its_targets_is_refused() {
        let model = ModelConfig { layers: 2, heads: 2, width: 64, hidden: 128, context: 32 };
        let tokens: Vec<u16> = (0..5_000_u32).map(|at| (at * at % 1971) as u16).collect();
        let loss = initial_loss(&model, 1, &tokens, Device::Cpu).expect("measured");
        judge_initial(loss, GATE).expect("it guesses");
        for reference in references() {
            let error = judge_initial(reference.told("loss_identity"), GATE).expect_err("a leak");
            assert_eq!(exit_of(&error), Exit::Refused);
            assert!(error.to_string().contains("`6.384`"), "{error}");
        }
        assert!(judge_initial(9.0, GATE).is_err() && judge_initial(f64::NAN, GATE).is_err());
    }

    #[test]
    fn a_few_games_are_learned_by_heart_or_the_gate_refuses() {
        let model = ModelConfig { layers: 1, heads: 2, width: 32, hidden: 64, context: 8 };
        let gate = Overfit { games: 2, steps: 150, batch: 8, below: 0.5 };
        let config = TrainConfig {
            length: Length::Steps(gate.steps),
            batch: gate.batch,
            learning_rate: LearningRate { peak: 1e-2, floor: 1e-3, warmup: 10, schedule: Schedule::Cosine },
            validate: Validate { every: 50, batches: 1 },
            snapshots: Snapshots { every: 50 },
            ..TrainConfig::tiny()
        };
        let tokens = [1, 100, 200, 300, 2, 1, 400, 500, 600, 700, 2, 1, 100, 210, 310, 2];
        let tokens = TokenStream { tokens: &tokens, ends: &[5, 11, 16] };
        let out = tempfile::tempdir().expect("a folder");
        for packing in [Packing::Stream, Packing::Games] {
            let config = TrainConfig { packing, ..config.clone() };
            let try_with = |gate: Overfit| overfit(&config, &model, gate, tokens, out.path(), Device::Cpu, silent());
            let reached = try_with(gate).expect("learned");
            assert!(reached.loss < 0.5 && reached.steps < 150, "{reached:?}");
            let error = try_with(Overfit { steps: 12, ..gate }).expect_err("12 steps are too few");
            assert_eq!(exit_of(&error), Exit::Refused);
            assert!(error.to_string().contains("after 12 steps"), "{error}");
            let wild = TrainConfig { learning_rate: LearningRate { peak: 1e30, ..config.learning_rate }, ..config };
            let error = overfit(&wild, &model, gate, tokens, out.path(), Device::Cpu, silent()).expect_err("no number");
            assert_eq!(exit_of(&error), Exit::Refused);
            assert!(error.to_string().starts_with("a fresh model did not learn a few games by heart: the loss is `"), "{error}");
        }
    }
}
