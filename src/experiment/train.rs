//! `[train]`: all that decides the weights.

use crate::train::config::{LearningRate, Length, Precision, Sampler, Snapshots, TrainConfig, Validate};

use super::kind::{Choice, DECAY, Integer, NOT_NEGATIVE, POSITIVE, Pair};
use super::table::Section;

const SAMPLER: Choice<Sampler> = Choice(&[("windows", Sampler::Windows), ("epoch", Sampler::Epoch)]);
const PRECISION: Choice<Precision> = Choice(&[("f32", Precision::F32), ("bf16", Precision::Bf16)]);

pub(super) fn train(s: &mut Section) -> Option<TrainConfig> {
    let length = length(s);
    let batch = s.get("batch", &Integer::between(1, 1 << 20));
    let accumulate = s.get("accumulate", &Integer::between(1, 1 << 16));
    let sampler = s.get("sampler", &SAMPLER);
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

    if let (Some(Length::Steps(steps)), Some(rate)) = (length, learning_rate)
        && rate.warmup >= steps
    {
        let message = format!("`train.learning_rate.warmup` is {} steps, and the whole training {steps}", rate.warmup);
        s.refuse("learning_rate.warmup", &["steps"], message, "warm up for less than the training, such as 3 % of it");
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
    })
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
    if let (Some(peak), Some(floor)) = (peak, floor)
        && floor > peak
    {
        let message = format!("`train.learning_rate.floor` {floor:?} is above the peak {peak:?}");
        s.refuse("floor", &["peak"], message, "the rate falls from the peak to the floor; a tenth of the peak is usual");
    }
    Some(LearningRate { peak: peak?, floor: floor?, warmup: warmup? })
}
