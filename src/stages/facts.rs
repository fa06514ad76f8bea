//! What is told of validation games beside their moves: found again in the tables of the kept games, by the split that
//! [`Encode`] made, and in the training games.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, ensure};

use crate::data::each;
use crate::data::prefixes::Prefixes;
use crate::error::Fixable;
use crate::measure::facts::GameFacts;
use crate::plan::Cx;

use super::encode::{Encode, Tokens};

/// The facts of some validation games, by their numbers there.
pub(super) fn facts(encoded: &Encode, tokens: &Tokens, games: &BTreeSet<u32>, cx: &Cx) -> Result<BTreeMap<u32, GameFacts>> {
    let mut facts: BTreeMap<u32, GameFacts> = games.iter().copied().zip(seen(tokens, games, cx)?).collect();
    let mut sources = Vec::new();
    let mut tables = Vec::new();
    for &source in &encoded.games {
        let source = cx.open(source)?;
        sources.push(source.moves);
        tables.push(source.table);
    }
    let counts = encoded.counts(&sources);
    let validated = encoded.validated(&sources, &counts)?;
    let (mut number, mut begin) = (0, 0);
    for ((source, table), &count) in sources.iter().zip(&tables).zip(&counts) {
        // The games of this source that are asked for: their numbers among the validation games, and in the source.
        let mut asked = Vec::new();
        let mut places = Vec::new();
        for place in (0..count).filter(|place| validated[begin + place]) {
            if games.contains(&number) {
                let same = source.game(place) == tokens.validation.game(number as usize);
                ensure!(same, "validation game {number} is not the kept game it was made of");
                asked.push(number);
                places.push(place);
            }
            number += 1;
        }
        begin += count;
        for (number, strength) in asked.into_iter().zip(table.strengths(&places)?) {
            if let (Some(game), [Some(white), Some(black)]) = (facts.get_mut(&number), strength.elo) {
                game.rating = Some(f64::midpoint(white.into(), black.into()));
            }
            if let Some(game) = facts.get_mut(&number) {
                game.speed = strength.speed;
            }
        }
    }
    Ok(facts)
}

/// How many first plies of each game begin some training game; nothing else yet.
fn seen(tokens: &Tokens, games: &BTreeSet<u32>, cx: &Cx) -> Result<impl Iterator<Item = GameFacts>> {
    let moves: Vec<&[u16]> = games.iter().map(|&game| tokens.validation.game(game as usize)).collect();
    let prefixes = Prefixes::of(&moves);
    each::map(&tokens.train, cx.machine.threads(), cx.progress, |_, moves| prefixes.note(moves))
        .ok_or_else(|| Fixable::interrupted("stopped while openings were looked for in training games"))?;
    Ok(prefixes.plies().into_iter().map(|seen_plies| GameFacts { rating: None, speed: None, seen_plies }))
}
