//! Randomness that is the same everywhere: named `ChaCha` streams, and draws from them.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng as _};

/// The stream for one purpose and one item of it: independent of every other, whatever was drawn before.
pub fn stream(seed: u64, purpose: &str, index: u64) -> ChaCha8Rng {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes()).update(&index.to_le_bytes()).update(purpose.as_bytes());
    ChaCha8Rng::from_seed(*hasher.finalize().as_bytes())
}

/// A number below `n`, each equally likely (Lemire 2019).
pub fn below(rng: &mut impl Rng, n: u64) -> u64 {
    assert!(n > 0, "a number below 0 was asked for");
    let floor = n.wrapping_neg() % n;
    loop {
        let product = u128::from(rng.next_u64()) * u128::from(n);
        if product as u64 >= floor {
            return (product >> 64) as u64;
        }
    }
}

/// A number in [0, 1), a multiple of 2^-53.
pub fn unit(rng: &mut impl Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}
