//! `[measure]`: which metrics, by which protocol, of which weights. One left out, or `false`, is not measured.

use crate::measure::metric::{Checkpoint, Metric};
use crate::train::config::{Length, TrainConfig, snapshot_steps};

use super::asked::Measure;
use super::kind::{Integer, Kind, List, Misfit, NOT_NEGATIVE, TEXT};
use super::source::Place;
use super::table::Section;
use super::tree::Node;

pub(super) fn measure(s: &mut Section, train: Option<&TrainConfig>, imported: Option<&Place>) -> Option<Measure> {
    let seed = s.get("seed", &Integer::at_least(0));
    let snapshots = match imported {
        None => s.switch("snapshots", Vec::new(), |s| metrics(s, seed)),
        Some(place) => {
            s.idle("snapshots", place, "imported weights are one checkpoint");
            Some(Vec::new())
        }
    };
    // Where nothing is measured at the end, no checkpoint is.
    let last = s.switch("final", (Checkpoint::Best, Vec::new()), |s| {
        let checkpoint = s.get("checkpoint", &Weights);
        let metrics = metrics(s, seed);
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
fn metrics(s: &mut Section, seed: Option<u64>) -> Option<Vec<Metric>> {
    let some = || Integer::at_least(1_u32);
    let none = Vec::new;
    let legality = s.switch("legality", none(), |s| {
        let positions = s.get("positions", &some());
        let temperature = s.get("temperature", &NOT_NEGATIVE);
        Some(vec![Metric::Legality { positions: positions?, temperature: temperature?, seed: seed? }])
    });
    let agreement = s.switch("agreement", none(), |s| {
        let positions = s.get("positions", &some());
        Some(vec![Metric::Agreement { positions: positions?, seed: seed? }])
    });
    let rules = s.switch("rules", none(), |s| {
        let positions = s.get("positions", &some());
        Some(vec![Metric::Rules { positions: positions?, seed: seed? }])
    });
    let full_games = s.switch("full_games", none(), |s| {
        let games = s.get("games", &some());
        let temperatures = s.get("temperatures", &List(NOT_NEGATIVE));
        let temperatures = temperatures?;
        some_games_each_once(s, &temperatures);
        let (games, seed) = (games?, seed?);
        Some(temperatures.into_iter().map(|temperature| Metric::FullGames { games, temperature, seed }).collect())
    });
    let probe = s.switch("probe", none(), |s| {
        // Some teach, and some choose the layer.
        let positions = s.get("positions", &Integer::at_least(64_u32));
        let test = s.get("test", &some());
        Some(vec![Metric::Probe { positions: positions?, test: test?, seed: seed? }])
    });
    Some([legality?, agreement?, rules?, full_games?, probe?].concat())
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
