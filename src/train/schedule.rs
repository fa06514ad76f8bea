//! The learning rate: a linear warm-up, then half a cosine.

use super::config::LearningRate;

impl LearningRate {
    /// The rate of a step counted from 0, of `steps` in all: `peak · (step + 1) / warmup` during the warm-up, then
    /// `floor + (peak − floor) · (1 + cos(π · (step − warmup) / (steps − warmup))) / 2`, which is at the floor once all
    /// steps are done.
    pub fn at(&self, step: u64, steps: u64) -> f64 {
        if step < self.warmup {
            return self.peak * (step + 1) as f64 / self.warmup as f64;
        }
        let way = (step - self.warmup) as f64 / steps.saturating_sub(self.warmup).max(1) as f64;
        self.floor + (self.peak - self.floor) * 0.5 * (1.0 + (std::f64::consts::PI * way.min(1.0)).cos())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::reference::references;

    const RATE: LearningRate = LearningRate { peak: 6e-4, floor: 6e-5, warmup: 3 };

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
    fn the_rate_rises_to_the_peak_and_falls_to_the_floor() {
        let rates: Vec<f64> = (0..=100).map(|step| RATE.at(step, 100)).collect();
        assert!(rates[..3].is_sorted() && rates[3..].is_sorted_by(|one, next| one >= next));
        assert!((rates[2] - RATE.peak).abs() < 1e-15 && (rates[100] - RATE.floor).abs() < 1e-15);
        // A training that ends during its warm-up, or has none, is no special case.
        assert!((RATE.at(0, 1) - 2e-4).abs() < 1e-15);
        assert!((LearningRate { warmup: 0, ..RATE }.at(0, 5) - RATE.peak).abs() < 1e-15);
    }
}
