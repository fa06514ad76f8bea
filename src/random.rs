//! The one source of randomness for anything a result depends on: `ChaCha` streams named by seed, purpose and index.
//!
//! Equal arguments give equal draws on every machine. Streams of different purposes or indices share nothing,
//! so a draw can be repeated, or a training resumed, without replaying the draws before it.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng as _};

/// The stream of draws for one purpose, such as `("split", 0)` or `("windows", step)`.
pub fn stream(seed: u64, purpose: &str, index: u64) -> ChaCha8Rng {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes());
    hasher.update(&index.to_le_bytes());
    hasher.update(purpose.as_bytes());
    ChaCha8Rng::from_seed(*hasher.finalize().as_bytes())
}

/// A whole number in 0 … `n` − 1, each equally likely.
///
/// The high word of a product, with the few products thrown away that would favour some numbers
/// (Lemire, "Fast Random Integer Generation in an Interval", 2019).
///
/// # Panics
///
/// Where `n` is 0: there is no such number.
pub fn below(rng: &mut impl Rng, n: u64) -> u64 {
    assert!(n > 0, "no number is below 0");
    let threshold = n.wrapping_neg() % n;
    loop {
        let product = u128::from(rng.next_u64()) * u128::from(n);
        if product as u64 >= threshold {
            return (product >> 64) as u64;
        }
    }
}

/// A number in [0, 1) with 53 random bits.
pub fn unit(rng: &mut impl Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 * (-53_f64).exp2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_repeatable_and_differ_by_seed_purpose_and_index() {
        let first = |seed, purpose, index| stream(seed, purpose, index).next_u64();
        assert_eq!(first(1, "split", 0), first(1, "split", 0));
        let others = [first(2, "split", 0), first(1, "windows", 0), first(1, "split", 1)];
        assert!(others.iter().all(|&other| other != first(1, "split", 0)));
    }

    #[test]
    fn below_reaches_every_number_about_equally_often() {
        let mut rng = stream(7, "test", 0);
        let mut counts = [0_u32; 6];
        for _ in 0..60_000 {
            counts[below(&mut rng, 6) as usize] += 1;
        }
        assert!(counts.iter().all(|&count| (9_600..10_400).contains(&count)), "{counts:?}");
        assert_eq!(below(&mut rng, 1), 0);
    }

    #[test]
    fn unit_is_in_its_range_with_a_mean_of_one_half() {
        let mut rng = stream(7, "test", 1);
        let draws: Vec<f64> = (0..10_000).map(|_| unit(&mut rng)).collect();
        assert!(draws.iter().all(|draw| (0.0..1.0).contains(draw)));
        assert!((draws.iter().sum::<f64>() / 10_000.0 - 0.5).abs() < 0.02);
    }
}
