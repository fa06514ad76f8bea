//! `philidor bench loader FILE`: how fast the batches of an experiment are made, with no training behind them.

use anyhow::Result;
use serde_json::{Value, json};

use crate::cli::BenchLoaderArgs;
use crate::commands::session::{self, Session};
use crate::commands::stop;
use crate::error::Fixable;
use crate::experiment::Experiment;
use crate::plan::Stage as _;
use crate::stages::encode::Encode;
use crate::stages::train::Train;
use crate::store::State;
use crate::text::{duration, plural, si, significant, thousands};
use crate::train::bench::asked::{Bench, LoaderBench, TokenPaths};
use crate::train::config::TrainConfig;
use crate::ui::say::{answer, aside};
use crate::worker::Worker;

/// Laps that are timed, as the worker does it.
const LAPS: f64 = 5.0;
/// Most tokens that are drawn where none are kept: more than a processor's caches hold, and made in a moment.
const DRAWN_TOKENS: u64 = 50_000_000;

pub fn loader(args: &BenchLoaderArgs) -> Result<()> {
    let session = session::open(&args.file, &args.sets)?;
    let Some(point) = session.loaded.points.first() else {
        return Err(Fixable::usage(format!("`{}` has no point", args.file.display())).hint("name an experiment").into());
    };
    let train = point.must_train()?;
    let stop = stop::on_signals()?;

    let tokens = kept(&session);
    if tokens.is_none() {
        aside(format!(
            "the tokens of this experiment are not made yet, so drawn games are loaded; `philidor run {} --until encode` makes them",
            args.file.display()
        ));
    }
    let asked = LoaderBench {
        train: train.clone(),
        context: point.model.context,
        milliseconds: (args.seconds * 1e3 / LAPS) as u64,
        tokens,
        drawn_tokens: point.corpus.moves.unwrap_or(DRAWN_TOKENS).min(DRAWN_TOKENS),
    };
    let found = Worker::start(&session.loaded.machine)?.bench(&Bench::Loader(asked), &session.loaded.machine, &stop, &|_| ())?;
    let eaten = eaten(&session, point, train);
    if args.json {
        return answer(serde_json::to_string_pretty(&document(point, train, &found, eaten))?);
    }
    lines(point, train, &found, eaten).iter().try_for_each(answer)
}

/// The training tokens of the first point, where they are kept.
fn kept(session: &Session) -> Option<TokenPaths> {
    let encode = session.plan.nodes.iter().find(|node| node.stage == Encode::NAME)?;
    let dir = session.store.dir(&encode.stage, encode.key);
    (session.store.state(encode.slot()) == State::Kept)
        .then(|| TokenPaths { tokens: dir.join("train.u16"), ends: dir.join("train.ends.u64") })
}

/// Tokens a second of the fastest training of this model by this batch and precision that the store has.
fn eaten(session: &Session, point: &Experiment, train: &TrainConfig) -> Option<f64> {
    let alike = |made: &Value| {
        let with = &made["with"];
        let told = |name: &str| with["train"][name] == json!(train)[name];
        with["model"] == json!(point.model) && ["batch", "accumulate", "precision"].into_iter().all(told)
    };
    let rate = |key| {
        let text = fs_err::read(session.store.dir(Train::NAME, key).join("device.json")).ok()?;
        serde_json::from_slice::<Value>(&text).ok()?["tokens_per_second"].as_f64()
    };
    let trainings = session.store.manifests(Train::NAME).into_iter().filter(|made| alike(&made.made_of));
    trainings.filter_map(|made| rate(made.key)).max_by(f64::total_cmp)
}

fn document(point: &Experiment, train: &TrainConfig, found: &Value, eaten: Option<f64>) -> Value {
    let mut document = json!({
        "schema": 1,
        "batch": train.batch,
        "context": point.model.context,
        "sampler": train.sampler,
        "packing": train.packing,
        "loader": found,
    });
    document["training"] = json!(eaten.map(|rate| json!({ "tokens_per_second": rate, "times": median(found) / rate })));
    document
}

fn lines(point: &Experiment, train: &TrainConfig, found: &Value, eaten: Option<f64>) -> Vec<String> {
    let number = |name: &str| found["tokens_per_second"][name].as_f64().unwrap_or(f64::NAN);
    let count = thousands(found["tokens"]["count"].as_u64().unwrap_or(0));
    let of = if found["tokens"]["drawn"] == true { "drawn games" } else { "the experiment's games" };
    let [sampler, packing] = [json!(train.sampler), json!(train.packing)];
    let mut lines = vec![format!(
        "{count} tokens of {of}; {} of {} tokens a batch, sampler {}, packing {}, for {}",
        plural("window", u64::from(train.batch)),
        point.model.context,
        sampler.as_str().unwrap_or(""),
        packing.as_str().unwrap_or(""),
        found["device"].as_str().unwrap_or("")
    )];
    if let Some(told) = found["packing"].as_str() {
        lines.push(told.to_owned());
    }
    let laps = found["tokens_per_second"]["n"].as_u64().unwrap_or(0);
    let begin = duration(found["seconds_to_begin"].as_f64().unwrap_or(f64::NAN));
    lines.push(format!(
        "{} tokens/s [{}, {}] of {}; ready after {begin}",
        si(number("median")),
        si(number("least")),
        si(number("most")),
        plural("lap", laps)
    ));
    lines.push(match eaten {
        Some(rate) => format!(
            "{} times what a training of this model took here, {} tokens/s",
            significant(median(found) / rate, 3),
            si(rate)
        ),
        None => "no training of this model by this batch was finished here, to tell what it takes".to_owned(),
    });
    lines
}

fn median(found: &Value) -> f64 {
    found["tokens_per_second"]["median"].as_f64().unwrap_or(f64::NAN)
}
