//! Does a model play what people play? Its most likely tokens against the move that the human made.

use super::Measured;
use super::answers::Answers;
use super::score::Value;

pub(super) const VERSION: u32 = 1;

/// `top1` and `top5`: how often the human move is the most likely token, or one of the five. Equal logits rank by
/// the token's number.
pub(super) fn of(answers: &Answers, positions: u32) -> Measured {
    let rows = &answers.rows[..answers.rows.len().min(positions as usize)];
    let within = |most: u16| rows.iter().filter(|row| row.rank < most).count() as u64;
    let (first, fifth, n) = (within(1), within(5), rows.len() as u64);
    let values = [Value::share("top1", first, n), Value::share("top5", fifth, n)].into_iter().flatten().collect();
    let counts = [("top1", first), ("top5", fifth), ("positions", n)].map(|(kind, n)| (kind.to_owned(), n)).into();
    Measured { values, counts, ..Measured::default() }
}

#[cfg(test)]
mod tests {
    use super::super::fakes;
    use super::super::metric::Metric;
    use super::super::positions::{self, ValidationGames};
    use super::super::predictor::Predictor;
    use super::*;

    const POSITIONS: u32 = 400;

    fn score(predictor: &dyn Predictor) -> Measured {
        fakes::measured(predictor, &fakes::games(), &Metric::Agreement { positions: POSITIONS, seed: 5 })
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
