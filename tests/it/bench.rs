//! `philidor bench`: what it prints, on a corpus too small to say anything of speed.

use serde_json::Value;

use crate::support::Lab;

const QUICK: [&str; 4] = ["bench", "corpus", "--seconds", "0.01"];

fn bench(lab: &Lab, more: &[&str], code: i32) -> crate::support::Said {
    lab.philidor(&[&QUICK[..], more].concat()).ended(code)
}

#[test]
fn each_step_is_timed_for_each_number_of_threads_and_the_best_is_carried_on_to_a_month() {
    let lab = Lab::new();
    let said = bench(&lab, &["games.pgn", "--experiment", "tiny.toml", "--moves", "1_000_000", "--json"], 0);
    let told: Value = serde_json::from_str(&said.stdout).expect("one JSON document");
    assert_eq!(told["schema"], 1);
    let steps = told["steps"].as_array().expect("a list");
    let names: Vec<String> =
        steps.iter().map(|step| format!("{} {}", step["step"].as_str().expect("a step"), step["threads"])).collect();
    assert_eq!(names, ["read 1", "decode 1", "decode 2", "decode + scan 1", "decode + scan 2", "whole 1", "whole 2"]);
    for step in steps {
        let seconds = &step["seconds"];
        assert!(seconds["n"].as_u64().expect("a count") >= 3 && seconds["low"].as_f64() <= seconds["median"].as_f64(), "{step}");
    }
    assert_eq!((told["measured"]["games"].as_u64(), told["measured"]["part"].as_bool()), (Some(60), Some(false)));
    let (games, plies) =
        (told["measured"]["kept"].as_f64().expect("a count"), told["measured"]["plies"].as_f64().expect("a count"));
    assert!(games > 0.0 && plies >= 4.0 * games);
    let target = &told["extrapolated"]["moves"];
    assert!((target["games"].as_f64().expect("a count") - 1e6 / plies * 60.0).abs() < 0.51, "{target}");
    let absent: Vec<&Value> = told["absent"].as_array().expect("a list").iter().map(|absent| &absent["program"]).collect();
    assert_eq!(absent, ["zstd", "pzstd"], "they read no plain text");
}

#[test]
fn people_read_a_table_and_what_holds_it() {
    let lab = Lab::new();
    let said = bench(&lab, &["games.pgn", "--experiment", "tiny.toml"], 0);
    let lines: Vec<&str> = said.stdout.lines().collect();
    assert!(lines[0].starts_with("games.pgn: ") && lines[0].contains("; 60 games read, 60 kept "), "{}", said.stdout);
    for beginning in ["decode + scan", "whole", "zstd", "best: ", "held by the ", "less than 64 MiB of text"] {
        assert!(lines.iter().any(|line| line.starts_with(beginning)), "{beginning}: {}", said.stdout);
    }
    assert!(said.stderr.contains(" steps and peers in turn, for 10 ms"), "{}", said.stderr);
}

#[test]
fn a_file_that_is_not_there_or_holds_no_games_is_refused() {
    let lab = Lab::new();
    lab.write("prose.pgn", "I am no game.\n");
    insta::assert_snapshot!(
        [
            bench(&lab, &["gmaes.pgn"], 2).stderr,
            bench(&lab, &["prose.pgn"], 1).stderr,
            bench(&lab, &["games.pgn", "--moves", "none"], 2).stderr,
        ]
        .concat()
    );
}

#[test]
fn the_cpu_is_a_device_whose_rates_are_told() {
    let lab = Lab::new();
    let told: Value =
        serde_json::from_str(&lab.philidor(&["bench", "device", "--no-checks", "--json"]).ended(0).stdout).expect("JSON");
    assert_eq!((&told["schema"], &told["device"], &told["threads"]), (&1.into(), &"cpu".into(), &1.into()), "{told:#}");
    for rate in told["rates"].as_array().expect("a list") {
        assert!(rate["value"].as_f64().expect("a number") > 0.0, "{rate:#}");
    }
    let shown = lab.philidor(&["bench", "device", "--no-checks"]).ended(0).stdout;
    assert!(shown.starts_with("cpu, 1 thread\nmatmul f32 "), "{shown}");
}

#[test]
fn the_measures_are_timed_beside_their_bare_passes_and_the_published_way() {
    let lab = Lab::new();
    let quick = ["bench", "measure", "tiny.toml", "--rounds", "1", "--games", "2", "--plies", "5"];
    let refused = lab.philidor(&quick).ended(1).stderr;
    assert!(refused.contains("philidor run tiny.toml --until encode"), "{refused}");

    lab.philidor(&["run", "tiny.toml", "--until", "encode"]).ended(0);
    let random = lab.philidor(&quick).ended(0);
    assert!(random.stdout.starts_with("tiny, random weights, on cpu by 1 thread: "), "{}", random.stdout);
    assert!(random.stderr.contains("no weights of this experiment are kept"), "{}", random.stderr);

    lab.philidor(&["run", "tiny.toml", "--until", "train"]).ended(0);
    let told = lab.philidor(&[&quick[..], &["--json"]].concat()).ended(0).stdout;
    let told: Value = serde_json::from_str(&told).expect("one JSON document");
    assert_eq!((&told["schema"], &told["weights"]), (&1.into(), &"best".into()), "{told:#}");
    for ratio in ["to_bare_passes", "published", "whole_prefixes"] {
        assert!(told["ratios"][ratio].as_f64().is_some_and(|ratio| ratio > 0.0), "{ratio}: {told:#}");
    }
}
