//! `[train]`: all that decides the weights.

use crate::train::config::{
    Ema, LearningRate, Length, OnSpike, Packing, Precision, Sampler, Schedule, Snapshots, Spikes, TrainConfig, Validate,
};

use super::kind::{Choice, DECAY, Integer, NOT_NEGATIVE, POSITIVE, Pair, SHARE};
use super::table::Section;

/// Weights that a training may publish: each is in the plan with its measures.
const SNAPSHOTS_MOST: u64 = 10_000;
const SAMPLER: Choice<Sampler> = Choice(&[("windows", Sampler::Windows), ("epoch", Sampler::Epoch)]);
const PACKING: Choice<Packing> = Choice(&[("stream", Packing::Stream), ("games", Packing::Games)]);
const PRECISION: Choice<Precision> = Choice(&[("f32", Precision::F32), ("tf32", Precision::Tf32), ("bf16", Precision::Bf16)]);
const ON_SPIKE: Choice<OnSpike> = Choice(&[("stop", OnSpike::Stop), ("skip", OnSpike::Skip)]);

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Cosine,
    Constant,
    Wsd,
}

const SCHEDULE: Choice<Shape> = Choice(&[("cosine", Shape::Cosine), ("constant", Shape::Constant), ("wsd", Shape::Wsd)]);

pub(super) fn train(s: &mut Section) -> Option<TrainConfig> {
    let length = length(s);
    let batch = s.get("batch", &Integer::between(1, 1 << 20));
    let accumulate = s.get("accumulate", &Integer::between(1, 1 << 16));
    let sampler = s.get("sampler", &SAMPLER);
    let packing = s.get("packing", &PACKING);
    let learning_rate = s.section("learning_rate", learning_rate);
    let weight_decay = s.get("weight_decay", &NOT_NEGATIVE);
    let betas = s.get("betas", &Pair(DECAY));
    let clip = s.get("clip", &POSITIVE);
    let precision = s.get("precision", &PRECISION);
    let seed = s.get("seed", &Integer::at_least(0_u64));
    let validate = s.section("validate", |s| {
        let every = s.get("every", &Integer::at_least(1));
        let batches = s.get("batches", &Integer::at_least(1));
        Some(Validate { every: every?, batches: batches? })
    });
    let snapshots = s.section("snapshots", |s| Some(Snapshots { every: s.get("every", &Integer::at_least(1))? }));
    let ema = s.switch("ema", None, |s| Some(Some(Ema { decay: s.get("decay", &SHARE)? })));
    let spikes = s.switch("spikes", None, |s| spikes(s).map(Some));

    if let (Some(Length::Steps(steps)), Some(Snapshots { every })) = (length, snapshots)
        && steps / every > SNAPSHOTS_MOST
    {
        let message = format!("`train.snapshots.every` = {every} would publish weights {} times", steps / every + 1);
        s.refuse("snapshots.every", &["steps"], message, &format!("publish them {SNAPSHOTS_MOST} times at most"));
    }
    if let (Some(length), Some(rate)) = (length, learning_rate) {
        rate_fits(s, length, rate);
    }
    Some(TrainConfig {
        length: length?,
        batch: batch?,
        accumulate: accumulate?,
        sampler: sampler?,
        learning_rate: learning_rate?,
        weight_decay: weight_decay?,
        betas: betas?,
        clip: clip?,
        precision: precision?,
        seed: seed?,
        validate: validate?,
        snapshots: snapshots?,
        packing: packing?,
        ema: ema?,
        spikes: spikes?,
    })
}

fn rate_fits(s: &Section, length: Length, rate: LearningRate) {
    match (length, rate.schedule) {
        (Length::Steps(steps), _) if rate.warmup >= steps => {
            let message = format!("`train.learning_rate.warmup` is {} steps, and the whole training {steps}", rate.warmup);
            s.refuse("learning_rate.warmup", &["steps"], message, "warm up for less than the training, such as 3 % of it");
        }
        (Length::Steps(steps), Schedule::Wsd { decay }) if rate.warmup + decay > steps => {
            let message = format!(
                "`train.learning_rate` warms up for {} steps and decays for {decay}, and the whole training has {steps}",
                rate.warmup
            );
            s.refuse("learning_rate.decay", &["steps"], message, "10 to 20 % of the steps are usual for the decay");
        }
        (Length::Epochs(_), Schedule::Wsd { .. }) => {
            let message =
                "`train.learning_rate.schedule` \"wsd\" needs `train.steps`: where the decay begins must be known beforehand";
            s.refuse("learning_rate.schedule", &["epochs"], message, "set `train.steps`, or another schedule");
        }
        _ => (),
    }
}

fn spikes(s: &mut Section) -> Option<Spikes> {
    let z = s.get("z", &POSITIVE);
    let window = s.get("window", &Integer::at_least(2));
    let then = s.get("then", &ON_SPIKE);
    Some(Spikes { z: z?, window: window?, then: then? })
}

fn length(s: &mut Section) -> Option<Length> {
    let steps = s.look("steps", &Integer::at_least(1));
    let epochs = s.look("epochs", &POSITIVE);
    match (s.node("steps").is_some(), s.node("epochs").is_some()) {
        (true, true) => {
            s.refuse("epochs", &["steps"], "`train` has both `steps` and `epochs`", "keep one of them");
            None
        }
        (false, false) => {
            let hint = "such as steps = 16_300 (optimiser steps) or epochs = 1.0 (passes over the training tokens)";
            s.refuse("steps", &[], "`[train]` has neither `steps` nor `epochs`", hint);
            None
        }
        _ => steps.map(Length::Steps).or(epochs.map(Length::Epochs)),
    }
}

fn learning_rate(s: &mut Section) -> Option<LearningRate> {
    let peak = s.get("peak", &POSITIVE);
    let floor = s.get("floor", &NOT_NEGATIVE);
    let warmup = s.get("warmup", &Integer::at_least(0));
    let shape = s.get("schedule", &SCHEDULE);
    // Inherited, it may stand beside a schedule that has none.
    let decay = if shape == Some(Shape::Wsd) {
        s.get("decay", &Integer::at_least(1_u64))
    } else {
        s.look("decay", &Integer::at_least(1_u64)).or(Some(0))
    };
    if let (Some(peak), Some(floor)) = (peak, floor)
        && floor > peak
    {
        let message = format!("`train.learning_rate.floor` {floor:?} is above the peak {peak:?}");
        s.refuse("floor", &["peak"], message, "the rate falls from the peak to the floor; a tenth of the peak is usual");
    }
    let (peak, decay) = (peak?, decay?);
    let (schedule, floor) = match shape? {
        Shape::Cosine => (Schedule::Cosine, floor?),
        // Two that differ by a floor that is never reached are one training.
        Shape::Constant => (Schedule::Constant, peak),
        Shape::Wsd => (Schedule::Wsd { decay }, floor?),
    };
    Some(LearningRate { peak, floor, warmup: warmup?, schedule })
}
