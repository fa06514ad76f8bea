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

/// The token at which the cumulative distribution of `softmax(logits / temperature)` passes `uniform`, a number
/// in [0, 1); the [`argmax`] at temperature 0.
pub fn sample(logits: &[f32], temperature: f64, uniform: f64) -> u16 {
    if temperature <= 0.0 {
        return argmax(logits);
    }
    let weights = weights(logits, temperature);
    let target = uniform * weights.iter().sum::<f64>();
    let mut passed = 0.0;
    for (token, weight) in weights.iter().enumerate() {
        passed += weight;
        if passed > target {
            return token as u16;
        }
    }
    // Only rounding leads here; the sum and the loop add in the same order, so it takes a uniform of nearly 1.
    argmax(logits)
}

/// The probability of all `tokens` together, at temperature 1.
pub fn mass(logits: &[f32], tokens: &[u16]) -> f64 {
    let weights = weights(logits, 1.0);
    let part: f64 = tokens.iter().map(|&token| weights[usize::from(token)]).sum();
    // The part is added up in another order than the whole.
    (part / weights.iter().sum::<f64>()).min(1.0)
}

/// Proportional to the softmax, 1 for the most likely.
fn weights(logits: &[f32], temperature: f64) -> Vec<f64> {
    let largest = f64::from(logits.iter().copied().fold(f32::NEG_INFINITY, f32::max));
    logits.iter().map(|&logit| ((f64::from(logit) - largest) / temperature).exp()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
            prop_assert!((mass(&logits, &left) + mass(&logits, &right) - 1.0).abs() < 1e-12);
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
