//! From logits to a token or a probability, on the CPU: the same on every device but for the logits.
//!
//! Every position passes through here, so the loops go over lanes that a processor takes side by side. Their order is fixed:
//! equal logits give equal answers on any machine.

use super::lanes::by_lanes;

/// Numbers that are taken side by side.
const LANES: usize = 16;
/// Tokens whose weights are summed up together.
const BLOCK: usize = 64;

/// The most likely token; of equals the lowest.
pub fn argmax(logits: &[f32]) -> u16 {
    let largest = largest(logits);
    logits.iter().position(|&logit| logit >= largest).unwrap_or_default() as u16
}

by_lanes! {
    /// The largest logit.
    pub fn largest(logits: &[f32]) -> f32 {
        most(logits)
    }
}

by_lanes! {
    /// How many tokens come before this one, by likelihood and of equals by number: 0 for the [`argmax`].
    pub fn rank(logits: &[f32], token: u16) -> usize {
        let (before, from_here) = logits.split_at(usize::from(token));
        let own = from_here[0];
        let mut count = 0;
        for &logit in before {
            count += u32::from(logit >= own);
        }
        for &logit in from_here {
            count += u32::from(logit > own);
        }
        count as usize
    }
}

by_lanes! {
    /// The five most likely tokens, as [`rank`] orders them.
    pub fn top(logits: &[f32]) -> [u16; 5] {
        let mut top = [(f32::NEG_INFINITY, u16::MAX); 5];
        for (block, part) in logits.chunks(LANES).enumerate() {
            let mut above = 0;
            for &logit in part {
                above += u32::from(logit > top[4].0);
            }
            // Few parts hold one of the five.
            if above == 0 && top[4].1 != u16::MAX {
                continue;
            }
            for (at, &logit) in part.iter().enumerate() {
                if logit > top[4].0 || top[4].1 == u16::MAX {
                    let place =
                        top.iter().position(|&(other, seen)| logit > other || seen == u16::MAX).expect("it beats the last");
                    top[place..].rotate_right(1);
                    top[place] = (logit, (block * LANES + at) as u16);
                }
            }
        }
        top.map(|(_, token)| token)
    }
}

/// `softmax(logits / temperature)` but for its scale, in memory that is used again.
#[derive(Debug, Default)]
pub struct Weights {
    /// 1 for the most likely.
    tokens: Vec<f32>,
    /// Of each [`BLOCK`] of them.
    sums: Vec<f64>,
    sum: f64,
}

impl Weights {
    /// Takes the distribution of logits at a temperature; at 0 all of it is on the [`argmax`].
    pub fn fill(&mut self, logits: &[f32], temperature: f64) {
        self.tokens.resize(logits.len(), 0.0);
        self.sums.resize(logits.len().div_ceil(BLOCK), 0.0);
        if temperature <= 0.0 {
            self.tokens.fill(0.0);
            self.tokens[usize::from(argmax(logits))] = 1.0;
            self.sums
                .iter_mut()
                .zip(self.tokens.chunks(BLOCK))
                .for_each(|(block, weights)| *block = weights.iter().sum::<f32>().into());
        } else {
            exponentials(logits, (1.0 / temperature) as f32, &mut self.tokens, &mut self.sums);
        }
        self.sum = self.sums.iter().sum();
    }

    /// The probability of all `tokens` together.
    pub fn mass(&self, tokens: &[u16]) -> f64 {
        let part: f64 = tokens.iter().map(|&token| f64::from(self.tokens[usize::from(token)])).sum();
        // The part is added up in another order than the whole.
        (part / self.sum).min(1.0)
    }

    /// The token at which the cumulative distribution passes `uniform`, a number in [0, 1).
    pub fn sample(&self, uniform: f64) -> u16 {
        let target = uniform * self.sum;
        let (mut passed, mut first) = (0.0, 0);
        for sum in &self.sums {
            if passed + sum > target {
                break;
            }
            passed += sum;
            first += BLOCK;
        }
        for (token, &weight) in self.tokens.iter().enumerate().skip(first) {
            passed += f64::from(weight);
            if passed > target {
                return token as u16;
            }
        }
        // Only rounding leads here: blocks and tokens are not added in one order, so it takes a uniform of nearly 1.
        argmax(&self.tokens)
    }
}

by_lanes! {
    /// `e` to the power of what a logit is below the largest, times `per`; and the sum of each block.
    fn exponentials(logits: &[f32], per: f32, weights: &mut [f32], sums: &mut [f64]) {
        let largest = most(logits);
        let (blocks, rest) = logits.as_chunks::<BLOCK>();
        let (weights, weights_left) = weights.as_chunks_mut::<BLOCK>();
        for ((weights, logits), sum) in weights.iter_mut().zip(blocks).zip(&mut *sums) {
            for at in 0..BLOCK {
                weights[at] = exp((logits[at] - largest) * per);
            }
            // In float64, by lanes.
            let mut lanes = [0.0_f64; 8];
            for part in weights.as_chunks::<8>().0 {
                for at in 0..8 {
                    lanes[at] += f64::from(part[at]);
                }
            }
            *sum = lanes.iter().sum();
        }
        for (weight, &logit) in weights_left.iter_mut().zip(rest) {
            *weight = exp((logit - largest) * per);
        }
        if let (Some(sum), false) = (sums.last_mut(), rest.is_empty()) {
            *sum = weights_left.iter().copied().map(f64::from).sum();
        }
    }
}

#[expect(clippy::inline_always, reason = "it is part of loops that are compiled for other vectors than the rest")]
#[inline(always)]
fn most(logits: &[f32]) -> f32 {
    let larger = |a: f32, b: f32| if b > a { b } else { a };
    let (lanes, rest) = logits.as_chunks::<LANES>();
    let mut most = [f32::NEG_INFINITY; LANES];
    for lane in lanes {
        for at in 0..LANES {
            most[at] = larger(most[at], lane[at]);
        }
    }
    most.iter().chain(rest).fold(f32::NEG_INFINITY, |most, &logit| larger(most, logit))
}

/// `eˣ` of a number that is not above 0, to within two units in the last place: 2ⁿ · eʳ with |r| ≤ ln 2 / 2, and the polynomial
/// of the Cephes library (Moshier, `expf.c`). 0 below −87, where float32 would lose digits. No branch and no call, so that a
/// loop of it is taken by lanes.
#[inline(always)]
fn exp(x: f32) -> f32 {
    /// Adding it to a small number rounds that to a whole one, which then stands in the low bits.
    const ROUND: f32 = 12_582_912.0; // 1.5 · 2²³
    const LN_2_HIGH: f32 = 355.0 / 512.0;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let within = if x > -87.0 { x } else { -87.0 };
    let rounded = within * std::f32::consts::LOG2_E + ROUND;
    let n = rounded - ROUND;
    let r = within - n * LN_2_HIGH - n * LN_2_LOW;
    let p = 1.987_569_1e-4;
    let p = p * r + 1.398_199_9e-3;
    let p = p * r + 8.333_452e-3;
    let p = p * r + 4.166_579_6e-2;
    let p = p * r + 1.666_666_5e-1;
    let p = p * r + 0.5;
    let scale = f32::from_bits((rounded.to_bits() << 23).wrapping_add(0x3f80_0000));
    let value = (p * (r * r) + r + 1.0) * scale;
    if x > -87.0 { value } else { 0.0 }
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

    #[test]
    fn the_exponential_is_that_of_float64_to_a_float32s_last_places() {
        for step in 0..=870_000 {
            let x = -1e-4 * step as f32;
            let (ours, exact) = (f64::from(exp(x)), f64::from(x).exp());
            assert!((ours / exact - 1.0).abs() < 2.5e-7 || x <= -87.0 && ours <= 0.0, "at {x}: {ours}, not {exact}");
        }
        assert_eq!([0.0, -1e30, f32::NEG_INFINITY].map(|x| exp(x).to_bits()), [1.0_f32, 0.0, 0.0].map(f32::to_bits));
    }

    #[test]
    fn blocks_of_tokens_are_passed_over_and_never_a_token_that_has_weight() {
        let logits: Vec<f32> = (0..1971).map(|token: u32| (token.wrapping_mul(2_654_435_761) >> 20) as f32 / 400.0).collect();
        let weights = of(&logits, 1.0);
        let whole: f64 = weights.tokens.iter().copied().map(f64::from).sum();
        let mut passed = 0.0;
        for (token, &weight) in weights.tokens.iter().enumerate() {
            let share = f64::from(weight) / whole;
            assert_eq!(weights.sample(passed / whole + share / 2.0), token as u16);
            passed += f64::from(weight);
        }
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
