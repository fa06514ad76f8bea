//! How fast batches are made ahead of a device that takes them at once.

use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};

use super::asked::LoaderBench;
use super::place::Place;
use crate::chess::vocabulary::{BOS, EOS, VOCABULARY_SIZE};
use crate::data::tokens::{Framing, TokenFile, TokenStream};
use crate::error::Fixable;
use crate::model::device;
use crate::random::{below, stream};
use crate::train::config::TrainConfig;
use crate::train::loader::Loader;
use crate::train::windows::Windows;

const LAPS: usize = 5;

/// Tokens a second that a training could take, were it infinitely fast: positions of windows, counted as a training counts
/// them. The median of five laps, with the least and the most.
///
/// # Errors
///
/// Where the tokens cannot be read, or are too few for a window.
pub fn measure(asked: &LoaderBench, place: Place) -> Result<Value> {
    let LoaderBench { train, context, .. } = asked;
    let (kept, drawn);
    let tokens = if let Some(side) = &asked.tokens {
        kept = TokenFile::open(&side.tokens, &side.ends, Framing::Marked)?;
        kept.stream()
    } else {
        drawn = games_drawn(asked.drawn_tokens);
        TokenStream { tokens: &drawn.0, ends: &drawn.1 }
    };
    let began = (place.clock)();
    let windows = Windows::training(train, tokens, *context, place.device)?;
    let ready = since(began, place);
    let mut rates = std::thread::scope(|scope| laps(&Loader::start(scope, &windows, 0)?, asked, place))?;
    rates.sort_by(f64::total_cmp);
    Ok(json!({
        "tokens": { "drawn": asked.tokens.is_none(), "count": tokens.tokens.len() },
        "device": device::name(place.device),
        "tokens_per_second": { "n": rates.len(), "least": rates[0], "median": rates[rates.len() / 2], "most": rates[rates.len() - 1] },
        "seconds_to_begin": ready.as_secs_f64(),
        "packing": windows.packed().map(|packed| packed.told(*context)),
    }))
}

fn laps(loader: &Loader, asked: &LoaderBench, place: Place) -> Result<Vec<f64>> {
    let TrainConfig { batch, .. } = asked.train;
    let tokens = u64::from(batch) * u64::from(asked.context);
    let mut number = 0;
    let mut lap = |least: Duration| -> Result<f64> {
        let (first, start) = (number, (place.clock)());
        loop {
            drop(loader.take(number)?);
            number += 1;
            if place.progress.should_stop() {
                return Err(Fixable::interrupted("stopped while batches were being made").into());
            }
            if since(start, place) >= least {
                break;
            }
        }
        device::synchronize(place.device);
        Ok((number - first) as f64 * tokens as f64 / since(start, place).as_secs_f64())
    };
    let time = Duration::from_millis(asked.milliseconds.max(1));
    // The first batches are ready before anybody asks.
    lap(time / 4)?;
    (0..LAPS).map(|_| lap(time)).collect()
}

fn since(start: Duration, place: Place) -> Duration {
    (place.clock)().saturating_sub(start)
}

/// Games of about the lengths that people play, of any moves, until there are so many tokens.
pub(super) fn games_drawn(tokens: u64) -> (Vec<u16>, Vec<u64>) {
    let mut rng = stream(0, "tokens to load", 0);
    let (mut drawn, mut ends) = (Vec::with_capacity(tokens as usize + 302), Vec::new());
    while (drawn.len() as u64) < tokens {
        drawn.push(BOS);
        let plies = 20 + below(&mut rng, 52) + below(&mut rng, 52);
        drawn.extend((0..plies).map(|_| 3 + below(&mut rng, VOCABULARY_SIZE as u64 - 3) as u16));
        drawn.push(EOS);
        ends.push(drawn.len() as u64);
    }
    (drawn, ends)
}
