//! The published runs, as runs on disk: their comparison, through the program.

use philidor::experiment::{self, Experiment, Request};
use philidor::measure::metric::{Checkpoint, Metric};
use philidor::measure::score::{MeasuredCheckpoint, Protocol, Score, Value};
use philidor::plan::Node;
use philidor::stages;
use philidor::store::MadeBy;
use serde_json::{Value as Json, json};

use crate::support::{Lab, repository};

/// Steps of a run and the share of legal moves and of first choices that were the move played, in points of a hundred.
type Levels = [(u64, f64, f64); 4];

const RUN1: Levels = [(4_000, 95.10, 46.55), (8_000, 96.90, 49.10), (12_000, 97.55, 50.95), (16_000, 97.75, 51.85)];
const RUN2: Levels = [(5_000, 95.05, 49.20), (10_000, 97.10, 50.30), (15_000, 97.35, 52.75), (20_000, 97.40, 53.80)];

fn resolved(file: &str, sets: &[&str]) -> Experiment {
    let request = Request {
        file: repository().join("experiments").join(file),
        sets: sets.iter().map(|&set| set.to_owned()).collect(),
        environment: Vec::new(),
        working_dir: repository().to_owned(),
    };
    experiment::load(&request).expect("a published experiment").points.remove(0)
}

/// The score of a metric at a checkpoint, with its step.
type Scored<'s> = &'s dyn Fn(&Metric, &Checkpoint) -> Option<(u64, Value)>;

/// Writes a run that has nothing but scores: those that `score` gives of a metric at a checkpoint, with the step.
fn write(lab: &Lab, name: &str, experiment: &Experiment, score: Scored) {
    let (plan, _) = stages::plan(std::slice::from_ref(experiment));
    let node = |node: &Node| {
        let mut shown = serde_json::to_value(node).expect("plain JSON");
        let with = |field: &str| node.manifest["with"][field].clone();
        let asked = serde_json::from_value(with("metric")).ok().zip(serde_json::from_value(with("checkpoint")).ok());
        let found = asked.and_then(|(metric, checkpoint)| score(&metric, &checkpoint).map(|found| (metric, found)));
        shown["state"] = if found.is_some() { "made" } else { "pending" }.into();
        if let Some((metric, (step, value))) = found {
            artifact(lab, node, experiment, &metric, step, value);
        }
        shown
    };
    let nodes: Vec<Json> = plan.nodes.iter().map(node).collect();
    let run = json!({
        "schema": 1, "id": format!("20261130-000000-{name}"), "name": name, "started": "2026-11-30T00:00:00Z", "finished": null,
        "outcome": "done", "philidor": "0.1.0", "git": "73ff332+dirty", "host": "lab", "device": "NVIDIA GeForce RTX 3090",
        "threads": 8, "libtorch": "2.11.0", "command": format!("philidor run experiments/{name}.toml"),
    });
    let folder = format!("runs/{name}/20261130-000000-{name}");
    std::fs::create_dir_all(lab.path(&folder)).expect("the folder is ours");
    for (file, content) in [
        ("resolved.json", json!({ "schema": 1, "points": [experiment] })),
        ("plan.json", json!({ "schema": 1, "nodes": nodes })),
        ("run.json", run),
    ] {
        lab.write(&format!("{folder}/{file}"), &content.to_string());
    }
}

fn artifact(lab: &Lab, node: &Node, experiment: &Experiment, metric: &Metric, step: u64, value: Value) {
    let train = experiment.train().expect("a training");
    let tokens = step * train.tokens_per_step(experiment.model.context);
    let protocol = Protocol {
        metric: metric.name().into(),
        version: 1,
        data: "9f2c".into(),
        positions: "random positions of the validation games".into(),
        temperature: match metric {
            Metric::Legality { temperature, .. } => Some(*temperature),
            _ => None,
        },
        masked: false,
        context: 256,
        precision: "bf16".into(),
        seed: 7,
    };
    let score = Score {
        metric: metric.name().into(),
        version: 1,
        checkpoint: MeasuredCheckpoint { name: format!("step-{step:08}"), step, tokens },
        fingerprint: protocol.fingerprint(),
        protocol,
        values: vec![value],
        counts: std::collections::BTreeMap::new(),
    };
    let score = serde_json::to_string(&score).expect("plain JSON");
    let folder = format!("runs/store/v1/{}/{}", node.stage, node.key.full());
    std::fs::create_dir_all(lab.path(&folder)).expect("the folder is ours");
    let manifest = json!({
        "schema": 1, "key": node.key, "made_of": node.manifest,
        "files": { "score.json": { "bytes": score.len(), "blake3": blake3::hash(score.as_bytes()).to_hex().as_str() } },
        "made_by": MadeBy { git: "73ff332".into(), device: "cuda:0".into(), ..MadeBy::default() },
    });
    lab.write(&format!("{folder}/score.json"), &score);
    lab.write(&format!("{folder}/manifest.json"), &manifest.to_string());
}

fn share(name: &str, points: f64, n: u64) -> Value {
    Value::share(name, (points / 100.0 * n as f64).round() as u64, n).expect("a sample")
}

/// Both runs, each snapshot of `n` positions.
fn published(n: u64) -> Lab {
    let lab = Lab::new();
    for (name, levels, every) in [("run1", RUN1, 4_000), ("run2", RUN2, 5_000)] {
        let every = format!("train.snapshots.every={every}");
        let experiment = resolved(&format!("{name}.toml"), &[&every]);
        write(&lab, name, &experiment, &|metric, checkpoint| {
            let Checkpoint::Step(step) = checkpoint else { return None };
            let (_, legal, top1) = levels.into_iter().find(|level| level.0 == *step)?;
            match metric {
                Metric::Legality { .. } => Some((*step, share("rate", legal, n))),
                Metric::Agreement { .. } => Some((*step, share("top1", top1, n))),
                _ => None,
            }
        });
    }
    lab
}

/// The verdicts of a metric at the levels of equal tokens.
fn verdicts(lab: &Lab, metric: &str) -> Vec<String> {
    let said = lab.philidor(&["compare", "run1", "run2", "--json"]).ended(0);
    let document: Json = serde_json::from_str(&said.stdout).expect("one document");
    let sections = document["sections"].as_array().expect("levels").iter().filter(|section| section["budget"] == "tokens");
    let rows = sections.flat_map(|section| section["rows"].as_array().expect("rows")).filter(|row| row["metric"] == metric);
    rows.map(|row| row["differences"][0]["verdict"].as_str().expect("a verdict").to_owned()).collect()
}

#[test]
fn the_published_runs_at_equal_tokens_are_told_apart_in_agreement_at_every_level_and_in_legality_at_none() {
    let few = published(2_000);
    assert_eq!(verdicts(&few, "legality"), ["inconclusive"; 4]);
    let said = few.philidor(&["compare", "run1", "run2"]).ended(0).stdout;
    let row = |line: &&str| line.trim_start().starts_with("Move played is the first choice  run2  tokens");
    let trend = said.lines().find(row).expect("what all levels say");
    assert!(trend.contains("better at 4, worse at 0 of 4"), "{said}");
    for wanted in ["n = about", "In the middle of a learning-rate schedule: run1", "73ff332, with uncommitted changes", "2,000"] {
        assert!(said.split_whitespace().collect::<Vec<_>>().join(" ").contains(wanted), "{wanted}: {said}");
    }
    few.philidor(&["compare", "run1", "run2", "--verdict", "legality.rate"]).ended(5);

    // As many positions as a final figure has.
    let many = published(20_000);
    assert_eq!(verdicts(&many, "agreement"), ["better"; 4]);
    many.philidor(&["compare", "run1", "run2", "--verdict", "agreement.top1"]).ended(0);

    let far = many.philidor(&["compare", "run1", "run2", "--at", "tokens=300e6"]).ended(5);
    assert!(far.stderr.contains("step 4,000 at 197 M tokens below, and step 8,000 at 393 M tokens above"), "{}", far.stderr);
    assert!(far.stderr.contains("--at tokens=393216000"), "{}", far.stderr);
}

#[test]
fn a_page_links_the_reports_and_replaces_nothing_that_it_did_not_write() {
    let lab = published(2_000);
    let at = |name: &str| lab.path(name).display().to_string();
    lab.write("runs/run1/20261130-000000-run1/report.html", "<h1>run1</h1>");
    lab.philidor(&["compare", "run1", "run2", "--page", &at("pages")]).ended(0);
    let page = std::fs::read_to_string(lab.path("pages/compare.html")).expect("a page").replace("&#x2f;", "/");
    assert!(page.contains("href=\"../runs/run1/20261130-000000-run1/report.html\""), "the report that is there is linked");
    assert!(page.contains("philidor compare 20261130-000000-run1 20261130-000000-run2 --page FOLDER"));
    assert!(!page.contains(&at("")), "no path of this machine");
    let json = std::fs::read_to_string(lab.path("pages/compare.json")).expect("a document");
    let document: Json = serde_json::from_str(&json).expect("JSON");
    assert_eq!(document["subjects"][0]["members"][0]["git"], "73ff332+dirty");
    lab.philidor(&["compare", "run1", "run2", "--page", &at("pages")]).ended(0);

    std::fs::create_dir(lab.path("mine")).expect("made");
    lab.write("mine/compare.html", "<h1>Mine</h1>");
    let refused = lab.philidor(&["compare", "run1", "run2", "--page", &at("mine")]).ended(2);
    assert!(
        refused.stderr.contains("was not written by a comparison") && refused.stderr.contains("--page"),
        "{}",
        refused.stderr
    );
    assert_eq!(std::fs::read_to_string(lab.path("mine/compare.html")).expect("still there"), "<h1>Mine</h1>");
    let refused = lab.philidor(&["compare", "run1", "run2", "--page", &at("games.pgn")]).ended(2);
    assert!(refused.stderr.contains("--page"), "{}", refused.stderr);
}

#[test]
fn a_cooler_thermometer_is_no_better_model() {
    let lab = Lab::new();
    for (name, temperature, points) in [("warm", 1.0, 97.86), ("cool", 0.6, 99.20)] {
        let setting = format!("measure.final.legality.temperature={temperature}");
        let experiment = resolved("run1.toml", &[&setting]);
        let last = experiment.measure.checkpoint;
        write(&lab, name, &experiment, &|metric, checkpoint| {
            let is_final = *checkpoint == last && matches!(metric, Metric::Legality { .. });
            is_final.then(|| (16_000, share("rate", points, 20_000)))
        });
    }
    let refused = lab.philidor(&["compare", "warm", "cool"]).ended(5);
    assert!(refused.stderr.contains("temperature: 1.0 and 0.6") && refused.stdout.is_empty(), "{}", refused.stderr);
    let shown = lab.philidor(&["compare", "warm", "cool", "--exploratory"]).ended(0).stdout;
    assert!(shown.starts_with("NOT COMPARABLE: legality of warm and of cool (temperature: 1.0 and 0.6)."), "{shown}");
    assert!(shown.contains("97.86 %") && shown.contains("99.20 %") && !shown.contains("points ["), "{shown}");
}
