//! Which positions a model is asked about, and what stood on the board there: drawn by keys that know no model.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use shakmaty::Chess;

use crate::progress::Progress;

use super::batched;
use super::parts::{Own, Threads, in_parts};
use super::positions::{self, Position, ValidationGames};
use super::rules::{self, Rule};

/// Games after which the user may stop the work.
pub(super) const CHECK_EVERY: usize = 512;

/// A way to draw positions. Metrics that ask about the same ones share one pass of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Draw {
    /// Anywhere in the games, with replacement.
    Anywhere { positions: u32, seed: u64 },
    /// Where a rare rule is asked for, so many of each.
    Rules { positions: u32, seed: u64 },
    /// Every ply of so many games.
    EveryPly { games: u32, seed: u64 },
}

/// A position as the model meets it.
#[derive(Clone, Debug)]
pub(super) struct Met {
    pub(super) at: Position,
    pub(super) rule: Option<Rule>,
    pub(super) board: Chess,
}

impl Draw {
    /// The draw that holds the positions of both, if there is one: a draw begins with those of any smaller one.
    #[must_use]
    pub fn covering(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Anywhere { positions: a, seed }, Self::Anywhere { positions: b, seed: same }) if seed == same => {
                Some(Self::Anywhere { positions: a.max(b), seed })
            }
            (Self::EveryPly { games: a, seed }, Self::EveryPly { games: b, seed: same }) if seed == same => {
                Some(Self::EveryPly { games: a.max(b), seed })
            }
            _ => (self == other).then_some(self),
        }
    }

    pub fn seed(self) -> u64 {
        let (Self::Anywhere { seed, .. } | Self::Rules { seed, .. } | Self::EveryPly { seed, .. }) = self;
        seed
    }
}

/// What several metrics ask, one pass for all that look at the same positions: the draws, and the temperatures at which a token is
/// sampled there.
pub fn together(asked: impl Iterator<Item = (Draw, Option<f64>)>) -> Vec<(Draw, Vec<f64>)> {
    let mut wanted: Vec<(Draw, Vec<f64>)> = Vec::new();
    for (draw, temperature) in asked {
        let at = wanted.iter().position(|(known, _)| known.covering(draw).is_some()).unwrap_or(wanted.len());
        if at == wanted.len() {
            wanted.push((draw, Vec::new()));
        }
        let (known, temperatures) = &mut wanted[at];
        *known = known.covering(draw).unwrap_or(draw);
        let is_new = |new: &f64| temperatures.iter().all(|known| known.to_bits() != new.to_bits());
        temperatures.extend(temperature.filter(is_new));
    }
    wanted
}

/// The positions of a draw in its own order as a model meets them, and how many games were looked through for them.
pub(super) fn drawn(games: &ValidationGames, draw: Draw, threads: &dyn Threads, progress: &Progress) -> Result<(Vec<Met>, u64)> {
    match unplayed(games, draw)? {
        Some((places, scanned)) => Ok((meet(games, &places, threads, progress)?, scanned)),
        None => by_rule(games, draw, threads, progress),
    }
}

/// Where the positions of a draw lie, in its own order.
pub(super) fn places(games: &ValidationGames, draw: Draw, progress: &Progress) -> Result<Vec<Position>> {
    match unplayed(games, draw)? {
        Some((places, _)) => Ok(places),
        None => Ok(by_rule(games, draw, &Own(1), progress)?.0.into_iter().map(|met| met.at).collect()),
    }
}

/// The positions of a draw that no game must be played for, and how many games they were looked for in.
fn unplayed(games: &ValidationGames, draw: Draw) -> Result<Option<(Vec<Position>, u64)>> {
    Ok(match draw {
        Draw::Anywhere { positions, seed } => {
            let drawn = positions::draw(games, seed, positions)?;
            let n = drawn.len() as u64;
            Some((drawn, n))
        }
        Draw::Rules { .. } => None,
        Draw::EveryPly { games: count, seed } => {
            let all: Vec<usize> = games.shuffled(seed).into_iter().filter(|&game| !games.game(game).is_empty()).collect();
            let taken = &all[..all.len().min(count as usize)];
            let plies = |&game: &usize| (0..games.game(game).len()).map(move |cut| Position { game, cut });
            Some((taken.iter().flat_map(plies).collect(), taken.len() as u64))
        }
    })
}

fn by_rule(games: &ValidationGames, draw: Draw, threads: &dyn Threads, progress: &Progress) -> Result<(Vec<Met>, u64)> {
    let Draw::Rules { positions, seed } = draw else { return Ok((Vec::new(), 0)) };
    rules::find(games, positions as usize, seed, threads, progress)
}

/// Plays each game once, however many of its positions are asked for.
pub(super) fn meet(games: &ValidationGames, places: &[Position], threads: &dyn Threads, progress: &Progress) -> Result<Vec<Met>> {
    let mut by_game = BTreeMap::<usize, Vec<usize>>::new();
    for (item, at) in places.iter().enumerate() {
        by_game.entry(at.game).or_default().push(item);
    }
    let mut asked: Vec<(usize, Vec<usize>)> = by_game.into_iter().collect();
    let mut met: Vec<Option<Met>> = vec![None; places.len()];
    for some in asked.chunks_mut(CHECK_EVERY) {
        batched::check(progress)?;
        let found = in_parts(threads, &mut vec![(); threads.count()], some, |(), _, some| -> Result<Vec<(usize, Met)>> {
            let mut found = Vec::new();
            for (game, items) in some {
                items.sort_by_key(|&item| places[item].cut);
                let plies = items.last().map_or(0, |&item| places[item].cut + 1);
                let mut items = items.iter().copied().peekable();
                games.walk(*game, plies, |cut, board, _| {
                    while let Some(item) = items.next_if(|&item| places[item].cut == cut) {
                        found.push((item, Met { at: places[item], rule: None, board: board.clone() }));
                    }
                })?;
            }
            Ok(found)
        });
        for found in found {
            found?.into_iter().for_each(|(item, position)| met[item] = Some(position));
        }
    }
    Ok(met.into_iter().map(|met| met.expect("a position lies in its game")).collect())
}
