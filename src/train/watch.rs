//! What is expected of a step, by the steps before it: a loss or a gradient norm far above that is a spike.
//!
//! A step is judged by those that lie two and more before it. The last one may still be under way when the next is given to the
//! device, so which steps are known by then would depend on the clock; two before, all are.

use serde::{Deserialize, Serialize};
use tch::{Kind, Tensor};

use super::config::Spikes;
use super::files::CurvePoint;

/// Means and deviations of the steps so far, by exponential weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Watch {
    loss: Spread,
    /// Of the logarithm of the gradient norm.
    norm: Spread,
    /// Steps that are read and not yet among those that the next one is judged by.
    read: [Option<Read>; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Read {
    step: u64,
    loss: Exact,
    norm: Exact,
}

/// What a step must not be above. Infinite where nothing is expected yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    pub loss: f64,
    pub norm: f64,
}

impl Watch {
    /// The limits of `step`, which is about to be given to the device.
    pub fn limits(&mut self, with: Spikes, step: u64) -> Limits {
        for place in &mut self.read {
            if let Some(read) = place.take_if(|read| read.step + 2 <= step) {
                self.loss.add(read.loss.0, with);
                self.norm.add(read.norm.0.ln(), with);
            }
        }
        Limits { loss: self.loss.limit(with), norm: self.norm.limit(with).exp() }
    }

    /// Remembers a step once it is read. Steps come in order.
    pub fn saw(&mut self, point: &CurvePoint) {
        let read = Read { step: point.step, loss: Exact(point.loss), norm: Exact(point.gradient_norm) };
        // In order too, for `limits` takes them so.
        self.read = match self.read {
            [None, second] => [second, Some(read)],
            [first, None] => [first, Some(read)],
            [_, second] => [second, Some(read)],
        };
    }
}

impl Limits {
    /// 1 where a step is above its limits or no number, else 0: a float32 scalar on the device of both, which nobody waits for.
    pub fn exceeded(self, loss: &Tensor, norm: &Tensor) -> anyhow::Result<Tensor> {
        let below = loss.f_le(self.loss)?.f_logical_and(&norm.f_le(self.norm)?)?;
        Ok(below.f_logical_and(&loss.f_add(norm)?.f_isfinite()?)?.f_logical_not()?.f_to_kind(Kind::Float)?)
    }
}

/// A mean and a variance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Spread {
    seen: u64,
    mean: Exact,
    variance: Exact,
}

/// The least deviation that anything is measured by, in nats: less is chance in the last digits.
const LEAST: f64 = 1e-3;

impl Spread {
    fn limit(&self, with: Spikes) -> f64 {
        if self.seen < with.window { f64::INFINITY } else { self.mean.0 + with.z * self.variance.0.sqrt().max(LEAST) }
    }

    /// What is above the limit counts as the limit: one spike does not hide the next, and a lasting change is followed.
    fn add(&mut self, value: f64, with: Spikes) {
        if !value.is_finite() {
            return;
        }
        let value = value.min(self.limit(with));
        self.seen += 1;
        // A plain mean at first (Finch 2009, "Incremental calculation of weighted mean and variance").
        let share = 1.0 / self.seen.min(with.window) as f64;
        let apart = value - self.mean.0;
        self.mean.0 += share * apart;
        self.variance.0 = (1.0 - share) * (self.variance.0 + share * apart * apart);
    }
}

/// A number that comes back from a file with the same bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "u64", into = "u64")]
struct Exact(f64);

impl From<u64> for Exact {
    fn from(bits: u64) -> Self {
        Self(f64::from_bits(bits))
    }
}

impl From<Exact> for u64 {
    fn from(number: Exact) -> Self {
        number.0.to_bits()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::config::OnSpike;

    const WITH: Spikes = Spikes { z: 4.0, window: 20, then: OnSpike::Skip };

    fn point(step: u64, loss: f64, gradient_norm: f64) -> CurvePoint {
        CurvePoint { step, tokens: step, loss, learning_rate: 0.1, gradient_norm, skipped: false }
    }

    /// Losses around 2 and norms around 1, one step after another.
    fn after(steps: u64) -> Watch {
        let mut watch = Watch::default();
        for step in 1..=steps {
            watch.limits(WITH, step);
            let wobble = (step as f64 * 2.4).sin();
            watch.saw(&point(step, 2.0 + 0.1 * wobble, (0.2 * wobble).exp()));
        }
        watch
    }

    #[test]
    fn nothing_is_expected_before_a_window_of_steps_and_then_limits_lie_above_the_mean() {
        assert!(after(20).limits(WITH, 21).loss.is_infinite());
        let limits = after(60).limits(WITH, 61);
        // The deviation of a sine is its height by the root of two.
        assert!((limits.loss - 2.0 - 4.0 * 0.1 / 2.0_f64.sqrt()).abs() < 0.03, "{limits:?}");
        assert!((limits.norm.ln() - 4.0 * 0.2 / 2.0_f64.sqrt()).abs() < 0.06, "{limits:?}");
    }

    #[test]
    fn a_step_is_judged_by_those_two_before_it_whenever_the_last_one_is_read() {
        let mut early = after(60);
        early.limits(WITH, 61);
        let mut late = early;
        early.saw(&point(61, 9.0, 9.0));
        let limits = early.limits(WITH, 62);
        assert_eq!(limits, late.limits(WITH, 62));
        late.saw(&point(61, 9.0, 9.0));
        assert_eq!(early.limits(WITH, 63), late.limits(WITH, 63));
        assert_ne!(early.limits(WITH, 63), limits);
    }

    #[test]
    fn it_comes_back_from_a_file_with_the_same_bits() {
        let mut watch = after(57);
        let text = serde_json::to_string(&watch).expect("plain values");
        let mut again: Watch = serde_json::from_str(&text).expect("just written");
        assert_eq!(watch, again);
        assert_eq!(watch.limits(WITH, 58).loss.to_bits(), again.limits(WITH, 58).loss.to_bits());
    }

    #[test]
    fn one_spike_does_not_hide_the_next_and_what_is_no_number_is_one() {
        let mut watch = after(60);
        let before = watch.limits(WITH, 61).loss;
        watch.saw(&point(61, 50.0, 1.0));
        watch.limits(WITH, 62);
        watch.saw(&point(62, f64::NAN, f64::INFINITY));
        let after = watch.limits(WITH, 64);
        assert!(after.loss < before + 0.1, "{before} and {after:?}");
        let judged = |loss: f64, norm: f64| {
            let [loss, norm] = [loss, norm].map(|number| Tensor::from(number as f32));
            after.exceeded(&loss, &norm).expect("two scalars").double_value(&[]) > 0.5
        };
        assert!(!judged(2.0, 1.0) && judged(3.0, 1.0) && judged(2.0, 20.0));
        assert!(judged(f64::NAN, 1.0) && judged(2.0, f64::NAN) && judged(2.0, f64::INFINITY));
    }
}
