//! How long a report takes: measured by hand, on a machine that does nothing else.

use std::io::Write as _;
use std::time::Instant;

use super::{folder, read, run};
use crate::experiment::Experiment;
use crate::measure::metric::Metric;
use crate::report::fixture::{Fixture, Wish, experiment};
use crate::report::results::Results;
use crate::report::{Page, draw, tables, write};

/// Fifty models of 20 snapshots each.
fn many() -> Vec<Experiment> {
    let mut points = Vec::new();
    for width in [64, 128, 192, 256, 320, 384, 448, 512, 640, 768] {
        for peak in [1e-4, 3e-4, 1e-3, 3e-3, 1e-2] {
            let mut point = experiment(400);
            point.point = format!("width={width} peak={peak}");
            (point.model.layers, point.model.width, point.model.heads) = (4, width, 4);
            point.training().learning_rate.peak = peak;
            point.training().snapshots.every = 20;
            points.push(point);
        }
    }
    points
}

/// One model of a hundred snapshots, with more than 10,000 rows of figures.
fn long() -> Experiment {
    let mut point = experiment(16_000);
    point.training().snapshots.every = 160;
    let more = [Metric::Mass { positions: 2000, seed: 7 }, Metric::Dense { games: 60, temperature: 1.0, seed: 7 }];
    point.measure.snapshots.extend(more);
    point.measure.snapshots.push(Metric::Calibration { positions: 2000, seed: 7 });
    point
}

fn timed(points: &[Experiment]) {
    let dir = folder();
    let Fixture { run_dir, store } = run(dir.path(), points, &Wish::default());
    let mut begin = Instant::now();
    let mut told = std::io::stderr();
    let mut lap = |what: &str| {
        writeln!(told, "{what}: {:.2} s", begin.elapsed().as_secs_f64()).expect("somebody reads");
        begin = Instant::now();
    };
    let results = Results::load(&run_dir, &store).expect("a run");
    lap("read");
    let drawn = draw(&results);
    lap("drawn");
    let tables_dir = dir.path().join("tables");
    let names = tables::write(&results, &tables_dir).expect("room");
    lap("tables");
    let page = Page::new(&results, &drawn, &names);
    let html = page.html(false).expect("a page");
    lap("page");
    write(&run_dir, &store).expect("a report");
    lap("all, the first time");
    write(&run_dir, &store).expect("a report");
    lap("all, drawn again");
    super::keep(&run_dir, if points.len() > 1 { "many" } else { "long" });
    let rows = read(&tables_dir.join("metrics.csv")).lines().count() - 1;
    lap(&format!("{} charts, {} bytes of page, {rows} rows of figures", drawn.len(), html.len()));
}

#[test]
#[ignore = "it measures: cargo test --lib timed -- --ignored --nocapture --test-threads 1"]
fn the_report_of_fifty_points_is_timed() {
    timed(&many());
}

#[test]
#[ignore = "it measures: cargo test --lib timed -- --ignored --nocapture --test-threads 1"]
fn the_report_of_a_hundred_snapshots_and_ten_thousand_rows_is_timed() {
    timed(&[long()]);
}
