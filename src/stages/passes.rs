//! What a plan knows of the tokens that models read: bounds by the settings, and counts once what is read is kept.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use fs_err as fs;

use crate::experiment::Experiment;
use crate::machine::Machine;
use crate::measure::metric::Metric;
use crate::measure::positions::ValidationGames;
use crate::measure::{probe, puzzles, tokens};
use crate::model::config::ModelConfig;
use crate::passes::{Count, Passes};
use crate::plan::{Artifact as _, Handle, Node, Plan, Stage as _};
use crate::store::{Key, State, Store};
use crate::train::config::{Length, TrainConfig};
use crate::train::needs;
use crate::train::rows::epoch_tokens;

use super::ask::Ask;
use super::encode::{Encode, Tokens};
use super::evaluate::Evaluate;
use super::train::Train;

/// A larger file of puzzles is not read for a plan.
const FILE_BYTES: u64 = 64 << 20;

/// What the estimates of a measure stand on, and no key does: the key has it in the inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    pub model: ModelConfig,
    /// Of the longest game that is kept.
    pub plies: u32,
    /// About how many tokens validation has; none where that is not known.
    pub validation_tokens: Option<u64>,
}

impl Known {
    pub(super) fn of(e: &Experiment) -> Self {
        let validation_tokens = e.corpus.moves.map(|moves| (moves as f64 * e.corpus.split.validation) as u64);
        Self { model: e.model.clone(), plies: e.corpus.keep.plies[1], validation_tokens }
    }

    /// FLOPs of tokens that only go forward: a third of what a training step does for them.
    pub(super) fn forward_flops(&self, tokens: u64) -> f64 {
        forward_flops(&self.model, tokens)
    }
}

fn forward_flops(model: &ModelConfig, tokens: u64) -> f64 {
    tokens as f64 * model.flops_per_token() as f64 / 3.0
}

/// Puts into a plan what its store and machine tell beyond the settings: of what is to be made, the tokens that it reads of games
/// that are kept, in place of bounds; and what a training takes of the device's memory.
pub fn learn(plan: &mut Plan, store: &Store, machine: &Machine) {
    for node in plan.nodes.iter_mut().filter(|node| node.stage == Train::NAME) {
        if let Ok(train) = serde_json::from_value::<Train>(node.manifest["with"].clone()) {
            node.cost.device_bytes = needs::peak_bytes(&train.train, &train.model, &machine.device);
        }
    }
    let mut counted = Counted { store, machine, known: BTreeMap::new() };
    let passes: Vec<Option<Passes>> = plan.nodes.iter().map(|node| counted.of(node, plan)).collect();
    for (node, passes) in plan.nodes.iter_mut().zip(passes) {
        node.passes = passes.or(node.passes.take());
    }
}

struct Counted<'a> {
    store: &'a Store,
    machine: &'a Machine,
    /// Of the games, the draw or metric, and the context: snapshots of one training read the same.
    known: BTreeMap<(Key, String, u32), Option<u64>>,
}

impl Counted<'_> {
    /// None where there is nothing to count, or it cannot be counted yet.
    fn of(&mut self, node: &Node, plan: &Plan) -> Option<Passes> {
        let passes = node.passes.clone().filter(|passes| !passes.forward.is_some_and(|forward| forward.exact))?;
        if self.store.state(node.slot()) == State::Kept {
            return None;
        }
        let with = &node.manifest["with"];
        match node.stage.as_str() {
            Train::NAME => {
                let train: Train = serde_json::from_value(with.clone()).ok()?;
                let tokens = self.tokens(train.tokens, plan)?;
                let steps = steps(&train.train, &train.model, &tokens)?;
                let forward = steps * train.train.tokens_per_step(train.model.context);
                let flops = forward as f64 * train.model.flops_per_token() as f64;
                Some(Passes { forward: Some(Count::exactly(forward)), flops: Some(flops), ..passes })
            }
            Ask::NAME => {
                let ask: Ask = serde_json::from_value(with.clone()).ok()?;
                let model = model(ask.trained.key(), plan)?;
                let forward = self.once(ask.tokens, with["draw"].to_string(), model.context, plan, |kept| {
                    tokens::of(ask.draw, &ValidationGames::of(&kept.validation), model.context)
                })?;
                Some(exactly(passes, forward, forward_flops(&model, forward)))
            }
            Evaluate::NAME => {
                let evaluate: Evaluate = serde_json::from_value(with.clone()).ok()?;
                let model = model(evaluate.trained.key(), plan)?;
                let files = &self.machine.files;
                let forward = self.once(evaluate.tokens, with["metric"].to_string(), model.context, plan, |kept| {
                    read(&evaluate.metric, kept, model.context, |digest| {
                        let path = files.get(digest).context("its file is not at hand")?;
                        anyhow::ensure!(fs::metadata(path)?.len() <= FILE_BYTES, "its file is large");
                        Ok(fs::read(path)?)
                    })
                })?;
                let more = if matches!(evaluate.metric, Metric::Probe { .. }) { probe::flops(&model) } else { 0.0 };
                Some(exactly(passes, forward, forward_flops(&model, forward) + more))
            }
            _ => None,
        }
    }

    /// Counts what is not counted yet.
    fn once(
        &mut self,
        tokens: Handle<Tokens>,
        what: String,
        context: u32,
        plan: &Plan,
        count: impl FnOnce(&Tokens) -> Result<u64>,
    ) -> Option<u64> {
        let key = (tokens.key(), what, context);
        if !self.known.contains_key(&key) {
            // What cannot be counted stays a bound: the run says what is wrong with it.
            let counted = self.tokens(tokens, plan).and_then(|kept| count(&kept).ok());
            self.known.insert(key.clone(), counted);
        }
        self.known[&key]
    }

    /// The games, where they are kept.
    fn tokens(&self, tokens: Handle<Tokens>, plan: &Plan) -> Option<Tokens> {
        let node = plan.node(tokens.key()).filter(|node| node.stage == Encode::NAME)?;
        let kept = self.store.state(node.slot()) == State::Kept;
        kept.then(|| Tokens::open(&self.store.dir(Encode::NAME, node.key)).ok())?
    }
}

fn exactly(passes: Passes, forward: u64, flops: f64) -> Passes {
    Passes { forward: Some(Count::exactly(forward)), flops: Some(flops), ..passes }
}

/// The tokens that a metric reads which asks for itself.
fn read(metric: &Metric, kept: &Tokens, context: u32, file: impl Fn(&str) -> Result<Vec<u8>>) -> Result<u64> {
    match *metric {
        Metric::Loss => Ok(tokens::of_loss(kept.validation.tokens().len() as u64)),
        Metric::Puzzles { ref blake3, puzzles, seed } => puzzles::tokens(&file(blake3)?, puzzles, seed, context),
        Metric::Probe { positions, test, seed } => {
            let sizes = probe::Sizes { positions, test, seed };
            probe::tokens_of(sizes, &kept.train, &ValidationGames::of(&kept.validation), context)
        }
        _ => anyhow::bail!("`{}` is known by its settings, or only once it was done", metric.name()),
    }
}

/// The steps of a training, where it takes tokens that are kept.
pub fn steps(train: &TrainConfig, model: &ModelConfig, tokens: &Tokens) -> Option<u64> {
    if let Length::Steps(steps) = train.length {
        return Some(steps);
    }
    let epoch = epoch_tokens(train.packing, tokens.train.stream(), model.context).ok()?;
    Some(train.steps(model.context, epoch))
}

/// The model of a training, or of weights that were imported.
fn model(trained: Key, plan: &Plan) -> Option<ModelConfig> {
    serde_json::from_value(plan.node(trained)?.manifest["with"]["model"].clone()).ok()
}
