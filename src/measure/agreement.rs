//! Does a model play what people play? Its most likely tokens against the move that the human made.

use anyhow::Result;

use crate::progress::Progress;

use super::positions::{self, ValidationGames, prompt};
use super::predictor::Predictor;
use super::sampling::rank;
use super::score::Value;
use super::{Measured, batched};

pub(super) const VERSION: u32 = 1;

/// `top1` and `top5`: how often the human move is the most likely token, or one of the five. Equal logits rank by
/// the token's number.
pub(super) fn measure(
    predictor: &dyn Predictor,
    games: &ValidationGames,
    positions: u32,
    seed: u64,
    progress: &Progress,
) -> Result<Measured> {
    let drawn = positions::draw(games, seed, positions)?;
    let prompts: Vec<_> = drawn.iter().map(|&at| prompt(games.before(at), predictor.context())).collect();
    let (mut first, mut fifth) = (0, 0);
    batched::ask(predictor, &prompts, progress, |item, logits| {
        let rank = rank(logits, games.human(drawn[item]));
        first += u64::from(rank < 1);
        fifth += u64::from(rank < 5);
        Ok(())
    })?;
    let n = u64::from(positions);
    let values = [Value::share("top1", first, n), Value::share("top5", fifth, n)].into_iter().flatten().collect();
    let counts = [("top1", first), ("top5", fifth), ("positions", n)].map(|(kind, n)| (kind.to_owned(), n)).into();
    Ok(Measured { values, counts, games: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::super::fakes;
    use super::*;
    use crate::progress::silent;

    const POSITIONS: u32 = 400;

    fn score(predictor: &dyn Predictor) -> Measured {
        let games = fakes::games();
        measure(predictor, &ValidationGames::new(fakes::slices(&games)), POSITIONS, 5, &silent()).expect("games to measure on")
    }

    #[test]
    fn a_model_that_knows_the_games_agrees_always() {
        let got = score(&fakes::oracle(&fakes::games()));
        assert_eq!(
            got.values.iter().map(|value| (value.name.as_str(), value.value)).collect::<Vec<_>>(),
            [("top1", 1.0), ("top5", 1.0)]
        );
    }

    #[test]
    fn of_equal_logits_the_lowest_tokens_count() {
        // Three special tokens, a1a2 and a1a3 come first.
        let games = fakes::games();
        let games = ValidationGames::new(fakes::slices(&games));
        let drawn = positions::draw(&games, 5, POSITIONS).expect("drawable");
        let wanted = drawn.iter().filter(|&&at| games.human(at) < 5).count() as u64;
        let got = score(&fakes::uniform()).counts;
        assert_eq!((got["top1"], got["top5"]), (0, wanted));
    }

    #[test]
    fn a_model_that_copies_never_agrees() {
        let got = score(&fakes::copying()).counts;
        assert_eq!(got["top1"], 0);
    }

    #[test]
    fn the_size_of_batches_changes_nothing() {
        assert_eq!(score(&fakes::moody().batch(1)), score(&fakes::moody()));
    }
}
