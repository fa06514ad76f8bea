//! The steps of a training as it does them, on drawn tokens: how long they take, and how much memory.

use std::time::Duration;

use anyhow::Result;
use serde_json::Value;
use tch::Device;

use super::asked::{StepsMeasured, TrainBench};
use super::loader::games_drawn;
use super::place::Place;
use crate::data::tokens::TokenStream;
use crate::error::Fixable;
use crate::memory;
use crate::model::decoder::Decoder;
use crate::model::{device, shim};
use crate::train::config::{OnSpike, TrainConfig, Validate};
use crate::train::gauges::Gauges;
use crate::train::trainer::{Launched, Trainer};
use crate::train::windows::Windows;
use crate::train::{matmul, shortage, validation};

/// Steps before the timed ones: the first takes memory and fills caches.
const WARM_UP: u64 = 2;
/// Tokens to draw windows from, or as many as some windows have.
const TOKENS: u64 = 400_000;
/// Of the schedule that a step is taken from; no bench comes to its end.
const STEPS: u64 = 1 << 40;

/// Times the steps of one batch.
///
/// # Errors
///
/// Where there is too little memory for it, which ends the bench and nothing else; where the user asks to stop.
pub fn measure(asked: &TrainBench, place: Place) -> Result<Value> {
    let mut room = shortage::room(place.device);
    if let (Some(room), Device::Cpu) = (&mut room, place.device) {
        memory::stay_within(room);
        // The peak counts what the process took before the first tensor: so must the room.
        room.bytes += memory::resident_bytes().unwrap_or(0);
    }
    let measured = shortage::guarded(&asked.train, &asked.model, place.device, || steps(asked, place))?;
    Ok(serde_json::to_value(StepsMeasured { room, ..measured })?)
}

fn steps(asked: &TrainBench, place: Place) -> Result<StepsMeasured> {
    let Place { device, clock, .. } = place;
    // What it learns is noise: no loss of it may end the bench. Spikes that are skipped cost a step something, and stay.
    let spikes = asked.train.spikes.filter(|spikes| spikes.then == OnSpike::Skip);
    let config = TrainConfig { spikes, validate: Validate { every: 1, batches: 1 }, ..asked.train.clone() };
    let (tokens, ends) = games_drawn(TOKENS.max(4 * u64::from(asked.model.context)));
    let tokens = TokenStream { tokens: &tokens, ends: &ends };
    let (Timed { mut seconds, watts }, validation_seconds) = std::thread::scope(|scope| {
        let mut trainer = Trainer::new(&config, Decoder::new(&asked.model, config.seed, device)?, tokens, STEPS)?;
        trainer.ahead(scope)?;
        Ok::<_, anyhow::Error>((timed(&mut trainer, asked, place)?, validated(&trainer, &config, tokens, place)?))
    })?;
    let peak_memory_bytes = match device {
        Device::Cuda(index) => shim::peak_bytes(index).ok(),
        _ => memory::peak_bytes(),
    };
    seconds.sort_by(f64::total_cmp);
    Ok(StepsMeasured {
        device: device::name(device),
        threads: place.threads,
        steps: seconds.len() as u64,
        median_seconds: seconds[seconds.len() / 2],
        least_seconds: seconds[0],
        validation_seconds,
        peak_memory_bytes,
        room: None,
        matmul_flops_per_second: matmul::flops_per_second(device, config.precision, clock),
        watts,
    })
}

/// The steps after those that warm up.
struct Timed {
    seconds: Vec<f64>,
    /// Over all of them, where the device counts its energy; else at the end of the last, where it tells its power.
    watts: Option<f64>,
}

fn timed(trainer: &mut Trainer, asked: &TrainBench, place: Place) -> Result<Timed> {
    let clock = place.clock;
    let mut gauges = Gauges::open(place.device);
    let mut before_timed = (clock(), None);
    let begin = clock();
    let enough = || asked.seconds.is_some_and(|most| clock().saturating_sub(begin).as_secs_f64() >= most);
    let mut last = None;
    let mut seconds = Vec::new();
    let mut under_way: Option<Launched> = None;
    // As a training does it: a step is waited for once the next one was given to the device.
    while seconds.len() < asked.steps as usize && (seconds.is_empty() || !enough()) {
        if place.progress.should_stop() {
            return Err(Fixable::interrupted("stopped while steps were being timed").into());
        }
        if let Some(before) = under_way.replace(trainer.advance()?) {
            trainer.read(before)?;
            let now = clock();
            // What is read now is the step before the one that was just given. Where steps are long, the first one warms up.
            match last.replace(now) {
                Some(last) if trainer.step() > WARM_UP + 1 || enough() => seconds.push(now.saturating_sub(last).as_secs_f64()),
                _ => before_timed = (now, gauges.read().energy_joules),
            }
        }
    }
    let reading = gauges.read();
    let spent = reading.energy_joules.zip(before_timed.1).map(|(now, then)| now - then);
    let watts = spent.map(|joules| joules / clock().saturating_sub(before_timed.0).as_secs_f64().max(1e-9));
    if let Some(last) = under_way {
        trainer.read(last)?;
    }
    Ok(Timed { seconds, watts: watts.filter(|watts| *watts > 0.0).or(reading.power_watts) })
}

/// The time of the validation loss on one batch, the second of two.
fn validated(trainer: &Trainer, config: &TrainConfig, tokens: TokenStream, place: Place) -> Result<f64> {
    let windows = Windows::fixed(0, config.batch, config.packing, tokens, trainer.decoder.config().context, place.device)?;
    let config = TrainConfig { accumulate: 1, ..config.clone() };
    let mut took = Duration::ZERO;
    for _ in 0..2 {
        let start = (place.clock)();
        validation::loss(&trainer.decoder, &config, &windows)?;
        took = (place.clock)().saturating_sub(start);
    }
    Ok(took.as_secs_f64())
}
