//! Can a model play a whole game? Both sides sampled without a mask from the start, until the game ends somehow.

use std::fmt::Write as _;

use anyhow::{Context as _, Result};
use rand_chacha::ChaCha8Rng;

use crate::chess::replay::{Ending, Illegal, Replay};
use crate::chess::vocabulary::{BOS, EOS, uci};
use crate::progress::Progress;
use crate::random::{stream, unit};

use super::board::{ending_name, illegal_name};
use super::draw::CHECK_EVERY;
use super::parts::{Threads, in_parts};
use super::positions::ValidationGames;
use super::predictor::{Next, Predictor};
use super::sampling::Weights;
use super::score::Value;
use super::{Measured, batched};

// 1: games ended where the context was full. 2: they go on with their last tokens.
pub(super) const VERSION: u32 = 2;

pub(super) const DRAWN: &str = "games from the start by seed and index, at most 250 plies; beyond the context the last tokens that fit; real games \
     in an order by seed, at most 20000";

/// Longest game, in plies.
pub(super) const LIMIT: usize = 250;

/// No game is longer: the rules end it 75 moves after the last capture or pawn's move.
const LONGEST: f64 = 17_697.0;

/// Real games to compare with: all of them, or so many drawn by the seed.
const REAL_GAMES: usize = 20_000;

/// How a game ended. There is no `<eos>` in a finished position: the move that ends a game by the rules is the last
/// that a model is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// `<eos>` while the game could go on: people resign and agree on draws.
    Eos,
    Rules(Ending),
    /// The token that was no legal move.
    Illegal(Illegal, u16),
    Limit,
}

impl End {
    fn name(self) -> String {
        match self {
            Self::Eos => "eos_non_terminal".to_owned(),
            Self::Rules(ending) => ending_name(ending).to_owned(),
            Self::Illegal(kind, _) => format!("illegal_{}", illegal_name(kind)),
            Self::Limit => "limit".to_owned(),
        }
    }
}

/// A game on the board, and how it ended once it has.
struct Game {
    number: u32,
    rng: ChaCha8Rng,
    board: Replay,
    moves: Vec<u16>,
    end: Option<End>,
}

pub(super) struct Played {
    moves: Vec<u16>,
    end: End,
}

/// `clean`, the share of games without an illegal move; `plies`, their mean length up to the illegal token;
/// `by_rules`, the share that the rules ended; and `real_plies` and `real_by_rules` of the validation games.
/// How games ended is counted; one that reached the limit is clean and counted as `limit`.
pub(super) fn measure(
    predictor: &dyn Predictor,
    games: &ValidationGames,
    count: u32,
    temperature: f64,
    seed: u64,
    progress: &Progress,
) -> Result<Measured> {
    let mut played = Vec::with_capacity(count as usize);
    let together = predictor.growing().max(1);
    for first in (0..count).step_by(together) {
        let batch = first..count.min(first + together as u32);
        played.extend(play(predictor, batch, temperature, seed, progress)?);
        progress.done(played.len() as u64, u64::from(count), "games");
    }

    let mut measured = Measured::default();
    for game in &played {
        batched::count(&mut measured.counts, &game.end.name());
        measured.games.push(line(game));
    }
    let share = |name, of: &dyn Fn(End) -> bool| {
        let successes = played.iter().filter(|game| of(game.end)).count();
        Value::share(name, successes as u64, played.len() as u64)
    };
    let plies: Vec<f64> = played.iter().map(|game| game.moves.len() as f64).collect();
    let (real_plies, real_by_rules) = real(games, seed, predictor.threads(), progress)?;
    let values = [
        share("clean", &|end| !matches!(end, End::Illegal(..))),
        Value::mean("plies", &plies, &(0.0..=LIMIT as f64)),
        share("by_rules", &|end| matches!(end, End::Rules(_))),
        Value::mean("real_plies", &real_plies, &(0.0..=LONGEST)),
        Value::share("real_by_rules", real_by_rules, real_plies.len() as u64),
    ];
    measured.values = values.into_iter().flatten().collect();
    Ok(measured)
}

/// Plays games of these numbers together: they are of equal length until they end.
pub(super) fn play(
    predictor: &dyn Predictor,
    numbers: std::ops::Range<u32>,
    temperature: f64,
    seed: u64,
    progress: &Progress,
) -> Result<Vec<Played>> {
    let begin = |number| Game {
        number,
        rng: stream(seed, "full games", u64::from(number)),
        board: Replay::default(),
        moves: Vec::new(),
        end: None,
    };
    let mut ended = Vec::with_capacity(numbers.len());
    let mut games: Vec<Game> = numbers.map(begin).collect();
    // `<bos>` and all moves but the last are shown.
    let mut session = predictor.session(games.len(), LIMIT)?;
    let mut memories: Vec<Weights> = (0..predictor.threads().count()).map(|_| Weights::default()).collect();
    let (mut shown, mut uniforms) = (Vec::new(), Vec::new());
    while !games.is_empty() {
        batched::check(progress)?;
        shown.clear();
        shown.extend(games.iter().map(|game| game.moves.last().copied().unwrap_or(BOS)));
        uniforms.clear();
        uniforms.extend(games.iter_mut().map(|game| unit(&mut game.rng)));
        let next = session.next(&shown, temperature, &uniforms)?;
        in_parts(predictor.threads(), &mut memories, &mut games, |weights, first, games| {
            for (row, game) in games.iter_mut().enumerate() {
                let token = match &next {
                    Next::Tokens(tokens) => tokens[first + row],
                    Next::Logits(logits) => {
                        weights.fill(logits.row(first + row), temperature);
                        weights.sample(uniforms[first + row])
                    }
                };
                game.end = advance(game, token);
            }
        });
        // The last game takes the place of one that has ended, so that little is moved.
        let mut kept: Vec<usize> = (0..games.len()).collect();
        for row in (0..games.len()).rev().filter(|&row| games[row].end.is_some()).collect::<Vec<_>>() {
            kept.swap_remove(row);
            ended.push(games.swap_remove(row));
        }
        if kept.len() < shown.len() && !kept.is_empty() {
            session.keep(&kept)?;
        }
    }
    ended.sort_by_key(|game| game.number);
    Ok(ended.into_iter().filter_map(|game| Some(Played { moves: game.moves, end: game.end? })).collect())
}

/// Makes a move, and tells whether and how it ends the game.
fn advance(game: &mut Game, token: u16) -> Option<End> {
    if token == EOS {
        return Some(End::Eos);
    }
    if let Err(kind) = game.board.step(token) {
        return Some(End::Illegal(kind, token));
    }
    game.moves.push(token);
    game.board.ended().map(End::Rules).or_else(|| (game.moves.len() >= LIMIT).then_some(End::Limit))
}

/// A game for people to read: how it ended, its moves, and in brackets the token that was illegal.
fn line(game: &Played) -> String {
    let mut line = game.end.name();
    line.push('\t');
    line.push_str(&game.moves.iter().map(|&token| uci(token)).collect::<Vec<_>>().join(" "));
    if let End::Illegal(_, token) = game.end {
        write!(line, " [{}]", uci(token)).expect("a string takes any text");
    }
    line
}

/// The lengths of real games, and how many of them the rules ended, by so many threads.
fn real(games: &ValidationGames, seed: u64, threads: &dyn Threads, progress: &Progress) -> Result<(Vec<f64>, u64)> {
    let mut boards = vec![Replay::default(); threads.count()];
    let mut order = games.shuffled(seed);
    order.truncate(REAL_GAMES);
    let mut by_rules = 0;
    for some in order.chunks_mut(CHECK_EVERY) {
        batched::check(progress)?;
        let ended = in_parts(threads, &mut boards, some, |board, _, some| {
            some.iter().try_fold(0, |ended, &game| Ok::<u64, anyhow::Error>(ended + u64::from(is_ended(games, game, board)?)))
        });
        by_rules += ended.into_iter().sum::<Result<u64>>()?;
    }
    Ok((order.into_iter().map(|game| games.game(game).len() as f64).collect(), by_rules))
}

/// Whether the rules have ended a real game.
fn is_ended(games: &ValidationGames, game: usize, board: &mut Replay) -> Result<bool> {
    board.reset();
    for &token in games.game(game) {
        board.step(token).ok().with_context(|| format!("validation game {game} holds the illegal move `{}`", uci(token)))?;
    }
    Ok(board.ended().is_some())
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "known answers are exact")]
mod tests {
    use super::super::fakes;
    use super::*;
    use crate::progress::silent;

    const MATE: &str = "f2f3 e7e5 g2g4 d8h4";
    const DANCE: &str = "g1f3 g8f6 f3g1 f6g8 ";

    fn score(predictor: &dyn Predictor, count: u32, temperature: f64) -> Measured {
        let games = [fakes::game(MATE), fakes::game("e2e4 e7e5")];
        measure(predictor, &ValidationGames::new(fakes::slices(&games)), count, temperature, 5, &silent()).expect("playable")
    }

    fn value(measured: &Measured, name: &str) -> f64 {
        measured.values.iter().find(|value| value.name == name).expect("a value of that name").value
    }

    /// The only way the games ended, and the values.
    fn only(measured: &Measured) -> (&str, f64, f64, f64) {
        assert_eq!(measured.counts.len(), 1, "{:?}", measured.counts);
        let end = measured.counts.keys().next().expect("counted above");
        (end, value(measured, "clean"), value(measured, "plies"), value(measured, "by_rules"))
    }

    #[test]
    fn a_model_that_gives_up_at_once_plays_clean_games_of_no_length() {
        let got = score(&fakes::always(EOS), 70, 1.0);
        assert_eq!(only(&got), ("eos_non_terminal", 1.0, 0.0, 0.0));
        assert_eq!(got.games[0], "eos_non_terminal\t");
    }

    #[test]
    fn a_model_that_copies_begins_with_a_special_token() {
        let got = score(&fakes::copying(), 5, 1.0);
        assert_eq!(only(&got), ("illegal_special_token", 0.0, 0.0, 0.0));
        assert_eq!(got.games[0], "illegal_special_token\t [<bos>]");
    }

    #[test]
    fn a_game_ends_with_the_move_that_mates() {
        let got = score(&fakes::oracle(&[fakes::game(MATE)]), 3, 1.0);
        assert_eq!(only(&got), ("checkmate", 1.0, 4.0, 1.0));
        assert_eq!(got.games, [format!("checkmate\t{MATE}"), format!("checkmate\t{MATE}"), format!("checkmate\t{MATE}")]);
    }

    #[test]
    fn the_fifth_repetition_ends_a_game_by_the_rules() {
        let got = score(&fakes::oracle(&[fakes::game(&DANCE.repeat(9))]), 2, 0.0);
        assert_eq!(only(&got), ("other_by_rules", 1.0, 16.0, 1.0));
    }

    #[test]
    fn a_game_at_the_limit_is_clean_and_counted_apart() {
        let got = score(&fakes::oracle(&[fakes::endless_game(300)]), 2, 0.0);
        assert_eq!(only(&got), ("limit", 1.0, 250.0, 0.0));
    }

    #[test]
    fn an_illegal_move_is_told_by_its_kind_and_does_not_count_as_a_ply() {
        for (moves, end) in [
            ("e2e4 e7e5 e4e5", "illegal_illegal_movement"),
            ("e2e4 e2e4", "illegal_empty_square"),
            ("e2e4 d2d4", "illegal_opponents_piece"),
        ] {
            let got = score(&fakes::oracle(&[fakes::game(moves)]), 2, 0.0);
            let plies = moves.split(' ').count() - 1;
            assert_eq!(only(&got), (end, 0.0, plies as f64, 0.0));
            assert!(got.games[0].ends_with(']'), "{}", got.games[0]);
        }
    }

    #[test]
    fn a_model_that_knows_the_rules_plays_clean_games_to_their_end() {
        let got = score(&fakes::uniform_legal(), 4, 1.0);
        assert_eq!(value(&got, "clean"), 1.0);
        assert!(value(&got, "plies") > 50.0, "{got:?}");
        assert!(got.counts.keys().all(|end| !end.starts_with("illegal") && !end.starts_with("eos")), "{:?}", got.counts);
    }

    #[test]
    fn games_are_sampled_apart_and_the_size_of_batches_changes_nothing() {
        let got = score(&fakes::uniform_legal(), 6, 1.0);
        assert_eq!(score(&fakes::uniform_legal().batch(1), 6, 1.0), got);
        assert_eq!(score(&fakes::uniform_legal().batch(4), 6, 1.0), got);
        let many = score(&fakes::always(EOS), 200, 1.0);
        assert_eq!(score(&fakes::always(EOS).threads(3), 200, 1.0), many);
        let distinct: std::collections::BTreeSet<_> = got.games.iter().collect();
        assert_eq!(distinct.len(), 6);
    }

    #[test]
    fn real_games_stand_beside_them() {
        let got = score(&fakes::always(EOS), 1, 1.0);
        assert_eq!((value(&got, "real_plies"), value(&got, "real_by_rules")), (3.0, 0.5));
    }
}
