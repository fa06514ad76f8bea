//! Run, change one thing, run again, see what was kept.

use crate::support::Lab;

/// The labels of the nodes that a run tells of with this word.
fn nodes(stderr: &str, word: &str) -> Vec<String> {
    stderr
        .lines()
        .filter_map(|line| line.strip_prefix(word))
        .filter(|rest| rest.starts_with(' '))
        .map(|rest| rest.trim().split("  ").next().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn a_run_makes_everything_once_and_a_changed_temperature_asks_once_more_and_trains_nothing() {
    let lab = Lab::new();
    let first = lab.philidor(&["run", "tiny.toml"]).ended(0);
    let made = nodes(&first.stderr, "made");
    assert!(made.len() >= 12 && nodes(&first.stderr, "kept").is_empty(), "{}", first.stderr);
    assert!(lab.path(first.stdout.trim()).exists(), "the report's path is printed: {}", first.stdout);

    let second = lab.philidor(&["run", "tiny.toml"]).ended(0);
    assert_eq!(nodes(&second.stderr, "kept"), made, "{}", second.stderr);

    let change = ["tiny.toml", "-S", "measure.final.legality.temperature=0.8"];
    let plan = lab.philidor(&[&["plan"], &change[..]].concat()).ended(0);
    let to_make: Vec<&str> = plan.stdout.lines().filter(|line| line.trim_start().starts_with("make ")).collect();
    // The positions are shared: what looks at them is judged again.
    assert_eq!(to_make.len(), 3, "{}", plan.stdout);
    assert!(to_make[0].contains("measure.final.legality.temperature: [1.0] -> [0.8] (--set)"), "{}", plan.stdout);
    assert!(to_make[1].contains("measure.final.legality.temperature: 1.0 -> 0.8 (--set)"), "{}", plan.stdout);
    assert!(to_make[2].contains("since ask 60 positions at best changes"), "{}", plan.stdout);

    let third = lab.philidor(&[&["run"], &change[..]].concat()).ended(0);
    let again = ["ask 60 positions at best", "evaluate legality T=0.8 at best", "evaluate agreement at best"];
    assert_eq!(nodes(&third.stderr, "made"), again, "{}", third.stderr);
    assert_eq!(nodes(&third.stderr, "kept").len(), made.len() - 3, "{}", third.stderr);
}

#[test]
fn two_runs_in_two_places_write_the_same_bytes() {
    let (left, right) = (Lab::new(), Lab::new());
    for lab in [&left, &right] {
        lab.philidor(&["run", "tiny.toml"]).ended(0);
    }
    for stage in ["parse", "encode", "inspect", "initial_loss", "train", "ask", "evaluate"] {
        let (left, right) = (left.artifacts(stage, ""), right.artifacts(stage, ""));
        assert!(!left.is_empty(), "{stage} was made");
        for (left, right) in left.iter().zip(&right) {
            let digests = |path: &std::path::Path| {
                let manifest: serde_json::Value =
                    serde_json::from_slice(&std::fs::read(path.join("manifest.json")).expect("a manifest")).expect("JSON");
                let mut files = manifest["files"].as_object().expect("files").clone();
                // Speeds and devices are recorded, and vary.
                files.retain(|name, _| name != "speed.jsonl" && name != "device.json");
                files
            };
            assert_eq!(left.file_name(), right.file_name(), "{stage}: the same keys");
            assert_eq!(digests(left), digests(right), "{stage}: the same bytes");
        }
    }
}

#[test]
fn a_forced_stage_is_made_again_and_what_stands_on_it_is_kept() {
    let lab = Lab::new();
    lab.philidor(&["run", "tiny.toml", "--until", "inspect"]).ended(0);
    let again = lab.philidor(&["run", "tiny.toml", "--until", "inspect", "--force", "parse"]).ended(0);
    assert_eq!(nodes(&again.stderr, "made"), ["parse"], "{}", again.stderr);
}

#[test]
fn plan_makes_nothing_and_check_says_3_where_work_is_left() {
    let lab = Lab::new();
    lab.philidor(&["plan", "tiny.toml"]).ended(0);
    assert!(!lab.path("runs").exists(), "a plan leaves no trace");
    lab.philidor(&["plan", "tiny.toml", "--check"]).ended(3);
}
