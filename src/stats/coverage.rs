//! Each interval on data whose truth is known: of 2,000 samples, 95 % ± 1.5 points must cover it.

use rand_chacha::ChaCha8Rng;

use super::cluster::{self, Cluster};
use super::survival::{Watched, survival};
use super::{Estimate, bootstrap, mean, wilson};
use crate::random::{below, stream, unit};

const DRAWS: u64 = 2_000;

/// The share of samples whose interval holds the truth.
pub(super) fn coverage(truth: f64, mut sample: impl FnMut(&mut ChaCha8Rng) -> Estimate) -> f64 {
    let holds = |draw: &u64| {
        let Estimate { low, high, .. } = sample(&mut stream(7, "coverage", *draw));
        (low..=high).contains(&truth)
    };
    (0..DRAWS).filter(holds).count() as f64 / DRAWS as f64
}

pub(super) fn covers(what: &str, got: f64) {
    assert!((0.935..=0.965).contains(&got), "{what}: {got}");
}

#[test]
fn wilsons_interval_covers_its_share() {
    for (p, n) in [(0.5, 200), (0.3, 100), (0.9, 300), (0.98, 600)] {
        let got = coverage(p, |rng| {
            let successes = (0..n).filter(|_| unit(rng) < p).count() as u64;
            wilson::share(successes, n).expect("a sample")
        });
        covers(&format!("p = {p}, n = {n}"), got);
    }
}

#[test]
fn students_interval_covers_its_mean() {
    let of = |n: u32, rng: &mut ChaCha8Rng, value: &dyn Fn(&mut ChaCha8Rng) -> f64| {
        let values: Vec<f64> = (0..n).map(|_| value(rng)).collect();
        mean::mean(&values, &(-9.0..=9.0)).expect("a sample")
    };
    // Twelve evenly spread numbers together are as good as normal, where few are enough.
    covers("normal, n = 5", coverage(0.0, |rng| of(5, rng, &|rng| (0..12).map(|_| unit(rng)).sum::<f64>() - 6.0)));
    covers("even, n = 30", coverage(0.5, |rng| of(30, rng, &|rng| unit(rng))));
    // As masses lie, most of them near 1.
    covers("skewed, n = 200", coverage(0.75, |rng| of(200, rng, &|rng| 1.0 - unit(rng).powi(3))));
}

/// Sixty games of 20 to 80 positions, each with a chance of its own around `p`.
fn games(rng: &mut ChaCha8Rng, p: f64, spread: f64) -> Vec<Cluster> {
    let game = |_| {
        let (items, chance) = (20 + below(rng, 61), p + spread * (2.0 * unit(rng) - 1.0));
        Cluster { sum: (0..items).filter(|_| unit(rng) < chance).count() as f64, items }
    };
    (0..60).map(game).collect()
}

fn naive(clusters: &[Cluster]) -> Estimate {
    let [right, items] =
        [|cluster: &Cluster| cluster.sum as u64, |cluster: &Cluster| cluster.items].map(|of| clusters.iter().map(of).sum());
    wilson::share(right, items).expect("a sample")
}

#[test]
fn where_games_differ_the_clustered_interval_covers_and_wilsons_fails() {
    let share = |clusters: &[Cluster]| cluster::share(clusters).expect("a sample");
    covers("games that differ", coverage(0.5, |rng| share(&games(rng, 0.5, 0.25))));
    let fails = coverage(0.5, |rng| naive(&games(rng, 0.5, 0.25)));
    assert!(fails < 0.9, "{fails}");
    // Where games are alike, both do.
    covers("games alike", coverage(0.8, |rng| share(&games(rng, 0.8, 0.0))));
    covers("games alike, by Wilson", coverage(0.8, |rng| naive(&games(rng, 0.8, 0.0))));
}

#[test]
fn the_interval_of_a_survival_covers_it_though_games_end() {
    // An illegal token in one of 25 plies; games end in one of 50.
    let truth = 0.96_f64.powi(20);
    let game = |rng: &mut ChaCha8Rng| {
        let last = |until: &u32, rng: &mut ChaCha8Rng| unit(rng) < 0.02 || *until == 200;
        let mut until = 1;
        loop {
            if unit(rng) < 0.04 {
                return Watched { until, event: true };
            }
            if last(&until, rng) {
                return Watched { until, event: false };
            }
            until += 1;
        }
    };
    let got = coverage(truth, |rng| {
        let watched: Vec<Watched> = (0..100).map(|_| game(rng)).collect();
        survival(&watched, 20).expect("some games last so long")
    });
    covers("after 20 plies", got);
}

#[test]
fn the_bootstrap_covers_a_mean() {
    let got = coverage(0.5, |rng| {
        let values: Vec<f64> = (0..80).map(|_| unit(rng)).collect();
        let mean = |items: &[usize]| items.iter().map(|&item| values[item]).sum::<f64>() / items.len() as f64;
        bootstrap::percentile(80, 200, below(rng, 1 << 40), mean).expect("a sample")
    });
    covers("a mean", got);
}
