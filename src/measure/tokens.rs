//! How many tokens metrics read of a model, without padding: no more than so many by the settings, and exactly where the games
//! are at hand. No model is asked for it.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use crate::progress::silent;

use super::draw::{Draw, places};
use super::full_games::LIMIT;
use super::openings;
use super::positions::{Position, ValidationGames};
use super::rules::Rule;

/// No game is longer, in plies: the rules end it 75 moves after the last capture or pawn's move.
const LONGEST: u64 = 17_697;

/// The most that the positions of a draw take, in games of so many plies at most: a prompt holds `<bos>` and the moves played, or
/// the last of them that fit into the context.
pub fn most(draw: Draw, plies: u32, context: u32) -> u64 {
    let (plies, context) = (longest(plies), u64::from(context));
    let prompt = plies.min(context);
    match draw {
        Draw::Anywhere { positions, .. } => u64::from(positions) * prompt,
        Draw::Rules { positions, .. } => Rule::ALL.len() as u64 * u64::from(positions) * prompt,
        // One sequence for all that the context holds, and one for each position beyond.
        Draw::EveryPly { games, .. } => u64::from(games) * (prompt + plies.saturating_sub(context) * context),
    }
}

/// What the positions of a draw take in these games.
///
/// # Errors
///
/// Where there is nothing to draw from.
pub fn of(draw: Draw, games: &ValidationGames, context: u32) -> Result<u64> {
    let places = places(games, draw, &silent())?;
    // What is drawn twice is asked for once.
    let distinct: BTreeSet<(usize, usize)> = places.iter().map(|at| (at.game, at.cut)).collect();
    Ok(shared(distinct.into_iter().map(|(game, cut)| Position { game, cut }), context))
}

/// Positions of one game share a sequence where the context holds the game up to them; the others have one each.
pub(super) fn shared(positions: impl Iterator<Item = Position>, context: u32) -> u64 {
    let context = u64::from(context);
    let (mut longest, mut beyond) = (BTreeMap::<usize, u64>::new(), 0);
    for at in positions {
        // After `<bos>` and `cut` moves.
        let tokens = at.cut as u64 + 1;
        if tokens <= context {
            let known = longest.entry(at.game).or_default();
            *known = tokens.max(*known);
        } else {
            beyond += context;
        }
    }
    beyond + longest.values().sum::<u64>()
}

/// The most that whole games take, and how many of these tokens the model generates: past its context each of them takes a
/// window of its own.
pub fn of_games(games: u32, context: u32) -> (u64, u64) {
    let (plies, context) = (LIMIT as u64, u64::from(context));
    let game = plies.min(context) + plies.saturating_sub(context) * context;
    (u64::from(games) * game, u64::from(games) * plies)
}

/// What the loss over so many validation tokens takes: the last is only asked for.
pub fn of_loss(validation: u64) -> u64 {
    validation.saturating_sub(1)
}

/// What beginnings of games take.
pub fn of_openings(prefixes: &[String], context: u32) -> u64 {
    let tokens = |line: &String| 1 + openings::line(line).map_or(0, |moves| moves.len() as u64);
    prefixes.iter().map(tokens).map(|tokens| tokens.min(context.into())).sum()
}

/// The plies of the longest game that can be kept.
pub(super) fn longest(plies: u32) -> u64 {
    u64::from(plies).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::super::predictor::{Logits, Predictor, Prompt, Recompute, Session};
    use super::super::{answers, fakes};
    use super::*;
    use crate::chess::vocabulary::VOCABULARY_SIZE;

    /// Finds all tokens alike, and counts those that it is shown.
    struct Counting {
        context: usize,
        shown: RefCell<u64>,
    }

    impl Predictor for Counting {
        fn context(&self) -> usize {
            self.context
        }

        fn predict(&self, prompts: &[Prompt]) -> Result<Logits> {
            *self.shown.borrow_mut() += prompts.iter().map(|prompt| prompt.tokens.len() as u64).sum::<u64>();
            let rows = prompts.iter().map(|prompt| prompt.asked.len()).sum();
            Logits::new(vec![0.0; rows * VOCABULARY_SIZE], rows)
        }

        fn session(&self, sequences: usize, _: usize) -> Result<Box<dyn Session + '_>> {
            Ok(Box::new(Recompute::new(self, sequences)))
        }
    }

    #[test]
    fn what_is_counted_without_a_model_is_what_a_model_is_shown_and_no_more_than_the_bound() {
        let games = fakes::games();
        let games = ValidationGames::new(fakes::slices(&games));
        let plies = (0..games.len()).map(|game| games.game(game).len() as u32).max().expect("there are games");
        for draw in [
            Draw::Anywhere { positions: 300, seed: 3 },
            Draw::Rules { positions: 20, seed: 3 },
            Draw::EveryPly { games: 4, seed: 3 },
        ] {
            for context in [2, 9, 40, 256] {
                let counting = Counting { context, shown: RefCell::new(0) };
                answers::ask(&counting, &games, draw, &[1.0], &silent()).expect("games to ask about");
                let counted = of(draw, &games, context as u32).expect("games to draw from");
                assert_eq!(counted, *counting.shown.borrow(), "{draw:?} in {context}");
                assert!(counted <= most(draw, plies, context as u32), "{draw:?} in {context}");
            }
        }
    }

    #[test]
    fn the_bound_of_every_ply_is_reached_by_games_of_the_greatest_length() {
        let game = fakes::endless_game(30);
        let games = ValidationGames::new(vec![&game, &game]);
        for context in [7, 30, 64] {
            let draw = Draw::EveryPly { games: 2, seed: 1 };
            assert_eq!(of(draw, &games, context).expect("two games"), most(draw, 30, context));
        }
        let anything = Draw::EveryPly { games: u32::MAX, seed: 1 };
        assert!(most(anything, u32::MAX, 256) < u64::MAX / 2, "no game is longer than the rules let it be");
    }

    #[test]
    fn the_loss_and_openings_are_shown_what_is_counted() {
        let tokens: Vec<u16> = fakes::games().concat();
        let counting = Counting { context: 48, shown: RefCell::new(0) };
        super::super::loss::measure(&counting, &tokens, &silent()).expect("tokens to measure on");
        assert_eq!(*counting.shown.borrow(), of_loss(tokens.len() as u64));
        let lines = ["", "e2e4", "e2e4 c7c5 g1f3"].map(str::to_owned);
        assert_eq!([of_openings(&lines, 48), of_openings(&lines, 2)], [1 + 2 + 4, 1 + 2 + 2]);
    }

    #[test]
    fn games_past_the_context_read_a_window_for_each_ply() {
        assert_eq!(of_games(2, 400), (500, 500));
        assert_eq!(of_games(1, 128), (128 + 122 * 128, 250));
    }
}
