//! What a user reads when something is wrong: message, place, next step and exit code, as snapshots.

use crate::support::{Lab, TINY};

/// `tiny.toml` with a line replaced.
fn with(lab: &Lab, line: &str, by: &str) {
    assert!(TINY.contains(line), "`{line}` is in tiny.toml");
    lab.write("tiny.toml", &TINY.replace(line, by));
}

#[test]
fn a_typo_in_a_key_names_file_line_and_the_nearest_key() {
    let lab = Lab::new();
    with(&lab, "weight_decay", "wieght_decay");
    insta::assert_snapshot!(lab.philidor(&["plan", "tiny.toml"]).ended(2).snapshot(&lab));
}

#[test]
fn a_wrong_type_names_the_type_wanted_and_the_value_seen() {
    let lab = Lab::new();
    with(&lab, "layers = 2", "layers = \"two\"");
    insta::assert_snapshot!(lab.philidor(&["run", "tiny.toml"]).ended(2).snapshot(&lab));
}

#[test]
fn all_problems_come_at_once() {
    let lab = Lab::new();
    lab.write(
        "tiny.toml",
        &TINY.replace("heads = 2", "heads = 3").replace("clip", "clop").replace("elo = [1000, 2600]", "elo = [2600, 1000]"),
    );
    insta::assert_snapshot!(lab.philidor(&["run", "tiny.toml", "-S", "train.batch=many"]).ended(2).snapshot(&lab));
}

#[cfg(not(feature = "mpi"))]
#[test]
fn ranks_in_a_build_without_mpi_say_how_to_build_it_and_where_they_are_set() {
    let lab = Lab::new();
    lab.write("philidor.toml", "ranks = 2\n");
    insta::assert_snapshot!(lab.philidor(&["run", "tiny.toml"]).ended(2).snapshot(&lab));
}

#[test]
fn an_experiment_that_is_not_there_is_named() {
    let lab = Lab::new();
    insta::assert_snapshot!(lab.philidor(&["run", "tinny.toml"]).ended(2).snapshot(&lab));
}

#[test]
fn a_corpus_file_that_is_not_there_is_named_with_its_line() {
    let lab = Lab::new();
    with(&lab, "games.pgn", "gmaes.pgn");
    insta::assert_snapshot!(lab.philidor(&["run", "tiny.toml"]).ended(2).snapshot(&lab));
}

#[test]
fn a_month_that_is_not_there_fails_its_node_and_says_where_to_get_it() {
    let lab = Lab::new();
    with(&lab, "files = [\"games.pgn\"]", "months = [\"2013-01\"]");
    lab.philidor(&["plan", "tiny.toml"]).ended(0);
    let said = lab.philidor(&["run", "tiny.toml"]).ended(1);
    assert!(
        said.stdout.starts_with("runs/tiny/") && said.stdout.ends_with("report.html\n"),
        "a failed run has its page too: {}",
        said.stdout
    );
    insta::assert_snapshot!(said.stderr.split("tiny: ").next().expect("text"));
}

#[test]
fn a_pgn_that_cannot_be_read_fails_its_node() {
    let lab = Lab::new();
    std::fs::write(lab.path("games.pgn"), [0x28, 0xb5, 0x2f, 0xfd, 1, 2, 3, 4, 5]).expect("the folder is ours");
    insta::assert_snapshot!(failure(&lab));
    lab.write("games.pgn", "no chess in here\n");
    insta::assert_snapshot!(failure(&lab));
}

fn failure(lab: &Lab) -> String {
    let said = lab.philidor(&["run", "tiny.toml"]).ended(1);
    said.stderr.lines().skip_while(|line| !line.starts_with("failed")).take(2).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_gate_that_refuses_ends_the_run_with_4_before_anything_is_trained() {
    let lab = Lab::new();
    let said = lab.philidor(&["run", "tiny.toml", "-S", "gates.overfit={games=2,steps=3,batch=2,below=0.01}"]).ended(4);
    assert!(said.stderr.contains("failed   overfit"), "{}", said.stderr);
    assert!(lab.artifacts("train", "").is_empty() && lab.artifacts("train", "part").is_empty());
}

#[test]
fn an_unknown_run_stage_or_command_is_a_usage_error() {
    let lab = Lab::new();
    insta::assert_snapshot!(lab.philidor(&["show", "nothing"]).ended(2).snapshot(&lab));
    insta::assert_snapshot!(lab.philidor(&["run", "tiny.toml", "--until", "trian"]).ended(2).snapshot(&lab));
    lab.philidor(&["rnu", "tiny.toml"]).ended(2);
    lab.write("month.mine.toml", "");
    let mine = lab.philidor(&["run", "month.mine.toml"]).ended(2);
    assert!(mine.stderr.contains("philidor mine month.mine.toml"), "{}", mine.stderr);
}

#[test]
fn a_libtorch_that_is_not_where_the_settings_say_is_told_before_the_worker_starts() {
    let lab = Lab::new();
    lab.write("philidor.toml", "libtorch = \"nowhere/lib\"\n");
    let said = lab.philidor(&["run", "tiny.toml", "--until", "initial_loss"]).ended(2);
    assert!(said.stderr.contains("`libtorch` is `nowhere/lib`, where there is no libtorch_cpu.so"), "{}", said.stderr);
    assert!(said.stderr.contains("torch/lib of a Python that has torch 2.11.0"), "{}", said.stderr);
}
