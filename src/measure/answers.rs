//! What a model answered to the positions it was asked about: all that the metrics of positions need, from one pass.
//!
//! Positions of one game are asked for in one sequence, which is exact under causal attention: no prefix is read twice.

mod table;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use shakmaty::Position as _;

use crate::chess::replay::{classify, legal_tokens};
use crate::progress::Progress;
use crate::random::{stream, unit};
use crate::text::thousands;

use super::batched::Asked;
use super::board::illegal_name;
use super::draw::{Draw, Met, drawn};
use super::facts::GameFacts;
use super::parts::in_parts;
use super::positions::ValidationGames;
use super::predictor::{Logits, Predictor};
use super::rules::Rule;
use super::sampling::{Weights, rank, top};

/// The outcome of a sampled token that is a legal move.
pub const LEGAL: &str = "legal";
/// What a sampled token can come to.
const OUTCOMES: [&str; 5] = [LEGAL, "special_token", "empty_square", "opponents_piece", "illegal_movement"];

/// Answers in the order of the draw.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answers {
    pub rows: Vec<Answer>,
    /// Of each temperature asked for, the token that was sampled in each row.
    pub sampled: Vec<(f64, Vec<Sampled>)>,
    /// Games that were looked through for them.
    pub scanned: u64,
    /// What is told of their games; empty, or one of each.
    pub facts: BTreeMap<u32, GameFacts>,
}

/// One position, and what the model said of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Of the validation games.
    pub game: u32,
    /// Plies played before.
    pub ply: u32,
    pub rule: Option<Rule>,
    pub in_check: bool,
    /// Legal moves.
    pub legal: u16,
    /// The move that the human made, and how many tokens the model found likelier.
    pub human: u16,
    pub rank: u16,
    pub human_probability: f64,
    /// The most likely tokens, of equals the lower first.
    pub top: [u16; 5],
    pub top_probability: f64,
    pub top_is_legal: bool,
    /// The probability of all legal moves together.
    pub legal_mass: f64,
}

/// A token sampled without a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampled {
    pub token: u16,
    /// `legal`, or the kind of its failure.
    pub outcome: &'static str,
}

impl Answers {
    /// The tokens sampled at a temperature that was asked for.
    ///
    /// # Panics
    ///
    /// Where it was not: a plan asks for all that its metrics need.
    pub fn sampled(&self, temperature: f64) -> &[Sampled] {
        let (_, sampled) =
            self.sampled.iter().find(|(of, _)| of.to_bits() == temperature.to_bits()).expect("a temperature asked for");
        sampled
    }
}

/// What must be told of a draw with replacement that met the same positions again and again; none where it did not.
///
/// An interval takes every drawn position for another one, and is too narrow where it is not.
pub fn met_again(answers: &Answers) -> Option<String> {
    let distinct = answers.rows.iter().map(|row| (row.game, row.ply)).collect::<BTreeSet<_>>().len();
    let drawn = answers.rows.len();
    (drawn > 2 * distinct).then(|| {
        let (drawn, distinct) = (thousands(drawn as u64), thousands(distinct as u64));
        format!("{drawn} positions were drawn, and there are {distinct} different ones among them: intervals come out too narrow")
    })
}

/// Asks about every position of a draw, and samples a token at each of `temperatures`.
///
/// # Errors
///
/// Where there are no games to draw from, the predictor fails, or the user stops the work.
pub fn ask(
    predictor: &dyn Predictor,
    games: &ValidationGames,
    draw: Draw,
    temperatures: &[f64],
    progress: &Progress,
) -> Result<Answers> {
    let threads = predictor.threads();
    let (met, scanned) = drawn(games, draw, threads, progress)?;
    let places: Vec<_> = met.iter().map(|met| met.at).collect();
    let asked = Asked::at(games, &places, predictor.context());
    let mut rows = vec![None; met.len()];
    let blank = Sampled { token: 0, outcome: "" };
    let mut sampled: Vec<_> = temperatures.iter().map(|&temperature| (temperature, vec![blank; met.len()])).collect();
    let judge = Judge { games, met: &met, temperatures, seed: draw.seed() };
    let mut memories: Vec<Memory> = (0..threads.count()).map(|_| Memory::default()).collect();
    asked.put(predictor, progress, |logits, items| {
        in_parts(threads, &mut memories, items, |memory, first, items| judge.judge(memory, logits, first, items));
        for memory in &mut memories {
            for (number, (item, answer)) in memory.answers.drain(..).enumerate() {
                rows[item] = Some(answer);
                let tokens = &memory.sampled[number * temperatures.len()..];
                sampled.iter_mut().zip(tokens).for_each(|((_, sampled), &token)| sampled[item] = token);
            }
            memory.sampled.clear();
        }
        Ok(())
    })?;
    let rows = rows.into_iter().map(|row| row.expect("every position was asked for")).collect();
    Ok(Answers { rows, sampled, scanned, facts: BTreeMap::new() })
}

/// What turns logits into answers, the same in every thread.
struct Judge<'a> {
    games: &'a ValidationGames<'a>,
    met: &'a [Met],
    temperatures: &'a [f64],
    seed: u64,
}

/// What a thread uses again.
#[derive(Default)]
struct Memory {
    legal: Vec<u16>,
    weights: Weights,
    /// With the number of the item.
    answers: Vec<(usize, Answer)>,
    /// Of each answer, a token for each temperature.
    sampled: Vec<Sampled>,
}

impl Judge<'_> {
    /// Rows from `first` on, each with the items that ask there: one position, which may have been drawn more than once.
    fn judge(&self, memory: &mut Memory, logits: &Logits, first: usize, rows: &[&[usize]]) {
        for (row, items) in rows.iter().enumerate() {
            let logits = logits.row(first + row);
            let Some(met) = items.first().map(|&item| &self.met[item]) else { continue };
            legal_tokens(&met.board, &mut memory.legal);
            let mut held = 1.0_f64;
            memory.weights.fill(logits, held);
            let answer = answer(met, self.games.human(met.at), logits, &memory.weights, &memory.legal);
            let before = memory.sampled.len();
            memory.sampled.resize(before + items.len() * self.temperatures.len(), Sampled { token: 0, outcome: "" });
            for (at, temperature) in self.temperatures.iter().enumerate() {
                if temperature.to_bits() != held.to_bits() {
                    held = *temperature;
                    memory.weights.fill(logits, held);
                }
                for (number, &item) in items.iter().enumerate() {
                    // Each item has its own number, so neither batches nor order change what is sampled.
                    let uniform = unit(&mut stream(self.seed, "legality", item as u64));
                    let token = memory.weights.sample(uniform);
                    let is_legal = memory.legal.contains(&token);
                    let outcome = if is_legal { LEGAL } else { classify(token, &met.board).map_or_else(illegal_name, |_| LEGAL) };
                    memory.sampled[before + number * self.temperatures.len() + at] = Sampled { token, outcome };
                }
            }
            memory.answers.extend(items.iter().map(|&item| (item, answer.clone())));
        }
    }
}

fn answer(met: &Met, human: u16, logits: &[f32], weights: &Weights, legal: &[u16]) -> Answer {
    let top = top(logits);
    Answer {
        game: met.at.game as u32,
        ply: met.at.cut as u32,
        rule: met.rule,
        in_check: met.board.is_check(),
        legal: legal.len() as u16,
        human,
        rank: rank(logits, human) as u16,
        human_probability: weights.mass(&[human]),
        top,
        top_probability: weights.mass(&top[..1]),
        top_is_legal: legal.contains(&top[0]),
        legal_mass: weights.mass(legal),
    }
}

/// An answer that says nothing of interest, for tests that set what they look at.
#[cfg(test)]
pub(super) fn answer_at(game: u32, ply: u32) -> Answer {
    Answer {
        game,
        ply,
        rule: None,
        in_check: false,
        legal: 20,
        human: 3,
        rank: 0,
        human_probability: 0.5,
        top: [3, 4, 5, 6, 7],
        top_probability: 0.5,
        top_is_legal: true,
        legal_mass: 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::fakes;
    use super::*;
    use crate::progress::silent;

    fn answers(predictor: &dyn Predictor, draw: Draw) -> Answers {
        let games = fakes::games();
        ask(predictor, &ValidationGames::new(fakes::slices(&games)), draw, &[1.0, 0.5], &silent()).expect("games to ask about")
    }

    const DRAWS: [Draw; 3] = [
        Draw::Anywhere { positions: 500, seed: 3 },
        Draw::Rules { positions: 20, seed: 3 },
        Draw::EveryPly { games: 4, seed: 3 },
    ];

    #[test]
    fn neither_batches_nor_a_short_context_mix_positions_up() {
        for draw in DRAWS {
            let whole = answers(&fakes::moody(), draw);
            assert_eq!(answers(&fakes::moody().batch(1), draw), whole);
            assert_eq!(answers(&fakes::moody().threads(3), draw), whole);
            // Answers that depend on the last token alone are those of any context.
            for context in [2, 9, 40] {
                assert_eq!(answers(&fakes::copying().context(context), draw), answers(&fakes::copying(), draw), "{context}");
            }
        }
    }

    #[test]
    fn every_ply_of_a_game_is_met_once_and_in_order() {
        let games = fakes::games();
        let answers = answers(&fakes::oracle(&games), DRAWS[2]);
        let lengths: usize = answers
            .rows
            .chunk_by(|a, b| a.game == b.game)
            .map(|game| {
                assert!(game.iter().map(|row| row.ply).eq(0..game.len() as u32));
                assert_eq!(game.len(), games[game[0].game as usize].len());
                game.len()
            })
            .sum();
        assert_eq!((answers.scanned, lengths), (4, answers.rows.len()));
        // Before the first move all games are one.
        for row in answers.rows.iter().filter(|row| row.ply > 0) {
            assert_eq!((row.rank, row.top[0], row.top_is_legal), (0, row.human, true));
            assert!((row.human_probability - 1.0).abs() < 1e-12 && (row.legal_mass - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn a_larger_draw_begins_with_a_smaller_one() {
        let small = answers(&fakes::moody(), Draw::Anywhere { positions: 50, seed: 3 });
        let large = answers(&fakes::moody(), DRAWS[0]);
        assert_eq!(large.rows[..50], small.rows);
        for ((_, large), (_, small)) in large.sampled.iter().zip(&small.sampled) {
            assert_eq!(large[..50], small[..]);
        }
    }

    #[test]
    fn positions_that_are_met_again_and_again_are_told() {
        let rows = |n: u32, distinct: u32| (0..n).map(|at| answer_at(at % distinct, 3)).collect::<Vec<_>>();
        let told = |n, distinct| met_again(&Answers { rows: rows(n, distinct), ..Answers::default() });
        assert_eq!((told(0, 1), told(200, 100)), (None, None));
        let said = told(3_000, 1_000).expect("each three times");
        assert!(said.starts_with("3,000 positions were drawn, and there are 1,000 different ones"), "{said}");
    }
}
