//! `philidor bench train`: what fits into memory, and how long the whole takes, on a model too small to say anything of speed.

use serde_json::Value;

use crate::support::{Lab, Said};

fn json(said: &Said) -> Value {
    serde_json::from_str(&said.stdout).expect("one JSON document")
}

/// Address space in KiB that a worker lives in with room for small batches alone: libtorch itself takes less than half.
const LITTLE: u64 = 1_200_000;

#[test]
fn one_batch_is_timed_as_a_training_would_do_it() {
    let lab = Lab::new();
    let told = json(&lab.philidor(&["bench", "train", "tiny.toml", "--batch", "2", "--steps", "3", "--json"]).ended(0));
    assert_eq!((&told["schema"], &told["device"], &told["precision"]), (&1.into(), &"cpu".into(), &"f32".into()));
    let batches = told["batches"].as_array().expect("a list");
    assert_eq!(batches.len(), 1);
    let batch = &batches[0];
    // The experiment's steps are of 4 windows.
    assert_eq!([&batch["batch"], &batch["accumulate"], &batch["step_passes"], &batch["steps"]], [2, 2, 2, 3]);
    assert_eq!((&batch["outcome"], &batch["fits"], &told["largest_batch"]), (&"ok".into(), &true.into(), &2.into()));
    let number = |value: &Value| value.as_f64().filter(|number| *number > 0.0).expect("a number above 0");
    assert!(number(&batch["step_seconds_least"]) <= number(&batch["step_seconds"]));
    let rate = 4.0 * 32.0 / number(&batch["step_seconds"]);
    assert!((number(&batch["tokens_per_second"]) / rate - 1.0).abs() < 1e-9);
    let mfu = rate * number(&told["flops_per_token"]) / number(&told["matmul_flops_per_second"]);
    assert!((number(&batch["mfu"]) / mfu - 1.0).abs() < 1e-9);
    assert!(number(&batch["peak_memory_bytes"]) < number(&batch["free_memory_bytes"]));
    assert!(number(&told["expected_seconds"]) >= 40.0 * number(&batch["step_seconds"]));
    assert_eq!(told["margin"], 0.1);
    assert!(!lab.path("runs").exists(), "a bench leaves nothing behind");
}

#[test]
fn without_a_batch_sizes_are_tried_up_to_more_than_a_step_and_people_read_a_table() {
    let lab = Lab::new();
    let said = lab.philidor(&["bench", "train", "tiny.toml", "--steps", "2"]).ended(0);
    let rows: Vec<Vec<&str>> = said.stdout.lines().map(|line| line.split_whitespace().take(2).collect()).collect();
    for row in [["1", "4"], ["2", "2"], ["4", "1"], ["8", "–"], ["16", "–"]] {
        assert!(rows.iter().any(|found| *found == row), "{row:?}: {}", said.stdout);
    }
    assert!(
        said.stdout.contains("left: 4, with accumulate = 1 for steps of 4 windows, as the experiment has it"),
        "{}",
        said.stdout
    );
    assert!(said.stdout.contains("the whole experiment by batch 4: about "), "{}", said.stdout);
}

#[test]
fn a_batch_that_does_not_fit_is_an_outcome_and_the_largest_that_does_is_told() {
    let lab = Lab::new();
    let asked = ["bench", "train", "tiny.toml", "-S", "train.batch=1024", "--batch", "64,1024", "--steps", "1", "--json"];
    let told = json(&lab.within(LITTLE, &asked).ended(0));
    let outcomes: Vec<&Value> = told["batches"].as_array().expect("a list").iter().map(|batch| &batch["outcome"]).collect();
    assert_eq!(outcomes, ["ok", "out_of_memory"], "{told}");
    assert_eq!((&told["largest_batch"], &told["largest_accumulate"]), (&64.into(), &16.into()));
    assert_eq!(told["batches"][0]["free_memory"], "left of the address space of a process (`ulimit -v`)");
    let message = told["batches"][1]["message"].as_str().expect("a sentence");
    assert!(message.starts_with("too little memory for a batch of 1,024 windows of 32 tokens"), "{message}");
    assert_eq!(told["expected"]["batch"], 64);

    let none = lab.within(LITTLE, &["bench", "train", "tiny.toml", "--batch", "4096"]).ended(1);
    assert!(
        none.stderr.contains("too little memory for a batch of 4,096 windows") && none.stderr.contains("hint: "),
        "{}",
        none.stderr
    );
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let lab = Lab::new();
    lab.philidor(&["bench", "train", "tinny.toml"]).ended(2);
    lab.philidor(&["bench", "train", "tiny.toml", "--batch", "0"]).ended(2);
    lab.philidor(&["bench", "train", "tiny.toml", "--steps", "0"]).ended(2);
}
