//! The learning rate: a linear warm-up, then half a cosine, a constant, or a constant and a straight line down.

use super::config::{LearningRate, Schedule};

impl LearningRate {
    /// The rate of a step counted from 0, of `steps` in all: `peak · (step + 1) / warmup` during the warm-up, and then
    ///
    /// - cosine: `floor + (peak − floor) · (1 + cos(π · (step − warmup) / (steps − warmup))) / 2`;
    /// - constant: `peak`;
    /// - wsd: `peak` until the last `decay` steps, and in them `peak − (peak − floor) · (step − (steps − decay)) / decay`.
    ///
    /// Cosine and wsd are at the floor once all steps are done.
    pub fn at(&self, step: u64, steps: u64) -> f64 {
        if step < self.warmup {
            return self.peak * (step + 1) as f64 / self.warmup as f64;
        }
        let way = |from: u64| step.saturating_sub(from) as f64 / steps.saturating_sub(from).max(1) as f64;
        match self.schedule {
            Schedule::Cosine => {
                let way = way(self.warmup).min(1.0);
                self.floor + (self.peak - self.floor) * 0.5 * (1.0 + (std::f64::consts::PI * way).cos())
            }
            Schedule::Constant => self.peak,
            Schedule::Wsd { decay } => self.peak - (self.peak - self.floor) * way(steps.saturating_sub(decay)).min(1.0),
        }
    }

    /// The steps, of `steps` in all, whose rates are those of every longer training by the same settings.
    pub fn trunk(&self, steps: u64) -> u64 {
        match self.schedule {
            Schedule::Cosine => self.warmup.min(steps),
            Schedule::Constant => steps,
            Schedule::Wsd { decay } => steps.saturating_sub(decay),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::reference::references;

    const RATE: LearningRate = LearningRate { peak: 6e-4, floor: 6e-5, warmup: 3, schedule: Schedule::Cosine };

    #[test]
    fn rates_are_those_of_an_independent_implementation() {
        for reference in references() {
            for step in 0..10 {
                let wanted = reference.told(&format!("steps.{step}.lr"));
                assert!((RATE.at(step, 10) / wanted - 1.0).abs() < 1e-12, "step {step}");
            }
        }
    }

    #[test]
    fn a_constant_rate_knows_no_length_and_wsd_leaves_it_for_its_last_steps_alone() {
        let constant = LearningRate { schedule: Schedule::Constant, ..RATE };
        let wsd = LearningRate { schedule: Schedule::Wsd { decay: 20 }, ..RATE };
        for step in 0..100 {
            assert_eq!(constant.at(step, 100).to_bits(), constant.at(step, 7).to_bits(), "step {step}");
            if step <= wsd.trunk(100) {
                assert_eq!(wsd.at(step, 100).to_bits(), constant.at(step, 100).to_bits(), "step {step}");
            }
        }
        assert_eq!((constant.trunk(100), wsd.trunk(100), RATE.trunk(100)), (100, 80, 3));
        let falling: Vec<f64> = (80..=100).map(|step| wsd.at(step, 100)).collect();
        assert!(falling.windows(2).all(|pair| ((pair[0] - pair[1]) / (RATE.peak - RATE.floor) - 0.05).abs() < 1e-9));
        assert!((falling[20] - RATE.floor).abs() < 1e-15);
    }

    #[test]
    fn the_rate_rises_to_the_peak_and_falls_to_the_floor() {
        let rates: Vec<f64> = (0..=100).map(|step| RATE.at(step, 100)).collect();
        assert!(rates[..3].is_sorted() && rates[3..].is_sorted_by(|one, next| one >= next));
        assert!((rates[2] - RATE.peak).abs() < 1e-15 && (rates[100] - RATE.floor).abs() < 1e-15);
        // A training that ends during its warm-up, or has none, is no special case.
        assert!((RATE.at(0, 1) - 2e-4).abs() < 1e-15);
        assert!((LearningRate { warmup: 0, ..RATE }.at(0, 5) - RATE.peak).abs() < 1e-15);
    }
}
