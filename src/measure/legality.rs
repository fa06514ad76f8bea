//! Does a model know the rules? One token sampled without a mask where a human was to move, and judged on a board.

use crate::chess::vocabulary::EOS;

use super::answers::{Answers, LEGAL};
use super::score::Value;
use super::{Measured, batched};

pub(super) const VERSION: u32 = 1;

/// `rate`: the share of legal tokens. Failures are counted by kind; a game goes on in every position drawn, so
/// `<eos>` is a failure too, and counted once more as `special_token_eos`.
pub(super) fn of(answers: &Answers, positions: u32, temperature: f64) -> Measured {
    let kinds = [LEGAL, "special_token", "special_token_eos", "empty_square", "opponents_piece", "illegal_movement"];
    let mut counts = kinds.map(|kind| (kind.to_owned(), 0)).into();
    let sampled = answers.sampled(temperature).iter().take(positions as usize);
    let n = sampled.len() as u64;
    for sampled in sampled {
        batched::count(&mut counts, sampled.outcome);
        if sampled.token == EOS {
            batched::count(&mut counts, "special_token_eos");
        }
    }
    let values = Vec::from_iter(Value::share("rate", counts[LEGAL], n));
    Measured { values, counts, ..Measured::default() }
}

#[cfg(test)]
mod tests {
    use super::super::board::illegal_name;
    use super::super::fakes;
    use super::super::metric::Metric;
    use super::super::positions::{self, ValidationGames};
    use super::super::predictor::Predictor;
    use super::*;
    use crate::chess::replay::classify;
    use crate::chess::vocabulary::{PAD, VOCABULARY_SIZE};

    fn score(predictor: &dyn Predictor, positions: u32) -> Measured {
        fakes::measured(predictor, &fakes::games(), &Metric::Legality { positions, temperature: 1.0, seed: 5 })
    }

    #[test]
    fn a_model_that_knows_nothing_fails_by_each_kind_as_often_as_the_boards_say() {
        let n = 20_000;
        let got = score(&fakes::uniform(), n);
        let games = fakes::games();
        let games = ValidationGames::new(fakes::slices(&games));
        let mut expected = std::collections::BTreeMap::<String, f64>::new();
        for at in positions::draw(&games, 5, n).expect("drawable") {
            let board = games.board(at).expect("legal games");
            for token in 0..VOCABULARY_SIZE as u16 {
                let kind = classify(token, &board).map_or_else(illegal_name, |_| "legal");
                *expected.entry(kind.to_owned()).or_default() += 1.0 / VOCABULARY_SIZE as f64;
            }
        }
        for (kind, wanted) in expected {
            // Five kinds at once: four standard errors, where a single 95 % interval has two.
            let error = (wanted * (1.0 - wanted / f64::from(n))).sqrt();
            assert!((got.counts[&kind] as f64 - wanted).abs() < 4.0 * error, "{kind}: {}, not {wanted}", got.counts[&kind]);
        }
    }

    #[test]
    fn a_model_that_knows_the_rules_is_always_legal() {
        let got = score(&fakes::uniform_legal(), 300);
        assert_eq!((got.values[0].value, got.values[0].n, got.counts["legal"]), (1.0, 300, 300));
    }

    #[test]
    fn a_model_that_knows_the_games_is_always_legal() {
        assert_eq!(score(&fakes::oracle(&fakes::games()), 300).counts["legal"], 300);
    }

    #[test]
    fn special_tokens_are_failures_and_eos_is_counted_apart() {
        let got = score(&fakes::always(EOS), 100).counts;
        assert_eq!((got["legal"], got["special_token"], got["special_token_eos"]), (0, 100, 100));
        let got = score(&fakes::always(PAD), 100).counts;
        assert_eq!((got["legal"], got["special_token"], got["special_token_eos"]), (0, 100, 0));
    }

    #[test]
    fn a_model_that_copies_moves_from_an_empty_square() {
        let got = score(&fakes::copying(), 300);
        assert_eq!((got.values[0].value, got.counts["empty_square"]), (0.0, 300));
    }

    #[test]
    fn the_size_of_batches_changes_nothing() {
        assert_eq!(score(&fakes::moody().batch(1), 150), score(&fakes::moody(), 150));
    }

    #[test]
    fn a_short_context_is_shown_the_last_tokens() {
        let got = score(&fakes::copying().context(4), 100);
        assert_eq!(got.counts["empty_square"], 100);
    }
}
