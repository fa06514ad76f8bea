//! Every chart as it looks at the width of a desk. A change is seen by whoever reads the diff.

use super::{folder, run};
use crate::report::charts::{self, WIDE};
use crate::report::fixture::{Fixture, Wish, experiment};
use crate::report::results::Results;

#[test]
fn every_chart_of_a_point_looks_as_it_did() {
    let dir = folder();
    let mut point = experiment(40);
    point.training().snapshots.every = 8;
    let Fixture { run_dir, store } = run(dir.path(), &[point], &Wish::default());
    let results = Results::load(&run_dir, &store).expect("a run");
    for chart in charts::CHARTS {
        let drawing = (chart.draw)(&results, &results.points[0]).unwrap_or_else(|| panic!("{} has its numbers", chart.name));
        insta::assert_snapshot!(format!("{}.svg", chart.name), charts::svg(&drawing, WIDE));
    }
}
