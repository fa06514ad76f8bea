//! The report as a whole, over runs that went well, badly, and not at all.

mod collisions;
mod contrast;
mod golden;
mod hostile;
mod markup;
mod numbers;
mod readable;
mod sweeps;
mod timed;

use std::time::Instant;

use serde_json::json;

use super::fixture::{Fixture, Wish, experiment, write as run};
use super::*;
use crate::corpus::config::SplitBy;
use crate::measure::metric::Metric;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("the report wrote it")
}

/// A sweep over temperatures: one model, measured in two points.
fn temperatures() -> Vec<crate::experiment::Experiment> {
    [1.0, 0.4]
        .into_iter()
        .map(|temperature| {
            let mut point = experiment(400);
            point.point = format!("temperature={temperature}");
            point.measure.last.retain(|metric| !matches!(metric, Metric::FullGames { .. }));
            point.measure.last.push(Metric::FullGames { games: 200, temperature, seed: 7 });
            point
        })
        .collect()
}

/// Keeps what a test drew, for people to look at, where `PHILIDOR_KEEP_REPORT` names a folder.
fn keep(run_dir: &Path, name: &str) {
    if let Some(kept) = std::env::var_os("PHILIDOR_KEEP_REPORT") {
        let kept = Path::new(&kept).join(name);
        fs::remove_dir_all(&kept).ok();
        fs::create_dir_all(&kept).expect("a folder to keep it in");
        fs::rename(run_dir, kept).expect("a folder to keep it in");
    }
}

#[test]
fn a_finished_run_has_its_page_tables_and_charts() {
    let dir = folder();
    let Fixture { run_dir, store } = run(dir.path(), &[experiment(16_300)], &Wish::default());
    let begin = Instant::now();
    let written = write(&run_dir, &store).expect("a report");
    // The limit is generous: tests share their cores. Alone, and drawn for the first time, it is a quarter of a second.
    assert!(begin.elapsed().as_secs_f64() < 20.0, "{:?}", begin.elapsed());

    let html = read(&written.html);
    assert!(html.len() < 3 << 20, "{} bytes", html.len());
    for outside in ["http://", "https://", "//cdn", "src=\"", "@import"] {
        let body = html.replace("http://www.w3.org/2000/svg", "");
        assert!(!body.contains(outside), "the page asks for `{outside}`");
    }
    assert_eq!(html.matches("@font-face").count(), 2);
    assert!(html.contains("Does a 51 M-parameter model learn the rules of chess from one month of games?"));
    for chart in charts::CHARTS {
        for ending in ["svg", "png"] {
            assert!(written.charts.join(format!("{}.{ending}", chart.name)).exists(), "{}.{ending}", chart.name);
        }
        assert!(html.contains(&format!("charts/{}.svg", chart.name)), "{}", chart.name);
        assert!(written.tables.join(format!("{}.csv", chart.table)).exists(), "{}", chart.table);
    }
    // The tables of a sweep are of several points.
    for table in tables::TABLES.iter().filter(|table| !["sweep", "differences"].contains(&table.name)) {
        for ending in ["csv", "parquet"] {
            assert!(written.tables.join(format!("{}.{ending}", table.name)).exists(), "{}.{ending}", table.name);
        }
    }
    keep(&run_dir, "run1");
}

#[test]
fn tables_hold_every_step_and_every_digit() {
    let dir = folder();
    let Fixture { run_dir, store } = run(dir.path(), &[experiment(400)], &Wish::default());
    let written = write(&run_dir, &store).expect("a report");
    let training = read(&written.tables.join("training.csv"));
    assert_eq!(training.lines().count(), 401);
    let results = Results::load(&run_dir, &store).expect("a run");
    let last = results.points[0].training.as_ref().and_then(|training| training.curve.last()).expect("a curve");
    assert!(training.lines().last().expect("rows").contains(&format!(",{},", last.loss)), "{}", last.loss);
    let metrics = read(&written.tables.join("metrics.csv"));
    let head = "run,experiment,point,stage,asked,metric,slice,temperature,masked,protocol,checkpoint,step,tokens,value,low,high,n,method,key";
    assert_eq!(metrics.lines().next(), Some(head));
    assert!(metrics.contains("legality.rate") && metrics.contains("wilson 95 %"));
}

#[test]
fn a_report_drawn_twice_is_the_same_and_leaves_nothing_of_an_older_one() {
    let dir = folder();
    let Fixture { run_dir, store } = run(dir.path(), &[experiment(400)], &Wish::default());
    let written = write(&run_dir, &store).expect("a report");
    let png = written.charts.join("legality.png");
    let first = (read(&written.html), read(&written.markdown), fs::read(&png).expect("a picture"));
    fs::write(written.charts.join("gone.svg"), "of an older report").expect("a folder for tests");
    // A picture without its SVG may be torn.
    fs::remove_file(png.with_extension("svg")).expect("it was written");
    fs::write(&png, "torn").expect("a folder for tests");
    write(&run_dir, &store).expect("a report");
    assert_eq!(first, (read(&written.html), read(&written.markdown), fs::read(&png).expect("a picture")));
    assert!(!written.charts.join("gone.svg").exists());
}

#[test]
fn a_refused_run_says_so_at_the_top_and_draws_what_there_is() {
    let dir = folder();
    let wish = Wish {
        state: |node| match node.stage.as_str() {
            "initial_loss" => "refused",
            "train" | "ask" | "evaluate" | "overfit" => "skipped",
            _ => "made",
        },
        run: json!({ "id": "x", "name": "run1", "started": "2026-11-29T22:41:05Z", "outcome": "refused", "git": "73ff332-dirty" }),
        ..Wish::default()
    };
    let Fixture { run_dir, store } = run(dir.path(), &[experiment(400)], &wish);
    let written = write(&run_dir, &store).expect("a report");
    let markdown = read(&written.markdown);
    assert!(markdown.contains("The run ended as: refused."), "{markdown}");
    assert!(markdown.contains("initial_loss was refused: the loss is 8.31"), "{markdown}");
    assert!(markdown.contains("uncommitted changes (git 73ff332-dirty)"), "{markdown}");
    assert!(!markdown.contains("not within 0.3 of 7.586.."), "one full stop is enough");
    assert!(written.charts.join("corpus.svg").exists() && !written.charts.join("loss.svg").exists());
    keep(&run_dir, "refused");
}

#[test]
fn a_run_that_goes_on_shows_its_training_so_far() {
    let dir = folder();
    let state =
        |node: &crate::plan::Node| if ["train", "ask", "evaluate"].contains(&node.stage.as_str()) { "pending" } else { "made" };
    let wish = Wish { state, run: json!({ "name": "run1" }), ..Wish::default() };
    let Fixture { run_dir, store } = run(dir.path(), &[experiment(400)], &wish);
    // A line that a kill cut short.
    let results = Results::load(&run_dir, &store).expect("a run");
    let part = store.part("train", results.points[0].training.as_ref().expect("a part").key);
    let curve = part.join("curve.jsonl");
    fs::write(&curve, read(&curve) + "{\"step\": 161, \"tok").expect("a folder for tests");
    let written = write(&run_dir, &store).expect("a report");
    let markdown = read(&written.markdown);
    assert!(markdown.contains("The run has not ended"), "{markdown}");
    assert!(markdown.contains("has so far seen 7.86 M tokens (0.98 % of one pass over 804 M) in 160 steps"), "{markdown}");
    assert!(written.charts.join("loss.svg").exists());
}

#[test]
fn a_sweep_over_temperatures_draws_its_shared_parts_once_and_all_temperatures_together() {
    let dir = folder();
    let Fixture { run_dir, store } = run(dir.path(), &temperatures(), &Wish::default());
    let written = write(&run_dir, &store).expect("a report");
    assert!(written.charts.join("loss-1.svg").exists() && !written.charts.join("loss-2.svg").exists());
    assert!(written.charts.join("full-games-by-temperature.svg").exists());
    assert!(!written.charts.join("full-games-by-temperature-1.svg").exists());
    let overview = read(&written.charts.join("points.svg"));
    assert!(overview.contains("Games without an illegal move") && !overview.contains("Legal moves"), "only what differs");
    let html = read(&written.html);
    assert!(html.contains("Data and setup, shared by all points") && html.matches("charts/loss-1.svg").count() == 1);
    let markdown = read(&written.markdown);
    let answer = "The largest share of games without an illegal move was 78.5 % [72.3, 83.6] at T = 0.4 (n = 200). It is settled";
    assert!(markdown.contains(answer), "{markdown}");
    let cool = markdown.split("\n## T = 0.4").nth(1).and_then(|rest| rest.split("\n## ").next()).expect("a section");
    assert!(cool.contains("Of 200 full games at T = 0.4, 78.5 %") && !cool.contains("full games at T = 1.0, "), "{cool}");
    keep(&run_dir, "temperature");
}

#[test]
fn a_folder_that_is_no_run_is_a_usage_error_with_a_hint() {
    let dir = folder();
    let store = Store::at(dir.path());
    let error = write(dir.path(), &store).expect_err("there is nothing");
    assert_eq!(crate::error::exit_of(&error), crate::error::Exit::Usage);
}

#[test]
fn twins_on_both_sides_are_warned_of_where_they_matter_and_where_they_cannot_be() {
    let warned = |by: SplitBy, twins: u64| {
        let dir = folder();
        let mut point = experiment(40);
        point.corpus.split.by = by;
        let change: fn(&str, &str, String) -> String = match twins {
            0 => |_, _, content| content.replace("\"overlap_games\":137", "\"overlap_games\":0"),
            137 => |_, _, content| content,
            _ => |_, _, content| content.replace("\"overlap_games\":137", "\"overlap_games\":5517"),
        };
        let Fixture { run_dir, store } = run(dir.path(), &[point], &Wish { change, ..Wish::default() });
        read(&write(&run_dir, &store).expect("a report").markdown)
    };
    let many = "> **Note.** 5,517 of 110,356 distinct validation games are training games too (5.0 %)";
    let wrong =
        "> **Note.** 137 of 110,356 distinct validation games are training games too, which a split by game-hash cannot give";
    for (by, twins, note) in [
        (SplitBy::Draw, 0, None),
        (SplitBy::Draw, 137, None),
        (SplitBy::Draw, 5_517, Some(many)),
        (SplitBy::GameHash, 0, None),
        (SplitBy::GameHash, 137, Some(wrong)),
    ] {
        let markdown = warned(by, twins);
        match note {
            Some(note) => assert!(markdown.contains(note), "{twins}: {markdown}"),
            None => assert!(!markdown.contains("**Note.**"), "{twins}: {markdown}"),
        }
        let by_construction = markdown.contains("equal games fall on one side, by construction");
        assert_eq!(by_construction, by == SplitBy::GameHash && twins == 0);
    }
}

#[test]
fn the_markdown_of_a_small_run_reads_as_it_should() {
    let dir = folder();
    let mut small = experiment(40);
    small.training().snapshots.every = 40;
    let Fixture { run_dir, store } = run(dir.path(), &[small], &Wish::default());
    let written = write(&run_dir, &store).expect("a report");
    insta::assert_snapshot!("report.md", read(&written.markdown));
}

#[test]
fn a_machine_setting_of_the_command_line_is_provenance_and_one_of_science_a_warning() {
    let notes = |set: &str| {
        let dir = folder();
        let command = format!("philidor run run1.toml -S {set}");
        let wish = Wish { run: json!({ "id": "x", "outcome": "done", "command": command }), ..Wish::default() };
        let Fixture { run_dir, store } = run(dir.path(), &[experiment(40)], &wish);
        read(&write(&run_dir, &store).expect("a report").markdown)
    };
    let machine = notes("machine.device=cpu");
    assert!(
        !machine.contains("**Note.**") && machine.contains("machine settings of the command: machine.device=cpu"),
        "{machine}"
    );
    let science = notes("train.seed=2");
    assert!(science.contains("> **Note.** Differs from the file, by the command line: train.seed=2."), "{science}");
    assert!(!science.contains("machine settings of the command"), "{science}");
}

#[test]
fn words_are_explained_where_the_page_has_them_and_not_where_it_has_not() {
    let dir = folder();
    let mut point = experiment(40);
    point.measure.last = vec![Metric::Agreement { positions: 400, seed: 7 }];
    let Fixture { run_dir, store } = run(dir.path(), &[point], &Wish::default());
    let markdown = read(&write(&run_dir, &store).expect("a report").markdown);
    let (_, terms) = markdown.split_once("### What the words mean").expect("words");
    for there in ["- agreement: ", "- top-5: ", "- ply: ", "- snapshot: ", "- protocol: ", "- Wilson: ", "- untrained: "] {
        assert!(terms.contains(there), "{there}: {terms}");
    }
    for not_there in ["- tainted: ", "- probe: ", "- survival: ", "- Kaplan-Meier: ", "- calibration"] {
        assert!(!terms.contains(not_there), "{not_there}: {terms}");
    }
}

#[test]
fn a_heading_names_puzzles_only_where_there_are_some() {
    let dir = folder();
    let mut point = experiment(40);
    point.measure.last.retain(|metric| !matches!(metric, Metric::Puzzles { .. }));
    let Fixture { run_dir, store } = run(dir.path(), &[point], &Wish::default());
    let html = read(&write(&run_dir, &store).expect("a report").html);
    assert!(html.contains(">Openings <a class=\"anchor\"") && !html.contains("Openings and puzzles"));
}

#[test]
fn a_run_with_tainted_artifacts_says_so_above_all_else() {
    let dir = folder();
    let refusal = crate::taint::Refusal { gate: "overfit".into(), message: "it did not <learn>".into() };
    let Fixture { run_dir, store } = run(dir.path(), &[experiment(40)], &Wish { despite: vec![refusal], ..Wish::default() });
    let written = write(&run_dir, &store).expect("a report");
    let (html, markdown) = (read(&written.html), read(&written.markdown));
    let said = "Tainted: trained although the gate `overfit` refused: it did not <learn>";
    assert!(markdown.lines().take(6).any(|line| line == format!("> **{said}**")), "{}", &markdown[..400]);
    let at = html.find(&said.replace('<', "&lt;").replace('>', "&gt;")).expect("the page says it");
    assert!(at < html.find("<h1>").expect("a heading"));
}
