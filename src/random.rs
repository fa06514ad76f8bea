//! Randomness that results depend on: named ChaCha streams, the same on every machine.
//!
//! A stream is a pure function of (seed, purpose, index), so work can be done in any order, on any number of threads,
//! and resumed anywhere. No global generator, and none of libtorch's.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng as _};

/// The generator of one purpose: equal arguments give equal streams, all others independent ones.
pub fn stream(seed: u64, purpose: &str, index: u64) -> ChaCha8Rng {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes()).update(&index.to_le_bytes()).update(purpose.as_bytes());
    ChaCha8Rng::from_seed(*hasher.finalize().as_bytes())
}

/// A whole number in `0..n`, without bias (Lemire 2019, <https://arxiv.org/abs/1805.10941>).
///
/// # Panics
///
/// Where `n` is 0: there is no such number.
pub fn below(rng: &mut impl Rng, n: u64) -> u64 {
    assert!(n > 0, "a number below 0 is asked for");
    let threshold = n.wrapping_neg() % n;
    loop {
        let wide = u128::from(rng.next_u64()) * u128::from(n);
        if wide as u64 >= threshold {
            return (wide >> 64) as u64;
        }
    }
}

/// A number in [0, 1) with 53 random bits.
pub fn unit(rng: &mut impl Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_depend_on_seed_purpose_and_index_and_on_nothing_else() {
        let first = |seed, purpose, index| stream(seed, purpose, index).next_u64();
        assert_eq!(first(1, "a", 0), first(1, "a", 0));
        assert_ne!(first(1, "a", 0), first(2, "a", 0));
        assert_ne!(first(1, "a", 0), first(1, "b", 0));
        assert_ne!(first(1, "a", 0), first(1, "a", 1));
    }

    #[test]
    fn numbers_stay_in_range_and_reach_all_of_it() {
        let mut rng = stream(7, "test", 0);
        let mut seen = [0_u32; 5];
        for _ in 0..5_000 {
            seen[below(&mut rng, 5) as usize] += 1;
            assert!((0.0..1.0).contains(&unit(&mut rng)));
        }
        assert!(seen.iter().all(|&count| (850..1_150).contains(&count)), "{seen:?}");
    }
}
