//! `philidor bench measure FILE`: how long the final measures of an experiment take, beside the bare passes of the model that
//! they need, and beside the way that was published.

use anyhow::{Context as _, Result};
use serde_json::json;

use crate::cli::BenchMeasureArgs;
use crate::commands::session::{self, Session};
use crate::commands::stop;
use crate::error::Fixable;
use crate::experiment::Experiment;
use crate::measure::metric::Metric;
use crate::plan::{Artifact as _, Node};
use crate::stages;
use crate::stages::train::Trained;
use crate::store::State;
use crate::text::{duration, plural, significant, thousands};
use crate::train::bench::asked::{Bench, MeasureBench, MeasuresTimed, PublishedTimed, RoundTimed, TokenPaths};
use crate::ui::say::{answer, aside};
use crate::worker::Worker;

/// One of so many positions is measured the published way.
const SAMPLE: u32 = 10;

pub fn measure(args: &BenchMeasureArgs) -> Result<()> {
    let session = session::open(&args.file, &args.sets)?;
    let Some(point) = session.loaded.points.first() else {
        return Err(Fixable::usage(format!("`{}` has no point", args.file.display())).hint("name an experiment").into());
    };
    let stop = stop::on_signals()?;
    let asked = asked(args, &session, point)?;
    if asked.weights.is_none() {
        aside(
            "no weights of this experiment are kept, so random ones are measured: their games end early, unless held to the rules",
        );
    }
    let weights = if asked.weights.is_some() { point.measure.checkpoint.words() } else { "random weights".to_owned() };
    let machine = &session.loaded.machine;
    let told = Worker::start(machine)?.bench(&Bench::Measure(asked), machine, &stop, &|_| ())?;
    let found: MeasuresTimed = serde_json::from_value(told).context("reading what the worker measured")?;
    if args.json {
        let mut document =
            json!({ "schema": 1, "experiment": point.name, "weights": weights, "model": point.model, "measured": found });
        document["ratios"] = json!(Ratios::of(&found));
        return answer(serde_json::to_string_pretty(&document)?);
    }
    answer(lines(&point.name, &weights, &found).join("\n"))
}

/// What to measure: the first point's tokens, and its weights where they are kept.
fn asked(args: &BenchMeasureArgs, session: &Session, point: &Experiment) -> Result<MeasureBench> {
    let (plan, handles) = stages::plan(std::slice::from_ref(point));
    let kept = |node: Option<&Node>| {
        let node = node.filter(|node| session.store.state(node.slot()) == State::Kept)?;
        Some(session.store.dir(&node.stage, node.key))
    };
    let handles = handles.first().context("a point has its handles")?;
    let Some(tokens) = kept(plan.node(handles.tokens.key())) else {
        return Err(Fixable::failed("the validation games of this experiment are not made yet")
            .hint(format!("make them: philidor run {} --until encode", args.file.display()))
            .into());
    };
    let trained = kept(plan.node(handles.trained.key())).map(|dir| Trained::open(&dir)).transpose()?;
    let weights = trained.map(|trained| trained.weights(point.measure.checkpoint)).transpose()?;
    Ok(MeasureBench {
        model: point.model.clone(),
        weights,
        validation: TokenPaths { tokens: tokens.join("validation.u16"), ends: tokens.join("validation.ends.u64") },
        metrics: published(&point.measure.last),
        rounds: args.rounds,
        sample: SAMPLE,
        games: args.games,
        plies: args.plies,
    })
}

/// What the figures come to.
#[derive(serde::Serialize)]
struct Ratios {
    /// The time of the measures against that of their bare passes: the median of the rounds.
    to_bare_passes: f64,
    /// The published way, scaled up, against the measures.
    published: f64,
    /// Whole prefixes against the cache.
    whole_prefixes: f64,
}

impl Ratios {
    fn of(found: &MeasuresTimed) -> Self {
        let published: f64 = found.published.iter().map(PublishedTimed::scaled_seconds).sum();
        Self {
            to_bare_passes: median(found, |round| round.seconds / round.bare_seconds),
            published: published / median(found, |round| round.seconds),
            whole_prefixes: found.lawful.whole_seconds / found.lawful.cached_seconds,
        }
    }
}

fn median(found: &MeasuresTimed, of: impl Fn(&RoundTimed) -> f64) -> f64 {
    let mut values: Vec<f64> = found.rounds.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn lines(name: &str, weights: &str, found: &MeasuresTimed) -> Vec<String> {
    let MeasuresTimed { device, threads, passes, tokens, rounds, published, lawful } = found;
    let ratios = Ratios::of(found);
    let whole = median(found, |round| round.seconds);
    let mut lines = vec![
        format!(
            "{name}, {weights}, on {device} by {}: the final measures need {} of the model, which read {}",
            plural("thread", *threads as u64),
            plural("pass", *passes),
            plural("token", *tokens)
        ),
        String::new(),
        format!("the measures                {:>10}   median of {}", duration(whole), plural("round", rounds.len() as u64)),
        format!(
            "their bare passes           {:>10}   the measures take {} × as long",
            duration(median(found, |round| round.bare_seconds)),
            significant(ratios.to_bare_passes, 3)
        ),
        String::new(),
    ];
    for part in published {
        let scaled = if part.measured < part.of {
            format!(
                "scaled up from {} of {}, which took {}",
                thousands(part.measured),
                thousands(part.of),
                duration(part.seconds)
            )
        } else {
            format!("all {}", thousands(part.of))
        };
        lines.push(format!("published: {:<16} {:>10}   {scaled}", part.name, duration(part.scaled_seconds())));
    }
    let all: f64 = published.iter().map(PublishedTimed::scaled_seconds).sum();
    lines.push(format!(
        "the published way           {:>10}   {} × as long as the measures",
        duration(all),
        significant(ratios.published, 3)
    ));
    lines.push(String::new());
    lines.push(format!(
        "{} of {}, held to legal moves:",
        plural("game", lawful.games.into()),
        plural("ply", lawful.plies.into())
    ));
    lines.push(format!("on a cache                  {:>10}", duration(lawful.cached_seconds)));
    lines.push(format!(
        "with whole prefixes         {:>10}   {} × as long",
        duration(lawful.whole_seconds),
        significant(ratios.whole_prefixes, 3)
    ));
    lines
}

/// The metrics of the published protocol: the others were measured by nobody before.
fn published(metrics: &[Metric]) -> Vec<Metric> {
    let known = |metric: &&Metric| {
        matches!(metric, Metric::Legality { .. } | Metric::Agreement { .. } | Metric::Rules { .. } | Metric::FullGames { .. })
    };
    metrics.iter().filter(known).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::bench::asked::LawfulTimed;

    #[test]
    fn people_read_what_each_way_takes_and_of_how_much_it_was_timed() {
        let part = |name: &str, seconds, measured, of| PublishedTimed { name: name.to_owned(), seconds, measured, of };
        let found = MeasuresTimed {
            device: "cpu".to_owned(),
            threads: 2,
            passes: 912,
            tokens: 74_000,
            rounds: [(2.0, 1.6), (1.8, 1.5), (2.4, 1.7)]
                .map(|(seconds, bare_seconds)| RoundTimed { seconds, bare_seconds })
                .into(),
            published: vec![part("legality", 3.0, 2000, 20_000), part("full_games T=1", 5.0, 64, 64)],
            lawful: LawfulTimed { games: 64, plies: 100, cached_seconds: 1.0, whole_seconds: 20.0 },
        };
        insta::assert_snapshot!(lines("quickstart", "best", &found).join("\n"));
    }
}
