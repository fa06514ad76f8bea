//! What happened: the nodes of a plan are made in order, and everything is told as events.
//!
//! A node that fails skips only what depends on it; what is finished stays. The work itself is done by
//! whoever the caller hands in, here or in another process. Where a second such is handed in, nodes that
//! need no more than a piece of another one are made beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::error::{Exit, Fixable};
use crate::plan::{Node, Plan};
use crate::progress::Tick;
use crate::store::{Key, MadeBy, Store, Wait};
use crate::taint::{PassedOver, Refusal};

pub use make::failure_of;
use make::{Making, passes_over};

/// One thing that happened to a node.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    Kept {
        key: Key,
    },
    /// Another process makes it; we wait.
    Waiting {
        key: Key,
        holder: String,
    },
    Started {
        key: Key,
    },
    /// It goes on from an earlier try.
    Resumed {
        key: Key,
        done: u64,
        total: u64,
        unit: String,
    },
    Told {
        key: Key,
        #[serde(flatten)]
        tick: Tick,
    },
    Made {
        key: Key,
        seconds: f64,
        bytes: u64,
    },
    Failed {
        key: Key,
        message: String,
        hint: Option<String>,
        exit: Exit,
    },
    /// The gate refused, and the user asked to go on.
    PassedOver {
        key: Key,
        message: String,
    },
    /// They need what was not made; told at the end of the run.
    Skipped {
        keys: Vec<Key>,
        because: Key,
    },
}

/// How a node ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    Kept,
    Made {
        seconds: f64,
    },
    Failed(Fixable),
    Skipped {
        because: Key,
    },
    /// Never reached: the run ended before.
    Pending,
}

/// How every node of a plan ended, in order.
pub struct Run {
    pub outcomes: Vec<(Key, Outcome)>,
    /// The gates that refused, and that others did not wait for.
    pub passed_over: PassedOver,
}

/// What the user asked of this run, beside the plan.
pub struct Options<'a> {
    pub wait: Wait,
    /// Stages to make again although they are kept.
    pub force: BTreeSet<String>,
    /// The stage to stop at: it, and what it needs.
    pub until: Option<String>,
    /// Go on with what does not depend on a failure.
    pub keep_going: bool,
    /// Gates that hold nobody up where they refuse; what is made after them is tainted.
    pub despite: BTreeSet<String>,
    /// A second workshop, for what can be made while another node is.
    pub beside: Option<&'a Second<'a>>,
    pub stop: &'a AtomicBool,
}

/// Does the work of a node into a folder; says by whom it was made.
pub type Workshop<'a> = dyn FnMut(&Node, &Path, &(dyn Fn(Tick) + Sync)) -> Result<MadeBy> + 'a;

/// Opens a workshop in the thread that calls it, lends it, and closes it again.
pub type Second<'a> = dyn Fn(&mut dyn FnMut(&mut Workshop)) + Sync + 'a;

type Outcomes = BTreeMap<Key, Outcome>;

/// Makes what is not kept.
///
/// # Errors
///
/// Only where the store itself fails; a node's failure is an outcome.
pub fn run(
    plan: &Plan,
    store: &Store,
    workshop: &mut Workshop,
    options: &Options,
    tell: &(dyn Fn(&Event) + Sync),
) -> Result<Run> {
    let wanted = wanted(plan, options.until.as_deref());
    let mut outcomes = Outcomes::new();
    let mut passed_over = PassedOver::new();
    let mut ended = None;
    for node in plan.nodes.iter().filter(|node| wanted.contains(&node.key)) {
        if outcomes.contains_key(&node.key) {
            // It was made beside another one.
            continue;
        }
        let lacks = needs(node, &passed_over).find_map(|key| missing(*key, outcomes.get(key)));
        let outcome = match (ended, lacks) {
            (Some(Exit::Interrupted), _) | (Some(_), None) => Outcome::Pending,
            (_, Some(because)) => Outcome::Skipped { because },
            (None, None) => {
                let making = Making { plan, store, options, passed_over: &passed_over, tell };
                let (outcome, beside) = beside::make(making, node, &wanted, &outcomes, workshop);
                ended = strongest(beside.values().filter_map(|outcome| ends(outcome, options)));
                outcomes.extend(beside);
                outcome
            }
        };
        if let Outcome::Failed(failure) = &outcome
            && passes_over(failure, node, plan, options)
        {
            passed_over.insert(node.key, Refusal { gate: node.stage.clone(), message: failure.message.clone() });
        } else if let Some(exit) = ends(&outcome, options) {
            ended = strongest(ended.into_iter().chain([exit]));
        }
        outcomes.insert(node.key, outcome);
    }
    let outcomes = plan.nodes.iter().filter_map(|node| Some((node.key, outcomes.remove(&node.key)?))).collect();
    let run = Run { outcomes, passed_over };
    run.tell_skipped(tell);
    Ok(run)
}

/// The nodes up to a stage, with all that they read and wait for; every node where no stage is named.
fn wanted(plan: &Plan, until: Option<&str>) -> BTreeSet<Key> {
    let Some(until) = until else { return plan.nodes.iter().map(|node| node.key).collect() };
    let mut wanted = BTreeSet::new();
    for node in plan.nodes.iter().rev() {
        if node.stage == until || wanted.contains(&node.key) {
            wanted.insert(node.key);
            wanted.extend(node.reads.iter().chain(&node.waits));
        }
    }
    wanted
}

/// What must be there before a node can be made: its inputs, and the gates that hold it up.
fn needs<'a>(node: &'a Node, passed_over: &'a PassedOver) -> impl Iterator<Item = &'a Key> {
    node.reads.iter().chain(node.waits.iter().filter(|gate| !passed_over.contains_key(gate)))
}

/// The node that failed, where an input is missing for it: itself, or what it was skipped for.
fn missing(input: Key, outcome: Option<&Outcome>) -> Option<Key> {
    match outcome? {
        Outcome::Failed(_) => Some(input),
        Outcome::Skipped { because } => Some(*because),
        _ => None,
    }
}

/// The code that a run ends with after such an outcome, if it does end.
fn ends(outcome: &Outcome, options: &Options) -> Option<Exit> {
    let Outcome::Failed(failure) = outcome else { return None };
    (!options.keep_going || failure.exit == Exit::Interrupted).then_some(failure.exit)
}

/// The reason to end that counts: an interruption before all others, for nothing is looked into after it.
fn strongest(exits: impl Iterator<Item = Exit>) -> Option<Exit> {
    exits.max_by_key(|exit| *exit == Exit::Interrupted)
}

impl Run {
    /// The code that the process ends with: that of the first failure that was not passed over.
    pub fn exit(&self) -> Option<Exit> {
        self.outcomes.iter().find_map(|(key, outcome)| match outcome {
            Outcome::Failed(failure) if !self.passed_over.contains_key(key) => Some(failure.exit),
            _ => None,
        })
    }

    /// The first failure that ends the program in this way.
    pub fn failure(&self, exit: Exit) -> Option<&Fixable> {
        self.outcomes.iter().find_map(|(_, outcome)| match outcome {
            Outcome::Failed(failure) if failure.exit == exit => Some(failure),
            _ => None,
        })
    }

    /// One event for each node that others were skipped for.
    fn tell_skipped(&self, tell: &(dyn Fn(&Event) + Sync)) {
        let mut skipped: Vec<(Key, Vec<Key>)> = Vec::new();
        for (key, outcome) in &self.outcomes {
            let Outcome::Skipped { because } = outcome else { continue };
            match skipped.iter_mut().find(|(cause, _)| cause == because) {
                Some((_, keys)) => keys.push(*key),
                None => skipped.push((*because, vec![*key])),
            }
        }
        for (because, keys) in skipped {
            tell(&Event::Skipped { keys, because });
        }
    }

    pub fn outcome(&self, key: Key) -> Option<&Outcome> {
        self.outcomes.iter().find(|(of, _)| *of == key).map(|(_, outcome)| outcome)
    }
}

mod beside;
mod make;
#[cfg(test)]
mod tests;
