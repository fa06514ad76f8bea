//! Which games are validated on and which are trained on. Whole games, decided by the seed and nothing else.
//!
//! A draw takes an exact number of games, and equal games may fall on both sides. A hash of the moves puts equal
//! games on one side, and takes about the share that was asked for. Neither leaves a side empty.

use anyhow::Result;

use crate::error::Fixable;
use crate::random::{below, stream};

/// `floor(games × share)` games, at least one, drawn by the seed: true for those that are validated on.
///
/// Every set of so many games is equally likely (Floyd's method: Bentley, "Programming Pearls", CACM 30(9), 1987).
///
/// # Errors
///
/// Where one of the sides would be empty.
pub fn draw(games: u64, share: f64, seed: u64) -> Result<Vec<bool>> {
    let drawn = ((games as f64 * share).floor() as u64).max(1);
    if drawn >= games {
        return Err(empty(games, drawn.min(games), share));
    }
    let mut rng = stream(seed, "split", 0);
    let mut validated = vec![false; games as usize];
    for last in games - drawn..games {
        let game = below(&mut rng, last + 1);
        let game = if validated[game as usize] { last } else { game };
        validated[game as usize] = true;
    }
    Ok(validated)
}

/// The games whose moves hash below the share: true for those that are validated on.
///
/// # Errors
///
/// Where one of the sides would be empty.
pub fn game_hash<'a>(games: impl Iterator<Item = &'a [u16]>, share: f64, seed: u64) -> Result<Vec<bool>> {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    // The share of all 64-bit numbers.
    let bound = share * 64_f64.exp2();
    let validated: Vec<bool> = games
        .map(|moves| {
            let hash = blake3::keyed_hash(&key, bytemuck::cast_slice(moves));
            let mut head = [0; 8];
            head.copy_from_slice(&hash.as_bytes()[..8]);
            (u64::from_le_bytes(head) as f64) < bound
        })
        .collect();
    let count = validated.iter().filter(|&&validated| validated).count();
    if count == 0 || count == validated.len() {
        return Err(empty(validated.len() as u64, count as u64, share));
    }
    Ok(validated)
}

fn empty(games: u64, validated: u64, share: f64) -> anyhow::Error {
    let side = if validated == 0 { "validation" } else { "training" };
    let noun = if games == 1 { "game" } else { "games" };
    Fixable::failed(format!("of {games} {noun}, a validation share of `{share}` leaves none for {side}"))
        .hint("change corpus.split.validation, or keep more games")
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn count(validated: &[bool]) -> usize {
        validated.iter().filter(|&&validated| validated).count()
    }

    proptest! {
        #[test]
        fn a_draw_takes_exactly_the_share(games in 2_u64..3000, share in 0.0..0.9_f64, seed: u64) {
            let validated = draw(games, share, seed).expect("both sides have games");
            prop_assert_eq!(validated.len() as u64, games);
            prop_assert_eq!(count(&validated), ((games as f64 * share).floor() as usize).max(1));
            prop_assert_eq!(validated, draw(games, share, seed).expect("as before"));
        }
    }

    #[test]
    fn every_game_is_drawn_about_equally_often() {
        let mut counts = [0_u32; 10];
        for seed in 0..10_000 {
            for (game, validated) in draw(10, 0.3, seed).expect("both sides have games").into_iter().enumerate() {
                counts[game] += u32::from(validated);
            }
        }
        assert!(counts.iter().all(|count| (2_800..3_200).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_hash_puts_equal_games_on_one_side_and_takes_about_the_share() {
        let games: Vec<Vec<u16>> = (0..20_000_u16).map(|game| vec![game / 2, 7]).collect();
        let split = |seed| game_hash(games.iter().map(Vec::as_slice), 0.1, seed).expect("both sides have games");
        let validated = split(1);
        assert!(validated.chunks(2).all(|twins| twins[0] == twins[1]));
        assert!((1_800..2_200).contains(&count(&validated)), "{}", count(&validated));
        assert_eq!(validated, split(1));
        assert_ne!(validated, split(2));
    }

    #[test]
    fn no_side_is_left_empty() {
        let message = |result: Result<Vec<bool>>| result.expect_err("refused").to_string();
        assert_eq!(message(draw(1, 0.1, 0)), "of 1 game, a validation share of `0.1` leaves none for training");
        assert!(draw(0, 0.1, 0).is_err());
        assert_eq!(count(&draw(2, 0.99, 0).expect("one each")), 1);
        let twins: [&[u16]; 2] = [&[5], &[5]];
        assert!(game_hash(twins.into_iter(), 0.5, 3).is_err());
        assert!(game_hash(std::iter::empty(), 0.5, 3).is_err());
    }
}
