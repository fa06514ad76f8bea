//! Every committed experiment loads and plans, on an empty store and without its months.

use std::path::PathBuf;

use crate::support::{Lab, repository};

fn committed() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(repository().join("experiments")).expect("the folder of experiments").flatten();
    let mut files: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "toml") && !path.to_string_lossy().ends_with(".mine.toml"))
        .collect();
    files.sort();
    files
}

/// Those that are whole experiments; `base.toml` is a manual for others to extend.
fn runnable() -> Vec<PathBuf> {
    committed().into_iter().filter(|path| !path.ends_with("base.toml")).collect()
}

#[test]
fn every_committed_experiment_plans_on_an_empty_store() {
    let lab = Lab::new();
    assert!(runnable().len() >= 5, "{:?}", runnable());
    for file in runnable() {
        let said = lab.philidor(&["plan", &file.to_string_lossy()]).ended(0);
        assert!(said.stdout.contains("to make"), "{}: {}", file.display(), said.stdout);
        let text = std::fs::read_to_string(&file).expect("readable");
        assert!(
            text.starts_with("# ") && text.lines().next().is_some_and(|line| line.len() > 12),
            "{} says first what it asks",
            file.display()
        );
    }
}

#[test]
fn the_resolved_text_of_an_experiment_loads_again_to_the_same_plan() {
    let lab = Lab::new();
    let file = repository().join("experiments/run2.toml");
    let resolved = lab.philidor(&["plan", "--resolved", &file.to_string_lossy()]).ended(0).stdout;
    lab.write("again.toml", &resolved);
    let keys = |file: &str| {
        let plan: serde_json::Value =
            serde_json::from_str(&lab.philidor(&["plan", "--json", file]).ended(0).stdout).expect("JSON");
        plan["plans"][0]["nodes"].as_array().expect("nodes").iter().map(|node| node["key"].clone()).collect::<Vec<_>>()
    };
    let keys_again = keys("again.toml");
    assert_eq!(keys(&file.to_string_lossy()), keys_again);
    assert!(keys_again.len() > 100, "{}", keys_again.len());
    let told = lab.philidor(&["plan", &file.to_string_lossy()]).ended(0).stdout;
    assert!(told.lines().count() < 40 && told.contains("evaluate × "), "a long plan is folded:\n{told}");
}

#[test]
fn the_temperature_sweep_trains_nothing_new() {
    let lab = Lab::new();
    let plan = |file: &str| -> serde_json::Value {
        let path = repository().join("experiments").join(file);
        serde_json::from_str(&lab.philidor(&["plan", "--json", &path.to_string_lossy()]).ended(0).stdout).expect("JSON")
    };
    let trainings = |plan: &serde_json::Value| -> Vec<serde_json::Value> {
        let nodes = plan["plans"][0]["nodes"].as_array().expect("nodes");
        nodes.iter().filter(|node| node["stage"] == "train").map(|node| node["key"].clone()).collect()
    };
    let (one, sweep) = (plan("quickstart.toml"), plan("temperature.toml"));
    assert_eq!(trainings(&one).len(), 1);
    assert_eq!(trainings(&one), trainings(&sweep));
    // Alone, a point needs every node that names it.
    let nodes = sweep["plans"][0]["nodes"].as_array().expect("nodes");
    let alone: usize = nodes.iter().map(|node| node["points"].as_array().expect("points").len()).sum();
    let wanted = serde_json::json!({ "nodes": nodes.len(), "nodes_without_sharing": alone, "nodes_saved": alone - nodes.len() });
    assert_eq!(sweep["plans"][0]["sharing"], wanted);
    assert!(one["plans"][0]["sharing"].is_null());
    let told = lab.philidor(&["plan", &repository().join("experiments/temperature.toml").to_string_lossy()]).ended(0).stdout;
    assert!(told.contains(&format!("sharing saves {} (without it there would be {alone});", alone - nodes.len())), "{told}");
}
