//! Does a model know the rare rules? Positions where the human castled, took en passant or promoted, or stood in
//! check.

use anyhow::Result;
use shakmaty::{Chess, Move, Position as _};

use crate::progress::Progress;

use super::answers::{Answer, Answers};
use super::draw::{CHECK_EVERY, Met};
use super::parts::{Threads, in_parts};
use super::positions::{Position, ValidationGames};
use super::score::Value;
use super::{Measured, batched};

pub(super) const VERSION: u32 = 1;

pub(super) const DRAWN: &str = "validation games in an order by seed, every position of a kind until enough are found; in check \
     before castling, en passant and promotion; prompt of the last tokens that fit";

/// What a position asks for, in the order of the published table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    Castling,
    EnPassant,
    Promotion,
    Check,
}

impl Rule {
    pub const ALL: [Self; 4] = [Self::Castling, Self::EnPassant, Self::Promotion, Self::Check];

    pub fn name(self) -> &'static str {
        match self {
            Self::Castling => "castling",
            Self::EnPassant => "en_passant",
            Self::Promotion => "promotion",
            Self::Check => "check",
        }
    }

    /// The rule of a position in which the human made this move, if it is of any.
    fn of(board: &Chess, human: Move) -> Option<Self> {
        // Check first: what saves the king is a question of its own, even where the answer is a promotion.
        if board.is_check() {
            return Some(Self::Check);
        }
        match human {
            Move::Castle { .. } => Some(Self::Castling),
            Move::EnPassant { .. } => Some(Self::EnPassant),
            Move::Normal { promotion: Some(_), .. } => Some(Self::Promotion),
            _ => None,
        }
    }
}

/// Per rule: `legal` and `human`, how often the most likely token is legal and the human move; `mass`, the
/// probability of all legal moves together, with `mass_min` and `mass_max`. Where fewer than `positions` exist, `n`
/// says so; a rule that was not found at all has no values and a count of 0.
pub(super) fn of(answers: &Answers, positions: u32) -> Measured {
    let mut measured = Measured::default();
    measured.counts.insert("games_scanned".to_owned(), answers.scanned);
    for rule in Rule::ALL {
        let of_rule = || answers.rows.iter().filter(|row| row.rule == Some(rule)).take(positions as usize);
        let masses: Vec<f64> = of_rule().map(|row| row.legal_mass).collect();
        let n = masses.len() as u64;
        let count = |of: fn(&Answer) -> bool| of_rule().filter(|row| of(row)).count() as u64;
        let name = |what: &str| format!("{}.{what}", rule.name());
        let values = [
            Value::share(&name("legal"), count(|row| row.top_is_legal), n),
            Value::share(&name("human"), count(|row| row.rank == 0), n),
            Value::mean(&name("mass"), &masses, &(0.0..=1.0)),
            Value::smallest(&name("mass_min"), &masses, &(0.0..=1.0)),
            Value::largest(&name("mass_max"), &masses, &(0.0..=1.0)),
        ];
        measured.values.extend(values.into_iter().flatten());
        measured.counts.insert(rule.name().to_owned(), n);
    }
    measured
}

/// Positions of each rule, `wanted` at most, and how many games were looked through, by so many threads.
pub(super) fn find(
    games: &ValidationGames,
    wanted: usize,
    seed: u64,
    threads: &dyn Threads,
    progress: &Progress,
) -> Result<(Vec<Met>, u64)> {
    let mut found = Vec::new();
    let mut missing = Rule::ALL.map(|_| wanted);
    let mut scanned = 0;
    // Some are looked through that come after the last one needed; of those nothing is kept.
    for some in games.shuffled(seed).chunks_mut(CHECK_EVERY) {
        batched::check(progress)?;
        let is_missing = missing.map(|missing| missing > 0);
        let candidates = in_parts(threads, &mut vec![(); threads.count()], some, |(), _, some| {
            some.iter().map(|&game| of_game(games, game, is_missing)).collect::<Result<Vec<_>>>()
        });
        for of_games in candidates {
            for of_game in of_games? {
                if missing == [0; 4] {
                    return Ok((found, scanned));
                }
                scanned += 1;
                for (rule, met) in of_game {
                    if missing[rule as usize] > 0 {
                        missing[rule as usize] -= 1;
                        found.push(met);
                    }
                }
            }
        }
    }
    Ok((found, scanned))
}

/// The positions of a game that are of a missing rule.
fn of_game(games: &ValidationGames, game: usize, is_missing: [bool; 4]) -> Result<Vec<(Rule, Met)>> {
    let mut found = Vec::new();
    games.walk(game, games.game(game).len(), |cut, board, human| {
        if let Some(rule) = Rule::of(board, human).filter(|&rule| is_missing[rule as usize]) {
            found.push((rule, Met { at: Position { game, cut }, rule: Some(rule), board: board.clone() }));
        }
    })?;
    Ok(found)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "known answers are exact")]
mod tests {
    use shakmaty::CastlingMode;
    use shakmaty::fen::Fen;

    use super::super::fakes;
    use super::super::metric::Metric;
    use super::super::predictor::Predictor;
    use super::*;
    use crate::chess::vocabulary::{VOCABULARY_SIZE, parse, to_move};

    /// One of each kind, and then another castling.
    fn games() -> Vec<Vec<u16>> {
        [
            "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1 g8f6 d2d3 e8g8",
            "d2d4 a7a6 d4d5 e7e5 d5e6 a6a5 e6f7 e8e7 f7g8n",
            "f2f4 e7e5 g2g3 d8h4 g3h4",
        ]
        .map(fakes::game)
        .to_vec()
    }

    fn score(predictor: &dyn Predictor, positions: u32) -> Measured {
        let games = games();
        fakes::measured(predictor, &games, &Metric::Rules { positions, seed: 5 })
    }

    fn value<'a>(measured: &'a Measured, name: &str) -> &'a Value {
        measured.values.iter().find(|value| value.name == name).expect("a value of that name")
    }

    #[test]
    fn positions_are_found_by_kind_and_fewer_than_asked_are_reported_by_n() {
        let got = score(&fakes::uniform(), 10);
        // After e6f7 the black king is in check.
        for (kind, n) in [("castling", 2), ("en_passant", 1), ("promotion", 1), ("check", 1)] {
            assert_eq!(got.counts[kind], n, "{kind}");
            assert_eq!(value(&got, &format!("{kind}.legal")).n, n, "{kind}");
        }
        assert_eq!(got.counts["games_scanned"], 3);
        assert_eq!(score(&fakes::uniform(), 1).counts["castling"], 1);
    }

    #[test]
    fn a_kind_that_was_not_found_has_no_values() {
        let games = [fakes::game("e2e4 e7e5")];
        let got = fakes::measured(&fakes::uniform(), &games, &Metric::Rules { positions: 10, seed: 5 });
        assert!(got.values.is_empty());
        assert_eq!(got.counts["promotion"], 0);
    }

    #[test]
    fn a_model_that_knows_the_games_is_right_and_sure() {
        let games = games();
        let got = score(&fakes::oracle(&games), 10);
        for kind in Rule::ALL {
            for what in ["legal", "human", "mass", "mass_min", "mass_max"] {
                let name = format!("{}.{what}", kind.name());
                assert_eq!(value(&got, &name).value, 1.0, "{name}");
            }
        }
    }

    #[test]
    fn a_model_that_knows_nothing_puts_on_legal_moves_their_share_of_the_vocabulary() {
        let got = score(&fakes::uniform(), 10);
        assert_eq!(value(&got, "castling.legal").value, 0.0);
        // The board after e6f7: the king takes the pawn or goes to e7.
        assert!((value(&got, "check.mass").value - 2.0 / VOCABULARY_SIZE as f64).abs() < 1e-12);
    }

    #[test]
    fn a_model_that_is_right_on_every_rule_but_one_is_seen_to_fail_at_that_one() {
        let games = games();
        for missed in Rule::ALL {
            let misses = |before: &[u16], human: u16| {
                let mut board = Chess::default();
                for &token in before {
                    board.play_unchecked(to_move(token, &board).expect("a legal move"));
                }
                Rule::of(&board, to_move(human, &board).expect("a legal move")) == Some(missed)
            };
            let got = score(&fakes::oracle_but(&games, misses), 10);
            for kind in Rule::ALL {
                for what in ["legal", "human", "mass"] {
                    let name = format!("{}.{what}", kind.name());
                    assert_eq!(value(&got, &name).value, f64::from(u8::from(kind != missed)), "{name} without {missed:?}");
                }
            }
        }
    }

    #[test]
    fn a_position_in_check_belongs_to_check_only() {
        let fen: Fen = "4q1k1/3P4/8/8/8/8/8/4K3 w - - 0 1".parse().expect("a good FEN");
        let board: Chess = fen.into_position(CastlingMode::Standard).expect("a position");
        let human = to_move(parse("d7e8q").expect("in the vocabulary"), &board).expect("legal");
        assert!(human.is_promotion());
        assert_eq!(Rule::of(&board, human), Some(Rule::Check));
    }

    #[test]
    fn the_size_of_batches_changes_nothing() {
        assert_eq!(score(&fakes::moody().batch(1), 10), score(&fakes::moody(), 10));
    }
}
