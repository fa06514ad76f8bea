//! `[measure]`: which metrics, by which protocol, of which weights. One left out, or `false`, is not measured.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use fs_err::File;

use crate::corpus::config::Source;
use crate::measure::metric::{Checkpoint, Metric};
use crate::measure::{openings, puzzles};
use crate::train::config::{Length, TrainConfig, snapshot_steps};

use super::asked::Measure;
use super::files::Files;
use super::kind::{Integer, Kind, List, Misfit, NOT_NEGATIVE, TEXT, Text, Yes};
use super::problem::Problem;
use super::source::Place;
use super::table::Section;
use super::tree::Node;

/// A line of moves, or the start.
const LINE: Text =
    Text::like("a line of legal moves in UCI such as `e2e4 c7c5`, or \"\" for the start", |text| openings::line(text).is_some());

pub(super) fn measure(s: &mut Section, files: &Files, train: Option<&TrainConfig>, imported: Option<&Place>) -> Option<Measure> {
    let seed = s.get("seed", &Integer::at_least(0));
    let snapshots = match imported {
        None => s.switch("snapshots", Vec::new(), |s| metrics(s, files, seed)),
        Some(place) => {
            s.idle("snapshots", place, "imported weights are one checkpoint");
            Some(Vec::new())
        }
    };
    // Where nothing is measured at the end, no checkpoint is.
    let last = s.switch("final", (Checkpoint::Best, Vec::new()), |s| {
        let checkpoint = s.get("checkpoint", &Weights);
        let metrics = metrics(s, files, seed);
        if let (Some(checkpoint), Some(train)) = (checkpoint, train) {
            is_published(s, checkpoint, train);
        }
        if let (Some(checkpoint @ (Checkpoint::Step(_) | Checkpoint::Ema)), Some(place)) = (checkpoint, imported) {
            let (name, value) = (s.name("checkpoint"), Weights.toml(&checkpoint));
            let message = format!("`{name}` is {value}, and the weights of `model.weights` ({place}) are one checkpoint");
            s.refuse("checkpoint", &[], message, "set it to \"last\", which is what was imported");
        }
        Some((checkpoint?, metrics?))
    });
    if let (Some(Length::Epochs(_)), Some([_, ..])) = (train.map(|train| train.length), snapshots.as_deref()) {
        let message =
            "`measure.snapshots` needs `train.steps`: from `train.epochs` the steps are known only when the corpus is encoded";
        s.refuse("snapshots", &[], message, "set `train.steps`, or `measure.snapshots` to false");
    }
    let (checkpoint, last) = last?;
    Some(Measure { snapshots: snapshots?, last, checkpoint })
}

/// The metrics, in the order in which they are reported.
fn metrics(s: &mut Section, files: &Files, seed: Option<u64>) -> Option<Vec<Metric>> {
    let some = || Integer::at_least(1_u32);
    let none = Vec::new;
    let legality = s.switch("legality", none(), |s| {
        let positions = s.get("positions", &some());
        let temperature = s.get("temperature", &NOT_NEGATIVE);
        Some(vec![Metric::Legality { positions: positions?, temperature: temperature?, seed: seed? }])
    });
    let agreement = on_positions(s, "agreement", seed, |positions, seed| Metric::Agreement { positions, seed });
    let rules = on_positions(s, "rules", seed, |positions, seed| Metric::Rules { positions, seed });
    let mass = on_positions(s, "mass", seed, |positions, seed| Metric::Mass { positions, seed });
    let calibration = on_positions(s, "calibration", seed, |positions, seed| Metric::Calibration { positions, seed });
    let dense = s.switch("dense", none(), |s| {
        let games = s.get("games", &some());
        let temperature = s.get("temperature", &NOT_NEGATIVE);
        Some(vec![Metric::Dense { games: games?, temperature: temperature?, seed: seed? }])
    });
    let full_games = s.switch("full_games", none(), |s| {
        let games = s.get("games", &some());
        let temperatures = s.get("temperatures", &List(NOT_NEGATIVE));
        let temperatures = temperatures?;
        some_games_each_once(s, &temperatures);
        let (games, seed) = (games?, seed?);
        Some(temperatures.into_iter().map(|temperature| Metric::FullGames { games, temperature, seed }).collect())
    });
    let loss = match s.node("loss") {
        Some(set) if !set.is_false() => s.look("loss", &Yes).map(|()| vec![Metric::Loss]),
        _ => s.switch("loss", none(), |_| None),
    };
    let openings = s.switch("openings", none(), |s| {
        let prefixes = s.get("prefixes", &List(LINE));
        let prefixes = prefixes?;
        some_lines_each_once(s, &prefixes);
        Some(vec![Metric::Openings { prefixes, seed: seed? }])
    });
    let puzzles = s.switch("puzzles", none(), |s| {
        let blake3 = puzzle_file(s, files);
        let puzzles = s.get("puzzles", &some());
        Some(vec![Metric::Puzzles { blake3: blake3?, puzzles: puzzles?, seed: seed? }])
    });
    let probe = s.switch("probe", none(), |s| {
        // Some teach, and some choose the layer.
        // All their states are in memory at once.
        let positions = s.get("positions", &Integer::between(64_u32, 1_000_000));
        let test = s.get("test", &Integer::between(1_u32, 1_000_000));
        Some(vec![Metric::Probe { positions: positions?, test: test?, seed: seed? }])
    });
    Some([legality?, agreement?, rules?, mass?, calibration?, dense?, full_games?, loss?, openings?, puzzles?, probe?].concat())
}

/// A metric of which only the number of positions is asked.
fn on_positions(s: &mut Section, name: &str, seed: Option<u64>, of: fn(u32, u64) -> Metric) -> Option<Vec<Metric>> {
    s.switch(name, Vec::new(), |s| {
        let positions = s.get("positions", &Integer::at_least(1_u32));
        Some(vec![of(positions?, seed?)])
    })
}

fn some_lines_each_once(s: &Section, lines: &[String]) {
    if lines.is_empty() {
        let message = format!("`{}` is empty", s.name("prefixes"));
        s.refuse("prefixes", &[], message, "name at least one line, such as \"e2e4 c7c5\", or set `openings` to false");
    }
    for (at, line) in lines.iter().enumerate() {
        if lines[..at].iter().any(|other| openings::line(other) == openings::line(line)) {
            s.refuse("prefixes", &[], format!("`{}` has `{line}` twice", s.name("prefixes")), "name each line once");
        }
    }
}

/// The digest of a file of puzzles that has the columns it needs: found out now, and not after a training.
fn puzzle_file(s: &mut Section, files: &Files) -> Option<String> {
    let Some(node) = s.node("file") else { return s.get("file", &TEXT) };
    let path = files.beside_place(&s.peek("file", &TEXT)?, &node.place);
    s.record("file", TEXT.toml(&path.to_string_lossy().into_owned()));
    let problem = match files.source(&path) {
        Ok(Source::File { blake3, .. }) => match first_line(&path).map(|head| puzzles::missing_column(&head)) {
            Ok(None) => return Some(blake3),
            Ok(Some(column)) => {
                let message = format!("`{}` has no column `{column}`", path.display());
                let hint = "give it the columns of the public database of puzzles, and `Prefix`: the moves in UCI from the start to `FEN`";
                s.refuse("file", &[], message, hint);
                return None;
            }
            Err(error) => error.to_string(),
        },
        Ok(Source::Month { .. }) => unreachable!("a file is no month"),
        Err(problem) => problem,
    };
    let hint = "a path is relative to the file that names it; from --set, to where you are";
    s.report(Problem::new(&node.place, s.name("file"), problem), Some(hint.to_owned()));
    None
}

fn first_line(path: &Path) -> std::io::Result<String> {
    let mut line = Vec::new();
    // No head of a table is longer.
    BufReader::new(File::open(path)?).take(1 << 16).read_until(b'\n', &mut line)?;
    Ok(String::from_utf8_lossy(&line).into_owned())
}

fn some_games_each_once(s: &Section, temperatures: &[f64]) {
    if temperatures.is_empty() {
        let message = format!("`{}` is empty", s.name("temperatures"));
        s.refuse("temperatures", &[], message, "name at least one temperature, or set `full_games` to false");
    }
    if temperatures.contains(&0.0) {
        let message = format!("`{}` has 0, at which every game is the same game", s.name("temperatures"));
        let hint = "an interval needs games that differ; take a temperature above 0, such as 0.2";
        s.refuse("temperatures", &[], message, hint);
    }
    for (at, temperature) in temperatures.iter().enumerate() {
        if temperatures[..at].contains(temperature) {
            let message = format!("`{}` has {temperature:?} twice", s.name("temperatures"));
            s.refuse("temperatures", &[], message, "name each temperature once");
        }
    }
}

/// A step is measured by its snapshot, so there must be one; and an average, where one is kept.
fn is_published(s: &Section, checkpoint: Checkpoint, train: &TrainConfig) {
    if checkpoint == Checkpoint::Ema && train.ema.is_none() {
        let message = format!("`{}` is the average of the weights, and the training keeps none", s.name("checkpoint"));
        s.refuse("checkpoint", &[], message, "set train.ema, such as { decay = 0.999 }, or take `best`");
    }
    let (Checkpoint::Step(step), Length::Steps(steps)) = (checkpoint, train.length) else { return };
    let published = snapshot_steps(steps, train.snapshots.every);
    if !published.contains(&step) {
        let nearest = published.iter().min_by_key(|published| published.abs_diff(step)).copied().unwrap_or_default();
        let every = train.snapshots.every;
        let message = format!("`{}` is step {step}, of which there is no snapshot", s.name("checkpoint"));
        s.refuse(
            "checkpoint",
            &[],
            message,
            &format!("snapshots are taken every {every} of {steps} steps; the nearest is {nearest}"),
        );
    }
}

/// `"best"`, `"last"`, or a step.
struct Weights;

impl Kind for Weights {
    type Value = Checkpoint;

    fn wanted(&self) -> String {
        "`best`, `last`, `ema` or a step".to_owned()
    }

    fn read<'a>(&self, node: &'a Node) -> Result<Checkpoint, Misfit<'a>> {
        if let Ok(step) = Integer::at_least(0_u64).read(node) {
            return Ok(Checkpoint::Step(step));
        }
        match TEXT.read(node)?.as_str() {
            "best" => Ok(Checkpoint::Best),
            "last" => Ok(Checkpoint::Last),
            "ema" => Ok(Checkpoint::Ema),
            _ => Err(Misfit::Borrowed(node)),
        }
    }

    fn toml(&self, value: &Checkpoint) -> String {
        match value {
            Checkpoint::Best => "\"best\"".to_owned(),
            Checkpoint::Last => "\"last\"".to_owned(),
            Checkpoint::Ema => "\"ema\"".to_owned(),
            Checkpoint::Step(step) => step.to_string(),
        }
    }
}
