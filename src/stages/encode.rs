//! Games to tokens: a training and a validation stream of u16, and where each game ends.

use std::path::Path;

use anyhow::{Context as _, Result};
use fs_err as fs;
use serde::{Deserialize, Serialize};

use crate::corpus::config::{Split, SplitBy};
use crate::data::split::{draw, game_hash};
use crate::data::tokens::{Framing, TokenFile, TokenWriter};
use crate::error::Fixable;
use crate::plan::{Artifact, Cost, Cx, Handle, Stage};

use super::parse::Games;

#[derive(Clone, Serialize, Deserialize)]
pub struct Encode {
    pub games: Vec<Handle<Games>>,
    /// Stop at the end of the game that reaches so many moves, over all sources in order.
    pub moves: Option<u64>,
    pub split: Split,
}

/// The two sides of the split, each in the order of the sources.
pub struct Tokens {
    pub train: TokenFile,
    pub validation: TokenFile,
}

/// `report.json`. Tokens count `<bos>` and `<eos>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EncodeReport {
    pub train_games: u64,
    pub train_tokens: u64,
    pub validation_games: u64,
    pub validation_tokens: u64,
}

impl EncodeReport {
    /// Reads the report of an artifact.
    pub fn open(dir: &Path) -> Result<Self> {
        let path = dir.join("report.json");
        serde_json::from_slice(&fs::read(&path)?).with_context(|| format!("reading `{}`", path.display()))
    }
}

impl Stage for Encode {
    const NAME: &'static str = "encode";
    // 1: `<bos>` moves `<eos>`, games back to back.
    const VERSION: u32 = 1;
    type Output = Tokens;

    fn run(&self, cx: &Cx, out: &Path) -> Result<()> {
        let sources = self.games.iter().map(|&games| Ok(cx.open(games)?.moves)).collect::<Result<Vec<_>>>()?;
        let counts = self.counts(&sources);
        let games = || {
            let sources = sources.iter().zip(&counts);
            sources.flat_map(|(source, &count)| (0..count).map(|game| source.game(game)))
        };
        let total = counts.iter().sum::<usize>() as u64;
        let validated = self.validated(&sources, &counts)?;

        let [train, validation] = ["train", "validation"].map(|side| {
            TokenWriter::create(&out.join(format!("{side}.u16")), &out.join(format!("{side}.ends.u64")), Framing::Marked)
        });
        let (mut train, mut validation) = (train?, validation?);
        for (game, (moves, &validated)) in games().zip(&validated).enumerate() {
            if game % 100_000 == 0 {
                cx.progress.done(game as u64, total, "games");
                if cx.progress.should_stop() {
                    return Err(Fixable::interrupted("stopped while games were being encoded").into());
                }
            }
            if validated { &mut validation } else { &mut train }.push(moves)?;
        }
        cx.progress.done(total, total, "games");
        let report = EncodeReport {
            train_games: train.games(),
            train_tokens: train.tokens(),
            validation_games: validation.games(),
            validation_tokens: validation.tokens(),
        };
        train.finish()?;
        validation.finish()?;
        Ok(fs::write(out.join("report.json"), serde_json::to_vec_pretty(&report)?)?)
    }

    fn cost(&self) -> Cost {
        Cost { disk_bytes: self.moves.map_or(0, |moves| 2 * moves), ..Cost::default() }
    }
}

impl Encode {
    /// Of all games that are taken, source after source, which are validated on.
    pub(super) fn validated(&self, sources: &[TokenFile], counts: &[usize]) -> Result<Vec<bool>> {
        let taken = sources.iter().zip(counts);
        let games = taken.flat_map(|(source, &count)| (0..count).map(|game| source.game(game)));
        match self.split.by {
            SplitBy::Draw => draw(counts.iter().sum::<usize>() as u64, self.split.validation, self.split.seed),
            SplitBy::GameHash => game_hash(games, self.split.validation, self.split.seed),
        }
    }

    /// How many games of each source are taken until the moves are reached.
    pub(super) fn counts(&self, sources: &[TokenFile]) -> Vec<usize> {
        let mut left = self.moves.unwrap_or(u64::MAX);
        sources
            .iter()
            .map(|source| {
                let ends = source.ends();
                let count = match left {
                    0 => 0,
                    _ => (ends.partition_point(|&end| end < left) + 1).min(ends.len()),
                };
                left = left.saturating_sub(count.checked_sub(1).map_or(0, |last| ends[last]));
                count
            })
            .collect()
    }
}

impl Artifact for Tokens {
    fn open(dir: &Path) -> Result<Self> {
        let [train, validation] = ["train", "validation"].map(|side| {
            TokenFile::open(&dir.join(format!("{side}.u16")), &dir.join(format!("{side}.ends.u64")), Framing::Marked)
        });
        Ok(Self { train: train?, validation: validation? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::replay::Replay;
    use crate::chess::vocabulary::uci;
    use crate::corpus::config::Keep;
    use crate::stages::bench::{Bench, random_games};
    use crate::stages::parse::Parse;

    const SPLIT: Split = Split { validation: 0.1, by: SplitBy::Draw, seed: 1337 };

    fn encode(bench: &mut Bench, texts: &[&str], moves: Option<u64>, split: &Split) -> Handle<Tokens> {
        let games = texts
            .iter()
            .map(|text| {
                let archive = bench.archive(text.as_bytes());
                bench.make(Parse { archive, keep: Keep::default(), moves, source: String::new() })
            })
            .collect();
        bench.make(Encode { games, moves, split: split.clone() })
    }

    fn lines(file: &TokenFile) -> Vec<String> {
        (0..file.games()).map(|game| file.game(game).iter().map(|&token| uci(token)).collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn every_encoded_game_replays_and_no_game_is_lost() {
        let mut bench = Bench::default();
        let text = random_games(60, 1);
        for by in [SplitBy::Draw, SplitBy::GameHash] {
            let tokens = encode(&mut bench, &[&text], None, &Split { by, ..SPLIT });
            let report = EncodeReport::open(&bench.dir("encode", tokens)).expect("a report");
            let tokens = bench.open(tokens);
            let mut replay = Replay::default();
            for file in [&tokens.train, &tokens.validation] {
                for game in 0..file.games() {
                    replay.reset();
                    assert!(file.game(game).iter().all(|&token| replay.step(token).is_ok()));
                }
            }
            assert_eq!(report.train_games + report.validation_games, 60);
            assert_eq!(report.train_tokens, tokens.train.tokens().len() as u64);
            if by == SplitBy::Draw {
                assert_eq!(report.validation_games, 6);
            }
        }
    }

    #[test]
    fn the_same_input_gives_the_same_bytes_and_another_seed_another_split() {
        let text = random_games(40, 2);
        let made = [1, 1, 2].map(|seed| {
            let mut bench = Bench::default();
            let tokens = encode(&mut bench, &[&text], None, &Split { seed, ..SPLIT });
            bench.bytes("encode", tokens)
        });
        assert_eq!(made[0], made[1]);
        assert_ne!(made[0], made[2]);
    }

    #[test]
    fn sources_are_taken_in_order_until_the_moves_are_reached() {
        let first = "1. e4 e5 *\n\n1. d4 d5 *\n";
        let second = "1. c4 c5 *\n\n1. b4 b5 *\n";
        for (moves, games) in [(None, 4), (Some(100), 4), (Some(7), 4), (Some(6), 3), (Some(5), 3), (Some(4), 2), (Some(3), 2)] {
            let mut bench = Bench::default();
            let tokens = encode(&mut bench, &[first, second], moves, &Split { validation: 0.5, ..SPLIT });
            let tokens = bench.open(tokens);
            let mut kept = [lines(&tokens.train), lines(&tokens.validation)].concat();
            kept.sort();
            let mut expected = ["e2e4 e7e5", "d2d4 d7d5", "c2c4 c7c5", "b2b4 b7b5"][..games].to_vec();
            expected.sort_unstable();
            assert_eq!(kept, expected, "{moves:?}");
        }
    }

    #[test]
    fn one_game_cannot_be_split() {
        let mut bench = Bench::default();
        let archive = bench.archive(b"1. e4 *");
        let games = vec![bench.make(Parse { archive, keep: Keep::default(), moves: None, source: String::new() })];
        let (error, _) = bench.fail(Encode { games, moves: None, split: SPLIT });
        assert_eq!(error.to_string(), "of 1 game, a validation share of `0.1` leaves none for training");
    }
}
