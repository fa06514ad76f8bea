//! Too little memory, too little disk, too few tokens, and checkpoints that are not what they should be: each says what it
//! is, and nothing is lost.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::resume::{OFTEN, steps_done, training};
use crate::support::{Lab, Said, children, said, signal, wait_until};

/// Address space in KiB that a worker lives in with room for small batches alone: libtorch itself takes less than half.
const LITTLE: u64 = 1_200_000;

fn part(lab: &Lab) -> PathBuf {
    let parts = lab.artifacts("train", "part");
    assert_eq!(parts.len(), 1, "one unfinished training: {parts:?}");
    parts[0].clone()
}

/// The files of the whole checkpoints of a training.
fn checkpoints(part: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let folders = std::fs::read_dir(part.join("checkpoints")).expect("a folder").map(|entry| entry.expect("an entry").path());
    let whole = folders.filter(|folder| folder.extension().is_none());
    let files =
        whole.flat_map(|folder| std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()));
    files.map(|path| (path.clone(), std::fs::read(path).expect("a file"))).collect()
}

/// Whether all of these are said, in what a failed run ended with.
fn says(said: &Said, told: &[&str]) {
    for told in told {
        assert!(said.stderr.contains(told), "`{told}` is not said:\n{}", said.stderr);
    }
}

#[test]
fn too_little_memory_says_what_was_wanted_and_what_has_worked_and_the_same_command_goes_on_once_there_is_more() {
    let lab = Lab::new();
    let small = lab.within(LITTLE, &["run", "tiny.toml", "--until", "train", "-S", "train.batch=8"]).ended(0);
    assert!(small.stderr.contains("made     train"), "{}", small.stderr);

    let large = ["run", "tiny.toml", "--until", "train", "-S", "train.batch=1024", "-S", "train.steps=6", "-S", OFTEN];
    let run = lab.start(&large);
    wait_until("a checkpoint", || lab.artifacts("train", "part").first().is_some_and(|part| steps_done(part) >= 1));
    signal(run.id(), "INT");
    said(&run.wait_with_output().expect("it ends by itself")).ended(130);
    let (kept, done) = (checkpoints(&part(&lab)), steps_done(&part(&lab)));

    let failed = lab.within(LITTLE, &large).ended(1);
    says(
        &failed,
        &[
            "too little memory for a batch of 1,024 windows of 32 tokens, for a model of 83,712 parameters; ",
            " left of the address space of a process (`ulimit -v`), and ",
            "; the largest batch of this model that is known to have worked here is 8",
            "hint: -S train.batch=512 -S train.accumulate=2 makes steps of the same 1,024 windows in less memory",
            "`philidor bench train FILE` tells the largest batch that fits",
            &format!("or free some memory, and the same command goes on from its last checkpoint, step {done}"),
        ],
    );
    assert!(checkpoints(&part(&lab)) == kept, "nothing is lost");
    says(&lab.philidor(&large).ended(0), &[&format!("going on after step {done} of 6")]);
}

#[test]
fn a_checkpoint_that_cannot_be_written_leaves_the_one_before_it_and_the_training_goes_on_from_there() {
    let settings = ["-S", "train.steps=300", "-S", "train.validate.every=300", "-S", "train.snapshots.every=300", "-S", OFTEN];
    let command = [&["run", "tiny.toml", "--until", "train"][..], &settings].concat();
    let undisturbed = Lab::new();
    undisturbed.philidor(&command).ended(0);

    let lab = Lab::new();
    let run = lab.start(&command);
    wait_until("two checkpoints", || lab.artifacts("train", "part").first().is_some_and(|part| steps_done(part) >= 2));
    // From now on no file of the worker's may grow beyond 64 KiB: its weights are larger, its curve is not.
    let worker = children(run.id())[0].to_string();
    let limited = Command::new("prlimit").args(["--pid", &worker, "--fsize=65536"]).status().expect("prlimit is there");
    assert!(limited.success());
    let failed = said(&run.wait_with_output().expect("it ends by itself")).ended(1);
    says(
        &failed,
        &["failed   train", "checkpoints/step-", ".safetensors`, which takes 327 KiB, where ", " are free", "ulimit -f"],
    );
    let (kept, done) = (checkpoints(&part(&lab)), steps_done(&part(&lab)));
    assert!(
        done >= 2 && kept.keys().any(|path| path.ends_with(format!("step-{done:08}/second.safetensors"))),
        "{:?}",
        kept.keys()
    );

    says(&lab.philidor(&command).ended(0), &[&format!("going on after step {done} of 300")]);
    for file in ["curve.jsonl", "validation.jsonl", "best.safetensors", "snapshots/step-00000300.safetensors"] {
        let read = |lab: &Lab| std::fs::read(lab.only("train").join(file)).expect("made");
        assert!(read(&lab) == read(&undisturbed), "{file} differs");
    }
}

#[test]
fn a_corrupted_checkpoint_is_told_and_the_one_before_it_serves() {
    let lab = Lab::new();
    let (mut run, worker) = training(&lab, 5);
    signal(worker, "KILL");
    run.wait().expect("it ends by itself");
    let newest = checkpoints(&part(&lab)).into_keys().rfind(|path| path.ends_with("first.safetensors")).expect("a checkpoint");
    let bytes = std::fs::read(&newest).expect("a file");
    std::fs::write(&newest, &bytes[..bytes.len() / 2]).expect("ours");
    let again = lab.philidor(&["run", "tiny.toml", "--until", "train", "-S", "train.steps=400"]).ended(0);
    says(&again, &["is damaged (", "first.safetensors", "the one before it is whole"]);
}

#[test]
fn a_checkpoint_of_another_architecture_is_refused_by_the_name_and_shapes_of_a_tensor() {
    let (lab, other) = (Lab::new(), Lab::new());
    other.write("tiny.toml", &crate::support::TINY.replace("width = 32", "width = 48"));
    for lab in [&lab, &other] {
        let (mut run, worker) = training(lab, 3);
        signal(worker, "KILL");
        run.wait().expect("it ends by itself");
    }
    let wide = checkpoints(&part(&other));
    let wide = wide.iter().find(|(path, _)| path.ends_with("weights.safetensors")).expect("weights").1;
    let own = checkpoints(&part(&lab));
    for path in own.keys().filter(|path| path.ends_with("weights.safetensors")) {
        std::fs::write(path, wide).expect("ours");
    }
    let command = ["run", "tiny.toml", "--until", "train", "-S", "train.steps=400"];
    let refused = lab.philidor(&command).ended(1);
    says(&refused, &["`tok_emb.weight` is [1971, 48], and [1971, 32] is wanted", "hint: put its files back", "--force train"]);
    assert_eq!(checkpoints(&part(&lab)).len(), own.len(), "nothing is removed unasked");
    for (path, bytes) in own {
        std::fs::write(path, bytes).expect("ours");
    }
    says(&lab.philidor(&command).ended(0), &["going on after step "]);
}

#[test]
fn tokens_that_are_too_few_for_a_window_are_counted_with_a_way_out() {
    let lab = Lab::new();
    let command =
        |context: &'static str, split: &'static str| ["run", "tiny.toml", "--until", "train", "-S", context, "-S", split];
    let validation = lab.philidor(&command("model.context=2048", "corpus.split.validation=0.2")).ended(1);
    says(
        &validation,
        &["failed   initial_loss", "drawing validation windows: a window of `2048` tokens and its targets do not fit into `"],
    );
    says(&validation, &["hint: keep more games, raise corpus.split.validation, or lower model.context"]);
    let train = lab.philidor(&command("model.context=1024", "corpus.split.validation=0.9")).ended(1);
    says(&train, &["failed   train", "drawing training windows: a window of `1024` tokens and its targets do not fit into `"]);
    says(&train, &["hint: keep more games, or lower model.context"]);
    let less = lab.philidor(&command("model.context=256", "corpus.split.validation=0.2")).ended(0);
    assert!(less.stderr.contains("kept     encode"), "what was made is kept: {}", less.stderr);
}
