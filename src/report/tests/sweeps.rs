//! The page of a sweep: what it answers, what it draws, and what it does not repeat.

use std::collections::BTreeSet;

use super::readable::{SET, assert_overviews_readable};
use super::{folder, hostile, read, run};
use crate::experiment::Experiment;
use crate::measure::metric::Metric;
use crate::report::fixture::{Fixture, Wish, experiment};
use crate::report::results::Results;
use crate::report::sweep::Sweep;
use crate::report::{Page, charts, draw, words, write};

/// A model of a size, trained from a seed.
fn size(layers: u32, width: u32, seed: u64) -> Experiment {
    let mut point = experiment(160);
    point.name = "sizes".into();
    point.question = "What does a larger model learn from the same games?".into();
    let named = if seed == 1337 { String::new() } else { format!(" seed={seed}") };
    point.point = format!("layers={layers} width={width} heads={}{named}", width / 64);
    (point.model.layers, point.model.width, point.model.heads, point.model.hidden) = (layers, width, width / 64, width * 11 / 4);
    point.training().seed = seed;
    point.training().snapshots.every = 40;
    point.measure.snapshots.truncate(2);
    point.measure.last = vec![
        Metric::Legality { positions: 4000, temperature: 1.0, seed: 7 },
        Metric::Agreement { positions: 4000, seed: 7 },
        Metric::FullGames { games: 100, temperature: 1.0, seed: 7 },
        Metric::Loss,
    ];
    point
}

/// Four sizes, and one of them from a second seed.
pub(super) fn sizes() -> Vec<Experiment> {
    vec![size(4, 128, 1337), size(8, 256, 1337), size(8, 256, 1), size(16, 512, 1337), size(16, 1024, 1337)]
}

/// One model, shown more and more.
fn lengths() -> Vec<Experiment> {
    let of = |batch: u32| {
        let mut point = size(4, 128, 1337);
        point.point = format!("batch={batch}");
        point.training().batch = batch;
        point
    };
    [96, 192, 384].map(of).into()
}

/// Sizes by learning rates by weight decays: the rates and decays are numbers of a setting.
pub(super) fn rates() -> Vec<Experiment> {
    let mut points = Vec::new();
    for peak in [1e-4, 1e-3, 1e-2] {
        for decay in [0.0, 0.1, 0.2] {
            let mut point = size(4, 128, 1337);
            point.point = format!("peak={peak} weight_decay={decay}");
            point.training().learning_rate.peak = peak;
            point.training().weight_decay = decay;
            points.push(point);
        }
    }
    points
}

fn results(points: &[Experiment]) -> (tempfile::TempDir, Results) {
    let dir = folder();
    let Fixture { run_dir, store } = run(dir.path(), points, &Wish::default());
    let results = Results::load(&run_dir, &store).expect("a run");
    (dir, results)
}

fn said(results: &Results) -> String {
    words::sweep(&Sweep::of(results).expect("a sweep")).join("\n")
}

#[test]
fn a_sweep_says_what_it_answers_how_sure_and_beside_what_another_seed_changes() {
    let (_dir, results) = results(&sizes());
    insta::assert_snapshot!("answers of sizes", said(&results));
}

#[test]
fn unequal_budgets_name_no_best_and_rank_along_tokens_alone() {
    let (_dir, results) = results(&lengths());
    let said = said(&results);
    assert!(said.contains("From 3.93 M to 15.7 M training tokens, validation loss falls"), "{said}");
    assert!(said.contains("their budgets differ") && !said.contains("Best of"), "{said}");
    assert!(said.contains("No setting was trained from a second seed"), "{said}");
}

#[test]
fn a_difference_within_its_interval_is_told_as_not_settled() {
    let mut points = sizes();
    for point in &mut points {
        point.measure.last = vec![Metric::Legality { positions: 20, temperature: 1.0, seed: 7 }];
    }
    let (_dir, results) = results(&points);
    let said = said(&results);
    assert!(said.contains("of the share of legal moves it is not settled"), "{said}");
    assert!(said.contains("may be none: its interval holds 0"), "{said}");
    assert!(!said.contains("rise"), "{said}");
}

#[test]
fn the_page_of_a_sweep_has_a_row_a_setting_and_says_once_what_all_points_share() {
    let dir = folder();
    let Fixture { run_dir, store } = run(dir.path(), &sizes(), &Wish::default());
    let written = write(&run_dir, &store).expect("a report");
    let (html, markdown) = (read(&written.html), read(&written.markdown));
    assert!(html.len() < 3 << 20, "{} bytes", html.len());
    assert!(markdown.contains("\n| 8 × 256 | 2 | 6.43 M + 50"), "the mean of two seeds is a row: {markdown}");
    assert!(markdown.contains("\n| 8 × 256, seed 1 | 6.43 M + 50"), "and each seed is one below");
    assert!(html.contains("<a href=\"#point-2\">8\u{a0}×\u{a0}256</a>"), "a name leads to its section");
    assert_eq!(
        html.matches("<details class=\"point\"").count(),
        5,
        "each is folded, and opened by a script where a link leads to it"
    );
    assert!(html.contains("addEventListener(\"hashchange\", unfold)"), "it is a script, and no text");
    let (_, shared) = markdown.split_once("\n## Data and setup, shared by all points").expect("a section");
    let (shared, points) = shared.split_once("\n## 4 × 128").expect("the first point");
    for once in ["11,035,777 of 89,288,421 games read", "weight decay 0.1", "charts/corpus-1.svg", "Loss of the untrained model"]
    {
        assert!(shared.contains(once) && !points.contains(once), "{once}: {shared}");
    }
    assert_eq!(points.matches("layers × width").count(), 5, "what differs stands with its point: {points}");
    super::keep(&run_dir, "sizes");
}

#[test]
fn figures_that_are_the_same_zeros_everywhere_are_not_set_side_by_side() {
    let mut points = sizes();
    for point in &mut points {
        point.measure.last.push(Metric::Puzzles { blake3: "9f2c".into(), puzzles: 40, seed: 7 });
    }
    let (_dir, mut results) = results(&points);
    for score in results.points.iter_mut().flat_map(|point| &mut point.scores) {
        if score.metric.name() == "puzzles" {
            score.score.values.iter_mut().for_each(|value| value.value = 0.0);
        }
    }
    let panels = |results: &Results| {
        charts::OVERVIEW.iter().filter_map(|chart| Some(charts::svg(&(chart.draw)(results)?, charts::WIDE))).collect::<String>()
    };
    assert!(!panels(&results).contains("Puzzles solved"));
    results.points[0].scores.iter_mut().filter(|score| score.metric.name() == "puzzles").for_each(|score| {
        score.score.values.iter_mut().for_each(|value| value.value = 0.1);
    });
    assert!(panels(&results).contains("Puzzles solved"));
}

#[test]
fn every_chart_over_points_looks_as_it_did_and_each_is_drawn_by_some_sweep() {
    let mut drawn = BTreeSet::new();
    for (sweep, points) in
        [("temperatures", super::temperatures()), ("sizes", sizes()), ("lengths", lengths()), ("rates", rates())]
    {
        let (_dir, results) = results(&points);
        for chart in charts::OVERVIEW {
            let Some(drawing) = (chart.draw)(&results) else { continue };
            // The timeline is drawn of any run, and looked at once.
            if chart.name != "timeline" || sweep == "temperatures" {
                insta::assert_snapshot!(format!("{sweep}-{}.svg", chart.name), charts::svg(&drawing, charts::WIDE));
                drawn.insert(chart.name);
            }
        }
    }
    assert_eq!(drawn.len(), charts::OVERVIEW.len(), "{drawn:?}");
}

#[test]
fn no_text_of_a_chart_over_points_lies_over_another_whatever_the_numbers() {
    for (sweep, points) in [("sizes", sizes()), ("rates", rates())] {
        for (what, change) in hostile::CHANGES {
            let dir = folder();
            let Fixture { run_dir, store } = run(dir.path(), &points, &Wish { change: *change, ..Wish::default() });
            let results = Results::load(&run_dir, &store).expect("a run");
            assert_overviews_readable(&format!("{sweep}, {what}"), &results);
            let page = Page::new(&results, &draw(&results), &[]);
            assert!(!page.markdown().expect("a page").contains("NaN"), "{sweep}, {what}");
        }
        let dir = folder();
        let Fixture { run_dir, store } = run(dir.path(), &points, &Wish::default());
        for (what, set) in SET {
            let mut results = Results::load(&run_dir, &store).expect("a run");
            results.points.iter_mut().flat_map(|point| &mut point.scores).for_each(set);
            assert_overviews_readable(&format!("{sweep}, {what}"), &results);
        }
    }
}

#[test]
fn a_sweep_of_seeds_alone_shows_their_figures_and_does_not_say_that_there_is_one() {
    let dir = folder();
    let Fixture { run_dir, store } = run(dir.path(), &[size(4, 128, 1), size(4, 128, 2)], &Wish::default());
    let markdown = read(&write(&run_dir, &store).expect("a report").markdown);
    assert!(!markdown.contains("No setting was trained from a second seed"), "{markdown}");
    assert!(markdown.contains("| Legal moves, n = "), "{markdown}");
}
