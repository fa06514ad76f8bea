//! The conversation of runner and worker: one JSON document a line, whatever is said.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::support::Lab;

/// Says these lines to a worker, closes its input, and returns what it answers.
fn conversation(lines: &[String]) -> (Vec<Value>, i32) {
    let mut worker: Child = Command::new(Path::new(env!("CARGO_BIN_EXE_philidor")).with_file_name("philidor-worker"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the worker starts");
    let mut input = worker.stdin.take().expect("stdin is piped");
    for line in lines {
        writeln!(input, "{line}").expect("the worker listens");
    }
    drop(input);
    let output = BufReader::new(worker.stdout.take().expect("stdout is piped"));
    let answers =
        output.lines().map(|line| serde_json::from_str(&line.expect("text")).expect("a JSON document a line")).collect();
    (answers, worker.wait().expect("it ends").code().unwrap_or(-1))
}

#[test]
fn a_worker_answers_every_request_in_order_and_leaves_when_its_input_closes() {
    let (answers, code) = conversation(&[
        json!({ "say": "describe", "device": "cpu" }).to_string(),
        json!({ "say": "describe", "device": "abacus" }).to_string(),
    ]);
    assert_eq!(code, 0);
    assert_eq!(answers.len(), 2, "{answers:?}");
    assert_eq!(answers[0]["say"], "described");
    assert!(answers[0]["text"].as_str().expect("text").contains("device cpu"), "{answers:?}");
    assert_eq!(answers[1]["say"], "failed");
    assert!(answers[1]["failure"]["message"].as_str().expect("text").contains("`abacus`"), "{answers:?}");
}

#[test]
fn a_worker_says_which_libtorch_it_runs_with_and_where_its_cuda_half_may_lie() {
    let (answers, _) = conversation(&[json!({ "say": "describe", "device": "cpu" }).to_string()]);
    let facts = &answers[0]["facts"];
    assert!(facts["libtorch"]["version"].as_str().expect("a version").starts_with("2.11.0"), "{facts:#}");
    let folder = facts["libtorch"]["folder"].as_str().expect("a folder");
    assert_eq!(facts["cuda_places"][0]["path"], format!("{folder}/libtorch_cuda.so"));
    assert_eq!(facts["cuda_devices"], json!([]), "a device that is not asked for is left alone");
}

#[test]
fn a_bench_that_a_worker_does_not_know_fails_and_ends_nothing() {
    let machine = json!(philidor::machine::Machine { device: "cpu".into(), threads: 1, ..Default::default() });
    let bench = |what: Value| json!({ "say": "bench", "what": what, "machine": machine }).to_string();
    let (answers, code) =
        conversation(&[bench(json!({ "bench": "abacus" })), bench(json!({ "bench": "device", "checks": false }))]);
    assert_eq!((answers.len(), code), (2, 0), "{answers:?}");
    assert_eq!(answers[0]["say"], "failed");
    assert!(answers[0]["failure"]["message"].as_str().expect("text").contains("abacus"), "{answers:?}");
    assert_eq!((&answers[1]["say"], &answers[1]["result"]["device"]), (&json!("measured"), &json!("cpu")), "{answers:?}");
}

#[test]
fn what_a_worker_does_not_understand_ends_the_conversation() {
    let (answers, code) = conversation(&["no JSON at all".to_owned(), json!({ "say": "describe", "device": "cpu" }).to_string()]);
    assert_eq!((answers, code), (Vec::new(), 0));
}

#[test]
fn artifacts_of_the_worker_say_on_which_device_they_were_made() {
    let lab = Lab::new();
    lab.philidor(&["run", "tiny.toml", "--until", "initial_loss"]).ended(0);
    for stage in ["encode", "initial_loss"] {
        let made = lab.artifacts(stage, "");
        let manifest = std::fs::read(made[0].join("manifest.json")).expect("a manifest");
        let manifest: Value = serde_json::from_slice(&manifest).expect("JSON");
        assert_eq!(manifest["made_by"]["device"], "cpu", "{stage}");
    }
}
