//! What is watched over while a model trains, from the experiment to what the user reads.

use crate::support::{Lab, Said};

/// The last figures alone, of legality.
const SHORT: [&str; 6] =
    ["-S", "measure.snapshots=false", "-S", "measure.final.full_games=false", "-S", "measure.final.rules=false"];
const EMA: [&str; 2] = ["-S", "train.ema={ decay = 0.9 }"];
/// A rate at which losses jump, and a step is soon a spike.
const JUMPY: [&str; 4] = ["-S", "train.learning_rate.peak=0.3", "-S", "train.learning_rate.floor=0.3"];

fn run(lab: &Lab, more: &[&[&str]]) -> Said {
    lab.philidor(&[&["run", "tiny.toml"], &SHORT[..], &more.concat()].concat())
}

fn json(path: &std::path::Path) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(path).expect("it was written")).expect("JSON")
}

#[test]
fn the_average_of_the_weights_is_published_and_measured_where_it_is_asked_for() {
    let lab = Lab::new();
    let ran = run(&lab, &[&EMA, &["-S", "measure.final.checkpoint=ema"]]).ended(0);
    let trained = lab.only("train");
    let told = json(&trained.join("ema.json"));
    assert_eq!(told["step"], 40);
    assert!(told["loss"].as_f64().is_some_and(|loss| (1.0..9.0).contains(&loss)), "{told}");
    let read = |name: &str| std::fs::read(trained.join(name)).expect("weights");
    assert!(read("ema.safetensors") != read("snapshots/step-00000040.safetensors"));
    let scores = lab.artifacts("evaluate", "");
    assert_eq!(scores.len(), 2, "legality and agreement");
    for score in scores {
        let checkpoint = &json(&score.join("score.json"))["checkpoint"];
        assert_eq!((&checkpoint["name"], &checkpoint["step"]), (&"ema".into(), &40.into()));
    }
    let page = std::fs::read_to_string(lab.path(ran.stdout.trim())).expect("a report");
    assert!(page.contains("average of the weights"), "the report says what was measured");
    // What is asked of an average that nobody keeps is refused before anything is done.
    let refused = run(&Lab::new(), &[&["-S", "measure.final.checkpoint=ema"]]).ended(2);
    assert!(refused.stderr.contains("set train.ema"), "{}", refused.stderr);
}

#[test]
fn spikes_are_skipped_and_told_or_end_the_training_with_what_can_be_looked_at() {
    let (skips, stops) = (Lab::new(), Lab::new());
    let spikes = |then: &str| format!("train.spikes={{ z = 0.5, window = 8, then = \"{then}\" }}");
    let ran = run(&skips, &[&JUMPY, &["-S", &spikes("skip")]]).ended(0);
    let skipped = json(&skips.only("train").join("training.json"))["skipped"].as_u64().expect("counted");
    assert!(skipped > 0);
    assert_eq!(ran.stderr.matches("was a spike and is skipped: loss ").count() as u64, skipped, "{}", ran.stderr);
    let ran = run(&stops, &[&JUMPY, &["-S", &spikes("stop"), "-S", "machine.checkpoint_minutes=0"]]).ended(1);
    assert!(ran.stderr.contains("is a spike: its loss is `"), "{}", ran.stderr);
    assert!(ran.stderr.contains("whose windows begin at the tokens "), "{}", ran.stderr);
    assert!(ran.stderr.contains("the last good checkpoint is step "), "{}", ran.stderr);
    assert_eq!(stops.artifacts("train", "part").len(), 1, "what was done is kept");
}

#[test]
fn a_fresh_model_that_learns_nothing_by_heart_refuses_the_run_whatever_its_loss_becomes() {
    let lab = Lab::new();
    let gate = ["-S", "gates.overfit={ games = 4, steps = 12, batch = 4, below = 0.05 }"];
    let ran = run(&lab, &[&gate]).ended(4);
    assert!(ran.stderr.contains("did not learn 4 games by heart"), "{}", ran.stderr);
    let ran = run(&lab, &[&gate, &["-S", "train.learning_rate.peak=1e30"]]).ended(4);
    assert!(ran.stderr.contains("did not learn a few games by heart: the loss is `"), "{}", ran.stderr);
    assert!(lab.artifacts("train", "").is_empty() && lab.artifacts("train", "part").is_empty());
}

/// The key of the overfit gate under some settings.
fn gate(lab: &Lab, sets: &[&str]) -> String {
    let gate = ["plan", "--json", "tiny.toml", "-S", "gates.overfit={ games = 4, steps = 30, batch = 4, below = 0.05 }"];
    let said = lab.philidor(&[&gate[..], sets].concat()).ended(0);
    let document: serde_json::Value = serde_json::from_str(&said.stdout).expect("JSON");
    let nodes = document["plans"][0]["nodes"].as_array().expect("nodes");
    let node = nodes.iter().find(|node| node["stage"] == "overfit").expect("the gate is set");
    node["key"].as_str().expect("text").to_owned()
}

#[test]
fn what_the_overfit_gate_does_not_use_is_no_reason_to_ask_it_again() {
    let lab = Lab::new();
    let plain = gate(&lab, &[]);
    assert_eq!(gate(&lab, &EMA), plain);
    assert_eq!(gate(&lab, &["-S", "train.spikes={ z = 6.0, window = 20, then = \"stop\" }"]), plain);
    assert_ne!(gate(&lab, &["-S", "train.learning_rate.peak=2e-3"]), plain);
    // It has 30 steps, and 4 of them warm up: a decay over more fills the rest.
    let decay = |steps: u64| {
        let sets = [format!("train.learning_rate.decay={steps}"), "train.learning_rate.schedule=wsd".to_owned()];
        gate(&lab, &["-S", &sets[0], "-S", &sets[1]])
    };
    assert_eq!(decay(26), decay(36));
    assert_ne!(decay(20), decay(36));
}
