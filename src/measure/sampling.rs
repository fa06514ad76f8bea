//! From logits to a token or a probability, in float64 on the CPU: the same on every device but for the logits.

/// The most likely token; of equals the lowest.
pub fn argmax(logits: &[f32]) -> u16 {
    let mut best = 0;
    for (token, &logit) in logits.iter().enumerate() {
        if logit > logits[best] {
            best = token;
        }
    }
    best as u16
}

/// How many tokens come before this one, by likelihood and of equals by number: 0 for the [`argmax`].
pub fn rank(logits: &[f32], token: u16) -> usize {
    let own = logits[usize::from(token)];
    let before = |(other, &logit): (usize, &f32)| logit > own || (logit >= own && other < usize::from(token));
    logits.iter().enumerate().filter(|&at| before(at)).count()
}

/// The five most likely tokens, as [`rank`] orders them.
pub fn top(logits: &[f32]) -> [u16; 5] {
    let mut top = [(f32::NEG_INFINITY, u16::MAX); 5];
    for (token, &logit) in logits.iter().enumerate() {
        if logit > top[4].0 || top[4].1 == u16::MAX {
            let at = top.iter().position(|&(other, seen)| logit > other || seen == u16::MAX).expect("it beats the last");
            top[at..].rotate_right(1);
            top[at] = (logit, token as u16);
        }
    }
    top.map(|(_, token)| token)
}

/// `softmax(logits / temperature)` but for its scale, in memory that is used again.
#[derive(Debug, Default)]
pub struct Weights {
    /// 1 for the most likely.
    weights: Vec<f64>,
    sum: f64,
}

impl Weights {
    /// Takes the distribution of logits at a temperature; at 0 all of it is on the [`argmax`].
    pub fn fill(&mut self, logits: &[f32], temperature: f64) {
        self.weights.clear();
        if temperature <= 0.0 {
            self.weights.resize(logits.len(), 0.0);
            self.weights[usize::from(argmax(logits))] = 1.0;
        } else {
            let largest = f64::from(logits.iter().copied().fold(f32::NEG_INFINITY, f32::max));
            self.weights.extend(logits.iter().map(|&logit| ((f64::from(logit) - largest) / temperature).exp()));
        }
        self.sum = self.weights.iter().sum();
    }

    /// The probability of all `tokens` together.
    pub fn mass(&self, tokens: &[u16]) -> f64 {
        let part: f64 = tokens.iter().map(|&token| self.weights[usize::from(token)]).sum();
        // The part is added up in another order than the whole.
        (part / self.sum).min(1.0)
    }

    /// The token at which the cumulative distribution passes `uniform`, a number in [0, 1).
    pub fn sample(&self, uniform: f64) -> u16 {
        let target = uniform * self.sum;
        let mut passed = 0.0;
        for (token, weight) in self.weights.iter().enumerate() {
            passed += weight;
            if passed > target {
                return token as u16;
            }
        }
        // Only rounding leads here; the sum and the loop add in the same order, so it takes a uniform of nearly 1.
        let likely = |&a: &usize, &b: &usize| self.weights[a].total_cmp(&self.weights[b]);
        (0..self.weights.len()).max_by(likely).unwrap_or_default() as u16
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(logits: &[f32], temperature: f64) -> Weights {
        let mut weights = Weights::default();
        weights.fill(logits, temperature);
        weights
    }

    fn sample(logits: &[f32], temperature: f64, uniform: f64) -> u16 {
        of(logits, temperature).sample(uniform)
    }

    #[test]
    fn the_five_most_likely_stand_in_the_order_of_their_rank() {
        let logits: Vec<f32> = (0..40_u16).map(|token| f32::from(token * 7 % 13)).collect();
        let mut ordered: Vec<u16> = (0..40).collect();
        ordered.sort_by_key(|&token| rank(&logits, token));
        assert_eq!(top(&logits)[..], ordered[..5]);
        let few = [f32::NEG_INFINITY, f32::NEG_INFINITY, 1.0, f32::NEG_INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY];
        assert_eq!(top(&few), [2, 0, 1, 3, 4]);
    }

    #[test]
    fn equals_go_to_the_lower_token() {
        assert_eq!(argmax(&[0.0, 2.0, 2.0]), 1);
        assert_eq!([0, 1, 2].map(|token| rank(&[0.0, 2.0, 2.0], token)), [2, 0, 1]);
    }

    #[test]
    fn the_distribution_is_inverted_at_its_steps() {
        let logits = [1.0_f32, 2.0, 5.0].map(f32::ln);
        for (uniform, token) in [(0.0, 0), (0.124, 0), (0.126, 1), (0.374, 1), (0.376, 2), (0.999_999, 2)] {
            assert_eq!(sample(&logits, 1.0, uniform), token, "at {uniform}");
        }
    }

    #[test]
    fn temperature_sharpens_and_zero_takes_the_most_likely() {
        // Squared odds at half the temperature: 1 : 4 : 25.
        let logits = [1.0_f32, 2.0, 5.0].map(f32::ln);
        assert_eq!([0.03, 0.04, 0.16, 0.17].map(|uniform| sample(&logits, 0.5, uniform)), [0, 1, 1, 2]);
        assert_eq!(sample(&logits, 0.0, 0.0), 2);
    }

    #[test]
    fn an_impossible_token_is_never_sampled() {
        let logits = [f32::NEG_INFINITY, 0.0, f32::NEG_INFINITY];
        assert_eq!([0.0, 0.5, 0.999_999_999].map(|uniform| sample(&logits, 1.0, uniform)), [1, 1, 1]);
    }

    proptest! {
        #[test]
        fn the_mass_of_all_tokens_is_one_and_of_complements_sums_to_one(
            logits in prop::collection::vec(-30.0_f32..30.0, 2..50), cut in 1_u16..50,
        ) {
            let cut = cut.min(logits.len() as u16 - 1);
            let (left, right): (Vec<u16>, Vec<u16>) = (0..logits.len() as u16).partition(|&token| token < cut);
            let weights = of(&logits, 1.0);
            prop_assert!((weights.mass(&left) + weights.mass(&right) - 1.0).abs() < 1e-12);
        }

        #[test]
        fn rank_orders_every_token_once(logits in prop::collection::vec(-2.0_f32..2.0, 1..50)) {
            let mut ranks: Vec<usize> = (0..logits.len() as u16).map(|token| rank(&logits, token)).collect();
            prop_assert_eq!(ranks[usize::from(argmax(&logits))], 0);
            ranks.sort_unstable();
            prop_assert!(ranks.into_iter().eq(0..logits.len()));
        }
    }
}
