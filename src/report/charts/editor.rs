//! What an editor would strike out of any chart, as tests over all of them.

use super::drawing::{Drawing, Mark, Panel, Shape};
use super::style::{TEXT, Weight, wrap};
use super::{CHARTS, NARROW, OVERVIEW, WIDE, svg};
use crate::report::fixture::{Fixture, Wish, experiment, write};
use crate::report::results::Results;

/// The charts of a run as they come, by name.
fn all(steps: u64) -> (Results, Vec<(&'static str, Drawing)>) {
    let dir = tempfile::tempdir().expect("a folder");
    let Fixture { run_dir, store } = write(dir.path(), &[experiment(steps)], &Wish::default());
    let results = Results::load(&run_dir, &store).expect("a run");
    let of_point = CHARTS.iter().filter_map(|chart| Some((chart.name, (chart.draw)(&results, &results.points[0])?)));
    let of_run = OVERVIEW.iter().filter_map(|chart| Some((chart.name, (chart.draw)(&results)?)));
    let charts = of_point.chain(of_run).collect();
    (results, charts)
}

fn texts(svg: &str) -> impl Iterator<Item = &str> {
    svg.split("<text").skip(1).filter_map(|rest| rest.split_once('>')?.1.split("</text>").next()).map(str::trim)
}

#[test]
fn a_subtitle_says_how_to_read_a_chart_in_two_lines_at_most() {
    for (name, drawing) in all(160).1 {
        let lines = wrap(&drawing.subtitle, TEXT, Weight::Regular, WIDE - 28.0);
        assert!(lines.len() <= 2, "{name}: {lines:#?}");
    }
}

#[test]
fn no_text_is_cut_off_and_no_number_torn_from_its_sign() {
    for (name, drawing) in all(160).1 {
        for width in [WIDE, NARROW] {
            for text in texts(&svg(&drawing, width)) {
                assert!(!text.ends_with('…'), "{name} at {width}: `{text}`");
                assert!(!text.starts_with(['%', '=']) && !text.ends_with('='), "{name} at {width}: `{text}`");
            }
        }
    }
}

#[test]
fn bars_and_columns_start_at_zero() {
    for (name, drawing) in all(160).1 {
        for panel in &drawing.panels {
            match panel {
                Panel::Bars(bars) if bars.shape == Shape::Bar => {
                    assert!(super::bars::axis(bars).0.abs() < f64::EPSILON, "{name}: {}", bars.heading);
                }
                Panel::Plane(plane) if plane.marks.iter().any(|mark| matches!(mark, Mark::Columns { .. })) => {
                    assert!(super::plane::y_ticks(plane).0.0.abs() < f64::EPSILON, "{name}: {}", plane.heading);
                }
                _ => (),
            }
        }
    }
}

#[test]
fn every_row_of_bars_has_an_axis_and_says_its_value() {
    for (name, drawing) in all(160).1.into_iter().filter(|(name, _)| *name != "points") {
        for panel in &drawing.panels {
            let Panel::Bars(bars) = panel else { continue };
            assert!(bars.axis.is_some(), "{name}: {}", bars.heading);
            assert!(bars.rows.iter().all(|row| !row.text.is_empty() || !row.cells.is_empty()), "{name}: {}", bars.heading);
            assert!(bars.rows.iter().all(|row| row.cells.len() == bars.heads.len()), "{name}: each column has its head");
        }
    }
}

#[test]
fn ticks_stand_only_at_temperatures_that_were_measured() {
    let (results, charts) = all(40);
    let measured: Vec<f64> = results.points[0].finals("full_games").iter().filter_map(|score| score.temperature()).collect();
    let (_, drawing) = charts.iter().find(|(name, _)| *name == "full-games-by-temperature").expect("it is drawn");
    for panel in &drawing.panels {
        let Panel::Plane(plane) = panel else { panic!("five temperatures are a curve") };
        assert_eq!(plane.x.ticks, measured);
    }
    let (mut results, _) = all(40);
    let hottest =
        |score: &crate::report::results::Measured| score.metric.name() != "full_games" || score.temperature() >= Some(0.8);
    results.points[0].scores.retain(hottest);
    let drawing = super::full_games::by_temperature(&results, &results.points[0]).expect("two temperatures");
    assert!(drawing.panels.iter().all(|panel| matches!(panel, Panel::Bars(_))), "two temperatures are rows, and no curve");
}

#[test]
fn what_is_not_known_fills_no_more_than_a_third_of_a_panel_whose_axis_is_free() {
    let (mut results, _) = all(40);
    // Of few games that were played none was clean, but for one at first.
    for score in &mut results.points[0].scores {
        for value in score.score.values.iter_mut().filter(|value| value.name == "clean") {
            let share = if score.score.checkpoint.step == 0 { 0.02 } else { 0.0 };
            (value.value, value.low, value.high, value.n) = (share, 0.0, 0.071, 50);
        }
    }
    let drawing = super::full_games::by_tokens(&results, &results.points[0]).expect("snapshots");
    let Panel::Plane(plane) = &drawing.panels[0] else { panic!("a curve") };
    let (low, high) = super::plane::y_ticks(plane).0;
    assert!(low.abs() < f64::EPSILON && (high - 0.213).abs() < 1e-9, "{low} {high}");
    assert!(svg(&drawing, WIDE).contains("\n0 of 50<"), "and it says of how many");
}

#[test]
fn curves_that_coincide_are_both_seen_and_said_to() {
    let (mut results, _) = all(40);
    let found = results.points[0].inspection.as_mut().expect("an inspection");
    found.overlap.by_ply.iter_mut().for_each(|at| at.prefixes = at.seen);
    let drawing = super::overlap::draw(&results, &results.points[0]).expect("an inspection");
    let Panel::Plane(plane) = &drawing.panels[0] else { panic!("a curve") };
    let is_dashed = |mark: &Mark| matches!(mark, Mark::Line { stroke: super::drawing::Stroke::Dashed, .. });
    assert_eq!(plane.marks.iter().filter(|mark| is_dashed(mark)).count(), 1);
    assert!(drawing.subtitle.contains("coincide"));
}

#[test]
fn a_run_that_kept_everything_says_so_in_words_and_one_without_times_shows_how_long_it_took() {
    let timeline = |state: fn(&crate::plan::Node) -> &'static str, forget: bool| {
        let dir = tempfile::tempdir().expect("a folder");
        let Fixture { run_dir, store } = write(dir.path(), &[experiment(40)], &Wish { state, ..Wish::default() });
        let mut results = Results::load(&run_dir, &store).expect("a run");
        if forget {
            results.nodes.iter_mut().for_each(|node| node.spans.clear());
        }
        super::timeline::draw(&results).expect("work")
    };
    let kept = timeline(|_| "kept", false);
    assert!(kept.panels.is_empty() && kept.subtitle.starts_with("Nothing was made in this run: "), "{}", kept.subtitle);
    assert!(matches!(timeline(|_| "made", false).panels[..], [Panel::Spans(_)]));
    assert!(matches!(timeline(|_| "made", true).panels[..], [Panel::Bars(_)]));
}

#[test]
fn a_device_check_says_more_than_the_speed_or_is_not_drawn() {
    let (mut results, charts) = all(160);
    let panels = |results: &Results| super::device::draw(results, &results.points[0]).map(|drawing| drawing.panels.len());
    assert!(charts.iter().any(|(name, drawing)| *name == "device" && drawing.panels.len() == 5), "four panels and a note");
    let training = results.points[0].training.as_mut().expect("a training");
    training.device.as_mut().expect("a device").matmul_flops_per_second = None;
    assert_eq!(panels(&results), Some(4), "what it told of itself, and a note");
    let training = results.points[0].training.as_mut().expect("a training");
    training.device.as_mut().expect("a device").matmul_flops_per_second = Some(62.86e12);
    for lap in &mut training.speed {
        (lap.power_watts, lap.clock_mhz, lap.temperature_celsius) = (None, None, None);
    }
    assert_eq!(panels(&results), None);
}

#[test]
fn a_matrix_product_slower_than_the_training_is_not_trusted_and_no_share_of_it_drawn() {
    let (mut results, charts) = all(160);
    let panels = |drawing: &Drawing| drawing.panels.len();
    assert!(charts.iter().any(|(name, drawing)| *name == "speed" && panels(drawing) == 2), "tokens a second, and MFU");
    results.points[0].training.as_mut().expect("a training").device.as_mut().expect("a device").matmul_flops_per_second =
        Some(1e12);
    let drawing = super::speed::draw(&results, &results.points[0]).expect("a speed");
    assert!(matches!(&drawing.panels[..], [Panel::Plane(_), Panel::Note(note)] if note.contains("MFU is not to be trusted")));
    assert!(!drawing.alt.contains("MFU"), "{}", drawing.alt);
}

#[test]
fn a_panel_of_nothing_but_zeros_is_a_sentence() {
    let (mut results, _) = all(40);
    for score in &mut results.points[0].scores {
        for value in score.score.values.iter_mut().filter(|value| value.name == "clean") {
            (value.value, value.low, value.high, value.n) = (0.0, 0.0, 0.071, 50);
        }
    }
    let drawing = super::full_games::by_tokens(&results, &results.points[0]).expect("lengths");
    let Panel::Note(note) = drawing.panels.last().expect("a note") else { panic!("a note") };
    assert!(note.starts_with("No game was without an illegal move: none of 50"), "{note}");
    assert_eq!(drawing.panels.len(), 2, "the lengths are left, and the note");
}

#[test]
fn parts_of_few_games_have_no_interval_and_games_of_no_part_are_a_row() {
    let (mut results, _) = all(40);
    for score in results.points[0].scores.iter_mut().filter(|score| score.metric.name() == "dense") {
        score.score.counts.insert("games".to_owned(), 60);
        for value in score.score.values.iter_mut().filter(|value| value.name == "top1") {
            match value.slice.as_str() {
                "" => value.n = 4_543,
                slice if slice.starts_with("rating ") => value.n = 135,
                _ => (),
            }
        }
    }
    let drawing = super::by_part::agreement(&results, &results.points[0]).expect("parts");
    let ratings = drawing.panels.iter().find_map(|panel| match panel {
        Panel::Bars(bars) if bars.heading == "By the players' mean rating" => Some(&bars.rows),
        _ => None,
    });
    let (others, rated) = ratings.and_then(|rows| rows.split_last()).expect("rows");
    assert!(rated.iter().all(|row| row.interval.is_none() && !row.cells[0].contains('[')), "two games or so each");
    assert_eq!(others.cells, ["–".to_owned(), crate::text::thousands(4_543 - 135 * rated.len() as u64)]);
    let Some(Panel::Note(note)) = drawing.panels.last() else { panic!("a note") };
    assert!(note.contains("fewer than 758 plies, which is about 10 games"), "{note}");
}
