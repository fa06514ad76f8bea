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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::clock::Speed;
    use crate::corpus::config::{Keep, Split, SplitBy};
    use crate::measure::draw::Draw;
    use crate::measure::metric::Checkpoint;
    use crate::model::config::ModelConfig;
    use crate::plan::Handle;
    use crate::stages::ask::Ask;
    use crate::stages::bench::{Bench, random_games};
    use crate::stages::parse::{Games, Parse};
    use crate::stages::train::Train;
    use crate::train::config::TrainConfig;

    /// Forty games whose mean ratings number them from `first` on; every third tells neither both ratings nor a speed.
    fn source(bench: &mut Bench, seed: u64, first: u32) -> Handle<Games> {
        let games = random_games(40, seed);
        let tagged = games.split_terminator("\n\n").zip(first..).map(|(moves, elo)| match elo % 3 {
            0 => format!("[Event \"?\"]\n[WhiteElo \"{elo}\"]\n\n{moves}\n\n"),
            _ => {
                format!("[Event \"Rated Blitz game\"]\n[WhiteElo \"{}\"]\n[BlackElo \"{}\"]\n\n{moves}\n\n", elo - 50, elo + 50)
            }
        });
        let archive = bench.archive(tagged.collect::<String>().as_bytes());
        bench.make(Parse { archive, keep: Keep::default(), moves: None, source: String::new() })
    }

    #[test]
    fn each_validation_game_has_the_ratings_of_the_kept_game_that_it_was_made_of() {
        for (by, moves) in [(SplitBy::Draw, None), (SplitBy::GameHash, Some(1_500))] {
            let mut bench = Bench::default();
            let firsts = [(1, 1_000), (2, 2_000)];
            let games: Vec<_> = firsts.into_iter().map(|(seed, first)| source(&mut bench, seed, first)).collect();
            let encoded = Encode { games, moves, split: Split { validation: 0.3, by, seed: 7 } };
            let tokens = bench.make(encoded.clone());
            let model = ModelConfig { layers: 1, heads: 1, width: 8, hidden: 8, context: 16 };
            let trained = bench.make(Train { tokens, model, train: TrainConfig::tiny(), trunk: None });
            let draw = Draw::EveryPly { games: 100, seed: 3 };
            let (checkpoint, temperatures) = (Checkpoint::Last, vec![1.0]);
            let of_all = Some(encoded.clone());
            let asked = bench.make(Ask { tokens, trained, checkpoint, draw, temperatures, encoded: of_all, known: None });

            let (facts, tokens) = (bench.open(asked).answers.facts, bench.open(tokens));
            assert_eq!(facts.len(), tokens.validation.games());
            let mut sources_met = BTreeSet::new();
            for (&game, facts) in &facts {
                let moves = tokens.validation.game(game as usize);
                let place = encoded.games.iter().zip([1_000, 2_000]).find_map(|(&source, first)| {
                    let source = bench.open(source).moves;
                    (0..source.games()).find(|&place| source.game(place) == moves).map(|place| first + place as u32)
                });
                let elo = place.expect("a kept game");
                sources_met.insert(elo / 1_000);
                let told = (elo % 3 != 0).then_some((f64::from(elo), Speed::Blitz));
                assert_eq!((facts.rating, facts.speed), (told.map(|told| told.0), told.map(|told| told.1)), "{game}");
                let common = |other: usize| {
                    let both = tokens.train.game(other).iter().zip(moves);
                    both.take_while(|(a, b)| a == b).count() as u32
                };
                assert_eq!(Some(facts.seen_plies), (0..tokens.train.games()).map(common).max(), "{game}");
            }
            assert_eq!(sources_met, BTreeSet::from([1, 2]));
        }
    }
}
