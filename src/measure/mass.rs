//! How much of what a model believes is within the rules: the probability of all legal moves together.

use super::Measured;
use super::answers::Answers;
use super::score::Value;

pub(super) const VERSION: u32 = 1;

/// A model is as good as sure of the rules above this mass.
const SURE: f64 = 0.99;

/// `mean`: the mean probability of all legal moves together, at temperature 1; `above_99`: the share of positions where it
/// is more than 0.99.
pub(super) fn of(answers: &Answers, positions: u32) -> Measured {
    let masses: Vec<f64> = answers.rows.iter().take(positions as usize).map(|row| row.legal_mass).collect();
    let sure = masses.iter().filter(|mass| **mass > SURE).count() as u64;
    let n = masses.len() as u64;
    let values = [Value::mean("mean", &masses, &(0.0..=1.0)), Value::share("above_99", sure, n)];
    let counts = [("positions", n), ("above_99", sure)].map(|(kind, n)| (kind.to_owned(), n)).into();
    Measured { values: values.into_iter().flatten().collect(), counts, ..Measured::default() }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "known answers are exact")]
mod tests {
    use super::super::fakes;
    use super::super::metric::Metric;
    use super::super::positions::{self, ValidationGames};
    use super::super::predictor::Predictor;
    use crate::chess::replay::legal_tokens;
    use crate::chess::vocabulary::{EOS, VOCABULARY_SIZE};

    fn score(predictor: &dyn Predictor) -> [f64; 2] {
        let got = fakes::measured(predictor, &fakes::games(), &Metric::Mass { positions: 300, seed: 5 });
        assert!(got.values.iter().all(|value| value.n == 300));
        ["mean", "above_99"].map(|name| got.values.iter().find(|value| value.name == name).expect("a value of that name").value)
    }

    #[test]
    fn a_model_that_knows_nothing_has_the_share_of_legal_moves_in_the_vocabulary() {
        let games = fakes::games();
        let games = ValidationGames::new(fakes::slices(&games));
        let mut legal = Vec::new();
        let mut moves = 0;
        for at in positions::draw(&games, 5, 300).expect("drawable") {
            legal_tokens(&games.board(at).expect("legal games"), &mut legal);
            moves += legal.len();
        }
        let [mean, sure] = score(&fakes::uniform());
        assert!((mean - moves as f64 / 300.0 / VOCABULARY_SIZE as f64).abs() < 1e-12, "{mean}");
        assert_eq!(sure, 0.0);
    }

    #[test]
    fn a_model_that_knows_the_rules_or_the_games_is_sure_and_one_that_resigns_is_not() {
        assert_eq!(score(&fakes::uniform_legal()), [1.0, 1.0]);
        assert_eq!(score(&fakes::oracle(&fakes::games())), [1.0, 1.0]);
        assert_eq!(score(&fakes::always(EOS)), [0.0, 0.0]);
    }

    #[test]
    fn the_size_of_batches_changes_nothing() {
        assert_eq!(score(&fakes::moody().batch(1)), score(&fakes::moody()));
    }
}
