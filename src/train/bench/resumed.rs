//! A training that was stopped again and again ends as one that was not: with the same bits where the device repeats itself.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Result;
use tch::Tensor;

use super::against_cpu::{MODEL, STEPS, config, tokens};
use super::check::{Check, apart, worst};
use super::place::Place;
use crate::error::{Exit, exit_of};
use crate::model::config::Precision;
use crate::progress::Progress;
use crate::ranks::Alone;
use crate::train::files::snapshot_file;
use crate::train::run::{Session, TrainingTokens, train};

/// How often the training is stopped, a step after it went on.
const STOPS: u64 = 4;

/// Two undisturbed trainings may differ on a device whose sums come in any order; then a resumed one may too, by about as much.
const AS_MUCH: f64 = 10.0;

/// How a training stopped [`STOPS`] times and an undisturbed one differ, beside how two undisturbed ones differ.
pub(super) fn check(place: Place) -> Check {
    let (mut between, mut note) = (0.0, None);
    let check = Check::within("a resumed training", 0.0, || {
        let [one, another, resumed] = [tempfile::tempdir()?, tempfile::tempdir()?, tempfile::tempdir()?];
        run(place, one.path(), 0)?;
        run(place, another.path(), 0)?;
        run(place, resumed.path(), STOPS)?;
        between = distance(one.path(), another.path())?;
        let apart = distance(one.path(), resumed.path())?;
        note = Some(match (between == 0.0, apart == 0.0) {
            (_, true) => "identical in every bit".to_owned(),
            (true, false) => format!("{apart:e} apart, and two undisturbed ones are identical"),
            (false, false) => format!("{apart:e} apart, and two undisturbed ones are {between:e} apart"),
        });
        Ok(apart)
    });
    let most = AS_MUCH * between;
    let check = Check { passed: check.found.is_some_and(|found| found <= most), most, ..check };
    check.note(note)
}

/// Trains into `out`; stopped after each of the first `stops` steps.
fn run(place: Place, out: &Path, stops: u64) -> Result<()> {
    let (tokens, config) = (tokens(), config(Precision::Bf16));
    let (train_tokens, validation) = tokens.split_at(tokens.len() / 2);
    let tokens = TrainingTokens { train: train_tokens.into(), validation: validation.into() };
    let (stop, tell) = (AtomicBool::new(true), |_| ());
    let session = Session {
        device: place.device,
        threads: place.threads,
        checkpoint_every: Duration::from_hours(1),
        from: None,
        clock: place.clock,
        ranks: &Alone,
        progress: Progress::new(&tell, &stop),
    };
    for _ in 0..stops {
        match train(&config, &MODEL, tokens, out, session) {
            Err(error) if exit_of(&error) == Exit::Interrupted => (),
            Err(error) => return Err(error),
            Ok(()) => anyhow::bail!("it was asked to stop, and went on"),
        }
    }
    stop.store(false, Ordering::Relaxed);
    train(&config, &MODEL, tokens, out, session)
}

/// The largest difference of the last weights; 0 where the files are the same.
fn distance(one: &Path, other: &Path) -> Result<f64> {
    let [one, other] = [one, other].map(|out| snapshot_file(out, STEPS));
    if fs_err::read(&one)? == fs_err::read(&other)? {
        return Ok(0.0);
    }
    let (one, other) = (Tensor::read_safetensors(&one)?, Tensor::read_safetensors(&other)?);
    // Bytes that differ are apart, be it by less than a number can say.
    let apart = worst(one.iter().zip(&other).map(|((_, one), (_, other))| apart(one, other)))?;
    Ok(if apart == 0.0 { f64::MIN_POSITIVE } else { apart })
}
