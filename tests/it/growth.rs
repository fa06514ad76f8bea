//! Trainings of different lengths: what one of them did, a longer one does not do again.

use std::collections::BTreeMap;

use crate::support::Lab;

const CONSTANT: [&str; 2] = ["-S", "train.learning_rate.schedule=constant"];
/// Measures nothing, for trainings alone.
const BARE: [&str; 4] = ["-S", "measure.snapshots=false", "-S", "measure.final=false"];

fn run(lab: &Lab, command: &str, more: &[&str]) -> crate::support::Said {
    lab.philidor(&[&[command, "tiny.toml"], &BARE[..], more].concat()).ended(0)
}

/// Every file of a training that depends on nothing but its key, by its name.
fn files(dir: &std::path::Path) -> BTreeMap<String, Vec<u8>> {
    let folders = ["", "snapshots", "checkpoints"].map(|name| dir.join(name));
    let inner = std::fs::read_dir(&folders[2]).into_iter().flatten().flatten().map(|entry| entry.path());
    let folders: Vec<_> = folders.iter().cloned().chain(inner).collect();
    let entries = folders.iter().flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten().flatten());
    let paths = entries.map(|entry| entry.path()).filter(|path| path.is_file());
    let name = |path: &std::path::Path| path.strip_prefix(dir).expect("below it").to_string_lossy().into_owned();
    // A state tells how long the file of speeds is, and the digests are of the state too.
    let [state, digests] = ["checkpoints/step-00000040/state.json", "checkpoints/step-00000040/digests.json"];
    let varies = ["device.json", "speed.jsonl", "manifest.json", state, digests];
    paths
        .map(|path| (name(&path), std::fs::read(&path).expect("read")))
        .filter(|(name, _)| !varies.contains(&name.as_str()))
        .collect()
}

#[test]
fn a_longer_training_at_a_constant_rate_begins_at_the_end_of_a_shorter_one_with_the_same_bytes() {
    let (grown, whole) = (Lab::new(), Lab::new());
    run(&grown, "run", &[&CONSTANT[..], &["-S", "train.steps=20"]].concat());
    let longer = [&CONSTANT[..], &["-S", "train.steps=40"]].concat();
    let plan = run(&grown, "plan", &longer);
    assert!(plan.stdout.contains("20 -> 40 (--set), begins at 20 steps of "), "{}", plan.stdout);
    let ran = run(&grown, "run", &longer);
    assert!(ran.stderr.contains("going on after step 20 of 40"), "{}", ran.stderr);
    run(&whole, "run", &longer);
    let of = |lab: &Lab| {
        let found = lab.artifacts("train", "");
        let long = found.iter().find(|dir| dir.join("snapshots/step-00000040.safetensors").exists());
        files(long.expect("it was trained"))
    };
    let (grown, whole) = (of(&grown), of(&whole));
    assert_eq!(grown.keys().collect::<Vec<_>>(), whole.keys().collect::<Vec<_>>());
    for (name, bytes) in &whole {
        assert!(grown.get(name) == Some(bytes), "{name} differs");
    }
}

#[test]
fn a_cosine_is_not_made_longer_and_the_plan_says_why() {
    let lab = Lab::new();
    run(&lab, "run", &["-S", "train.steps=20"]);
    let plan = run(&lab, "plan", &[]);
    assert!(plan.stdout.contains("does not begin at 20 steps of "), "{}", plan.stdout);
    assert!(plan.stdout.contains("under a cosine every rate depends on the length"), "{}", plan.stdout);
    let why = run(&lab, "why", &["train"]);
    assert!(why.stdout.contains("under a cosine"), "{}", why.stdout);
}

#[test]
fn trainings_with_a_decay_share_their_trunk_and_its_snapshots() {
    let lab = Lab::new();
    let sweep = "extends = \"tiny.toml\"\n[train]\nlearning_rate = { schedule = \"wsd\", decay = 10 }\nvalidate.every = 10\n\
                 snapshots.every = 10\n[sweep.grid]\n\"train.steps\" = [40, 20, 30]\n";
    lab.write("lengths.toml", sweep);
    let ran = lab.philidor(&["run", "lengths.toml", "-S", "measure.final=false"]).ended(0);
    // Trunks of 10, 20 and 30 steps, each begun at the one before, and three decays of 10.
    let told = |text: &str| ran.stderr.matches(text).count();
    assert_eq!(lab.artifacts("train", "").len(), 6, "{}", ran.stderr);
    for step in ["going on after step 10 of 20", "going on after step 20 of 30", "going on after step 30 of 40"] {
        assert!(told(step) >= 1, "{step}: {}", ran.stderr);
    }
    // Steps 0 to 30 of trunks and the last step of each decay: those of the trunks of 20 and 30 are measured apart, since
    // they are artifacts of their own.
    let again = lab.philidor(&["run", "lengths.toml", "-S", "measure.final=false"]).ended(0);
    assert!(again.stderr.contains("0 nodes made"), "{}", again.stderr);
    assert!(lab.path(again.stdout.trim()).exists());
}
