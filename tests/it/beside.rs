//! Snapshots that are measured while the training goes on: the order of events, the bytes, and what kills and stops leave.

use std::collections::BTreeMap;
use std::process::Child;

use serde_json::Value;

use crate::resume::{OFTEN, steps_done, store};
use crate::support::{Lab, children, said, signal, wait_until};

const BESIDE: &str = "machine.measure_device=cpu";

const LONG: &str = "train.steps=200";

/// Checkpoints after every step, which take so long that there is time to look on.
const COMMAND: [&str; 8] = ["run", "tiny.toml", "-S", BESIDE, "-S", OFTEN, "-S", LONG];

/// A store in which the same was made after the training.
fn made_after() -> BTreeMap<std::path::PathBuf, Vec<u8>> {
    let lab = Lab::new();
    lab.philidor(&["run", "tiny.toml", "-S", LONG]).ended(0);
    store(&lab)
}

/// Fails where two stores differ, and says where.
fn assert_same(left: &Lab, right: &BTreeMap<std::path::PathBuf, Vec<u8>>) {
    let left = store(left);
    assert_eq!(left.keys().collect::<Vec<_>>(), right.keys().collect::<Vec<_>>());
    assert!(left.keys().any(|path| path.ends_with("answers.parquet")), "there are measures to compare");
    for (path, bytes) in left {
        assert!(bytes == right[&path], "{} differs", path.display());
    }
}

/// The workers of a run, the eldest first.
fn workers(run: &Child) -> Vec<u32> {
    let is_worker = |process: &u32| {
        std::fs::read_to_string(format!("/proc/{process}/comm")).is_ok_and(|name| name.trim() == "philidor-worker")
    };
    let mut found: Vec<u32> = children(run.id()).into_iter().filter(is_worker).collect();
    found.sort_unstable();
    found
}

/// Starts a run, and returns it with the worker that trains, once the second one is there.
fn start(lab: &Lab) -> (Child, u32, u32) {
    let run = lab.start(&COMMAND);
    wait_until("the first worker", || !workers(&run).is_empty());
    let first = workers(&run)[0];
    wait_until("the second worker", || workers(&run).len() > 1);
    let second = workers(&run).into_iter().find(|worker| *worker != first).expect("there are two");
    (run, first, second)
}

fn steps(lab: &Lab) -> u64 {
    lab.artifacts("train", "part").first().map_or(0, |part| steps_done(part))
}

/// What happened in the newest run, in order: `made train`, …
fn journal(lab: &Lab) -> Vec<String> {
    let read = |name: &str| std::fs::read_to_string(lab.path("runs/tiny/latest").join(name)).expect("the run wrote it");
    let plan: Value = serde_json::from_str(&read("plan.json")).expect("JSON");
    let nodes = plan["nodes"].as_array().expect("nodes");
    let label =
        |key: &Value| nodes.iter().find(|node| node["key"] == *key).map_or("", |node| node["label"].as_str().expect("text"));
    let lines: Vec<Value> = read("events.jsonl").lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let times: Vec<f64> = lines.iter().map(|line| line["at_seconds"].as_f64().expect("a time")).collect();
    assert!(times.is_sorted(), "{times:?}");
    lines.iter().map(|line| format!("{} {}", line["event"].as_str().expect("text"), label(&line["key"]))).collect()
}

#[test]
fn snapshots_are_measured_before_the_training_ends_and_come_out_as_after_it() {
    let lab = Lab::new();
    let (run, training, _) = start(&lab);
    // However slow this machine is: the training stands still until its first snapshots are measured.
    wait_until("a second snapshot", || {
        lab.artifacts("train", "part").first().is_some_and(|part| part.join("snapshots/step-00000020.safetensors").exists())
    });
    signal(training, "STOP");
    wait_until("two measures", || lab.artifacts("evaluate", "").len() >= 2);
    signal(training, "CONT");
    let said = said(&run.wait_with_output().expect("it ends by itself")).ended(0);
    assert!(said.stderr.contains("made     evaluate legality T=1 at step 20"), "{}", said.stderr);
    let journal = journal(&lab);
    let at = |what: &str| journal.iter().position(|told| told == what).unwrap_or_else(|| panic!("no `{what}`: {journal:#?}"));
    for step in [0, 20] {
        assert!(at(&format!("made evaluate legality T=1 at step {step}")) < at("made train"), "{journal:#?}");
    }
    assert!(at("made evaluate legality T=1 at best") > at("made train"));
    assert_same(&lab, &made_after());
}

#[test]
fn killed_in_the_midst_both_are_gone_on_with_and_leave_the_same_bytes() {
    let lab = Lab::new();
    for more in [5, 45] {
        let before = steps(&lab);
        let (mut run, first, second) = start(&lab);
        wait_until("some steps", || steps(&lab) >= before + more);
        // The workers first: they would leave by themselves, with their work saved, once the runner is gone.
        for process in [first, second, run.id()] {
            signal(process, "KILL");
        }
        run.wait().expect("it was killed");
        assert!(lab.artifacts("train", "").is_empty(), "nothing half-done is taken for whole");
    }
    let measured = lab.artifacts("evaluate", "").len();
    let again = lab.philidor(&COMMAND).ended(0);
    assert!(again.stderr.contains("resume   train"), "{}", again.stderr);
    assert!(again.stderr.matches("kept     evaluate").count() >= measured, "what was measured is not measured again");
    assert_same(&lab, &made_after());
}

#[test]
fn ctrl_c_stops_both_and_the_same_command_goes_on() {
    let lab = Lab::new();
    let (run, ..) = start(&lab);
    wait_until("a measure", || !lab.artifacts("evaluate", "").is_empty());
    signal(run.id(), "INT");
    let stopped = said(&run.wait_with_output().expect("it ends by itself")).ended(130);
    assert!(stopped.stderr.contains("Interrupted, and the work is kept"), "{}", stopped.stderr);
    let again = lab.philidor(&COMMAND).ended(0);
    assert!(again.stderr.contains("resume   train") && again.stderr.contains("kept     evaluate"), "{}", again.stderr);
    assert_same(&lab, &made_after());
}

#[test]
fn a_second_worker_that_dies_fails_its_node_and_the_training_is_made() {
    let lab = Lab::new();
    let (run, _, second) = start(&lab);
    signal(second, "KILL");
    let ended = said(&run.wait_with_output().expect("it ends by itself")).ended(1);
    assert!(
        ended.stderr.contains("the worker was killed by signal 9 in the midst of `ask 40 positions at step 0`"),
        "{}",
        ended.stderr
    );
    lab.only("train");
    assert!(lab.artifacts("evaluate", "").is_empty(), "the run ends with the failure");
    lab.philidor(&COMMAND).ended(0);
    assert_same(&lab, &made_after());
}

#[test]
fn the_plan_says_what_is_measured_beside_the_training_and_where() {
    let lab = Lab::new();
    let plan = |sets: &[&str]| lab.philidor(&[&["plan", "tiny.toml"], sets].concat()).ended(0).stdout;
    let beside = plan(&["-S", BESIDE]);
    assert!(beside.contains(" (6 beside the training on cpu)"), "an ask and a legality of three snapshots:\n{beside}");
    assert_eq!(beside.matches(", beside train on cpu").count(), 6, "{beside}");
    for unset in [&[][..], &["-S", "machine.measure_device=none"]] {
        assert!(!plan(unset).contains("beside"));
    }
    lab.philidor(&["run", "tiny.toml"]).ended(0);
    assert!(!plan(&["-S", BESIDE]).contains("beside"), "all is kept");
}

#[test]
fn a_second_device_that_does_not_answer_is_refused_before_anything_is_made() {
    let lab = Lab::new();
    let refused = lab.philidor(&["run", "tiny.toml", "-S", "machine.measure_device=cuda:99"]);
    assert!([1, 2].contains(&refused.code), "{}", refused.stderr);
    assert!(refused.stderr.contains("looking for `measure_device`: "), "{}", refused.stderr);
    assert!(!lab.path("runs/store").exists() && !lab.path("runs/tiny").exists());
}
