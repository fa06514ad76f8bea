//! Killed, crashed and interrupted: what was done is kept, and what comes of it is the same to the bit.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use philidor::random;

use crate::support::{Lab, children, said, signal, wait_until};

/// Checkpoints at every step, so that any step can be the last before a kill.
pub(crate) const OFTEN: &str = "machine.checkpoint_minutes=0";

/// The step of the last checkpoint in an unfinished training.
pub(crate) fn steps_done(part: &Path) -> u64 {
    let resume = std::fs::read(part.join("resume.json")).unwrap_or_default();
    serde_json::from_slice::<serde_json::Value>(&resume).ok().and_then(|resume| resume["done"].as_u64()).unwrap_or(0)
}

/// Starts a run, and returns it with its worker once the training has done some steps.
pub(crate) fn training(lab: &Lab, steps: u64) -> (std::process::Child, u32) {
    let run = lab.start(&["run", "tiny.toml", "-S", OFTEN, "--until", "train", "-S", "train.steps=400"]);
    wait_until("the training to begin", || lab.artifacts("train", "part").first().is_some_and(|part| steps_done(part) >= steps));
    let workers = children(run.id());
    assert_eq!(workers.len(), 1, "one worker: {workers:?}");
    (run, workers[0])
}

fn weights_and_curves(lab: &Lab) -> Vec<(String, Vec<u8>)> {
    let train = lab.only("train");
    let mut files =
        vec!["curve.jsonl".to_owned(), "validation.jsonl".to_owned(), "best.safetensors".to_owned(), "best.json".to_owned()];
    let mut snapshots: Vec<String> = std::fs::read_dir(train.join("snapshots"))
        .expect("snapshots")
        .map(|entry| format!("snapshots/{}", entry.expect("an entry").file_name().to_string_lossy()))
        .collect();
    snapshots.sort();
    files.append(&mut snapshots);
    files
        .into_iter()
        .map(|name| (name.clone(), std::fs::read(train.join(&name)).unwrap_or_else(|error| panic!("{name}: {error}"))))
        .collect()
}

fn assert_same(disturbed: &Lab, undisturbed: &Lab) {
    let (left, right) = (weights_and_curves(disturbed), weights_and_curves(undisturbed));
    assert!(left.len() > 10, "there are snapshots to compare");
    for ((name, left), (other, right)) in left.iter().zip(&right) {
        assert_eq!(name, other);
        assert!(left == right, "{name} differs");
    }
}

#[test]
fn a_training_killed_twice_ends_with_the_same_curve_and_weights_to_the_bit() {
    let undisturbed = Lab::new();
    undisturbed.philidor(&["run", "tiny.toml", "--until", "train", "-S", "train.steps=400"]).ended(0);

    let lab = Lab::new();
    for steps in [7, 150] {
        let (mut run, worker) = training(&lab, steps);
        // The worker first: it would leave by itself, with its work saved, once the runner is gone.
        signal(worker, "KILL");
        signal(run.id(), "KILL");
        run.wait().expect("it was killed");
        assert!(lab.artifacts("train", "").is_empty(), "nothing half-done is taken for whole");
    }
    let again = lab.philidor(&["run", "tiny.toml", "--until", "train", "-S", "train.steps=400"]).ended(0);
    assert!(again.stderr.contains("resume"), "{}", again.stderr);
    assert_same(&lab, &undisturbed);
}

/// Every file of the store that the same work writes again as it was, by its path: not when, where and how fast it was done.
pub(crate) fn store(lab: &Lab) -> BTreeMap<PathBuf, Vec<u8>> {
    let (root, mut files) = (lab.path("runs/store/v1"), BTreeMap::new());
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            match name.as_str() {
                "locks" | "manifest.json" | "speed.jsonl" | "device.json" => (),
                _ if path.is_dir() => folders.push(path),
                _ => {
                    let bytes = std::fs::read(&path).expect("a file");
                    files.insert(path.strip_prefix(&root).expect("it lies below").to_owned(), bytes);
                }
            }
        }
    }
    files
}

/// As many times as `PHILIDOR_KILLS` says, or three: each time at a random step and a random moment of it, with checkpoints
/// after every step and many times a second in turn.
#[test]
fn killed_at_random_steps_a_training_leaves_the_bytes_of_an_undisturbed_one() {
    let kills: u64 = std::env::var("PHILIDOR_KILLS").map_or(3, |kills| kills.parse().expect("PHILIDOR_KILLS is a number"));
    let length = format!("train.steps={}", 100 + 150 * kills);
    let command = ["run", "tiny.toml", "--until", "train", "-S", &length];
    let undisturbed = Lab::new();
    undisturbed.philidor(&command).ended(0);

    let (lab, mut rng) = (Lab::new(), random::stream(4, "kills", kills));
    let done = || lab.artifacts("train", "part").first().map_or(0, |part| steps_done(part));
    for kill in 0..kills {
        // Every step is saved, or what a few hundredths of a second bring.
        let (minutes, more) =
            if kill % 2 == 0 { (OFTEN, random::below(&mut rng, 12)) } else { ("machine.checkpoint_minutes=0.0005", 0) };
        let (before, mut run) = (done(), lab.start(&[&command[..], &["-S", minutes]].concat()));
        wait_until("the training to go on", || done() > before + more);
        std::thread::sleep(Duration::from_micros(random::below(&mut rng, 30_000)));
        let workers = children(run.id());
        assert_eq!(workers.len(), 1, "it was not done yet: {workers:?}");
        // Both at once: the worker would leave by itself, with its work saved, once the runner is gone.
        let killed = Command::new("kill").args(["-KILL", &workers[0].to_string(), &run.id().to_string()]).status();
        assert!(killed.expect("kill is there").success());
        run.wait().expect("it was killed");
        wait_until("the worker to be gone", || !Path::new(&format!("/proc/{}", workers[0])).exists());
        assert!(lab.artifacts("train", "").is_empty(), "nothing half-done is taken for whole");
    }
    lab.philidor(&command).ended(0);
    let (left, right) = (store(&lab), store(&undisturbed));
    assert_eq!(left.keys().collect::<Vec<_>>(), right.keys().collect::<Vec<_>>());
    assert!(left.keys().any(|path| path.ends_with("best.safetensors")), "there are weights to compare");
    for (path, bytes) in left {
        assert!(bytes == right[&path], "{} differs", path.display());
    }
}

#[test]
fn what_a_killed_worker_was_writing_is_no_part_of_what_the_next_one_made() {
    let lab = Lab::new();
    let (mut run, worker) = training(&lab, 5);
    signal(worker, "KILL");
    run.wait().expect("it ends by itself");
    let part = lab.artifacts("train", "part").remove(0);
    // The manifest is of a try that was killed just before the artifact got its name.
    for half in ["best.json.77.tmp", "snapshots/step-00000001.safetensors.77.tmp", "manifest.json"] {
        std::fs::write(part.join(half), b"{").expect("written");
    }
    lab.philidor(&["run", "tiny.toml", "--until", "train", "-S", "train.steps=400"]).ended(0);
    let kept: Vec<PathBuf> = store(&lab).into_keys().filter(|path| path.starts_with("train")).collect();
    assert!(kept.iter().all(|path| path.extension().is_some_and(|extension| extension != "tmp")), "{kept:?}");
    let plan = lab.philidor(&["plan", "tiny.toml", "-S", "train.steps=400"]).ended(0).stdout;
    assert!(plan.contains("kept    train"), "{plan}");
}

#[test]
fn a_worker_killed_in_the_midst_of_a_node_fails_that_node_and_the_run_goes_on_later() {
    let lab = Lab::new();
    let (run, worker) = training(&lab, 5);
    signal(worker, "KILL");
    let said = said(&run.wait_with_output().expect("it ends by itself")).ended(1);
    assert!(said.stderr.contains("the worker was killed by signal 9 in the midst of `train`"), "{}", said.stderr);
    assert!(said.stderr.contains("goes on from its last checkpoint"), "{}", said.stderr);
    let plan = lab.philidor(&["plan", "tiny.toml", "-S", "train.steps=400"]).ended(0);
    assert!(plan.stdout.contains("resume  train"), "{}", plan.stdout);
    lab.philidor(&["run", "tiny.toml", "--until", "train", "-S", "train.steps=400"]).ended(0);
}

#[test]
fn a_runner_that_dies_takes_its_worker_along_and_leaves_the_training_resumable() {
    let lab = Lab::new();
    let (mut run, worker) = training(&lab, 5);
    signal(run.id(), "KILL");
    run.wait().expect("it was killed");
    wait_until("the worker to leave", || !Path::new(&format!("/proc/{worker}")).exists());
    assert_eq!(lab.artifacts("train", "part").len(), 1);
    lab.philidor(&["run", "tiny.toml", "--until", "train", "-S", "train.steps=400"]).ended(0);
}

#[test]
fn ctrl_c_saves_and_prints_the_command_that_goes_on() {
    let lab = Lab::new();
    let (run, _) = training(&lab, 5);
    signal(run.id(), "INT");
    let said = said(&run.wait_with_output().expect("it ends by itself")).ended(130);
    assert!(said.stderr.contains("philidor run tiny.toml -S machine.checkpoint_minutes=0 -S train.steps=400"), "{}", said.stderr);
    let again = lab.philidor(&["run", "tiny.toml", "--until", "train", "-S", "train.steps=400"]).ended(0);
    assert!(again.stderr.contains("resume"), "{}", again.stderr);
}

#[test]
fn a_second_run_of_what_is_being_made_waits_until_it_is_stopped_or_says_75() {
    let lab = Lab::new();
    let (mut run, worker) = training(&lab, 2);
    let refused = lab.philidor(&["run", "tiny.toml", "--no-wait", "--until", "train", "-S", "train.steps=400"]).ended(75);
    assert!(refused.stderr.contains(&format!("`train` is being made by process {}", run.id())), "{}", refused.stderr);
    let shown = lab.philidor(&["show", "tiny"]).ended(0).stdout;
    assert!(shown.contains("running") && shown.contains("kept     parse"), "the newest run is the one that goes on:\n{shown}");

    // One that waits gives up at once when asked to.
    let waiting = lab.start(&["run", "tiny.toml", "--until", "train", "-S", "train.steps=400"]);
    wait_until("the second run to wait", || {
        let newest = std::fs::read_to_string(lab.path("runs/tiny/latest/events.jsonl")).unwrap_or_default();
        newest.contains("\"waiting\"")
    });
    signal(waiting.id(), "INT");
    let gave_up = said(&waiting.wait_with_output().expect("it ends by itself")).ended(130);
    assert!(gave_up.stderr.contains("no longer waiting for process"), "{}", gave_up.stderr);
    signal(worker, "KILL");
    run.wait().expect("it ends by itself");
}
