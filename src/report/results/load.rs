//! Reads a run's folder, and the artifacts that its plan names.

use std::path::Path;

use anyhow::Result;
use fs_err as fs;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::files::{json, lines};
use super::{Asked, Gate, Measured, Outcome, Point, Results, Run, Source, State, Training, items, names};
use crate::corpus::config;
use crate::error::Fixable;
use crate::experiment::Experiment;
use crate::measure::metric::{Checkpoint, Metric};
use crate::measure::probe::table;
use crate::report::cores::on_all_cores;
use crate::runs::{RunFolder, damaged as damaged_file, spans};
use crate::store::{Key, Store};
use crate::text::plural;

#[derive(Deserialize)]
struct Resolved {
    points: Vec<Experiment>,
}

/// `fetch/source.json`.
#[derive(Deserialize)]
struct Origin {
    name: String,
    #[serde(default)]
    sha256: Option<String>,
    #[serde(default)]
    verified_by: Option<String>,
}

#[derive(Deserialize)]
struct Planned {
    nodes: Vec<Outcome>,
}

impl Results {
    /// Reads what the run has left so far.
    ///
    /// # Errors
    ///
    /// Where the folder has no experiment or plan in it, or one that cannot be read. Everything else may be missing.
    pub fn load(run_dir: &Path, store: &Store) -> Result<Self> {
        let resolved: Resolved = needed(&run_dir.join("resolved.json"))?;
        let Planned { mut nodes } = needed(&run_dir.join("plan.json"))?;
        let manifests = on_all_cores(&nodes, |_, outcome| store.manifest(&outcome.node.stage, outcome.node.key).ok());
        for (outcome, manifest) in nodes.iter_mut().zip(manifests) {
            if let Some(manifest) = manifest {
                outcome.bytes = Some(manifest.files.values().map(|file| file.bytes).sum());
                outcome.made_by = Some(manifest.made_by);
            }
        }
        let spans = spans(run_dir);
        for outcome in &mut nodes {
            outcome.spans = spans.get(&outcome.node.key).cloned().unwrap_or_default();
        }
        let mut damaged = Vec::from_iter(gone(&nodes, store)?);
        let mut run: Run = json(&run_dir.join("run.json")).unwrap_or_default();
        if run.outcome.as_deref() == Some("running") {
            run.outcome = RunFolder::at(run_dir.to_owned()).record().ok().map(|record| record.outcome);
        }
        let parts = names::parts(&resolved.points);
        let asked: Vec<_> = resolved.points.into_iter().zip(parts).collect();
        let loaded = on_all_cores(&asked, |_, (experiment, parts)| {
            let mut damaged = Vec::new();
            let point = Point::load(experiment.clone(), parts.clone(), &nodes, store, &mut damaged);
            (point, damaged)
        });
        let mut points = Vec::new();
        for (point, lost) in loaded {
            points.push(point);
            for said in lost {
                if !damaged.contains(&said) {
                    damaged.push(said);
                }
            }
        }
        let has_file = run_dir.join("experiment.toml").is_file();
        Ok(Self { has_file, run, points, nodes, damaged })
    }
}

/// What the store has lost of what the run made, in a sentence.
///
/// # Errors
///
/// Where it has lost all of it: a report would be drawn of nothing, in the place of one that has it all.
fn gone(nodes: &[Outcome], store: &Store) -> Result<Option<String>> {
    let made = || nodes.iter().filter(|outcome| matches!(outcome.state, State::Kept | State::Made));
    let lost = made().filter(|outcome| outcome.made_by.is_none()).count();
    if lost > 0 && lost == made().count() {
        return Err(Fixable::failed(format!("the store `{}` has nothing of what this run made", store.root().display()))
            .hint("name the store that it was made into (`store` in philidor.toml), or run the experiment again")
            .into());
    }
    Ok((lost > 0)
        .then(|| format!("The store has lost {} that this run made: their figures are missing.", plural("node", lost as u64))))
}

fn needed<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let bytes = fs::read(path).map_err(|_| {
        Fixable::usage(format!("`{}` is not there, so this is no run's folder", path.display()))
            .hint("`philidor ls` lists the runs")
    })?;
    Ok(serde_json::from_slice(&bytes).map_err(|error| damaged_file(path, &error))?)
}

impl Point {
    fn load(experiment: Experiment, parts: Vec<String>, nodes: &[Outcome], store: &Store, damaged: &mut Vec<String>) -> Self {
        let mine = |stage: &'static str| {
            let point = experiment.point.clone();
            nodes.iter().filter(move |outcome| outcome.node.stage == stage && outcome.node.points.contains(&point))
        };
        let dir = |outcome: &Outcome| store.dir(&outcome.node.stage, outcome.node.key);
        let one = |stage: &'static str| mine(stage).next();
        let sources = experiment
            .corpus
            .sources
            .iter()
            .zip(mine("parse").map(Some).chain(std::iter::repeat(None)))
            .map(|(source, outcome)| Source {
                name: match source {
                    config::Source::File { name, .. } => name.clone(),
                    config::Source::Month { month, .. } => month.clone(),
                },
                digest: match source {
                    config::Source::File { blake3, .. } => Some(format!("blake3 {blake3}")),
                    config::Source::Month { sha256, .. } => {
                        let fetched = mine("fetch")
                            .filter_map(|outcome| json::<Origin>(&dir(outcome).join("source.json")))
                            .find(|origin| origin.name == source.name());
                        let by = fetched.as_ref().map(|origin| match &origin.verified_by {
                            Some(by) => format!(", as {by} says"),
                            None => ", which nobody had told before".to_owned(),
                        });
                        let digits = sha256.clone().or(fetched.and_then(|origin| origin.sha256));
                        digits.map(|digits| format!("sha256 {digits}{}", by.unwrap_or_default()))
                    }
                },
                report: outcome.and_then(|outcome| json(&dir(outcome).join("report.json"))),
            })
            .collect();
        let gates = ["inspect", "initial_loss", "overfit"]
            .into_iter()
            .filter_map(one)
            .map(|outcome| Gate {
                stage: outcome.node.stage.clone(),
                state: outcome.state,
                error: outcome.error.clone(),
                verdict: json(&dir(outcome).join("verdict.json")),
                curve: lines(&dir(outcome).join("curve.jsonl")),
            })
            .collect();
        let scores = mine("evaluate")
            .filter_map(|outcome| {
                measured(outcome, &experiment, store).unwrap_or_else(|error| {
                    let said = format!("Left out: {error:#}.");
                    if !damaged.contains(&said) {
                        damaged.push(said);
                    }
                    None
                })
            })
            .collect();
        Self {
            sources,
            encoded: one("encode").and_then(|outcome| json(&dir(outcome).join("report.json"))),
            inspection: one("inspect").and_then(|outcome| json(&dir(outcome).join("inspection.json"))),
            gates,
            // A trunk stands before the training that goes on from it.
            training: mine("train").next_back().and_then(|outcome| Training::load(outcome.node.key, store)),
            scores,
            parts,
            experiment,
        }
    }
}

impl Training {
    fn load(key: Key, store: &Store) -> Option<Self> {
        let (whole, part) = (store.dir("train", key), store.part("train", key));
        let unfinished = !whole.exists();
        let dir = if unfinished { part } else { whole };
        let curve = lines(&dir.join("curve.jsonl"));
        (!curve.is_empty()).then(|| Self {
            key,
            unfinished,
            curve,
            summary: json(&dir.join("training.json")).unwrap_or_default(),
            validation: lines(&dir.join("validation.jsonl")),
            speed: lines(&dir.join("speed.jsonl")),
            best: json(&dir.join("best.json")),
            average: json(&dir.join("ema.json")),
            device: json(&dir.join("device.json")),
        })
    }
}

/// A score, and whether it is a point of a curve or a figure of the experiment; the same node can be both.
///
/// # Errors
///
/// Where its file is no longer what was written.
fn measured(outcome: &Outcome, experiment: &Experiment, store: &Store) -> Result<Option<Measured>> {
    let (stage, key, with) = (&outcome.node.stage, outcome.node.key, &outcome.node.manifest["with"]);
    let dir = store.dir(stage, key);
    let asked = |name: &str| with[name].clone();
    let (Ok(metric), Ok(checkpoint)) =
        (serde_json::from_value::<Metric>(asked("metric")), serde_json::from_value::<Checkpoint>(asked("checkpoint")))
    else {
        return Ok(None);
    };
    let measure = &experiment.measure;
    let asked = if checkpoint == measure.checkpoint && measure.last.contains(&metric) { Asked::Final } else { Asked::Snapshot };
    if outcome.made_by.is_none() {
        return Ok(None);
    }
    let bytes = store.checked(stage, key, "score.json")?;
    let mut measured = Measured {
        key: outcome.node.key,
        asked,
        metric,
        checkpoint,
        score: serde_json::from_slice(&bytes)?,
        squares: Vec::new(),
        next_moves: Vec::new(),
        own_games: Vec::new(),
    };
    match measured.metric {
        Metric::Probe { .. } => measured.squares = table::read(&dir).unwrap_or_default(),
        Metric::Openings { .. } => measured.next_moves = items::next_moves(&dir.join("openings.parquet")).unwrap_or_default(),
        Metric::FullGames { .. } => measured.own_games = items::own_games(&dir.join("games.txt")),
        _ => (),
    }
    Ok(Some(measured))
}
