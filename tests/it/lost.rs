//! What the store has lost, or holds otherwise than it was written, is told, and never measured or reported as if it were whole.

use std::path::{Path, PathBuf};

use crate::support::Lab;

fn flip(path: &Path, at: usize) {
    let mut bytes = std::fs::read(path).expect("it is there");
    bytes[at] ^= 1;
    std::fs::write(path, bytes).expect("the folder is ours");
}

#[test]
fn a_report_is_not_drawn_again_of_a_store_that_has_nothing_of_it() {
    let lab = Lab::new();
    lab.philidor(&["run", "tiny.toml"]).ended(0);
    let page = lab.path("runs/tiny/latest/report.md");
    let before = std::fs::read_to_string(&page).expect("a report");
    std::fs::remove_dir_all(lab.path("runs/store")).expect("the folder is ours");
    for command in [vec!["report", "tiny"], vec!["report", "tiny", "--tensorboard", "board"], vec!["compare", "tiny", "tiny"]] {
        let said = lab.philidor(&command).ended(1);
        assert!(said.stderr.contains("has nothing of what this run made"), "{}", said.stderr);
    }
    assert_eq!(std::fs::read_to_string(&page).expect("still there"), before);
}

#[test]
fn weights_that_have_changed_since_they_were_written_are_not_measured() {
    let lab = Lab::new();
    lab.philidor(&["run", "tiny.toml"]).ended(0);
    let snapshot = lab.only("train").join("snapshots/step-00000020.safetensors");
    let length = std::fs::metadata(&snapshot).expect("published").len() as usize;
    flip(&snapshot, length - 9);
    let said = lab.philidor(&["run", "tiny.toml", "--force", "ask"]).ended(1);
    assert!(said.stderr.contains("step-00000020.safetensors` is no longer what was written"), "{}", said.stderr);
    assert!(said.stderr.contains("--force train"), "{}", said.stderr);
    lab.philidor(&["run", "tiny.toml", "--force", "train"]).ended(0);
}

#[test]
fn a_score_that_was_altered_is_left_out_and_the_report_says_so() {
    let lab = Lab::new();
    lab.philidor(&["run", "tiny.toml"]).ended(0);
    let holds = |path: &PathBuf| std::fs::read_to_string(path).is_ok_and(|text| text.contains("\"agreement\""));
    let scores = lab.artifacts("evaluate", "").into_iter().map(|dir| dir.join("score.json"));
    let score = scores.into_iter().find(holds).expect("agreement was measured");
    let text = std::fs::read_to_string(&score).expect("it is there");
    let n = text.find("\"n\": 60").expect("of sixty positions");
    flip(&score, n + 6);
    lab.philidor(&["report", "tiny"]).ended(0);
    let report = std::fs::read_to_string(lab.path("runs/tiny/latest/report.md")).expect("a report");
    assert!(report.contains("is no longer what was written") && report.contains("Left out"), "{report}");
    assert!(!report.contains("Move played is the first choice"), "{report}");
    lab.philidor(&["run", "tiny.toml", "--force", "evaluate"]).ended(0);
    let report = std::fs::read_to_string(lab.path("runs/tiny/latest/report.md")).expect("a report");
    assert!(report.contains("Move played is the first choice") && !report.contains("Left out"), "{report}");
}
