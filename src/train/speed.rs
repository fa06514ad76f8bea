//! The time that steps take, with validation, snapshots and checkpoints left out.

use std::time::Duration;

use super::files::SpeedPoint;
use super::reading::Reading;

/// Steps in a line of `speed.jsonl`.
pub const LAP: u64 = 20;

pub struct Laps<'a> {
    clock: &'a dyn Fn() -> Duration,
    /// When the steps went on; `None` in a pause.
    since: Option<Duration>,
    spent: Duration,
    from: u64,
}

impl<'a> Laps<'a> {
    /// Begins after step `from`, with the clock running.
    pub fn new(clock: &'a dyn Fn() -> Duration, from: u64) -> Self {
        Self { clock, since: Some(clock()), spent: Duration::ZERO, from }
    }

    /// Stops the clock; the device must have done what it was given.
    pub fn pause(&mut self) {
        if let Some(since) = self.since.take() {
            self.spent += (self.clock)().saturating_sub(since);
        }
    }

    pub fn resume(&mut self) {
        self.since.get_or_insert_with(self.clock);
    }

    /// Ends a lap that is full. Call it in a pause.
    pub fn finished(&mut self, step: u64, tokens_per_step: u64) -> Option<SpeedPoint> {
        let steps = step - self.from;
        if steps < LAP {
            return None;
        }
        let seconds = self.spent.as_secs_f64();
        (self.spent, self.from) = (Duration::ZERO, step);
        Some(SpeedPoint {
            step,
            seconds,
            tokens_per_second: (steps * tokens_per_step) as f64 / seconds.max(1e-9),
            reading: Reading::default(),
        })
    }
}

/// The median of the laps: one slow lap, such as the first, does not move it.
pub fn median(laps: &[SpeedPoint]) -> Option<f64> {
    let mut rates: Vec<f64> = laps.iter().map(|lap| lap.tokens_per_second).collect();
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn pauses_do_not_count() {
        let now = Cell::new(0);
        let clock = || Duration::from_secs(now.get());
        let mut laps = Laps::new(&clock, 0);
        now.set(4);
        laps.pause();
        assert_eq!(laps.finished(19, 100), None);
        now.set(50);
        laps.resume();
        now.set(56);
        laps.pause();
        let lap = laps.finished(20, 100).expect("20 steps are a lap");
        assert_eq!(lap, SpeedPoint { step: 20, seconds: 10.0, tokens_per_second: 200.0, reading: Reading::default() });
        assert_eq!(median(&[lap]), Some(200.0));
        assert_eq!(median(&[]), None);
    }
}
