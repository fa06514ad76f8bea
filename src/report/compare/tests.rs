//! The published runs, and the traps that a comparison must not walk into.

use serde_json::Value as Json;

use super::*;
use crate::error::{Exit, Fixable, exit_of};
use crate::experiment::{Experiment, Weights};
use crate::measure::metric::{Checkpoint, Metric};
use crate::measure::score::{MeasuredCheckpoint, Protocol, Score, Value};
use crate::report::fixture::experiment;
use crate::report::results::{Asked, Measured, Point, Results, Run};
use crate::store::{Key, Store};
use crate::train::config::Length;

/// Legality and first-choice agreement, in points of a hundred, after 205, 410, 614 and 819 M tokens.
const RUN1: [(f64, f64); 4] = [(95.10, 46.55), (96.90, 49.10), (97.55, 50.95), (97.75, 51.85)];
const RUN2: [(f64, f64); 4] = [(95.05, 49.20), (97.10, 50.30), (97.35, 52.75), (97.40, 53.80)];

fn results(experiment: Experiment, scores: Vec<Measured>) -> Results {
    let run = Run { id: format!("id-of-{}", experiment.name), name: experiment.name.clone(), ..Run::default() };
    let point = Point {
        parts: Vec::new(),
        experiment,
        sources: Vec::new(),
        encoded: None,
        inspection: None,
        gates: Vec::new(),
        training: None,
        scores,
    };
    Results { has_file: false, run, points: vec![point], nodes: Vec::new(), damaged: Vec::new() }
}

fn key(of: &str) -> Key {
    serde_json::from_value(Json::String(blake3::hash(of.as_bytes()).to_hex()[..32].to_owned())).expect("32 digits")
}

fn measured(metric: &Metric, asked: Asked, [step, tokens]: [u64; 2], values: Vec<Value>) -> Measured {
    let protocol = Protocol {
        metric: metric.name().into(),
        version: 1,
        data: "9f2c".into(),
        positions: "random".into(),
        temperature: match metric {
            Metric::Legality { temperature, .. } => Some(*temperature),
            _ => None,
        },
        masked: false,
        context: 256,
        precision: "bf16".into(),
        seed: 7,
    };
    let checkpoint = MeasuredCheckpoint { name: format!("step-{step:08}"), step, tokens };
    let score = Score {
        metric: metric.name().into(),
        version: 1,
        fingerprint: protocol.fingerprint(),
        checkpoint,
        protocol,
        counts: std::collections::BTreeMap::new(),
        values,
    };
    let key = key(&format!("{metric:?}{asked:?}{step}{tokens}{:?}", score.values));
    Measured {
        key,
        asked,
        metric: metric.clone(),
        checkpoint: Checkpoint::Step(step),
        score,
        squares: Vec::new(),
        next_moves: Vec::new(),
        own_games: Vec::new(),
    }
}

fn share(name: &str, points: f64, n: u64) -> Value {
    Value::share(name, (points / 100.0 * n as f64).round() as u64, n).expect("a sample")
}

fn legality(temperature: f64) -> Metric {
    Metric::Legality { positions: 2_000, temperature, seed: 7 }
}

const AGREEMENT: Metric = Metric::Agreement { positions: 2_000, seed: 7 };

/// A published run: its snapshots, every so many steps, of `n` positions each.
fn published(name: &str, levels: [(f64, f64); 4], every: u64, tokens_per_step: u64, n: u64) -> Results {
    let mut experiment = experiment(16_300);
    experiment.name = name.into();
    experiment.point = name.into();
    if name == "run2" {
        (experiment.model.layers, experiment.model.width, experiment.model.heads, experiment.model.hidden) = (20, 768, 12, 2048);
        if let Weights::Train(train) = &mut experiment.weights {
            train.length = Length::Steps(77_787);
        }
    }
    let scores = levels.iter().zip(1..).flat_map(|(&(legal, top1), number)| {
        let at = [number * every, number * every * tokens_per_step];
        [
            measured(&legality(1.0), Asked::Snapshot, at, vec![share("rate", legal, n)]),
            measured(&AGREEMENT, Asked::Snapshot, at, vec![share("top1", top1, n)]),
        ]
    });
    results(experiment, scores.collect())
}

fn both(n: u64) -> [Results; 2] {
    [published("run1", RUN1, 4_000, 192 * 256, n), published("run2", RUN2, 5_000, 160 * 256, n)]
}

const SHARED: Wanted = Wanted { axis: Axis::Shared, exploratory: false, all_settings: false };

fn compared(runs: &[Results], wanted: Wanted) -> anyhow::Result<Comparison> {
    let dir = tempfile::tempdir().expect("a folder");
    let store = Store::new(&dir.path().join("store")).expect("a store");
    Comparison::new(&subjects_of(runs), &store, wanted)
}

fn subjects_of(runs: &[Results]) -> Vec<Subject<'_>> {
    let members = runs.iter().flat_map(|results| results.points.iter().map(move |point| Member { results, point, folder: None }));
    subjects(members.collect())
}

/// The differences of a figure at the levels of equal tokens: the number, and what it comes to.
fn at_levels(comparison: &Comparison, metric: &str) -> Vec<(f64, Verdict)> {
    let sections = comparison.sections.iter().filter(|section| section.budget == Some(Budget::Tokens));
    let rows = sections.flat_map(|section| section.rows.iter().filter(|row| row.metric == metric));
    rows.map(|row| row.differences[0].as_ref().expect("both have it")).map(|d| (d.value, d.verdict.clone())).collect()
}

#[test]
fn the_published_runs_at_equal_tokens_differ_in_agreement_at_every_level_and_in_legality_at_none() {
    let comparison = compared(&both(2_000), SHARED).expect("one protocol");
    let legality = at_levels(&comparison, "legality");
    assert_eq!(legality.len(), 4);
    assert!(legality.iter().all(|(_, verdict)| *verdict == Verdict::Inconclusive), "{legality:?}");
    assert!(at_levels(&comparison, "agreement").iter().all(|(value, _)| *value > 0.0));
    let of = |metric: &str| {
        let trend = comparison.trends.iter().find(|trend| trend.metric == metric && trend.budget == Budget::Tokens);
        trend.map(|trend| (trend.better, trend.worse, trend.levels)).expect("four levels")
    };
    assert_eq!((of("legality"), of("agreement")), ((1, 3, 4), (4, 0, 4)));

    // With as many positions as a final figure has, the intervals say so too, and still not of legality.
    let comparison = compared(&both(20_000), SHARED).expect("one protocol");
    let agreement = at_levels(&comparison, "agreement");
    assert!(agreement.iter().all(|(_, verdict)| *verdict == Verdict::Better), "{agreement:?}");
}

#[test]
fn snapshots_of_unlike_schedules_meet_where_they_are_within_five_per_cent() {
    let runs = both(2_000);
    let comparison = compared(&runs, SHARED).expect("one protocol");
    let first = comparison.sections.iter().find(|section| section.budget == Some(Budget::Tokens)).expect("levels");
    let steps: Vec<u64> = first.rows[0].cells.iter().flatten().map(|figure| figure.step).collect();
    assert_eq!(steps, [4_000, 5_000]);
    // Work is another budget: the larger model spends 2.7 times as much on a token.
    let flops: Vec<_> = comparison.sections.iter().filter(|section| section.budget == Some(Budget::Flops)).collect();
    assert!(flops.iter().all(|section| section.rows.iter().all(|row| row.cells.iter().flatten().count() == 2)));

    let named = |tokens: f64| Wanted { axis: Axis::At(Budget::Tokens, tokens), ..SHARED };
    assert_eq!(compared(&runs, named(400e6)).expect("both are near").sections.len(), 1);
    let error = compared(&runs, named(300e6)).expect_err("nobody is near");
    assert_eq!(exit_of(&error), Exit::NotComparable);
    assert!(error.to_string().starts_with("`run1` was not measured within 5 % of 300 M tokens: it has step 4,000 at 197 M tokens below, and step 8,000 at 393 M tokens above"), "{error}");
}

fn single(name: &str, temperature: f64, points: f64, tokens: u64) -> Results {
    let mut experiment = experiment(16_300);
    experiment.name = name.into();
    experiment.point = name.into();
    experiment.model.layers += u32::from(name == "b");
    let score = measured(&legality(temperature), Asked::Final, [16_000, tokens], vec![share("rate", points, 20_000)]);
    results(experiment, vec![score])
}

#[test]
fn two_temperatures_are_refused_by_the_name_of_the_field_and_are_shown_apart_where_that_is_wanted() {
    let runs = [single("a", 1.0, 97.86, 800), single("b", 0.6, 99.20, 800)];
    let error = compared(&runs, SHARED).expect_err("two thermometers");
    assert_eq!(exit_of(&error), Exit::NotComparable);
    insta::assert_snapshot!(
        error,
        @"`legality` of `a` and of `b` were not measured by one protocol: temperature: 1.0 and 0.6"
    );
    assert!(error.downcast_ref::<Fixable>().expect("mendable").hint.as_ref().expect("a way on").contains("--exploratory"));

    let comparison = compared(&runs, Wanted { exploratory: true, ..SHARED }).expect("as wanted");
    let rows = &comparison.sections[0].rows;
    assert_eq!(rows.len(), 2, "a row each");
    assert!(rows.iter().all(|row| row.cells.iter().flatten().count() == 1 && row.differences[0].is_none()));
    let shown = markdown(&comparison);
    assert!(shown.contains("NOT COMPARABLE: legality of a and of b (temperature: 1.0 and 0.6)."), "{shown}");
}

#[test]
fn final_figures_of_unlike_budgets_are_ranked_only_where_that_is_asked() {
    let runs = [single("a", 1.0, 97.86, 800), single("b", 1.0, 98.85, 3_200)];
    let verdict = |axis| {
        let comparison = compared(&runs, Wanted { axis, ..SHARED }).expect("one protocol");
        comparison.sections[0].rows[0].differences[0].as_ref().expect("both have it").verdict.clone()
    };
    assert_eq!(verdict(Axis::Shared), Verdict::Unranked("trained on 4 × the tokens".to_owned()));
    assert_eq!(verdict(Axis::End), Verdict::Better);
}

#[test]
fn trainings_that_differ_in_their_seed_alone_stand_in_one_column() {
    let with_seed = |seed: u64, points: f64| {
        let mut results = single("a", 1.0, points, 800);
        let point = &mut results.points[0];
        point.experiment.point = format!("train.seed={seed}");
        if let Weights::Train(train) = &mut point.experiment.weights {
            train.seed = seed;
        }
        results
    };
    let runs = [with_seed(1, 97.0), with_seed(2, 98.0), single("b", 1.0, 97.5, 800)];
    let subjects = subjects_of(&runs);
    assert_eq!(subjects.iter().map(Subject::seeds).collect::<Vec<_>>(), [2, 1]);
    let comparison = compared(&runs, SHARED).expect("one protocol");
    let figure = comparison.sections[0].rows[0].cells[0].as_ref().expect("both seeds have it");
    assert!((figure.value.value - 0.975).abs() < 1e-9 && figure.value.n == 2);
    assert!(figure.value.method.starts_with("mean of 2 seeds"), "{}", figure.value.method);
    // The very same training twice is no second seed.
    let twice = [with_seed(1, 97.0), with_seed(1, 97.0)];
    assert_eq!(subjects_of(&twice).len(), 2);
    assert_eq!(
        compared(&twice, SHARED).expect("one protocol").sections[0].rows[0].differences[0].as_ref().map(|d| d.verdict.clone()),
        Some(Verdict::Same)
    );
}

#[test]
fn every_form_of_a_comparison_tells_the_same() {
    let runs = both(2_000);
    let comparison = compared(&runs, SHARED).expect("one protocol");
    insta::assert_snapshot!("a_comparison_in_markdown", markdown(&comparison));
    insta::assert_snapshot!("a_comparison_on_the_terminal", terminal(&comparison, 100));
    let csv = csv(&comparison).expect("a table");
    let figures: usize =
        comparison.sections.iter().flat_map(|section| &section.rows).map(|row| row.cells.iter().flatten().count()).sum();
    assert_eq!(csv.lines().count(), 1 + figures);
    let document: Json = serde_json::from_str(&json(&comparison).expect("a document")).expect("JSON");
    assert_eq!(document["schema"], 2);
    assert_eq!(document["sections"][0]["rows"][0]["cells"][0]["value"], 0.951);
    let one_level = Wanted { axis: Axis::At(Budget::Tokens, 400e6), ..SHARED };
    let comparison = compared(&runs, one_level).expect("one protocol");
    insta::assert_snapshot!("a_comparison_as_a_table", super::csv(&comparison).expect("a table"));
    insta::assert_snapshot!("a_comparison_as_a_document", json(&comparison).expect("a document"));
}

#[test]
fn no_line_on_the_terminal_is_wider_than_it_and_a_table_that_would_be_is_turned() {
    let models = [("a rather long name of a run", 800), ("b", 801), ("c", 802), ("d", 803), ("e", 804)]
        .map(|(name, tokens)| single(name, 1.0, 96.0 + 0.3 * (tokens - 800) as f64, tokens));
    let comparison = compared(&models, SHARED).expect("one protocol");
    for width in [60, 80, 100, 200] {
        let shown = terminal(&comparison, width);
        let widest = shown.lines().map(|line| line.chars().count()).max().expect("lines");
        assert!(widest <= width, "{widest} of {width}:\n{shown}");
    }
    let runs = both(2_000);
    let two = compared(&runs, SHARED).expect("one protocol");
    let head = ["figure", "run1", "run2", "difference", "protocol"];
    assert!(terminal(&two, 200).lines().any(|line| line.split_whitespace().eq(head)));
    insta::assert_snapshot!("five_models_on_the_terminal", terminal(&comparison, 80));
}

#[test]
fn a_name_that_is_long_gets_a_short_one_and_a_key() {
    let labels = |runs: &[Results]| subjects_of(runs).into_iter().map(|subject| subject.label).collect::<Vec<_>>();
    assert_eq!(labels(&both(20)), ["run1", "run2"]);
    let long = |name: &str| format!("the run that is called {name}");
    assert_eq!(labels(&[single(&long("a"), 1.0, 97.0, 8), single(&long("c"), 1.0, 97.0, 9)]), ["a", "c"]);
    let mut sized = [single(&long("a"), 1.0, 97.0, 8), single(&long("b"), 1.0, 97.0, 9)];
    sized[1].points[0].experiment.model.layers = 3;
    assert_eq!(labels(&sized), ["16 × 512", "3 × 512"]);
    let comparison = compared(&sized, SHARED).expect("one protocol");
    assert!(markdown(&comparison).contains("- **3 × 512**: the run that is called b"), "{}", markdown(&comparison));
}

#[test]
fn an_answer_says_which_at_what_by_how_much_and_what_it_would_take() {
    let comparison = compared(&both(2_000), SHARED).expect("one protocol");
    let answer = &comparison.answers[0];
    insta::assert_snapshot!("the_answer_of_the_published_runs", format!("{}\n{}", answer.lead, answer.findings.join("\n")));
    let unequal = compared(&[single("a", 1.0, 97.86, 800), single("b", 1.0, 98.85, 3_200)], SHARED).expect("one protocol");
    let answer = &unequal.answers[0];
    assert!(answer.lead.starts_with("At unequal budgets (b: 4 × the tokens") && answer.lead.contains("not ranked"), "{answer:?}");
    assert!(!answer.lead.contains("better"), "{answer:?}");
}

#[test]
fn what_is_equal_by_construction_is_not_listed_and_the_rest_is_allowed_for_its_number() {
    let with = |name: &str, clean: f64, points: f64, tokens: u64| {
        let mut results = single(name, 1.0, points, tokens);
        let games = Metric::FullGames { games: 200, temperature: 1.0, seed: 7 };
        results.points[0].scores.push(measured(&games, Asked::Final, [16_000, tokens], vec![share("clean", clean, 200)]));
        results
    };
    let comparison = compared(&[with("a", 0.0, 97.0, 800), with("b", 0.0, 98.0, 801), with("c", 0.0, 97.05, 802)], SHARED)
        .expect("one protocol");
    assert_eq!((comparison.chance.differences, comparison.chance.told, comparison.chance.told_of_all), (2, 1, 1));
    let shown = markdown(&comparison);
    assert!(shown.contains("Not listed: never seen in any (Games without an illegal move"), "{shown}");
    assert!(!shown.contains("| Games without"), "{shown}");
    let holm: Vec<f64> = comparison.sections[0].rows[0].differences.iter().flatten().filter_map(|d| d.p_holm).collect();
    assert!(holm[0] < 0.001 && holm[1] > 0.5, "{holm:?}");
    let one = compared(&[with("a", 0.0, 97.0, 800), with("b", 1.0, 98.0, 801)], SHARED).expect("one protocol");
    assert!(!markdown(&one).contains("Not listed"), "what one of them did is listed");
}

#[test]
fn snapshots_of_the_weights_that_the_final_figures_are_of_are_not_told_twice() {
    let levels = |name: &str, points: f64, step: u64| {
        let mut results = single(name, 1.0, points, 800);
        for at in [400, step] {
            let value = share("rate", points, 1_000);
            results.points[0].scores.push(measured(&legality(1.0), Asked::Snapshot, [at, at / 20], vec![value]));
        }
        results
    };
    // The final figures are of step 16,000.
    let runs = [levels("a", 97.0, 16_000), levels("b", 98.0, 16_000)];
    let comparison = compared(&runs, SHARED).expect("one protocol");
    assert_eq!((comparison.sections.len(), comparison.chance.differences), (3, 2));
    let shown = markdown(&comparison);
    assert!(shown.contains("The snapshots at 800 tokens are of these same weights") && !shown.contains("tokens: 800"), "{shown}");
    assert!(csv(&comparison).expect("a table").lines().filter(|line| line.ends_with(",final")).count() == 2);
    let dir = tempfile::tempdir().expect("a folder");
    write(&mut compared(&runs, SHARED).expect("one protocol"), &subjects_of(&runs), dir.path()).expect("written");
    let chart = fs_err::read_to_string(dir.path().join("charts/legality.svg")).expect("a chart");
    assert!(chart.contains("a: 97.0 %") && chart.contains("stars: final figures"), "{chart}");

    let earlier = compared(&[levels("a", 97.0, 15_900), levels("b", 98.0, 16_000)], SHARED).expect("one protocol");
    assert_eq!(earlier.chance.differences, 3, "other weights are another figure");
}

#[test]
fn an_answer_names_what_is_not_as_the_rest_is() {
    let with = |name: &str, points: f64, castling: f64, tokens: u64| {
        let mut results = single(name, 1.0, points, tokens);
        let rules = Metric::Rules { positions: 2_000, seed: 7 };
        let values = vec![share("castling.legal", castling, 2_000), share("promotion.legal", 0.0, 2_000)];
        results.points[0].scores.push(measured(&rules, Asked::Final, [16_000, tokens], values));
        results
    };
    let comparison = compared(&[with("a", 97.0, 60.0, 800), with("b", 98.0, 40.0, 801)], SHARED).expect("one protocol");
    let answer = &comparison.answers[0];
    assert!(answer.lead.ends_with(": b is better than a at legality."), "{answer:?}");
    insta::assert_snapshot!(
        answer.findings.last().expect("the count"),
        @"Of 2 figures with a better side: better at 1, worse at 1 (Castling: first choice legal, −20.0 points [−23.0, −16.9]); not among them 1 at zero in all."
    );
}

#[test]
fn a_page_and_its_charts_are_what_they_were() {
    let dir = tempfile::tempdir().expect("a folder");
    let runs = both(2_000);
    let mut comparison = compared(&runs, SHARED).expect("one protocol");
    let page = write(&mut comparison, &subjects_of(&runs), dir.path()).expect("written");
    let html = fs_err::read_to_string(&page).expect("the page");
    let (_, body) = html.split_once("<body>").expect("a body");
    let (body, _) = body.split_once("<script>").expect("a script");
    let pieces: Vec<&str> = body.split("<svg").map(|piece| piece.split_once("</svg>").map_or(piece, |(_, rest)| rest)).collect();
    insta::assert_snapshot!("the_page_of_a_comparison", pieces.join("<svg/>"));
    for chart in ["legality", "agreement"] {
        let svg = fs_err::read_to_string(dir.path().join(format!("charts/{chart}.svg"))).expect("a chart");
        insta::assert_snapshot!(format!("the_chart_of_{chart}"), svg);
    }
    // Again into the same folder: the same bytes.
    write(&mut comparison, &subjects_of(&runs), dir.path()).expect("it is ours");
    assert_eq!(fs_err::read_to_string(&page).expect("the page"), html);
}
