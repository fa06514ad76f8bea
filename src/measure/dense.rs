//! Agreement, legality and mass at every ply of some games, and how long a game stays without an illegal token.
//!
//! Every token is asked for after the moves of the human game (teacher forcing), whatever the model said before. Positions
//! of one game are alike, so that intervals are those of games.

use std::collections::BTreeMap;

use crate::stats::cluster::Cluster;
use crate::stats::survival::{self, Watched, survival};

use super::Measured;
use super::answers::{Answer, Answers, LEGAL, Sampled};
use super::facts::Slice;
use super::score::Value;

pub(super) const VERSION: u32 = 1;

pub(super) const DRAWN: &str = "validation games in an order by seed, every ply of each; prompt of the last tokens that fit";

/// A part with fewer positions is not told, and neither is one of a single game, which says nothing of other games.
const FEWEST: u64 = 30;
const FEWEST_GAMES: usize = 2;
/// Plies after which it is told how many games are left.
const AFTER: [u32; 6] = [10, 20, 40, 60, 80, 100];
const NAMES: [&str; 4] = ["top1", "top5", "legal", "mass"];

/// `top1` and `top5`, the share of plies where the human move is the most likely token, or one of five; `legal`, of sampled
/// tokens that are legal; `mass`, the mean probability of all legal moves: of all positions and of each part with at least
/// 30 of them in two games. `survival` after so many plies: the share of games still without an illegal sampled token; games that end
/// before are not counted from there on.
pub(super) fn of(answers: &Answers, games: u32, temperature: f64) -> Measured {
    let mut parts = BTreeMap::<Slice, Part>::new();
    let mut watched = Vec::new();
    let items: Vec<(&Answer, &Sampled)> = answers.rows.iter().zip(answers.sampled(temperature)).collect();
    for game in items.chunk_by(|(a, _), (b, _)| a.game == b.game).take(games as usize) {
        let first_illegal = game.iter().find(|(_, sampled)| sampled.outcome != LEGAL);
        let until = first_illegal.map_or(game.len() as u32, |(row, _)| row.ply + 1);
        watched.push(Watched { until, event: first_illegal.is_some() });
        for (row, sampled) in game {
            let outcomes = [row.rank == 0, row.rank < 5, sampled.outcome == LEGAL].map(|yes| f64::from(u8::from(yes)));
            let outcomes = [outcomes[0], outcomes[1], outcomes[2], row.legal_mass];
            for slice in Slice::of(row, answers.facts.get(&row.game)) {
                parts.entry(slice).or_default().add(row.game, outcomes);
            }
        }
    }
    let is_told = |part: &Part| part.items() >= FEWEST && part.games[0].len() >= FEWEST_GAMES;
    let told = parts.iter().filter(|(slice, part)| **slice == Slice::All || is_told(part));
    let mut values: Vec<Value> = told.flat_map(|(slice, part)| part.values(&slice.label())).collect();
    values.extend(AFTER.into_iter().filter_map(|plies| {
        let estimate = survival(&watched, plies)?;
        Some(Value::of("survival", estimate, survival::METHOD).in_slice(&format!("after {plies} plies")))
    }));
    let failed = watched.iter().filter(|game| game.event).count() as u64;
    let positions = parts.get(&Slice::All).map_or(0, Part::items);
    let counts = [("games", watched.len() as u64), ("games_with_an_illegal_token", failed), ("positions", positions)];
    Measured { values, counts: counts.map(|(kind, n)| (kind.to_owned(), n)).into(), ..Measured::default() }
}

/// The positions of a part, by game.
#[derive(Default)]
struct Part {
    last: Option<u32>,
    /// Of each of [`NAMES`].
    games: [Vec<Cluster>; 4],
}

impl Part {
    /// Adds a position; those of a game come together.
    fn add(&mut self, game: u32, outcomes: [f64; 4]) {
        let is_new = self.last.replace(game) != Some(game);
        for (clusters, outcome) in self.games.iter_mut().zip(outcomes) {
            if is_new {
                clusters.push(Cluster::default());
            }
            if let Some(cluster) = clusters.last_mut() {
                cluster.sum += outcome;
                cluster.items += 1;
            }
        }
    }

    fn items(&self) -> u64 {
        self.games[0].iter().map(|game| game.items).sum()
    }

    fn values(&self, slice: &str) -> Vec<Value> {
        let value = |(name, clusters): (&str, &Vec<Cluster>)| match name {
            "mass" => Value::clustered_mean(name, clusters, &(0.0..=1.0)),
            _ => Value::clustered_share(name, clusters),
        };
        NAMES.into_iter().zip(&self.games).filter_map(value).map(|value| value.in_slice(slice)).collect()
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "known answers are exact")]
mod tests {
    use super::super::answers::answer_at;
    use super::super::facts::GameFacts;
    use super::super::fakes;
    use super::super::metric::Metric;
    use super::super::predictor::Predictor;
    use super::*;
    use crate::corpus::clock::Speed;
    use crate::stats::wilson;

    fn score(predictor: &dyn Predictor) -> Measured {
        fakes::measured(predictor, &fakes::games(), &Metric::Dense { games: 20, temperature: 1.0, seed: 5 })
    }

    fn value<'a>(measured: &'a Measured, name: &str, slice: &str) -> &'a Value {
        let mut values = measured.values.iter();
        values.find(|value| value.name == name && value.slice == slice).unwrap_or_else(|| panic!("no {name} of {slice}"))
    }

    fn plies() -> u64 {
        fakes::games().iter().map(|game| game.len() as u64).sum()
    }

    #[test]
    fn a_model_that_knows_the_games_is_right_at_every_ply_after_the_first() {
        // Before the first move all games are one, and it can know one of them only.
        let got = score(&fakes::oracle(&fakes::games()));
        let right = (plies() - 19) as f64 / plies() as f64;
        assert_eq!((value(&got, "top1", "").value, value(&got, "top1", "").n), (right, plies()));
        assert_eq!(value(&got, "top1", "ply 21-40").value, 1.0);
        for (name, slice) in [("legal", ""), ("mass", ""), ("survival", "after 20 plies"), ("survival", "after 60 plies")] {
            assert_eq!(value(&got, name, slice).value, 1.0, "{name} {slice}");
        }
        assert!(value(&got, "legal", "").low < 1.0, "another game may differ");
        assert_eq!((got.counts["games"], got.counts["games_with_an_illegal_token"]), (20, 0));
    }

    #[test]
    fn a_model_that_copies_has_no_game_left_after_its_first_token() {
        let got = score(&fakes::copying());
        for plies in AFTER {
            let survival = value(&got, "survival", &format!("after {plies} plies"));
            assert_eq!((survival.value, survival.high), (0.0, wilson::share(0, 20).expect("games").high));
        }
        assert_eq!((value(&got, "legal", "").value, got.counts["games_with_an_illegal_token"]), (0.0, 20));
    }

    #[test]
    fn games_are_clusters_and_parts_are_those_of_their_facts() {
        // Three games of 40 plies: one always right, one never, one at every other ply.
        let right = |game: u32, ply: u32| [true, false, ply.is_multiple_of(2)][game as usize];
        let rows: Vec<Answer> = (0..3)
            .flat_map(|game| {
                (0..40).map(move |ply| Answer { rank: if right(game, ply) { 0 } else { 7 }, ..answer_at(game, ply) })
            })
            .collect();
        // The second game goes wrong at its fifth ply.
        let outcome = |row: &Answer| if (row.game, row.ply) == (1, 4) { "empty_square" } else { LEGAL };
        let sampled = rows.iter().map(|row| Sampled { token: 3, outcome: outcome(row) }).collect();
        let rating = |game: u32| [1500.0, 1650.0, 1700.0][game as usize];
        let facts = |game| GameFacts { rating: Some(rating(game)), speed: Some(Speed::Rapid), seen_plies: 9 };
        let facts = (0..3).map(|game| (game, facts(game))).collect();
        let answers = Answers { rows, sampled: vec![(1.0, sampled)], facts, ..Answers::default() };

        let got = of(&answers, 3, 1.0);
        let clusters = [40.0, 0.0, 20.0].map(|sum| Cluster { sum, items: 40 });
        assert_eq!(Some(value(&got, "top1", "")), Value::clustered_share("top1", &clusters).as_ref());
        assert_eq!((value(&got, "top1", "rating 1600-1799").value, value(&got, "top1", "rating 1600-1799").n), (0.25, 80));
        assert!(got.values.iter().all(|value| value.slice != "rating 1400-1599"), "one game says nothing of others");
        assert_eq!(value(&got, "top5", "rapid").n, 120);
        assert_eq!(value(&got, "legal", "opening seen in training").n, 30);
        assert_eq!(value(&got, "survival", "after 20 plies").value, 2.0 / 3.0);
        assert!(got.values.iter().all(|value| value.slice != "in check"), "there is none");
        // The first games of more are those of fewer.
        let two = of(&answers, 2, 1.0);
        assert_eq!((two.counts["games"], value(&two, "top1", "").n), (2, 80));
    }

    #[test]
    fn parts_with_few_positions_are_not_told() {
        let got = score(&fakes::moody());
        for value in got.values.iter().filter(|value| !value.slice.is_empty() && value.name != "survival") {
            assert!(value.n >= FEWEST, "{value:?}");
        }
        assert!(got.values.iter().any(|value| value.slice == "in check"));
    }

    #[test]
    fn the_size_of_batches_changes_nothing() {
        assert_eq!(score(&fakes::moody().batch(1)), score(&fakes::moody()));
    }
}
