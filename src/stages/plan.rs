//! The graph, as straight-line code.

use std::collections::BTreeSet;

use crate::corpus::config::Source;
use crate::experiment::{Experiment, Weights};
use crate::growth;
use crate::measure::draw::{Draw, together};
use crate::measure::metric::{Checkpoint, Metric};
use crate::plan::{Handle, Plan};
use crate::train::config::{LearningRate, Length, Schedule, Snapshots, TrainConfig, Validate};

use super::ask::{Ask, Asked};
use super::encode::{Encode, Tokens};
use super::evaluate::{Evaluate, Score};
use super::fetch::Fetch;
use super::import::Import;
use super::initial_loss::InitialLossGate;
use super::inspect::Inspect;
use super::overfit::OverfitGate;
use super::parse::Parse;
use super::passes::Known;
use super::train::{Train, Trained};

/// What a point of a sweep leaves for others to use.
pub struct Handles {
    pub tokens: Handle<Tokens>,
    pub trained: Handle<Trained>,
    pub scores: Vec<Handle<Score>>,
}

/// Every node that the points of an experiment need, in order.
pub fn plan(points: &[Experiment]) -> (Plan, Vec<Handles>) {
    let mut plan = Plan::default();
    let handles = points.iter().map(|experiment| point(&mut plan, experiment)).collect();
    growth::order(&mut plan);
    (plan, handles)
}

/// The part of a training whose rates are those of any longer one, as a training of its own, and its steps.
fn trunk(train: &TrainConfig) -> Option<(u64, TrainConfig)> {
    let (Length::Steps(steps), rate @ LearningRate { schedule: Schedule::Wsd { .. }, .. }) = (train.length, train.learning_rate)
    else {
        return None;
    };
    let trunk = rate.trunk(steps);
    let constant = LearningRate { schedule: Schedule::Constant, floor: rate.peak, ..rate };
    (trunk > 0).then(|| (trunk, TrainConfig { length: Length::Steps(trunk), learning_rate: constant, ..train.clone() }))
}

fn point(plan: &mut Plan, e: &Experiment) -> Handles {
    plan.point(&e.point);
    let games: Vec<_> = named(&e.corpus.sources)
        .map(|source| {
            let name = if e.corpus.sources.len() > 1 { source.name() } else { String::new() };
            let origins = [("source.month.sha256", "corpus.sha256"), ("source", "corpus")];
            let archive = plan.add(Fetch { source }, &origins);
            let parse = Parse { archive, keep: e.corpus.keep.clone(), moves: e.corpus.moves, source: name };
            plan.add(parse, &[("keep", "corpus.keep"), ("moves", "corpus.moves")])
        })
        .collect();
    let encode = Encode { games, moves: e.corpus.moves, split: e.corpus.split.clone() };
    let tokens = plan.add(encode.clone(), &[("split", "corpus.split"), ("moves", "corpus.moves"), ("games", "corpus")]);

    // Gates hold up the training; none of them is in its key.
    let inspect = plan.add(Inspect { tokens, replay: e.gates.replay }, &[("replay", "gates.replay")]);
    plan.gate(inspect);
    let (trained, trunk) = match &e.weights {
        Weights::Train(train) => trained(plan, e, train, tokens),
        Weights::Import { name, blake3 } => {
            let import = Import { model: e.model.clone(), blake3: blake3.clone(), name: name.clone() };
            (plan.add(import, &[("model", "model.weights"), ("blake3", "model.weights")]), None)
        }
    };

    let mut scores = Vec::new();
    for step in e.snapshot_steps() {
        // Snapshots of a trunk are those of every training that shares it.
        let trained = trunk.filter(|(steps, _)| step <= *steps).map_or(trained, |(_, trunk)| trunk);
        let checkpoint = Checkpoint::Step(step);
        let of = Weighed { e, encode: &encode, tokens, trained, checkpoint, section: "measure.snapshots" };
        scores.extend(of.evaluate(plan, &e.measure.snapshots));
    }
    let checkpoint = e.measure.checkpoint;
    let of = Weighed { e, encode: &encode, tokens, trained, checkpoint, section: "measure.final" };
    scores.extend(of.evaluate(plan, &e.measure.last));
    Handles { tokens, trained, scores }
}

/// A checkpoint to be measured, and the section that asks for it.
struct Weighed<'a> {
    e: &'a Experiment,
    encode: &'a Encode,
    tokens: Handle<Tokens>,
    trained: Handle<Trained>,
    checkpoint: Checkpoint,
    section: &'a str,
}

impl Weighed<'_> {
    fn evaluate(&self, plan: &mut Plan, metrics: &[Metric]) -> Vec<Handle<Score>> {
        let asked = self.ask(plan, metrics);
        let evaluate = |metric: &Metric| {
            let covers = |draw: Draw| asked.iter().find(|(asked, _)| draw.covering(*asked) == Some(*asked));
            let asked = metric.asks().and_then(|(draw, _)| covers(draw)).map(|&(_, asked)| asked);
            let origin = format!("{}.{}", self.section, metric.name());
            let field = format!("metric.{}", metric.name().replace('_', "-"));
            let (metric_version, known) = (metric.version(), Some(Known::of(self.e)));
            let &Self { tokens, trained, checkpoint, .. } = self;
            let stage = Evaluate { tokens, trained, checkpoint, metric: metric.clone(), metric_version, asked, known };
            plan.add(stage, &[(&field, &origin), ("checkpoint", &format!("{}.checkpoint", self.section))])
        };
        metrics.iter().map(evaluate).collect()
    }

    /// One pass for all metrics that look at the same positions.
    fn ask(&self, plan: &mut Plan, metrics: &[Metric]) -> Vec<(Draw, Handle<Asked>)> {
        let keys = ["legality.temperature", "dense.temperature", "checkpoint"];
        let [sampled, dense, at] = keys.map(|key| format!("{}.{key}", self.section));
        let ask = |(draw, temperatures)| {
            let &Self { tokens, trained, checkpoint, e, .. } = self;
            let by_parts = matches!(draw, Draw::EveryPly { .. });
            let encoded = by_parts.then(|| self.encode.clone());
            let origins = [
                ("draw", self.section),
                ("temperatures", if by_parts { &dense } else { &sampled }),
                ("checkpoint", &at),
                ("encoded", "corpus"),
            ];
            let stage = Ask { tokens, trained, checkpoint, draw, temperatures, encoded, known: Some(Known::of(e)) };
            (draw, plan.add(stage, &origins))
        };
        together(metrics.iter().filter_map(Metric::asks)).into_iter().map(ask).collect()
    }
}

/// The gates of a training, the training, and its trunk with the steps of that, if it has one.
fn trained(
    plan: &mut Plan,
    e: &Experiment,
    train: &TrainConfig,
    tokens: Handle<Tokens>,
) -> (Handle<Trained>, Option<(u64, Handle<Trained>)>) {
    if let Some(gate) = e.gates.initial_loss {
        let stage = InitialLossGate { tokens, model: e.model.clone(), seed: train.seed, gate };
        let gate = plan.add(stage, &[("model", "model"), ("seed", "train.seed"), ("gate", "gates.initial_loss")]);
        plan.gate(gate);
    }
    if let Some(gate) = e.gates.overfit {
        // Only what the gate uses is in its key: a longer training is no reason to ask again.
        let short = TrainConfig {
            length: Length::Steps(gate.steps),
            batch: gate.batch,
            accumulate: 1,
            // It neither validates nor publishes weights.
            validate: Validate { every: 0, batches: 0 },
            snapshots: Snapshots { every: 0 },
            learning_rate: within(train.learning_rate, gate.steps),
            // It publishes no average either, and must learn without leaving out what it finds hard.
            ema: None,
            spikes: None,
            ..train.clone()
        };
        let stage = OverfitGate { tokens, model: e.model.clone(), train: short, gate };
        let gate = plan.add(stage, &[("model", "model"), ("train", "train"), ("gate", "gates.overfit")]);
        plan.gate(gate);
    }

    let trunk = trunk(train).map(|(steps, train)| {
        let trunk = Train { tokens, model: e.model.clone(), train, trunk: None };
        (steps, plan.add(trunk, &[("model", "model"), ("train", "train")]))
    });
    let train = Train { tokens, model: e.model.clone(), train: train.clone(), trunk: trunk.map(|(_, trunk)| trunk) };
    (plan.add(train, &[("model", "model"), ("train", "train")]), trunk)
}

/// A rate for a training of so many steps: a decay that is longer than what the warm-up leaves of them fills that.
fn within(rate: LearningRate, steps: u64) -> LearningRate {
    match rate.schedule {
        Schedule::Wsd { decay } => {
            let decay = decay.min(steps.saturating_sub(rate.warmup).max(1));
            LearningRate { schedule: Schedule::Wsd { decay }, ..rate }
        }
        Schedule::Cosine | Schedule::Constant => rate,
    }
}

/// The sources under names that are labels, unique within a point: the files' own names where they differ.
fn named(sources: &[Source]) -> impl Iterator<Item = Source> {
    let distinct = sources.iter().map(Source::name).collect::<BTreeSet<_>>().len() == sources.len();
    sources.iter().map(move |source| if distinct { source.clone() } else { source.nameless() })
}
