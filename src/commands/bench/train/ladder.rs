//! Which batch sizes are tried, in which order, and when it is enough.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::trial::{Outcome, Trial, Trials};
use crate::text::{bytes, duration};

/// No other size is begun once it would take longer than this in all.
const TIME: Duration = Duration::from_secs(100);
/// Steps of one size, after which no other step is begun.
const SECONDS: f64 = 6.0;
/// A step of more passes than take so long is timed with fewer of them.
const STEP_SECONDS: f64 = 1.5;
/// Passes of a timed step before anything is known of their speed.
const FIRST_PASSES: u32 = 8;
/// Sizes below the whole step that are tried, and sizes above it.
const BELOW: usize = 6;
const ABOVE: u32 = 2;

/// The sizes that were named, however long they take: the batch of the experiment with all passes of its step, others with a
/// few at most.
pub(super) fn asked(trials: &Trials, sizes: &[u32]) -> Result<Vec<Trial>> {
    let step = whole_step(trials);
    let most = |batch| if batch == trials.point.train.batch { u32::MAX } else { FIRST_PASSES };
    sizes.iter().map(|&batch| trials.attempt(batch, passes(step, batch).unwrap_or(1).min(most(batch)), None)).collect()
}

/// Sizes from small to large, until memory or time ends.
pub(super) fn climb(trials: &Trials) -> Result<Vec<Trial>> {
    let step = whole_step(trials);
    let sizes = sizes(step, trials.point.train.batch);
    let first = sizes.partition_point(|&size| size < step).saturating_sub(BELOW);
    let began = Instant::now();
    let mut tried: Vec<Trial> = Vec::new();
    for &batch in &sizes[first..] {
        let per_pass = tried.last().and_then(Trial::seconds_per_window).map(|seconds| seconds * f64::from(batch));
        if let Some(outcome) = beyond(&tried, batch, per_pass, began) {
            tried.push(Trial { batch, passes: 1, outcome });
            break;
        }
        let most = per_pass.map_or(FIRST_PASSES, |seconds| (STEP_SECONDS / seconds) as u32);
        let trial = trials.attempt(batch, passes(step, batch).unwrap_or(1).min(most.max(1)), Some(SECONDS))?;
        let ended = trial.measured().is_none();
        tried.push(trial);
        if ended {
            break;
        }
    }
    // Where even the smallest of them did not fit, smaller ones may.
    for &batch in sizes[..first].iter().rev() {
        if tried.iter().any(|trial| trial.measured().is_some()) {
            break;
        }
        tried.insert(0, trials.attempt(batch, passes(step, batch).unwrap_or(1).min(FIRST_PASSES), Some(SECONDS))?);
    }
    Ok(tried)
}

fn whole_step(trials: &Trials) -> u32 {
    trials.point.train.batch.saturating_mul(trials.point.train.accumulate)
}

/// Passes of a batch that make a step of so many windows.
pub(super) fn passes(step: u32, batch: u32) -> Option<u32> {
    step.is_multiple_of(batch).then_some(step / batch)
}

/// Divisors of a step, each at least twice the one before, the batch of the experiment, and a few sizes above.
fn sizes(step: u32, batch: u32) -> Vec<u32> {
    let mut sizes = vec![1];
    for size in 2..=step {
        if step.is_multiple_of(size) && size >= 2 * sizes[sizes.len() - 1] {
            sizes.push(size);
        }
    }
    sizes.extend([step, batch]);
    sizes.extend((1..=ABOVE).map(|doubling| step.saturating_mul(1 << doubling)));
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// Why a larger size is not tried, where it would take too long, or more memory than there is: on the CPU the system would
/// end this or another program for it.
fn beyond(tried: &[Trial], batch: u32, per_pass: Option<f64>, began: Instant) -> Option<Outcome> {
    // Two steps at the least, with as much for validation and the start.
    let seconds = 3.0 * per_pass?;
    if began.elapsed().as_secs_f64() + seconds > TIME.as_secs_f64() {
        return Some(Outcome::NotTried(format!("it would take about {}; --batch {batch} tries it", duration(seconds))));
    }
    let mut known = tried.iter().rev().filter_map(|trial| Some((trial.batch, trial.measured()?)));
    let ((large, last), (small, before)) = (known.next()?, known.next()?);
    let (most, less, room) = (last.peak_memory_bytes?, before.peak_memory_bytes?, last.room.as_ref()?);
    let slope = most.saturating_sub(less) as f64 / f64::from(large - small);
    let peak = most + (slope * f64::from(batch - large)) as u64;
    let why = || format!("it would take about {}, of {} {}", bytes(peak), bytes(room.bytes), room.of);
    (peak > room.bytes).then(|| Outcome::TooLarge(why()))
}

impl Trial {
    fn seconds_per_window(&self) -> Option<f64> {
        Some(self.measured()?.median_seconds / f64::from(self.batch * self.passes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_keep_the_windows_of_a_step_and_hold_the_batch_of_the_experiment() {
        assert_eq!(sizes(16, 16), [1, 2, 4, 8, 16, 32, 64]);
        assert_eq!(sizes(160, 80), [1, 2, 4, 8, 16, 32, 80, 160, 320, 640]);
        assert_eq!(sizes(192, 96), [1, 2, 4, 8, 16, 32, 64, 96, 192, 384, 768]);
        assert_eq!(sizes(7, 7), [1, 7, 14, 28]);
        assert_eq!(sizes(1, 1), [1, 2, 4]);
        assert_eq!([passes(160, 80), passes(160, 320), passes(160, 48)], [Some(2), None, None]);
    }
}
