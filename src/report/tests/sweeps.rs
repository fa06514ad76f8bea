//! The page of a sweep: what it answers, what it draws, and what it does not repeat.

use super::{folder, run};
use crate::experiment::Experiment;
use crate::measure::metric::Metric;
use crate::report::fixture::{Fixture, Wish, experiment};
use crate::report::write;

/// A model of a size, trained from a seed.
pub(super) fn size(layers: u32, width: u32, seed: u64) -> Experiment {
    let mut point = experiment(160);
    point.name = "sizes".into();
    point.question = "What does a larger model learn from the same games?".into();
    let named = if seed == 1337 { String::new() } else { format!(" seed={seed}") };
    point.point = format!("layers={layers} width={width} heads={}{named}", width / 64);
    (point.model.layers, point.model.width, point.model.heads, point.model.hidden) = (layers, width, width / 64, width * 11 / 4);
    point.training().seed = seed;
    point.training().snapshots.every = 20;
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

#[test]
#[expect(clippy::print_stderr, reason = "a measurement is read by people")]
fn scratch() {
    if let Ok(dir) = std::env::var("PHILIDOR_DRAW") {
        let (dir, store) = dir.split_once(':').expect("RUN:STORE");
        let begin = std::time::Instant::now();
        write(dir.as_ref(), &crate::store::Store::at(store.as_ref())).expect("a report");
        eprintln!("{:?}", begin.elapsed());
    }
    let dir = folder();
    let Fixture { run_dir, store } = run(dir.path(), &sizes(), &Wish::default());
    write(&run_dir, &store).expect("a report");
    super::keep(&run_dir, "sizes");
}
