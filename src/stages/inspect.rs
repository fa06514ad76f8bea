//! Tokens looked at before anything is trained on them: replay of sampled games, overlap of validation and training.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow};
use fs_err as fs;
use serde::{Deserialize, Serialize};

use crate::chess::replay::{Ending, Illegal, Replay};
use crate::chess::vocabulary::{SPECIAL_TOKENS, VOCABULARY_SIZE};
use crate::data::duplicates::{Digests, MostRepeated, digest};
use crate::data::each;
use crate::data::overlap::{Known, Overlap, sample};
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inspection {
    /// Games replayed on the board that the measures use, spread evenly over both sides.
    pub replayed: u64,
    /// Always 0: a failure refuses the run.
    pub failed: u64,
    /// Replayed games that the rules ended, and those of them that ended in mate.
    pub ended_by_rules: u64,
    pub checkmates: u64,
    pub train_games: u64,
    pub validation_games: u64,
    /// Different games; the others are copies of an earlier one on the same side.
    pub distinct_train_games: u64,
    pub distinct_validation_games: u64,
    /// None where every game of the side occurs once.
    pub most_repeated_train: Option<MostRepeated>,
    pub most_repeated_validation: Option<MostRepeated>,
    /// Distinct validation games equal to some training game.
    pub overlap_games: u64,
    /// Training games, copies and all, equal to some validation game.
    pub overlap_train_games: u64,
    /// Validation positions that occur in training games.
    pub overlap: Overlap,
}

/// Validation positions that are looked for in the training games at most, in whole games: 100 MB, and intervals of half
/// a per cent at the plies that most games reach.
const POSITIONS: u64 = 2_000_000;

impl Stage for Inspect {
    const NAME: &'static str = "inspect";
    // 1: every token in range, sampled games replayed, overlap of distinct validation games.
    // 2: copies on each side; positions and beginnings of validation games that occur in training games.
    const VERSION: u32 = 2;
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
        compare(&train, &validation, cx, &mut found)?;
        Ok(fs::write(out.join("inspection.json"), serde_json::to_vec(&found)?)?)
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
        if !file.is_framed(game) {
            return Err(refused(side, game, 0, "the game does not stand between <bos> and <eos>"));
        }
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
        play(&mut board, file, side, game)?;
        found.replayed += 1;
        if let Some(ending) = board.ended() {
            found.ended_by_rules += 1;
            found.checkmates += u64::from(ending == Ending::Checkmate);
        }
    }
    Ok(())
}

fn play(board: &mut Replay, file: &TokenFile, side: &str, game: usize) -> Result<()> {
    board.reset();
    for (ply, &token) in file.game(game).iter().enumerate() {
        board.step(token).map_err(|illegal| refused(side, game, ply, &why(token, illegal)))?;
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

/// Copies, games on both sides, and positions of validation games in training games: each training game is played once,
/// and takes 16 bytes.
fn compare(train: &TokenFile, validation: &TokenFile, cx: &Cx, found: &mut Inspection) -> Result<()> {
    let sampled = sample(validation, POSITIONS);
    let known = Known::of(sampled.iter().map(|&game| validation.game(game)).collect())
        .map_err(|at| unplayable(validation, "validation", sampled[at]))?;
    let (first_bad, began) = (AtomicUsize::new(usize::MAX), Instant::now());
    let digests = each::map(train, cx.machine.threads(), cx.progress, |game, moves| {
        if !known.note(moves) {
            first_bad.fetch_min(game, Ordering::Relaxed);
        }
        digest(moves)
    })
    .ok_or_else(|| Fixable::interrupted("stopped while validation games were looked for in training games"))?;
    let per_second = train.games() as f64 / began.elapsed().as_secs_f64().max(1e-9);
    cx.progress.measured("training games compared", per_second, "games/s");
    if let Some(game) = Some(first_bad.into_inner()).filter(|&game| game < train.games()) {
        return Err(unplayable(train, "training", game));
    }
    found.overlap = known.overlap();

    let train_digests = Digests::new(digests);
    let validation_digests = Digests::new((0..validation.games()).map(|game| digest(validation.game(game))).collect());
    found.distinct_train_games = train_digests.distinct();
    found.distinct_validation_games = validation_digests.distinct();
    found.most_repeated_train = most_repeated(&train_digests, train);
    found.most_repeated_validation = most_repeated(&validation_digests, validation);
    let common = validation_digests.common(&train_digests);
    (found.overlap_games, found.overlap_train_games) = (common.distinct, common.of_second);
    Ok(())
}

fn most_repeated(digests: &Digests, file: &TokenFile) -> Option<MostRepeated> {
    let (most, copies) = digests.most_repeated()?;
    let mut games = (0..file.games()).map(|game| file.game(game));
    let plies = games.find(|moves| digest(moves) == most)?.len() as u64;
    Some(MostRepeated { copies, plies })
}

/// Why a game cannot be played.
fn unplayable(file: &TokenFile, side: &str, game: usize) -> anyhow::Error {
    let played = play(&mut Replay::default(), file, side, game);
    played.err().unwrap_or_else(|| anyhow!("game {game} of {side} replays on one board and not on the other: a bug"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    use crate::chess::vocabulary::parse as token;
    use crate::corpus::config::{Keep, Split, SplitBy};
    use crate::data::overlap::AtPly;
    use crate::data::tokens::{Framing, TokenWriter};
    use crate::error::{Exit, exit_of};
    use crate::random::{below, stream};
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
    fn planted_twins_are_found_exactly_under_a_draw_and_never_overlap_under_a_hash() {
        // 2,400 games; then 400 of them again, drawn by a seed, some of them twice or more.
        let singles = random_games(2_400, 1);
        let singles: Vec<&str> = singles.split_inclusive("*\n\n").collect();
        let mut rng = stream(9, "twins", 0);
        let twins: Vec<usize> = (0..400).map(|_| below(&mut rng, 2_400) as usize).collect();
        let games: Vec<usize> = (0..2_400).chain(twins).collect();
        let text: String = games.iter().map(|&game| singles[game]).collect();
        let mut bench = Bench::default();

        let drawn = inspect(&mut bench, &text, SplitBy::Draw);
        assert_eq!((drawn.replayed, drawn.failed, drawn.validation_games), (1_000, 0, 840));
        // Counted from the same draw, game by game.
        let validated = crate::data::split::draw(2_800, 0.3, 7).expect("both sides");
        let side = |wanted: bool| {
            let mut copies: BTreeMap<usize, u64> = BTreeMap::new();
            for (&game, _) in games.iter().zip(&validated).filter(|&(_, &validated)| validated == wanted) {
                *copies.entry(game).or_default() += 1;
            }
            copies
        };
        let (train, validation) = (side(false), side(true));
        let on_both: Vec<u64> = validation.keys().filter_map(|game| train.get(game)).copied().collect();
        assert!(on_both.len() > 100);
        assert_eq!(drawn.overlap_games, on_both.len() as u64);
        assert_eq!(drawn.overlap_train_games, on_both.iter().sum::<u64>());
        assert_eq!(
            [drawn.distinct_train_games, drawn.distinct_validation_games],
            [train.len(), validation.len()].map(|n| n as u64)
        );
        assert_eq!(drawn.most_repeated_train.map(|most| most.copies), train.values().copied().max());
        // A game on both sides is one whose last position is reached by the same moves.
        let last = |at: &AtPly| at.prefixes;
        assert!(drawn.overlap.by_ply.iter().map(last).sum::<u64>() == drawn.overlap.prefixes);
        assert!(drawn.overlap.prefixes > drawn.overlap_games && drawn.overlap.games == 840);

        let hashed = inspect(&mut bench, &text, SplitBy::GameHash);
        assert_eq!((hashed.overlap_games, hashed.overlap_train_games), (0, 0));
        assert_eq!(hashed.distinct_train_games + hashed.distinct_validation_games, 2_400);
    }

    #[test]
    fn any_number_of_threads_finds_the_same() {
        let text = random_games(1_500, 3);
        let found = [1, 2, 5].map(|threads| {
            let mut bench = Bench::default();
            bench.machine.threads = threads;
            inspect(&mut bench, &text, SplitBy::Draw)
        });
        assert_eq!(found[0], found[1]);
        assert_eq!(found[0], found[2]);
    }

    #[test]
    fn what_two_small_sides_share_is_as_counted_by_hand() {
        let opening = "1. e4 e5 2. Nf3 Nc6 *\n\n";
        let text = [opening, "1. Nf3 Nc6 2. e4 e5 *\n\n", opening, "1. d4 *\n\n"].concat();
        let found = inspect(&mut Bench::default(), &text, SplitBy::Draw);
        // A share of 0.3 is one game, and this seed draws the second.
        let drawn = crate::data::split::draw(4, 0.3, 7).expect("both sides");
        assert_eq!(drawn, [false, true, false, false]);
        assert_eq!((found.distinct_train_games, found.overlap_games), (2, 0));
        assert_eq!(found.most_repeated_train, Some(MostRepeated { copies: 2, plies: 4 }));
        assert_eq!(found.most_repeated_validation, None);
        let by_ply: Vec<_> = found.overlap.by_ply.iter().map(|at| (at.seen, at.prefixes)).collect();
        assert_eq!(by_ply, [(1, 1), (0, 0), (0, 0), (0, 0), (1, 0)]);
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
