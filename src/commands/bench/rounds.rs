//! Rounds in which everybody runs once, so that a busy machine is busy for all alike.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::cpu;
use super::peers::Peer;
use super::steps::{Bench, Sample, Step};
use crate::error::Fixable;
use crate::text::duration;
use crate::ui::say::aside;

/// However long they take: a median of fewer is none.
const ROUNDS_MIN: usize = 3;
const TELL_EVERY: Duration = Duration::from_secs(10);

pub(super) enum Contender {
    Step(Step),
    Peer(Peer),
}

/// A contender and its runs, one a round.
pub(super) struct Lane {
    pub(super) contender: Contender,
    pub(super) samples: Vec<Sample>,
}

/// Runs rounds until the time is used up. Each begins with another contender.
pub(super) fn measure(bench: &Bench, contenders: Vec<Contender>, seconds: f64) -> Result<Vec<Lane>> {
    let mut lanes: Vec<Lane> = contenders.into_iter().map(|contender| Lane { contender, samples: Vec::new() }).collect();
    let begun = Instant::now();
    let mut told = begun;
    for round in 0.. {
        let spent = begun.elapsed().as_secs_f64();
        let goes_on = round < ROUNDS_MIN || spent * (round + 1) as f64 / round as f64 <= seconds;
        if !goes_on {
            break;
        }
        let first = round % lanes.len();
        let (before, after) = lanes.split_at_mut(first);
        for lane in after.iter_mut().chain(before) {
            if bench.should_stop() {
                return Err(Fixable::interrupted(format!("stopped after {round} rounds, before there was a result")).into());
            }
            lane.samples.push(lane.contender.run(bench)?);
            if told.elapsed() >= TELL_EVERY {
                told = Instant::now();
                aside(format!("  round {}, {} of {}", round + 1, duration(begun.elapsed().as_secs_f64()), duration(seconds)));
            }
        }
    }
    Ok(lanes)
}

impl Contender {
    fn run(&self, bench: &Bench) -> Result<Sample> {
        match self {
            Self::Step(step) => bench.run(step),
            Self::Peer(peer) => {
                let cpu_before = cpu::seconds();
                let seconds = peer.run()?;
                let cpu_seconds = cpu::seconds() - cpu_before;
                Ok(Sample { seconds, cpu_seconds, thread_seconds: [0.0; 3], peak_bytes: None })
            }
        }
    }
}

/// The middle of some numbers, and their least and greatest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    pub(super) median: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) n: usize,
}

impl Spread {
    /// # Panics
    ///
    /// Where there are no numbers.
    pub(super) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let n = values.len();
        let median = f64::midpoint(values[(n - 1) / 2], values[n / 2]);
        Self { median, low: values[0], high: values[n - 1], n }
    }
}

impl Lane {
    pub(super) fn seconds(&self) -> Spread {
        Spread::of(self.samples.iter().map(|sample| sample.seconds))
    }

    pub(super) fn cpu_seconds(&self) -> Spread {
        Spread::of(self.samples.iter().map(|sample| sample.cpu_seconds))
    }

    /// The processor time of this one in that of another, round by round.
    pub(super) fn cpu_ratio(&self, other: &Self) -> Spread {
        Spread::of(self.samples.iter().zip(&other.samples).map(|(one, other)| one.cpu_seconds / other.cpu_seconds))
    }

    /// The time of this one in that of another, round by round.
    pub(super) fn ratio(&self, other: &Self) -> Spread {
        Spread::of(self.samples.iter().zip(&other.samples).map(|(one, other)| one.seconds / other.seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_has_the_middle_of_odd_and_even_counts() {
        let spread = |values: &[f64]| Spread::of(values.iter().copied());
        assert_eq!(spread(&[3.0, 1.0, 9.0]), Spread { median: 3.0, low: 1.0, high: 9.0, n: 3 });
        assert_eq!(spread(&[4.0, 1.0, 2.0, 9.0]), Spread { median: 3.0, low: 1.0, high: 9.0, n: 4 });
        assert_eq!(spread(&[5.0]), Spread { median: 5.0, low: 5.0, high: 5.0, n: 1 });
    }
}
