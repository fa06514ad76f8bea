//! The keys of everything committed, and what must and must not change them. A difference here means that somebody's
//! GPU works again: accept it only when the artifacts would differ.

use std::fmt::Write as _;

use crate::support::{Lab, repository};

fn plan(lab: &Lab, arguments: &[&str]) -> Vec<(String, String)> {
    let said = lab.philidor(&[&["plan", "--json"], arguments].concat()).ended(0);
    let document: serde_json::Value = serde_json::from_str(&said.stdout).expect("JSON");
    let text = |value: &serde_json::Value| value.as_str().expect("text").to_owned();
    document["plans"][0]["nodes"]
        .as_array()
        .expect("nodes")
        .iter()
        .map(|node| (text(&node["label"]), text(&node["key"])))
        .collect()
}

#[test]
fn the_keys_of_all_committed_experiments_are_pinned() {
    let lab = Lab::new();
    for name in ["quickstart", "temperature", "size-sweep", "first-month", "run1", "run2"] {
        let file = repository().join(format!("experiments/{name}.toml"));
        let mut text = String::new();
        for (label, key) in plan(&lab, &[&file.to_string_lossy()]) {
            writeln!(text, "{key}  {label}").expect("a string takes text");
        }
        insta::assert_snapshot!(name, text);
    }
}

/// The stages whose keys differ from those of `tiny.toml` as it stands.
fn changed(lab: &Lab, sets: &[&str], environment: &[(&str, &str)]) -> Vec<String> {
    let before = plan(lab, &["tiny.toml"]);
    let mut command = lab.command(&["plan", "--json", "tiny.toml"]);
    for set in sets {
        command.args(["-S", set]);
    }
    command.envs(environment.iter().copied());
    let said = crate::support::said(&command.output().expect("it starts")).ended(0);
    let document: serde_json::Value = serde_json::from_str(&said.stdout).expect("JSON");
    let mut stages: Vec<String> = Vec::new();
    for node in document["plans"][0]["nodes"].as_array().expect("nodes") {
        let known = before.iter().any(|(_, key)| node["key"] == **key);
        let stage = node["stage"].as_str().expect("text").to_owned();
        if !known && !stages.contains(&stage) {
            stages.push(stage);
        }
    }
    stages
}

#[test]
fn each_setting_changes_the_keys_of_what_it_decides_and_of_what_follows() {
    const AFTER_PARSE: &[&str] = &["parse", "encode", "inspect", "initial_loss", "train", "ask", "evaluate"];
    const AFTER_ENCODE: &[&str] = &["encode", "inspect", "initial_loss", "train", "ask", "evaluate"];
    const MODEL: &[&str] = &["initial_loss", "train", "ask", "evaluate"];
    const TRAIN: &[&str] = &["train", "ask", "evaluate"];
    let cases: &[(&str, &[&str])] = &[
        ("corpus.moves=100", AFTER_PARSE),
        ("corpus.keep.elo=[1100, 2600]", AFTER_PARSE),
        ("corpus.keep.exclude_speeds=[Blitz]", AFTER_PARSE),
        ("corpus.keep.terminations=[Normal, Abandoned]", AFTER_PARSE),
        ("corpus.keep.plies=[6, 300]", AFTER_PARSE),
        ("corpus.keep.rated=true", AFTER_PARSE),
        ("corpus.keep.exclude_bots=true", AFTER_PARSE),
        ("corpus.keep.estimated_seconds=[180, 479]", AFTER_PARSE),
        ("corpus.keep.base_seconds=[180, 600]", AFTER_PARSE),
        ("corpus.keep.increment_seconds=[0, 5]", AFTER_PARSE),
        ("corpus.keep.rating_difference=[0, 100]", AFTER_PARSE),
        ("corpus.keep.rating_band=100", AFTER_PARSE),
        ("corpus.keep.results=[1-0]", AFTER_PARSE),
        ("corpus.keep.dates=[2013-01-01, 2013-01-31]", AFTER_PARSE),
        ("corpus.keep.exclude_duplicates=true", AFTER_PARSE),
        ("corpus.keep.games_per_player=100", AFTER_PARSE),
        ("corpus.split.validation=0.3", AFTER_ENCODE),
        ("corpus.split.by=game-hash", AFTER_ENCODE),
        ("corpus.split.seed=2", AFTER_ENCODE),
        ("gates.replay.games=11", &["inspect"]),
        ("gates.initial_loss.within=0.2", &["initial_loss"]),
        ("model.layers=3", MODEL),
        ("model.heads=4", MODEL),
        ("model.width=64", MODEL),
        ("model.hidden=96", MODEL),
        ("model.context=64", MODEL),
        ("train.seed=8", MODEL),
        ("train.steps=60", TRAIN),
        ("train.batch=5", TRAIN),
        ("train.accumulate=2", TRAIN),
        ("train.sampler=epoch", TRAIN),
        ("train.learning_rate.peak=2e-3", TRAIN),
        ("train.learning_rate.floor=2e-4", TRAIN),
        ("train.learning_rate.warmup=5", TRAIN),
        ("train.weight_decay=0.2", TRAIN),
        ("train.betas=[0.9, 0.99]", TRAIN),
        ("train.clip=0.5", TRAIN),
        ("train.precision=bf16", TRAIN),
        ("train.validate.every=20", TRAIN),
        ("train.validate.batches=3", TRAIN),
        ("train.snapshots.every=10", TRAIN),
        ("measure.seed=4", &["ask", "evaluate"]),
        ("measure.snapshots.legality.positions=41", &["ask", "evaluate"]),
        ("measure.final.checkpoint=last", &["ask", "evaluate"]),
        ("measure.final.legality.temperature=0.9", &["ask", "evaluate"]),
        ("measure.final.full_games.games=5", &["evaluate"]),
        ("measure.final.probe={ positions = 64, test = 5 }", &["evaluate"]),
    ];
    let lab = Lab::new();
    for (set, stages) in cases {
        assert_eq!(changed(&lab, &[set], &[]), *stages, "-S {set}");
    }
}

#[test]
fn what_belongs_to_the_machine_or_to_words_changes_no_key() {
    let lab = Lab::new();
    for set in [
        "machine.device=cuda",
        "machine.measure_device=cuda:1",
        "machine.threads=2",
        "machine.store=elsewhere",
        "machine.checkpoint_minutes=1",
        "name=other",
    ] {
        assert!(changed(&lab, &[set], &[]).is_empty(), "-S {set}");
    }
    assert!(changed(&lab, &[], &[("PHILIDOR_DEVICE", "cuda:1"), ("PHILIDOR_DATA", "/nowhere")]).is_empty());
    // The same games under another name are the same games.
    let before = plan(&lab, &["tiny.toml"]);
    std::fs::rename(lab.path("games.pgn"), lab.path("renamed.pgn")).expect("the folder is ours");
    lab.write("tiny.toml", &crate::support::TINY.replace("games.pgn", "renamed.pgn"));
    assert_eq!(plan(&lab, &["tiny.toml"])[1..], before[1..]);
}

#[test]
fn a_rule_that_is_off_changes_no_key() {
    let lab = Lab::new();
    for rule in [
        "rated",
        "exclude_bots",
        "estimated_seconds",
        "base_seconds",
        "increment_seconds",
        "rating_difference",
        "rating_band",
        "results",
        "dates",
        "exclude_duplicates",
        "games_per_player",
    ] {
        assert!(changed(&lab, &[&format!("corpus.keep.{rule}=false")], &[]).is_empty(), "{rule}");
    }
}
