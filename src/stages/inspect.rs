//! Tokens looked at before anything is trained on them: replay of sampled games, overlap of validation and training.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::path::Path;

use anyhow::{Context as _, Result};
use fs_err as fs;
use serde::{Deserialize, Serialize};

use crate::chess::replay::{Ending, Illegal, Replay};
use crate::chess::vocabulary::{SPECIAL_TOKENS, VOCABULARY_SIZE};
use crate::data::tokens::TokenFile;
use crate::error::Fixable;
use crate::plan::{Artifact, Cx, Handle, Stage};

use super::encode::Tokens;

#[derive(Serialize, Deserialize)]
pub struct Inspect {
    pub tokens: Handle<Tokens>,
    /// Sampled games replayed on a board; one that does not replay refuses the run.
    pub replay: u32,
}

/// `inspection.json`: what was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inspection {
    /// Games replayed, spread evenly over both sides.
    pub replayed: u64,
    /// Always 0: a failure refuses the run.
    pub failed: u64,
    /// Replayed games that the rules ended, and those of them that ended in mate.
    pub ended_by_rules: u64,
    pub checkmates: u64,
    pub train_games: u64,
    pub validation_games: u64,
    pub distinct_validation_games: u64,
    /// Distinct validation games equal to some training game.
    pub overlap_games: u64,
}

impl Stage for Inspect {
    const NAME: &'static str = "inspect";
    // 1: every token in range, sampled games replayed, overlap of distinct validation games.
    const VERSION: u32 = 1;
    type Output = Inspection;

    fn run(&self, cx: &Cx, out: &Path) -> Result<()> {
        let Tokens { train, validation } = cx.open(self.tokens)?;
        let mut found = Inspection {
            train_games: train.games() as u64,
            validation_games: validation.games() as u64,
            ..Inspection::default()
        };
        only_moves(&train, "training")?;
        only_moves(&validation, "validation")?;
        replay(&train, &validation, u64::from(self.replay), cx, &mut found)?;
        (found.distinct_validation_games, found.overlap_games) = overlap(&train, &validation);
        Ok(fs::write(out.join("inspection.json"), serde_json::to_vec_pretty(&found)?)?)
    }
}

impl Artifact for Inspection {
    fn open(dir: &Path) -> Result<Self> {
        let path = dir.join("inspection.json");
        serde_json::from_slice(&fs::read(&path)?).with_context(|| format!("reading `{}`", path.display()))
    }
}

/// Refuses games with a special token, or none of the vocabulary, among their moves.
fn only_moves(file: &TokenFile, side: &str) -> Result<()> {
    let moves = SPECIAL_TOKENS..VOCABULARY_SIZE as u16;
    for game in 0..file.games() {
        if let Some(ply) = file.game(game).iter().position(|token| !moves.contains(token)) {
            let token = file.game(game)[ply];
            return Err(refused(side, game, ply, &format!("token {token} stands where a move should")));
        }
    }
    Ok(())
}

/// Replays games spread evenly over both sides.
fn replay(train: &TokenFile, validation: &TokenFile, wanted: u64, cx: &Cx, found: &mut Inspection) -> Result<()> {
    let total = found.train_games + found.validation_games;
    let count = wanted.min(total);
    let mut board = Replay::default();
    for sampled in 0..count {
        if sampled % 1000 == 0 {
            cx.progress.done(sampled, count, "games");
            if cx.progress.should_stop() {
                return Err(Fixable::interrupted("stopped while games were being replayed").into());
            }
        }
        let index = (u128::from(sampled) * u128::from(total) / u128::from(count)) as usize;
        let (file, side, game) = match index.checked_sub(train.games()) {
            None => (train, "training", index),
            Some(game) => (validation, "validation", game),
        };
        board.reset();
        for (ply, &token) in file.game(game).iter().enumerate() {
            board.step(token).map_err(|illegal| refused(side, game, ply, &why(token, illegal)))?;
        }
        found.replayed += 1;
        if let Some(ending) = board.ended() {
            found.ended_by_rules += 1;
            found.checkmates += u64::from(ending == Ending::Checkmate);
        }
    }
    Ok(())
}

fn why(token: u16, illegal: Illegal) -> String {
    let why = match illegal {
        Illegal::SpecialToken => "is a special token",
        Illegal::EmptySquare => "begins on an empty square",
        Illegal::OpponentsPiece => "moves the opponent's piece",
        Illegal::IllegalMovement => "is no legal movement",
    };
    format!("`{}` {why}", crate::chess::vocabulary::uci(token))
}

fn refused(side: &str, game: usize, ply: usize, why: &str) -> anyhow::Error {
    Fixable::refused(format!("game {game} of {side} does not replay: at ply {ply}, {why}"))
        .hint("the token files are damaged or wrongly made: make them again, with --force parse --force encode")
        .into()
}

/// Distinct validation games, and how many of them equal some training game. Games are compared whole.
fn overlap(train: &TokenFile, validation: &TokenFile) -> (u64, u64) {
    // Hashed alike in every run; the memory is that of one side only.
    let mut seen: HashMap<&[u16], bool, BuildHasherDefault<DefaultHasher>> = HashMap::default();
    seen.extend((0..validation.games()).map(|game| (validation.game(game), false)));
    for game in 0..train.games() {
        if let Some(overlaps) = seen.get_mut(train.game(game)) {
            *overlaps = true;
        }
    }
    (seen.len() as u64, seen.values().filter(|&&overlaps| overlaps).count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::vocabulary::parse as token;
    use crate::corpus::config::{Keep, Split, SplitBy};
    use crate::data::tokens::{Framing, TokenWriter};
    use crate::error::{Exit, exit_of};
    use crate::stages::bench::{Bench, random_games};
    use crate::stages::encode::Encode;
    use crate::stages::parse::Parse;

    fn inspect(bench: &mut Bench, text: &str, by: SplitBy) -> Inspection {
        let archive = bench.archive(text.as_bytes());
        let games = vec![bench.make(Parse { archive, keep: Keep::default(), moves: None, source: String::new() })];
        let tokens = bench.make(Encode { games, moves: None, split: Split { validation: 0.3, by, seed: 7 } });
        let found = bench.make(Inspect { tokens, replay: 1000 });
        bench.open(found)
    }

    #[test]
    fn planted_twins_overlap_under_a_draw_and_never_under_a_hash() {
        // Fifty games twice, and fifty once.
        let (twins, singles) = (random_games(50, 1), random_games(50, 2));
        let text = [twins.as_str(), &singles, &twins].concat();
        let mut bench = Bench::default();
        let drawn = inspect(&mut bench, &text, SplitBy::Draw);
        assert_eq!((drawn.replayed, drawn.failed, drawn.validation_games), (150, 0, 45));
        // A twin overlaps where exactly one of it is validated on; counted by hand from the same draw.
        let validated = crate::data::split::draw(150, 0.3, 7).expect("both sides");
        let overlap = (0..50).filter(|&twin| validated[twin] != validated[twin + 100]).count() as u64;
        let doubles = (0..50).filter(|&twin| validated[twin] && validated[twin + 100]).count() as u64;
        assert!(overlap > 5);
        assert_eq!((drawn.overlap_games, drawn.distinct_validation_games), (overlap, 45 - doubles));
        let hashed = inspect(&mut bench, &text, SplitBy::GameHash);
        assert_eq!(hashed.overlap_games, 0);
        assert!(hashed.distinct_validation_games < hashed.validation_games);
    }

    #[test]
    fn games_ended_by_the_rules_are_counted() {
        let text = "1. f3 e5 2. g4 Qh4# 0-1\n\n1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 5. Nf3 Nf6 6. Ng1 Ng8 7. Nf3 Nf6 8. Ng1 Ng8 1/2-1/2\n\n1. e4 1-0\n";
        let found = inspect(&mut Bench::default(), text, SplitBy::Draw);
        assert_eq!((found.replayed, found.ended_by_rules, found.checkmates), (3, 2, 1));
    }

    #[test]
    fn a_game_that_does_not_replay_refuses_the_run() {
        for (planted, message) in [
            ("e2e5", "game 0 of training does not replay: at ply 2, `e2e5` begins on an empty square"),
            ("d1d3", "game 0 of training does not replay: at ply 2, `d1d3` is no legal movement"),
            ("<bos>", "game 0 of training does not replay: at ply 2, token 1 stands where a move should"),
        ] {
            let mut bench = Bench::default();
            let archive = bench.archive(b"1. e4 e5 *\n\n1. e4 e5 *\n");
            let games = vec![bench.make(Parse { archive, keep: Keep::default(), moves: None, source: String::new() })];
            let split = Split { validation: 0.5, by: SplitBy::Draw, seed: 7 };
            let tokens = bench.make(Encode { games, moves: None, split });
            let dir = bench.dir("encode", tokens);
            let mut writer =
                TokenWriter::create(&dir.join("train.u16"), &dir.join("train.ends.u64"), Framing::Marked).expect("created");
            writer.push(&["e2e4", "e7e5", planted].map(|text| token(text).expect("in the vocabulary"))).expect("written");
            writer.finish().expect("finished");
            let (error, out) = bench.fail(Inspect { tokens, replay: 10 });
            assert_eq!((exit_of(&error), error.to_string().as_str()), (Exit::Refused, message));
            assert_eq!(fs::read_dir(out).expect("a folder").count(), 0);
        }
    }
}
