//! A training of several ranks, started by `mpirun`: the curve of one process, and nothing lost. Built with the feature `mpi`.

use std::path::Path;
use std::process::Child;

use philidor::train::files::{CURVE, CurvePoint, VALIDATION, ValidationPoint, read_lines};

use crate::support::{Lab, Said, children, said, signal, wait_until};

const FIFTY: &str = "train.steps=50";
const LONG: &str = "train.steps=400";
/// Checkpoints at every step.
const OFTEN: &str = "machine.checkpoint_minutes=0";

fn arguments<'a>(ranks: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["run", "tiny.toml", "--until", "train", "-S", ranks];
    arguments.extend(more.iter().flat_map(|set| ["-S", set]));
    arguments
}

fn train(lab: &Lab, ranks: &str, more: &[&str]) -> Said {
    lab.philidor(&arguments(ranks, more))
}

/// Starts a run of two ranks, and returns it with its `mpirun` and the ranks once the training has done some more steps.
fn training(lab: &Lab, steps: u64) -> (Child, u32, Vec<u32>) {
    let done = || {
        let resume =
            lab.artifacts("train", "part").first().map(|part| std::fs::read(part.join("resume.json")).unwrap_or_default());
        let resume: Option<serde_json::Value> = serde_json::from_slice(&resume?).ok();
        resume?["done"].as_u64()
    };
    let before = done().unwrap_or(0);
    let run = lab.start(&arguments("machine.ranks=2", &[LONG, OFTEN]));
    wait_until("the training to go on", || done().unwrap_or(0) >= before + steps);
    let mpirun = children(run.id());
    assert_eq!(mpirun.len(), 1, "one command starts the ranks: {mpirun:?}");
    let mut ranks = children(mpirun[0]);
    ranks.sort_unstable();
    assert_eq!(ranks.len(), 2, "{ranks:?}");
    (run, mpirun[0], ranks)
}

fn executable(lab: &Lab, script: &str) {
    let all = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(lab.path(script), all).expect("the file is ours");
}

fn wait_for_the_end_of(processes: &[u32]) {
    wait_until("the ranks to leave", || processes.iter().all(|process| !Path::new(&format!("/proc/{process}")).exists()));
}

fn assert_near(left: &Lab, right: &Lab, steps: usize) {
    let [one, other] = [left, right].map(|lab| lab.only("train"));
    assert_eq!(one.file_name(), other.file_name(), "ranks are in no key");
    let curves = [&one, &other].map(|dir| read_lines::<CurvePoint>(&dir.join(CURVE)).expect("a curve"));
    assert_eq!(curves.each_ref().map(Vec::len), [steps; 2]);
    for (one, other) in curves[0].iter().zip(&curves[1]) {
        assert!(one.step == other.step && (one.loss - other.loss).abs() < 1e-5, "{one:?} {other:?}");
    }
    let losses = [&one, &other].map(|dir| read_lines::<ValidationPoint>(&dir.join(VALIDATION)).expect("a curve"));
    assert_eq!(losses[0].len(), losses[1].len());
    for (one, other) in losses[0].iter().zip(&losses[1]) {
        assert!(one.step == other.step && (one.loss - other.loss).abs() < 1e-5, "{one:?} {other:?}");
    }
    let names = [&one, &other].map(|dir| {
        let mut names: Vec<_> = std::fs::read_dir(dir).expect("a folder").map(|entry| entry.expect("read").file_name()).collect();
        names.sort();
        names
    });
    assert_eq!(names[0], names[1]);
}

#[test]
fn two_and_four_ranks_have_the_curve_of_one_process() {
    let alone = Lab::new();
    train(&alone, "machine.ranks=1", &[FIFTY]).ended(0);
    for ranks in ["machine.ranks=2", "machine.ranks=4"] {
        let shared = Lab::new();
        train(&shared, ranks, &[FIFTY]).ended(0);
        assert_near(&alone, &shared, 50);
    }
}

#[test]
fn ctrl_c_saves_all_ranks_at_one_step_and_another_number_of_them_goes_on() {
    let alone = Lab::new();
    train(&alone, "machine.ranks=1", &[LONG]).ended(0);
    let lab = Lab::new();
    let (run, _, ranks) = training(&lab, 5);
    signal(run.id(), "INT");
    let said = said(&run.wait_with_output().expect("it ends by itself")).ended(130);
    assert!(said.stderr.contains("training stopped after step"), "{}", said.stderr);
    wait_for_the_end_of(&ranks);
    let again = train(&lab, "machine.ranks=1", &[LONG]).ended(0);
    assert!(again.stderr.contains("resuming after step"), "{}", again.stderr);
    // The losses of 400 steps may drift further apart than those of 50; the files may not.
    assert_eq!(alone.only("train").file_name(), lab.only("train").file_name());
}

#[test]
fn a_rank_that_is_killed_ends_the_training_and_loses_the_steps_since_the_last_checkpoint() {
    let lab = Lab::new();
    for rank in [1, 0] {
        let (run, _, ranks) = training(&lab, 5);
        signal(ranks[rank], "KILL");
        let said = said(&run.wait_with_output().expect("it ends by itself")).ended(1);
        assert!(said.stderr.contains("the worker was killed by signal 9 in the midst of `train`"), "{}", said.stderr);
        assert!(said.stderr.contains(&format!("process rank {rank}")), "{}", said.stderr);
        wait_for_the_end_of(&ranks);
    }
    let again = train(&lab, "machine.ranks=1", &[LONG]).ended(0);
    assert!(again.stderr.contains("resuming after step"), "{}", again.stderr);
}

#[test]
fn a_runner_or_an_mpirun_that_dies_takes_all_ranks_along() {
    let lab = Lab::new();
    let (mut run, _, ranks) = training(&lab, 5);
    signal(run.id(), "KILL");
    run.wait().expect("it was killed");
    wait_for_the_end_of(&ranks);
    let (mut run, mpirun, ranks) = training(&lab, 5);
    signal(mpirun, "KILL");
    assert!(!run.wait().expect("it ends by itself").success());
    wait_for_the_end_of(&ranks);
    train(&lab, "machine.ranks=2", &[LONG]).ended(0);
}

#[test]
fn a_failure_of_one_rank_alone_is_told_with_its_number() {
    let lab = Lab::new();
    lab.write("start", "#!/bin/sh\nshift 2\n[ $OMPI_COMM_WORLD_RANK = 0 ] || cd /\nexec \"$@\"\n");
    executable(&lab, "start");
    // The second rank looks for its inputs in another folder.
    let command = "machine.mpirun=mpirun --oversubscribe --bind-to none -n 2 ./start";
    let said = train(&lab, "machine.ranks=2", &[command]).ended(1);
    assert!(said.stderr.contains("rank 1 of 2: failed to open file"), "{}", said.stderr);
}

#[test]
fn ranks_that_cannot_share_the_batch_or_be_started_are_refused_with_what_can_be_done() {
    let lab = Lab::new();
    let said = train(&lab, "machine.ranks=3", &[]).ended(2);
    assert!(said.stderr.contains("train.batch is `4`, and 3 ranks cannot share it evenly"), "{}", said.stderr);
    assert!(said.stderr.contains("set ranks = 2") && lab.artifacts("parse", "").is_empty(), "{}", said.stderr);
    let said = train(&lab, "machine.ranks=2", &["machine.mpirun=no-such-mpirun --now"]).ended(1);
    assert!(said.stderr.contains("`no-such-mpirun --now` is not there"), "{}", said.stderr);
    // One that starts another number, as the `mpirun` of another MPI would.
    lab.write("one", "#!/bin/sh\nshift 2\nexec mpirun -n 1 \"$@\"\n");
    executable(&lab, "one");
    let said = train(&lab, "machine.ranks=2", &["machine.mpirun=./one"]).ended(1);
    assert!(said.stderr.contains("2 ranks are asked for, and `./one` started 1"), "{}", said.stderr);
}
