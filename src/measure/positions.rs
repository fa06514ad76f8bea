//! Positions drawn from validation games by a seed alone, so that every model answers the same questions.
//!
//! Each item has its own stream of randomness: the first thousand of two thousand positions are the thousand.

use anyhow::Result;

use crate::chess::vocabulary::BOS;
use crate::data::tokens::TokenFile;
use crate::error::Fixable;
use crate::random::{below, stream};

/// How [`draw`] draws, for the protocol.
pub const DRAWN: &str =
    "validation game uniformly, cut uniformly at ply 1 to length - 1, by seed and index; prompt of the last tokens that fit";

/// The games that models are measured on: moves as tokens, without `<bos>` and `<eos>`.
#[derive(Clone)]
pub struct ValidationGames<'a> {
    games: Vec<&'a [u16]>,
}

/// What a human faced: after `cut` moves of a game, with the next move to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    pub game: usize,
    pub cut: usize,
}

impl<'a> ValidationGames<'a> {
    pub fn new(games: Vec<&'a [u16]>) -> Self {
        Self { games }
    }

    /// All games of a token file.
    pub fn of(file: &'a TokenFile) -> Self {
        Self::new((0..file.games()).map(|game| file.game(game)).collect())
    }

    pub fn len(&self) -> usize {
        self.games.len()
    }

    pub fn is_empty(&self) -> bool {
        self.games.is_empty()
    }

    /// The moves of a game.
    pub fn game(&self, index: usize) -> &'a [u16] {
        self.games[index]
    }

    /// The moves before a position.
    pub fn before(&self, position: Position) -> &'a [u16] {
        &self.games[position.game][..position.cut]
    }

    /// The move that the human made in a position.
    pub fn human(&self, position: Position) -> u16 {
        self.games[position.game][position.cut]
    }

    /// All games in an order that the seed decides (Fisher and Yates).
    pub fn shuffled(&self, seed: u64) -> Vec<usize> {
        let mut rng = stream(seed, "order of games", 0);
        let mut order: Vec<usize> = (0..self.games.len()).collect();
        for last in (1..order.len()).rev() {
            order.swap(last, below(&mut rng, last as u64 + 1) as usize);
        }
        order
    }
}

/// Draws so many positions, with replacement. Games of fewer than two plies are never drawn.
///
/// # Errors
///
/// Where no game has two plies.
pub fn draw(games: &ValidationGames, seed: u64, count: u32) -> Result<Vec<Position>> {
    let drawable: Vec<usize> = (0..games.len()).filter(|&game| games.game(game).len() >= 2).collect();
    if drawable.is_empty() {
        return Err(Fixable::failed(format!("none of the {} validation games has two plies", games.len()))
            .hint("raise `corpus.split.validation`, or take a larger corpus")
            .into());
    }
    let draw = |index| {
        let mut rng = stream(seed, "positions", u64::from(index));
        let game = drawable[below(&mut rng, drawable.len() as u64) as usize];
        let cut = 1 + below(&mut rng, games.game(game).len() as u64 - 1) as usize;
        Position { game, cut }
    };
    Ok((0..count).map(draw).collect())
}

/// `<bos>` and the moves, or their last `context` tokens: training windows begin anywhere in a game, so a
/// prompt without its beginning is nothing new to a model.
pub fn prompt(moves: &[u16], context: usize) -> Vec<u16> {
    let mut tokens = Vec::with_capacity(context.min(moves.len() + 1));
    if moves.len() < context {
        tokens.push(BOS);
    }
    tokens.extend_from_slice(&moves[moves.len().saturating_sub(context)..]);
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAMES: [&[u16]; 4] = [&[10, 11, 12, 13], &[20], &[30, 31], &[]];

    #[test]
    fn every_cut_of_every_drawable_game_is_drawn_equally_often_and_short_games_never() {
        let games = ValidationGames::new(GAMES.to_vec());
        let drawn = draw(&games, 1, 6_000).expect("two games can be drawn");
        let count = |game, cut| drawn.iter().filter(|p| **p == Position { game, cut }).count();
        let counts = [count(0, 1), count(0, 2), count(0, 3), count(2, 1)];
        assert_eq!(counts.iter().sum::<usize>(), 6_000);
        for (got, wanted) in counts.into_iter().zip([1_000, 1_000, 1_000, 3_000]) {
            assert!(got.abs_diff(wanted) < 150, "{counts:?}");
        }
    }

    #[test]
    fn more_positions_begin_with_the_same_ones_and_another_seed_draws_others() {
        let games = ValidationGames::new(GAMES.to_vec());
        let few = draw(&games, 1, 10).expect("drawable");
        assert_eq!(draw(&games, 1, 20).expect("drawable")[..10], few);
        assert_ne!(draw(&games, 2, 10).expect("drawable"), few);
    }

    #[test]
    fn games_too_short_to_be_cut_are_an_error_with_a_hint() {
        let error = draw(&ValidationGames::new(vec![&[5]]), 1, 1).expect_err("nothing to draw");
        assert!(error.downcast_ref::<Fixable>().is_some_and(|fixable| fixable.hint.is_some()));
    }

    #[test]
    fn a_prompt_keeps_its_last_tokens_where_the_context_is_short() {
        assert_eq!(prompt(&[10, 11, 12], 8), [BOS, 10, 11, 12]);
        assert_eq!(prompt(&[10, 11, 12], 4), [BOS, 10, 11, 12]);
        assert_eq!(prompt(&[10, 11, 12], 3), [10, 11, 12]);
        assert_eq!(prompt(&[10, 11, 12], 2), [11, 12]);
    }

    #[test]
    fn a_shuffle_holds_every_game_once() {
        let games = ValidationGames::new(vec![&[]; 100]);
        let mut order = games.shuffled(3);
        assert_ne!(order, games.shuffled(4));
        order.sort_unstable();
        assert!(order.into_iter().eq(0..100));
    }
}
