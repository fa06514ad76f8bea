//! Every number of the page that is worked out of others, or stands in no table of its own: long form.

use anyhow::Result;
use polars::prelude::{DataFrame, df};

use super::{frame, some};
use crate::chess::vocabulary::VOCABULARY_SIZE;
use crate::report::page::work;
use crate::report::results::{Measured, Point, Results, State};
use crate::report::settings::since_1970;
use crate::report::words::{TOLD, known, passes_over, positions_a_game, validation_tokens};
use crate::stats::Estimate;

struct Number {
    point: String,
    about: &'static str,
    name: String,
    value: f64,
    /// Low and high, and of how many: where it is an estimate.
    within: Option<(f64, f64, u64)>,
    unit: &'static str,
}

impl Number {
    fn new(about: &'static str, name: impl Into<String>, value: f64, unit: &'static str) -> Self {
        Self { point: String::new(), about, name: name.into(), value, within: None, unit }
    }

    fn count(about: &'static str, name: impl Into<String>, count: u64, unit: &'static str) -> Self {
        Self::new(about, name, count as f64, unit)
    }

    fn share(about: &'static str, name: impl Into<String>, of: u64, all: u64) -> Option<Self> {
        (all > 0).then(|| Self::new(about, name, of as f64 / all as f64, "share"))
    }
}

pub(super) fn summary(results: &Results) -> Result<Option<DataFrame>> {
    let mut all = of_run(results);
    for point in &results.points {
        let numbers = [model(point), training(point), corpus(point), overlap(point), own_games(point)].into_iter().flatten();
        all.extend(numbers.map(|number| Number { point: point.title().to_owned(), ..number }));
    }
    Ok(some(frame!(all, row => {
        "point": row.point.as_str(),
        "about": row.about,
        "name": row.name.as_str(),
        "value": row.value,
        "low": row.within.map(|within| within.0),
        "high": row.within.map(|within| within.1),
        "n": row.within.map(|within| within.2),
        "unit": row.unit,
    })?))
}

fn of_run(results: &Results) -> Vec<Number> {
    let of = |state: State| results.of_state(state).count() as u64;
    let (device, threads) = results.machine();
    let mut all = vec![Number::count("run", "nodes", results.nodes.len() as u64, "nodes")];
    let states = [State::Made, State::Kept, State::Failed, State::Refused, State::Skipped, State::Pending];
    all.extend(states.map(|state| Number::count("run", format!("nodes {}", state.name()), of(state), "nodes")));
    all.push(Number::new("run", "work", work(results), "s"));
    all.push(Number::count("run", "bytes", results.nodes.iter().filter_map(|outcome| outcome.bytes).sum(), "bytes"));
    all.extend(threads.map(|threads| Number::count("run", format!("threads beside {device}"), threads, "threads")));
    let took =
        results.run.finished.as_deref().and_then(|finished| Some(since_1970(finished)? - since_1970(&results.run.started)?));
    all.extend(took.map(|took| Number::new("run", "took", took, "s")));
    all
}

fn model(point: &Point) -> Vec<Number> {
    let model = &point.experiment.model;
    vec![
        Number::count("model", "parameters without embeddings", model.parameters(), "parameters"),
        Number::count("model", "parameters of the embedding", model.embedding_parameters(), "parameters"),
        Number::count("model", "FLOPs per token", model.flops_per_token(), "FLOP"),
        Number::count("model", "context", model.context.into(), "tokens"),
        Number::new("model", "loss by guessing", (VOCABULARY_SIZE as f64).ln(), "nats"),
    ]
}

fn training(point: &Point) -> Vec<Number> {
    let Some(training) = &point.training else { return Vec::new() };
    let loss = |name: &str, loss: f64| Number::new("training", name, loss, "nats");
    let steps = training.curve.len() as u64;
    let mut all = vec![
        Number::count("training", "steps", training.curve.last().map_or(0, |last| last.step), "steps"),
        Number::count("training", "tokens", training.curve.last().map_or(0, |last| last.tokens), "tokens"),
        Number::count("training", "tokens of a validation", validation_tokens(point), "tokens"),
        Number::count("training", "steps skipped", training.skipped(), "steps"),
    ];
    all.extend(
        passes_over(point).map(|(passes, _)| Number::new("training", "passes over the training tokens", passes, "passes")),
    );
    all.extend(Number::share("training", "steps skipped", training.skipped(), steps));
    all.extend(training.final_loss().map(|value| loss("training loss at the end", value)));
    all.extend(training.validation.last().map(|last| loss("validation loss at the end", last.loss)));
    if let Some(best) = training.best {
        all.extend([loss("best validation loss", best.loss), Number::count("training", "step of the best", best.step, "steps")]);
    }
    all.extend(training.average.map(|average| loss("validation loss of the average of the weights", average.loss)));
    if let Some(packed) = training.summary.packing {
        all.extend([
            Number::count("training", "packed windows", packed.windows, "windows"),
            Number::count("training", "games cut", packed.cut_games, "games"),
            Number::count("training", "tokens cut", packed.cut_tokens, "tokens"),
        ]);
    }
    if let Some(device) = &training.device {
        all.push(Number::count("training", format!("threads beside {}", device.device), device.threads, "threads"));
        all.extend(device.tokens_per_second.map(|speed| Number::new("training", "speed", speed, "tokens/s")));
        all.extend(device.matmul_flops_per_second.map(|flops| Number::new("training", "matmul", flops, "FLOP/s")));
        all.extend(device.mfu.map(|mfu| Number::new("training", "MFU", mfu, "share")));
        all.extend(device.peak_memory_bytes.map(|peak| Number::count("training", "peak memory", peak, "bytes")));
    }
    all
}

fn corpus(point: &Point) -> Vec<Number> {
    let Some(corpus) = point.corpus() else { return Vec::new() };
    let mut all = vec![
        Number::count("corpus", "games read", corpus.read, "games"),
        Number::count("corpus", "games kept", corpus.kept, "games"),
    ];
    all.extend(Number::share("corpus", "games kept", corpus.kept, corpus.read));
    let [least, most] = point.experiment.corpus.keep.elo.map(f64::from);
    all.extend([
        Number::new("corpus", "lowest rating kept", least, "Elo"),
        Number::new("corpus", "highest rating kept", most, "Elo"),
    ]);
    all.extend(
        positions_a_game(point).map(|each| Number::new("corpus", "positions asked, per validation game", each, "positions")),
    );
    all.extend(corpus.mean_plies().map(|mean| Number::new("corpus", "mean length", mean, "plies")));
    all.extend(corpus.by_rules().map(|share| Number::new("corpus", "ended by mate or drawn by a rule", share, "share")));
    all
}

fn overlap(point: &Point) -> Vec<Number> {
    let Some(found) = &point.inspection else { return Vec::new() };
    let overlap = &found.overlap;
    let (same, games) = (found.overlap_games, found.distinct_validation_games);
    let mut all = vec![
        Number::count("overlap", "distinct validation games", games, "games"),
        Number::count("overlap", "of these, training games", same, "games"),
        Number::count("overlap", "validation games looked at", overlap.games, "games"),
        Number::count("overlap", "positions looked at", overlap.positions, "positions"),
        Number::count("overlap", "games replayed", found.replayed, "games"),
        Number::count("overlap", "games that fail", found.failed, "games"),
    ];
    all.extend(Number::share("overlap", "of these, training games", same, games));
    let estimate = |name: String, estimate: Estimate| Number {
        within: Some((estimate.low, estimate.high, estimate.n)),
        ..Number::new("overlap", name, estimate.value, "share")
    };
    let of = |what: &str, hits, n| known(found, hits, n).map(|share| estimate(what.to_owned(), share));
    all.extend(of("positions in a training game", overlap.seen, overlap.positions));
    all.extend(of("positions by the same moves", overlap.prefixes, overlap.positions));
    let by_ply = overlap.by_ply.iter().filter(|at| TOLD.contains(&at.ply)).filter_map(|at| {
        let share = known(found, at.prefixes, at.positions)?;
        Some(estimate(format!("the same moves after {} plies", at.ply), share))
    });
    all.extend(by_ply);
    all
}

/// How clean games ended, and how many of all games are different.
fn own_games(point: &Point) -> Vec<Number> {
    let games = |score: &Measured| {
        let at = score.temperature().map_or_else(String::new, |t| format!(" at T = {t}"));
        let games = &score.own_games;
        let distinct = games.iter().map(|game| &game.moves).collect::<std::collections::BTreeSet<_>>().len();
        [
            ("games", games.len()),
            ("clean games", games.iter().filter(|game| game.is_clean()).count()),
            ("games that the model ended", games.iter().filter(|game| game.end == "eos_non_terminal").count()),
            ("distinct games", distinct),
        ]
        .map(|(name, count)| Number::count("own games", format!("{name}{at}"), count as u64, "games"))
    };
    let mut all: Vec<_> = point.finals("full_games").into_iter().flat_map(games).collect();
    let illegal = |score: &Measured| {
        let of = |kind: &str| score.score.counts.get(kind).copied().unwrap_or(0);
        ["illegal_movement", "empty_square", "opponents_piece", "special_token"].map(of).iter().sum()
    };
    let sampled = point.finals("legality").into_iter();
    all.extend(sampled.map(|score| Number::count("legality", "moves that were not legal", illegal(score), "moves")));
    all
}
