//! What is measured, and what it needs from beside the experiment.

use insta::assert_snapshot;

use super::asking;
use crate::experiment::Show;
use crate::measure::metric::Metric;

const HEAD: &str = "PuzzleId,FEN,Moves,Rating,Prefix\n";

#[test]
fn metrics_are_on_where_they_are_named_and_come_back_from_the_resolved_experiment() {
    let text = "[measure.final]\nlegality = false\nfull_games = false\nloss = true\nopenings = { prefixes = [\"\", \"e2e4 c7c5\"] }\n\
                puzzles = { file = \"puzzles.csv\", puzzles = 30 }\n[measure.snapshots]\nloss = false\nlegality = false\n";
    let folder = asking(text).with("experiments/puzzles.csv", HEAD);
    let loaded = folder.loaded(&[]);
    let blake3 = blake3::hash(HEAD.as_bytes()).to_hex().to_string();
    assert!(loaded.files[&blake3].ends_with("experiments/puzzles.csv"));
    let e = &loaded.points[0];
    let prefixes = vec![String::new(), "e2e4 c7c5".to_owned()];
    assert_eq!(
        e.measure.last,
        [Metric::Loss, Metric::Openings { prefixes, seed: 7 }, Metric::Puzzles { blake3, puzzles: 30, seed: 7 }]
    );
    assert_eq!(e.measure.snapshots, []);
    let again = folder.asking(&loaded.resolved(0, Show::Values)).loaded(&[]);
    assert_eq!(again.points[0].measure, e.measure);
    // An override turns one off, or on.
    let folder = asking("");
    assert_eq!(folder.loaded(&["measure.final.loss=true"]).points[0].measure.last.last(), Some(&Metric::Loss));
    assert_eq!(folder.loaded(&["measure.final.loss=false"]).points, folder.loaded(&[]).points);
}

#[test]
fn what_cannot_be_measured_is_a_problem_before_anything_runs() {
    let text = "[measure.final]\nloss = 3\nopenings = { prefixes = [\"e2e4\", \"e2e4 e2e4\"] }\npuzzles = { file = \"none.csv\" }\n\
                [measure.snapshots]\nopenings = { prefixes = [\"e2e4  e7e5\", \"e2e4 e7e5\"] }\n\
                puzzles = { file = \"plain.csv\", puzzles = 0 }\n";
    let problems = asking(text).with("experiments/plain.csv", "PuzzleId,FEN,Moves,Rating\n").problems(&[]);
    assert_snapshot!(problems, @r#"
    experiments/x.toml:3: `measure.final.loss` wants `true` or `false`, not `3`
        loss = 3
               ^

    experiments/x.toml:4: `measure.final.openings.prefixes` wants a list, each item a line of legal moves in UCI such as `e2e4 c7c5`, or "" for the start, not the string `"e2e4 e2e4"` in it
        openings = { prefixes = ["e2e4", "e2e4 e2e4"] }
                                         ^^^^^^^^^^^

    experiments/x.toml:5: no such file: looked at `HERE/experiments/none.csv`
        puzzles = { file = "none.csv" }
                           ^^^^^^^^^^
      hint: a path is relative to the file that names it; from --set, to where you are

    experiments/x.toml:5: `[measure.final.puzzles]` lacks `puzzles`
        puzzles = { file = "none.csv" }
        ^^^^^^^
      hint: set it, or extend `base.toml`, which explains every key; `puzzles` is never guessed

    experiments/x.toml:7: `measure.snapshots.openings.prefixes` has `e2e4 e7e5` twice
        openings = { prefixes = ["e2e4  e7e5", "e2e4 e7e5"] }
                                ^^^^^^^^^^^^^^^^^^^^^^^^^^^
      hint: name each line once

    experiments/x.toml:8: `HERE/experiments/plain.csv` has no column `Prefix`
        puzzles = { file = "plain.csv", puzzles = 0 }
                           ^^^^^^^^^^^
      hint: give it the columns of the public database of puzzles, and `Prefix`: the moves in UCI from the start to `FEN`

    experiments/x.toml:8: `measure.snapshots.puzzles.puzzles` wants an integer of at least 1, not `0`
        puzzles = { file = "plain.csv", puzzles = 0 }
                                                  ^

    7 problems
    "#);
    let empty = asking("[measure.final]\nopenings = { prefixes = [] }\n").problems(&[]);
    assert!(empty.contains("`measure.final.openings.prefixes` is empty"), "{empty}");
}
