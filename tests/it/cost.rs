//! What a plan says of the tokens that models are asked for, before the games are there, once they are, and afterwards.

use serde_json::Value;

use crate::support::{Lab, repository};

fn plan(lab: &Lab, arguments: &[&str]) -> Value {
    let said = lab.philidor(&[&["plan", "--json"], arguments].concat()).ended(0);
    let document: Value = serde_json::from_str(&said.stdout).expect("JSON");
    document["plans"][0].clone()
}

/// The tokens that go forward, and whether that is exact, of each group.
fn forward(plan: &Value, part: &str) -> Vec<(String, Option<(u64, bool)>)> {
    let groups = plan[part]["groups"].as_array().expect("groups").iter();
    groups
        .map(|group| {
            let count = &group["forward"];
            let told = count["tokens"].as_u64().zip(count["exact"].as_bool());
            (group["of"].as_str().expect("text").to_owned(), told)
        })
        .collect()
}

#[test]
fn tokens_are_bounds_until_the_games_are_encoded_and_then_counted() {
    let lab = Lab::new();
    let more = [
        "tiny.toml",
        "-S",
        "measure.final.loss=true",
        "-S",
        "measure.final.probe.positions=64",
        "-S",
        "measure.final.probe.test=20",
    ];
    let before = plan(&lab, &more);
    assert_eq!(forward(&before, "training"), [("train".to_owned(), Some((40 * 4 * 32, true)))]);
    let bounds = forward(&before, "measuring");
    let names: Vec<&str> = bounds.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "ask 40 positions",
            "evaluate legality T=1",
            "ask 60 positions",
            "ask 5 positions of each rule",
            "evaluate agreement",
            "evaluate rules",
            "evaluate full_games T=1",
            "evaluate loss",
            "evaluate probe",
        ]
    );
    // Prompts fill the context of 32 at the most; three snapshots.
    assert_eq!((bounds[0].1, bounds[2].1, bounds[1].1), (Some((3 * 40 * 32, false)), Some((60 * 32, false)), Some((0, true))));
    assert_eq!(bounds[7].1, None, "nothing bounds the loss before validation is there");

    lab.philidor(&[&["run", "--until", "encode"], &more[..]].concat()).ended(0);
    for ((name, bound), (same, counted)) in bounds.iter().zip(forward(&plan(&lab, &more), "measuring")) {
        assert_eq!(*name, same);
        let (tokens, exact) = counted.expect("counted");
        assert!(exact || name.contains("full_games"), "{name}");
        assert!(
            bound.is_none_or(|(bound, _)| tokens <= bound) && (tokens > 0) == (bound.is_none_or(|(bound, _)| bound > 0)),
            "{name}"
        );
    }
}

#[test]
fn a_measure_that_was_made_tells_how_long_another_takes_and_what_is_kept_asks_for_nothing() {
    let lab = Lab::new();
    let untimed = |plan: &Value| plan["measuring"]["total"]["nodes_never_timed"].as_u64().expect("a number");
    assert!(untimed(&plan(&lab, &["tiny.toml"])) > 0);
    lab.philidor(&["run", "tiny.toml"]).ended(0);
    let kept = plan(&lab, &["tiny.toml"]);
    assert_eq!((kept["measuring"]["total"]["nodes"].as_u64(), untimed(&kept)), (Some(0), 0));
    let more = plan(&lab, &["tiny.toml", "-S", "measure.final.full_games.games=8"]);
    let total = &more["measuring"]["total"];
    assert_eq!((total["nodes"].as_u64(), untimed(&more), total["generated"]["tokens"].as_u64()), (Some(1), 0, Some(8 * 250)));
    assert!(total["seconds"].as_f64().is_some_and(|seconds| seconds > 0.0));
}

#[test]
fn what_models_are_asked_for_is_told_in_a_table_that_fits_a_terminal() {
    let lab = Lab::new();
    for name in ["quickstart", "run1"] {
        let file = repository().join(format!("experiments/{name}.toml"));
        let said = lab.philidor(&["plan", &file.to_string_lossy()]).ended(0).stdout;
        let table: Vec<&str> = said.lines().skip_while(|line| !line.starts_with("measuring")).collect();
        assert!(table.len() > 5 && table.iter().all(|line| line.chars().count() <= 100), "{said}");
        assert!(!said.contains("0 ms"), "what takes no time is not timed:\n{said}");
        insta::assert_snapshot!(format!("cost-{name}"), table.join("\n"));
    }
}
