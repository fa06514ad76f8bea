//! A run that goes on although a gate refused, and what it says of that.

use crate::support::Lab;

/// A gate that so few steps cannot pass.
const HARD: &str = "gates.overfit={games=2,steps=3,batch=2,below=0.0001}";

fn text(lab: &Lab, name: &str) -> String {
    std::fs::read_to_string(lab.path("runs/tiny/latest").join(name)).expect("the run wrote it")
}

#[test]
fn a_gate_that_is_passed_over_taints_all_that_is_made_after_it_for_good() {
    let lab = Lab::new();
    let refused = lab.philidor(&["run", "tiny.toml", "-S", HARD]).ended(4);
    assert!(refused.stderr.contains("goes on with --despite overfit"), "{}", refused.stderr);
    assert!(!text(&lab, "report.md").contains("Tainted"));

    let passed = lab.philidor(&["run", "tiny.toml", "-S", HARD, "--despite", "overfit"]).ended(0);
    let tainted = "Tainted: trained although the gate `overfit` refused: a fresh model did not learn 2 games by heart";
    assert!(passed.stderr.contains(&format!("warning: {tainted}")), "{}", passed.stderr);
    assert!(text(&lab, "report.md").contains(tainted) && text(&lab, "report.html").contains("Tainted: trained although"));
    let shown = lab.philidor(&["show", "tiny"]).ended(0).stdout;
    assert!(shown.lines().nth(1).expect("lines").contains(tainted), "{shown}");
    assert!(shown.contains("--despite overfit"), "the command makes it again: {shown}");
    let record: serde_json::Value = serde_json::from_str(&text(&lab, "run.json")).expect("JSON");
    assert_eq!((&record["despite"], &record["outcome"]), (&serde_json::json!(["overfit"]), &serde_json::json!("done")));
    let manifest = std::fs::read_to_string(lab.only("train").join("manifest.json")).expect("a manifest");
    assert!(manifest.contains("\"gate\": \"overfit\""), "{manifest}");

    lab.philidor(&["run", "tiny.toml", "-S", HARD]).ended(4);

    // Without the gate the training is kept, and so is its taint.
    let again = lab.philidor(&["run", "tiny.toml"]).ended(0);
    assert!(again.stderr.contains(tainted), "{}", again.stderr);
    assert!(text(&lab, "report.md").contains(tainted));
    assert!(lab.philidor(&["show", "tiny"]).ended(0).stdout.contains(tainted));
    // Whoever is given the model is told too.
    assert!(lab.philidor(&["export", "hf", "tiny", "--out", "given"]).ended(0).stderr.contains(tainted));
    assert!(std::fs::read_to_string(lab.path("given/README.md")).expect("a card").contains(tainted));
}

#[test]
fn a_name_that_is_no_gate_is_a_usage_error_with_the_gates() {
    let lab = Lab::new();
    let said = lab.philidor(&["run", "tiny.toml", "--despite", "train"]).ended(2);
    assert!(said.stderr.contains("no gate of this experiment is called `train`"), "{}", said.stderr);
    assert!(said.stderr.contains("the gates are inspect, initial_loss\n"), "{}", said.stderr);
}
