//! Every chart over hostile results: no text over another, none outside, no number that is none.

use super::collisions::collisions;
use super::{folder, hostile, read, run};
use crate::measure::score::Value;
use crate::report::charts::{self, NARROW, WIDE};
use crate::report::fixture::{Fixture, Wish, experiment};
use crate::report::results::{Measured, Results};
use crate::report::{Page, draw, tables, write};
use crate::train::config::Length;

fn assert_readable(what: &str, results: &Results) -> usize {
    let of_points = results
        .points
        .iter()
        .flat_map(|point| charts::CHARTS.iter().filter_map(move |chart| Some((chart.name, (chart.draw)(results, point)?))));
    let of_run = charts::OVERVIEW.iter().filter_map(|chart| Some((chart.name, (chart.draw)(results)?)));
    let mut drawn = 0;
    for (name, drawing) in of_points.chain(of_run) {
        for width in [WIDE, NARROW] {
            let svg = charts::svg(&drawing, width);
            let found = collisions(&svg);
            assert!(found.is_empty(), "{what}, {name} at {width}: {found:#?}");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{what}, {name}");
            drawn += 1;
        }
    }
    for card in results.points.iter().flat_map(|point| charts::cards(results, point)) {
        let found = collisions(&card.svg);
        assert!(found.is_empty(), "{what}, {}: {found:#?}", card.name);
        assert!(!card.svg.contains("NaN") && !card.svg.contains("inf<"), "{what}, {}", card.name);
    }
    drawn
}

#[test]
fn no_text_of_any_chart_lies_over_another_or_leaves_the_sheet_whatever_the_numbers() {
    for (what, change) in hostile::CHANGES {
        let dir = folder();
        let wish = Wish { change: *change, ..Wish::default() };
        let Fixture { run_dir, store } = run(dir.path(), &[experiment(160)], &wish);
        let results = Results::load(&run_dir, &store).expect("a run");
        let drawn = assert_readable(what, &results);
        assert!(*what != "as usual" || drawn == 2 * (charts::CHARTS.len() + 1), "{drawn}");
        // All of a report but its pictures, which are made of these charts.
        let tables = tables::write(&results, dir.path()).unwrap_or_else(|error| panic!("{what}: {error:#}"));
        let page = Page::new(&results, &draw(&results), &tables);
        page.html(false).unwrap_or_else(|error| panic!("{what}: {error:#}"));
        assert!(!page.markdown().expect("as good as its twin").contains("NaN"), "{what}");
    }
}

#[test]
fn long_names_many_points_and_tiny_trainings_stay_readable() {
    let long = "a point with <a name> that goes on & on, learning_rate.peak=0.000600000000001 and_a_word_that_never_ends_anywhere_at_all";
    let points: Vec<_> = (0..9)
        .map(|i| {
            let mut point = experiment([2, 3, 40][i % 3]);
            point.point = format!("{long} {i}");
            point.training().seed = i as u64;
            point.training().length = Length::Steps([2, 3, 40][i % 3]);
            point
        })
        .collect();
    let dir = folder();
    let Fixture { run_dir, store } = run(dir.path(), &points, &Wish::default());
    let results = Results::load(&run_dir, &store).expect("a run");
    assert!(assert_readable("long names", &results) > 50);
    let html = read(&write(&run_dir, &store).expect("a report").html);
    assert!(!html.contains("<a name>"), "names are escaped");
}

/// What no file can say in JSON, or no fixture writes: it is set in what was read.
type Set = (&'static str, fn(&mut Measured));

const SET: &[Set] = &[
    ("values that are no numbers", |score| values(score, |value| value.value = f64::NAN)),
    ("intervals that are no numbers", |score| {
        values(score, |value| (value.low, value.high) = (f64::NAN, f64::NAN));
    }),
    ("bounds that are open", |score| {
        values(score, |value| (value.low, value.high) = (f64::NEG_INFINITY, f64::INFINITY));
    }),
    ("an open bound above", |score| values(score, |value| value.high = f64::INFINITY)),
    ("one part of each name", |score| {
        let mut seen = Vec::new();
        score.score.values.retain(|value| {
            let new = !seen.contains(&value.name) || value.slice.is_empty();
            seen.push(value.name.clone());
            new
        });
    }),
    ("parts with names that never end", |score| {
        values(score, |value| {
            if !value.slice.is_empty() {
                value.slice = format!("{} a_word_that_never_ends_anywhere_at_all and goes on & on for ever", value.slice);
            }
        });
    }),
    ("moves that nobody makes", |score| {
        score.next_moves.iter_mut().for_each(|next| (next.probability, next.games) = (0.0, 0));
    }),
    ("moves without a probability", |score| score.next_moves.iter_mut().for_each(|next| next.probability = f64::NAN)),
    ("one move", |score| score.next_moves.truncate(1)),
    ("lines that are none", |score| {
        score.next_moves.iter_mut().for_each(|next| (next.prefix, next.uci) = ("e4 ".repeat(40), "Zz".repeat(30)));
    }),
    ("one game", |score| score.own_games.truncate(1)),
    ("games of no ply", |score| score.own_games.iter_mut().for_each(|game| game.plies = 0)),
    ("a game of all plies", |score| score.own_games.iter_mut().for_each(|game| game.plies = 17_697)),
    ("games of equal length", |score| score.own_games.iter_mut().for_each(|game| game.plies = 31)),
    ("ends that nobody knows", |score| {
        let counts = std::mem::take(&mut score.score.counts);
        score.score.counts =
            counts.into_iter().map(|(kind, n)| (kind + "_of_a_kind_that_nobody_has_ever_heard_of_before", n)).collect();
    }),
];

fn values(score: &mut Measured, change: fn(&mut Value)) {
    score.score.values.iter_mut().for_each(change);
}

#[test]
fn nor_does_it_where_numbers_are_none_bounds_are_open_and_parts_few_or_without_end() {
    let dir = folder();
    let Fixture { run_dir, store } = run(dir.path(), &[experiment(40)], &Wish::default());
    for (what, set) in SET {
        let mut results = Results::load(&run_dir, &store).expect("a run");
        results.points[0].scores.iter_mut().for_each(set);
        assert_readable(what, &results);
    }
}

#[test]
fn an_open_bound_is_an_arrow() {
    let dir = folder();
    let Fixture { run_dir, store } = run(dir.path(), &[experiment(40)], &Wish::default());
    let mut results = Results::load(&run_dir, &store).expect("a run");
    let chart = charts::CHARTS.iter().find(|chart| chart.name == "puzzles").expect("a chart");
    let lines = |results: &Results| {
        let drawing = (chart.draw)(results, &results.points[0]).expect("puzzles");
        charts::svg(&drawing, WIDE).matches("<polyline").count()
    };
    let closed = lines(&results);
    let of_puzzles = results.points[0].scores.iter_mut().filter(|score| score.metric.name() == "puzzles");
    of_puzzles.for_each(|score| score.score.values[1].high = f64::INFINITY);
    // Two strokes of the arrow in the place of one that closes the whisker.
    assert_eq!(lines(&results), closed + 1);
}
