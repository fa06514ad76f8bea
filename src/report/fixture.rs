//! A run made up for tests: the folders and files of a real one, with curves like the published ones.

mod corpus;
mod measures;
mod probe;
mod score;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fs_err as fs;
use serde_json::{Value, json};

use crate::corpus::config::{Keep, Source, Split, SplitBy};
use crate::experiment::{Corpus, Experiment, Gates, Measure, Published, Weights};
use crate::measure::metric::{Checkpoint, Metric};
use crate::measure::score::Value as Estimate;
use crate::model::config::ModelConfig;
use crate::plan::{Cost, Node};
use crate::stages;
use crate::store::{MadeBy, Manifest, Store};
use crate::taint::Refusal;
use crate::train::config::{
    InitialLoss, LearningRate, Length, Overfit, Packing, Precision, Sampler, Schedule, Snapshots, TrainConfig, Validate,
};

pub(crate) struct Fixture {
    pub(crate) run_dir: PathBuf,
    pub(crate) store: Store,
}

/// What a test wants otherwise than usual.
pub(crate) struct Wish {
    /// The state of a node, by its label; none writes no artifact.
    pub(crate) state: fn(&Node) -> &'static str,
    /// The last word on the files of an artifact: `(stage, file, content)`.
    pub(crate) change: fn(&str, &str, String) -> String,
    pub(crate) run: Value,
    /// What the training and its figures were made despite.
    pub(crate) despite: Vec<Refusal>,
}

impl Default for Wish {
    fn default() -> Self {
        Self {
            state: |node| if ["fetch", "parse", "encode"].contains(&node.stage.as_str()) { "kept" } else { "made" },
            change: |_, _, content| content,
            despite: Vec::new(),
            run: json!({
                "schema": 1, "id": "20261129-224105-9f2c", "name": "run1", "started": "2026-11-29T22:41:05Z",
                "finished": "2026-11-30T01:02:11Z", "outcome": "done", "philidor": "0.1.0", "git": "73ff332", "host": "lab",
                "device": "NVIDIA GeForce RTX 3090", "threads": 8, "libtorch": "2.11.0", "command": "philidor run experiments/run1.toml"
            }),
        }
    }
}

/// run1 as published, with `steps` to be trained.
pub(crate) fn experiment(steps: u64) -> Experiment {
    let final_seed = 7;
    let games = |games, temperature| Metric::FullGames { games, temperature, seed: final_seed };
    let published = [
        ("legality.rate", 0.9786, Some((0.9765, 0.9805)), Some(20_000)),
        ("agreement.top1", 0.5142, None, Some(20_000)),
        ("agreement.top5", 0.8872, None, Some(20_000)),
        ("rules.castling.legal", 1.0, None, Some(500)),
        ("rules.check.legal", 0.966, None, Some(500)),
        ("full_games.clean", 0.604, Some((0.5605, 0.6459)), Some(500)),
        ("full_games.plies@0.6", 64.1, None, Some(200)),
        ("loss.validation", 1.6437, None, None),
        ("corpus.kept", 11_035_777.0, None, None),
        ("model.parameters", 51_397_120.0, None, None),
    ];
    Experiment {
        name: "run1".into(),
        question: "Does a 51 M-parameter model learn the rules of chess from one month of games?".into(),
        point: "run1".into(),
        corpus: Corpus {
            sources: vec![Source::Month { month: "2026-07".into(), sha256: None }],
            moves: Some(800_000_000),
            keep: Keep {
                exclude_speeds: vec!["UltraBullet".into(), "Bullet".into()],
                elo: [1800, 2600],
                terminations: vec!["Normal".into()],
                plies: [20, 300],
                ..Keep::default()
            },
            split: Split { validation: 0.01, by: SplitBy::Draw, seed: 1337 },
        },
        model: ModelConfig { layers: 16, heads: 8, width: 512, hidden: 1408, context: 256 },
        weights: Weights::Train(TrainConfig {
            length: Length::Steps(steps),
            batch: 192,
            accumulate: 1,
            sampler: Sampler::Windows,
            learning_rate: LearningRate { peak: 6e-4, floor: 6e-5, warmup: 500, schedule: Schedule::Cosine },
            weight_decay: 0.1,
            betas: [0.9, 0.95],
            clip: 1.0,
            precision: Precision::Bf16,
            seed: 1337,
            validate: Validate { every: (steps / 65).max(1), batches: 50 },
            snapshots: Snapshots { every: (steps / 16).max(1) },
            packing: Packing::Stream,
            ema: None,
            spikes: None,
        }),
        gates: Gates {
            replay: 500,
            initial_loss: Some(InitialLoss { within: 0.3 }),
            overfit: Some(Overfit { games: 100, steps: 1200, batch: 64, below: 0.05 }),
        },
        measure: Measure {
            snapshots: vec![
                Metric::Legality { positions: 2000, temperature: 1.0, seed: 7 },
                Metric::Agreement { positions: 2000, seed: 7 },
                Metric::Rules { positions: 150, seed: 7 },
                Metric::FullGames { games: 60, temperature: 1.0, seed: 7 },
            ],
            last: vec![
                Metric::Legality { positions: 20_000, temperature: 1.0, seed: final_seed },
                Metric::Agreement { positions: 20_000, seed: final_seed },
                Metric::Rules { positions: 500, seed: final_seed },
                games(500, 1.0),
                games(200, 0.8),
                games(200, 0.6),
                games(200, 0.4),
                games(200, 0.2),
                Metric::Mass { positions: 20_000, seed: final_seed },
                Metric::Calibration { positions: 20_000, seed: final_seed },
                Metric::Dense { games: 500, temperature: 1.0, seed: final_seed },
                Metric::Loss,
                Metric::Openings { prefixes: measures::PREFIXES.map(str::to_owned).into(), seed: final_seed },
                Metric::Puzzles { blake3: "9f2c".into(), puzzles: 1500, seed: final_seed },
                Metric::Probe { positions: 20_000, test: 2000, seed: final_seed },
            ],
            checkpoint: Checkpoint::Best,
        },
        published: published
            .into_iter()
            .map(|(name, value, interval, n)| {
                let (low, high) = interval.map_or((None, None), |(low, high)| (Some(low), Some(high)));
                (name.to_owned(), Published { value, low, high, n })
            })
            .collect(),
    }
}

/// Writes the run of these points.
pub(crate) fn write(dir: &Path, points: &[Experiment], wish: &Wish) -> Fixture {
    let store = Store::new(&dir.join("store")).expect("a folder for tests");
    let run_dir = dir.join("run");
    fs::create_dir_all(&run_dir).expect("a folder for tests");
    let (plan, _) = stages::plan(points);
    let mut nodes = Vec::new();
    let (mut journal, mut at) = (Vec::new(), 0.0);
    for node in &plan.nodes {
        let state = (wish.state)(node);
        let mut shown = serde_json::to_value(node).expect("plain JSON");
        let seconds = seconds(node, points);
        shown["state"] = state.into();
        shown["seconds"] = if state == "made" { seconds.into() } else { Value::Null };
        if state == "failed" || state == "refused" {
            shown["error"] = "the loss is 8.31, which is not within 0.3 of 7.586".into();
        }
        nodes.push(shown);
        if state == "made" {
            journal.push(json!({ "at_seconds": at, "event": "started", "key": node.key }));
            at += seconds;
            journal.push(json!({ "at_seconds": at, "event": "made", "key": node.key, "seconds": seconds, "bytes": 1 }));
        }
        if ["made", "kept"].contains(&state) {
            artifact(node, points, &store.dir(&node.stage, node.key), seconds, wish);
        } else if state == "pending" && node.stage == "train" {
            let experiment = of(node, points);
            files(&store.part(&node.stage, node.key), training(experiment, 0.4), "train", wish);
        }
    }
    let documents = [
        ("resolved.json", json!({ "schema": 1, "points": points })),
        ("plan.json", json!({ "schema": 1, "nodes": nodes })),
        ("run.json", wish.run.clone()),
    ];
    fs::write(run_dir.join("events.jsonl"), lines(journal.into_iter())).expect("a folder for tests");
    for (name, content) in documents {
        fs::write(run_dir.join(name), content.to_string()).expect("a folder for tests");
    }
    Fixture { run_dir, store }
}

fn of<'a>(node: &Node, points: &'a [Experiment]) -> &'a Experiment {
    points.iter().find(|experiment| node.points.contains(&experiment.point)).expect("a node has a point")
}

fn seconds(node: &Node, points: &[Experiment]) -> f64 {
    match node.stage.as_str() {
        "fetch" => 812.4,
        "parse" => 251.0,
        "encode" => 31.2,
        "inspect" => 12.9,
        "initial_loss" => 4.2,
        "overfit" => 66.0,
        "train" => 0.4 * of(node, points).snapshot_steps().last().copied().unwrap_or(0) as f64,
        _ => 3.0 + f64::from(node.key.full().as_bytes()[0]) / 10.0,
    }
}

fn artifact(node: &Node, points: &[Experiment], dir: &Path, seconds: f64, wish: &Wish) {
    let experiment = of(node, points);
    let written = match node.stage.as_str() {
        "parse" => vec![("report.json", corpus::parse())],
        "encode" => vec![(
            "report.json",
            json!({ "train_games": 10_925_420, "train_tokens": 803_780_147, "validation_games": 110_357, "validation_tokens": 8_126_345 })
                .to_string(),
        )],
        "inspect" => vec![("inspection.json", corpus::inspection())],
        "initial_loss" => {
            vec![("verdict.json", json!({ "gate": "initial_loss", "measured": 7.71, "wanted": "within 0.3 of 7.586", "passed": true }).to_string())]
        }
        "overfit" => {
            let curve = (1..=270).map(|step| json!({ "step": step, "tokens": step * 16_384, "loss": 7.6 * (-f64::from(step) / 45.0).exp() + 0.018, "learning_rate": 6e-4, "gradient_norm": 1.0 }));
            let verdict = json!({ "gate": "overfit", "measured": 0.0371, "wanted": "below 0.05", "passed": true });
            vec![("verdict.json", verdict.to_string()), ("curve.jsonl", lines(curve))]
        }
        "train" => training(experiment, 1.0),
        "evaluate" => {
            probe::write(dir, node);
            measures::write(dir, node);
            let mut written = vec![("score.json", score::score(node, experiment))];
            written.extend(measures::games(node).map(|games| ("games.txt", games)));
            written
        }
        "ask" => Vec::new(),
        _ => vec![("source.json", json!({ "name": "lichess_db_standard_rated_2026-07.pgn.zst", "bytes": 29_000_000_000_u64, "sha256": "5f1e", "verified_by": "the experiment" }).to_string())],
    };
    files(dir, written, &node.stage, wish);
    let made_by = MadeBy {
        seconds,
        at: "2026-11-30T00:58:00Z".into(),
        host: "lab".into(),
        philidor: "0.1.0".into(),
        git: "73ff332".into(),
        device: if ["train", "ask", "evaluate", "overfit", "initial_loss"].contains(&node.stage.as_str()) {
            "cuda:0"
        } else {
            "cpu"
        }
        .into(),
        threads: 8,
        libtorch: "2.11.0".into(),
        cost: Cost::default(),
        measured: if node.stage == "parse" { corpus::measured() } else { Vec::new() },
        despite: if ["train", "ask", "evaluate"].contains(&node.stage.as_str()) { wish.despite.clone() } else { Vec::new() },
        taken: Vec::new(),
    };
    let digest = crate::store::FileDigest { bytes: 1_234_567, blake3: "00".into() };
    let manifest = Manifest {
        schema: 1,
        key: node.key,
        made_of: node.manifest.clone(),
        files: BTreeMap::from([("file".to_owned(), digest)]),
        made_by,
    };
    fs::write(dir.join("manifest.json"), serde_json::to_string(&manifest).expect("plain JSON")).expect("a folder for tests");
}

fn files(dir: &Path, files: Vec<(&str, String)>, stage: &str, wish: &Wish) {
    fs::create_dir_all(dir).expect("a folder for tests");
    for (name, content) in files {
        fs::write(dir.join(name), (wish.change)(stage, name, content)).expect("a folder for tests");
    }
}

fn lines(values: impl Iterator<Item = Value>) -> String {
    values.map(|value| value.to_string() + "\n").collect()
}

/// The same wobble for the same number: between −1 and 1.
fn wobble(n: u64) -> f64 {
    let mixed = (n.wrapping_add(1)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ (mixed >> 29)) % 2_000) as f64 / 1_000.0 - 1.0
}

/// How much better than run1's model one of another size, seed, batch or rate is, in nats: 0 for run1.
fn edge(e: &Experiment) -> f64 {
    let Some(train) = e.train() else { return 0.0 };
    let by_size = 0.12 * (e.model.parameters() as f64 / 51_397_120.0).log2();
    let by_batch = 0.1 * (f64::from(train.batch) / 192.0).log2();
    let by_rate = -0.02 * (train.learning_rate.peak / 6e-4).log2().powi(2) + 0.1 * (train.weight_decay - 0.1);
    by_size + by_batch + by_rate + if train.seed == 1337 { 0.0 } else { 0.02 * wobble(train.seed) }
}

fn training(e: &Experiment, share: f64) -> Vec<(&'static str, String)> {
    let steps = e.snapshot_steps().last().copied().unwrap_or(0);
    let done = (steps as f64 * share) as u64;
    let train = e.train().expect("the fixtures train");
    let per_step = train.tokens_per_step(e.model.context);
    let edge = edge(e);
    let loss = |step: u64| {
        1.585 - edge * (step as f64 / steps as f64) + 6.0 * (1.0 + step as f64 * (16_300.0 / steps as f64) / 60.0).powf(-0.95)
    };
    let curve = (1..=done).map(|step| {
        json!({ "step": step, "tokens": step * per_step, "loss": loss(step) + 0.035 * wobble(step), "learning_rate": 6e-4, "gradient_norm": 0.3 + 0.02 * wobble(step * 3) })
    });
    let validation: Vec<u64> = (1..=done).filter(|step| step % train.validate.every == 0 || *step == steps).collect();
    let validated = validation
        .iter()
        .map(|&step| json!({ "step": step, "tokens": step * per_step, "loss": loss(step) + 0.034 + 0.002 * wobble(step) }));
    let speed = (1..=done / 20)
        .map(|at| json!({ "step": at * 20, "seconds": at as f64 * 7.7, "tokens_per_second": 127_000.0 + 900.0 * wobble(at),
            "power_watts": 279.0 + 2.0 * wobble(at * 5), "clock_mhz": 1_650.0 + 30.0 * wobble(at * 7), "temperature_celsius": 71.0 + wobble(at * 11) }));
    let best = validation.last().copied().unwrap_or(0);
    let mut written = vec![("curve.jsonl", lines(curve)), ("validation.jsonl", lines(validated)), ("speed.jsonl", lines(speed))];
    if share >= 1.0 {
        written.extend([
            ("best.json", json!({ "step": best, "loss": loss(best) + 0.0325 }).to_string()),
            (
                "training.json",
                json!({ "steps": steps, "tokens_per_step": per_step, "parameters": e.model.parameters(), "flops_per_token": e.model.flops_per_token(),
                    "train_tokens": 803_780_147, "validation_tokens": 8_126_345 })
                .to_string(),
            ),
            (
                "device.json",
                json!({ "device": "NVIDIA GeForce RTX 3090", "threads": 8, "matmul_flops_per_second": 62.86e12, "tokens_per_second": 127_013.0,
                    "mfu": 0.674, "peak_memory_bytes": 19_864_223_744_u64 })
                .to_string(),
            ),
        ]);
    }
    written
}
