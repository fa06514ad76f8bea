//! How far a distribution is from one that is known by counts alone, with intervals from a parametric bootstrap of the counts.
//!
//! Both distances are biased upward by chance: equal distributions never look equal. A percentile interval would have that
//! bias twice and almost never hold the truth; see the test of coverage.

use rand_core::Rng;

use crate::random::unit;
use crate::stats::Estimate;

/// The method of the divergence: reversed percentiles, and the bias taken off the value.
pub(super) const BASIC: &str = "bootstrap 95 %, bias off";
/// The method of the variation: the distance of resampled counts bounds how far it can be off, by the triangle inequality.
pub(super) const AT_LEAST: &str = "bootstrap, at least 95 %";

const RESAMPLES: usize = 1000;

/// Games of the other distribution that resampling adds: a move that nobody made yet may still be made.
const PRIOR_GAMES: f64 = 2.0;

/// The Jensen-Shannon divergence in bits, and the total variation distance, between `known` and the distribution behind `counts`.
pub(super) fn estimates(known: &[f64], counts: &[u64], rng: &mut impl Rng) -> [Estimate; 2] {
    let n = counts.iter().sum::<u64>();
    let seen: Vec<f64> = counts.iter().map(|&count| count as f64 / n as f64).collect();
    let drawn_from: Vec<f64> = seen
        .iter()
        .zip(known)
        .map(|(share, known)| (share * n as f64 + known * PRIOR_GAMES) / (n as f64 + PRIOR_GAMES))
        .collect();
    let (mut bits, mut off) = (Vec::with_capacity(RESAMPLES), Vec::with_capacity(RESAMPLES));
    let mut resampled = vec![0.0; counts.len()];
    for _ in 0..RESAMPLES {
        multinomial(rng, n, &drawn_from, &mut resampled);
        for count in &mut resampled {
            *count /= n as f64;
        }
        bits.push(divergence_bits(known, &resampled));
        off.push(variation(&drawn_from, &resampled));
    }
    bits.sort_by(f64::total_cmp);
    off.sort_by(f64::total_cmp);
    [basic(divergence_bits(known, &seen), divergence_bits(known, &drawn_from), &bits, n), {
        let (value, radius) = (variation(known, &seen), quantile(&off, 0.95));
        Estimate { value, low: (value - radius).max(0.0), high: (value + radius).min(1.0), n }
    }]
}

/// As far as the resamples lie from what they were drawn from, the sample lies from the truth.
fn basic(seen: f64, drawn_from: f64, resampled: &[f64], n: u64) -> Estimate {
    let truth = |resampled: f64| (seen + drawn_from - resampled).clamp(0.0, 1.0);
    let (low, high) = (truth(quantile(resampled, 0.975)), truth(quantile(resampled, 0.025)));
    let mean = resampled.iter().sum::<f64>() / resampled.len() as f64;
    Estimate { value: truth(mean).clamp(low, high), low, high, n }
}

fn quantile(sorted: &[f64], share: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}

/// Lin, "Divergence Measures Based on the Shannon Entropy", 1991: the mean of both relative entropies to the mixture, 0 to 1.
fn divergence_bits(a: &[f64], b: &[f64]) -> f64 {
    let part = |p: f64, mixture: f64| if p > 0.0 { p * (p / mixture).log2() } else { 0.0 };
    let of = |(&a, &b): (&f64, &f64)| part(a, f64::midpoint(a, b)) + part(b, f64::midpoint(a, b));
    (a.iter().zip(b).map(of).sum::<f64>() / 2.0).clamp(0.0, 1.0)
}

/// Half the sum of differences: the most by which the probability of any set of moves can differ.
fn variation(a: &[f64], b: &[f64]) -> f64 {
    (a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum::<f64>() / 2.0).clamp(0.0, 1.0)
}

/// Counts of `n` draws, one binomial after the other of what is left.
fn multinomial(rng: &mut impl Rng, n: u64, probabilities: &[f64], counts: &mut [f64]) {
    let (mut left, mut mass) = (n as f64, 1.0_f64);
    for (count, &probability) in counts.iter_mut().zip(probabilities) {
        let share = if mass > probability { probability / mass } else { 1.0 };
        *count = binomial(rng, left, share);
        left -= *count;
        mass -= probability;
    }
}

/// Successes among `n`: by inversion where few are expected, else by the normal limit, which is off by less than a game.
fn binomial(rng: &mut impl Rng, n: f64, share: f64) -> f64 {
    if share > 0.5 {
        return n - binomial(rng, n, 1.0 - share);
    }
    let mean = n * share;
    if mean > 100.0 {
        let radius = (-2.0 * (1.0 - unit(rng)).ln()).sqrt();
        let normal = radius * (std::f64::consts::TAU * unit(rng)).cos();
        return (mean + normal * (mean * (1.0 - share)).sqrt()).round().clamp(0.0, n);
    }
    let odds = share / (1.0 - share);
    let (mut successes, mut probability) = (0.0, (n * (-share).ln_1p()).exp());
    let mut uniform = unit(rng);
    while uniform > probability && successes < n {
        uniform -= probability;
        probability *= odds * (n - successes) / (successes + 1.0);
        successes += 1.0;
    }
    successes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    #[test]
    fn distances_are_0_between_equals_and_1_between_strangers() {
        let (a, b) = ([0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.25, 0.75]);
        for distance in [divergence_bits, variation] {
            assert!(distance(&a, &a).abs() < 1e-12);
            assert!((distance(&a, &b) - 1.0).abs() < 1e-12);
        }
        // By hand: 1 − h(1/4)/2 … of [1, 0] and [0.5, 0.5].
        assert!((divergence_bits(&[1.0, 0.0], &[0.5, 0.5]) - 0.311_278).abs() < 1e-6);
        assert!((variation(&[1.0, 0.0], &[0.5, 0.5]) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn draws_have_the_mean_and_the_spread_of_their_distribution() {
        let mut rng = stream(3, "binomial", 0);
        for (n, share) in [(30.0, 0.1), (200.0, 0.9), (1000.0, 0.4), (1e6, 0.001)] {
            let draws: Vec<f64> = (0..4_000).map(|_| binomial(&mut rng, n, share)).collect();
            let mean = draws.iter().sum::<f64>() / 4_000.0;
            let variance = draws.iter().map(|draw| (draw - mean).powi(2)).sum::<f64>() / 3_999.0;
            let wanted = n * share * (1.0 - share);
            assert!((mean - n * share).abs() < 4.0 * (wanted / 4_000.0).sqrt(), "{n} {share}: {mean}");
            assert!((variance / wanted - 1.0).abs() < 0.12, "{n} {share}: {variance}");
        }
    }

    #[test]
    fn intervals_hold_the_truth_as_often_as_they_say() {
        // Twelve moves, as people and a model may prefer them.
        let truth: Vec<f64> = normed(&[50.0, 20.0, 10.0, 8.0, 5.0, 3.0, 2.0, 1.0, 0.5, 0.3, 0.1, 0.1]);
        let known: Vec<f64> = normed(&[38.0, 27.0, 12.0, 7.0, 4.0, 4.0, 3.0, 2.0, 1.5, 0.5, 0.5, 0.5]);
        let wanted = [divergence_bits(&known, &truth), variation(&known, &truth)];
        let mut rng = stream(3, "coverage", 0);
        let mut counts = vec![0.0; truth.len()];
        for n in [100, 2_000] {
            let (trials, mut held) = (400, [0, 0]);
            for _ in 0..trials {
                multinomial(&mut rng, n, &truth, &mut counts);
                let counts: Vec<u64> = counts.iter().map(|&count| count as u64).collect();
                for (at, got) in estimates(&known, &counts, &mut rng).into_iter().enumerate() {
                    assert!(got.low <= got.value && got.value <= got.high && got.n == n, "{got:?}");
                    held[at] += u32::from((got.low..=got.high).contains(&wanted[at]));
                }
            }
            let [basic, at_least] = held.map(|held| f64::from(held) / f64::from(trials));
            assert!((0.92..=0.985).contains(&basic), "{n} games: {basic}");
            assert!(at_least >= 0.95, "{n} games: {at_least}");
        }
    }

    fn normed(weights: &[f64]) -> Vec<f64> {
        let sum: f64 = weights.iter().sum();
        weights.iter().map(|weight| weight / sum).collect()
    }
}
