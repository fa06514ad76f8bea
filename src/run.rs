//! What happened: the nodes of a plan are made in order, and everything is told as events.
//!
//! A node that fails skips only what depends on it; what is finished stays. The work itself is done by
//! whoever the caller hands in, here or in another process.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::{Result, anyhow};
use serde::{Deserialize, Serialize};

use crate::error::{Exit, Fixable, exit_of, hint_of, panic_text};
use crate::growth;
use crate::plan::{Node, Plan};
use crate::progress::{Measured, Tick};
use crate::store::{Claim, Key, MadeBy, State, Store, Wait};
use crate::taint::{self, PassedOver, Refusal};

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
    pub stop: &'a AtomicBool,
}

/// Does the work of a node into a folder; says by whom it was made.
pub type Workshop<'a> = dyn FnMut(&Node, &Path, &(dyn Fn(Tick) + Sync)) -> Result<MadeBy> + 'a;

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
    let mut outcomes: BTreeMap<Key, Outcome> = BTreeMap::new();
    let mut passed_over = PassedOver::new();
    let mut ended = None;
    for node in plan.nodes.iter().filter(|node| wanted.contains(&node.key)) {
        let held_up_by = node.waits.iter().filter(|gate| !passed_over.contains_key(gate));
        let lacks = node.reads.iter().chain(held_up_by).find_map(|&key| missing(key, &outcomes));
        let outcome = match (ended, lacks) {
            (Some(Exit::Interrupted), _) | (Some(_), None) => Outcome::Pending,
            (_, Some(because)) => Outcome::Skipped { because },
            (None, None) => make(node, plan, store, workshop, options, &passed_over, tell),
        };
        if let Outcome::Failed(failure) = &outcome
            && passes_over(failure, node, plan, options)
        {
            passed_over.insert(node.key, Refusal { gate: node.stage.clone(), message: failure.message.clone() });
        } else if let Outcome::Failed(failure) = &outcome
            && (!options.keep_going || failure.exit == Exit::Interrupted)
        {
            ended = Some(failure.exit);
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

/// The node that failed, where an input is missing for it: itself, or what it was skipped for.
fn missing(input: Key, outcomes: &BTreeMap<Key, Outcome>) -> Option<Key> {
    match outcomes.get(&input)? {
        Outcome::Failed(_) => Some(input),
        Outcome::Skipped { because } => Some(*because),
        _ => None,
    }
}

/// Whether a node's failure is the refusal of a gate that the user does not want to be held up by.
fn passes_over(failure: &Fixable, node: &Node, plan: &Plan, options: &Options) -> bool {
    failure.exit == Exit::Refused && options.despite.contains(&node.stage) && plan.is_gate(node.key)
}

fn make(
    node: &Node,
    plan: &Plan,
    store: &Store,
    workshop: &mut Workshop,
    options: &Options,
    passed_over: &PassedOver,
    tell: &(dyn Fn(&Event) + Sync),
) -> Outcome {
    let made = try_make(node, store, workshop, options, &|| despite(node, plan, store, passed_over), tell);
    match made {
        Ok(outcome) => outcome,
        Err(error) => {
            let mut failure = failure_of(&error);
            if passes_over(&failure, node, plan, options) {
                tell(&Event::PassedOver { key: node.key, message: failure.message.clone() });
                return Outcome::Failed(failure);
            }
            if failure.exit == Exit::Refused && plan.is_gate(node.key) {
                let way_on = format!("who knows better goes on with --despite {}, and all that is then made says so", node.stage);
                failure.hint = Some(failure.hint.map_or_else(|| way_on.clone(), |hint| format!("{hint}; {way_on}")));
            }
            tell(&Event::Failed {
                key: node.key,
                message: failure.message.clone(),
                hint: failure.hint.clone(),
                exit: failure.exit,
            });
            Outcome::Failed(failure)
        }
    }
}

/// What a node is made despite: the gates passed over that it would have waited for, and all that its inputs were, the
/// smaller node that it begins from among them.
fn despite(node: &Node, plan: &Plan, store: &Store, passed_over: &PassedOver) -> Vec<Refusal> {
    let gates = node.waits.iter().filter_map(|gate| passed_over.get(gate).cloned());
    let read = node.reads.iter().filter_map(|&key| store.manifest(&plan.node(key)?.stage, key).ok());
    let begun = growth::start(node, store).and_then(|start| store.manifest(&node.stage, start.key).ok());
    gates.chain(read.chain(begun).flat_map(|manifest| manifest.made_by.despite)).collect()
}

fn try_make(
    node: &Node,
    store: &Store,
    workshop: &mut Workshop,
    options: &Options,
    despite: &dyn Fn() -> Vec<Refusal>,
    tell: &(dyn Fn(&Event) + Sync),
) -> Result<Outcome> {
    let force = options.force.contains(&node.stage);
    if !force && store.state(node.slot()) == State::Kept {
        tell(&Event::Kept { key: node.key });
        return Ok(Outcome::Kept);
    }
    if options.stop.load(Ordering::Relaxed) {
        return Err(Fixable::interrupted("interrupted before it began").into());
    }
    let mut waiting = |holder: &str| tell(&Event::Waiting { key: node.key, holder: holder.to_owned() });
    let claimed = match store.claim(node.slot(), options.wait, force, options.stop, &mut waiting)? {
        Claim::Kept => {
            tell(&Event::Kept { key: node.key });
            return Ok(Outcome::Kept);
        }
        Claim::Make(claimed) => claimed,
    };
    tell(&Event::Started { key: node.key });
    if let (false, Some(damage)) = (force, store.damage(&node.stage, node.key)) {
        let text = format!("what was kept is damaged, and is made again: {damage}");
        tell(&Event::Told { key: node.key, tick: Tick::Note { text } });
    }
    if let State::Resumable(resume) = store.state(node.slot()) {
        tell(&Event::Resumed { key: node.key, done: resume.done, total: resume.total, unit: resume.unit });
    }
    let mut despite = despite();
    taint::note(claimed.part(), &mut despite)?;
    let began = Instant::now();
    let measured = Mutex::new(Vec::new());
    let told = |tick: Tick| {
        if let Tick::Measured(figure) = &tick {
            record(&mut measured.lock().expect("no holder panics"), figure);
        }
        tell(&Event::Told { key: node.key, tick });
    };
    let before = match (claimed.seconds_spent(), growth::start(node, store)) {
        // What it begins from is part of its work, as an earlier try is.
        (0.0, Some(start)) => store.manifest(&node.stage, start.key).map_or(0.0, |manifest| manifest.made_by.seconds),
        (spent, _) => spent,
    };
    // A panic, such as a libtorch error raised by a plain method, fails its node and not the run.
    let worked = catch_unwind(AssertUnwindSafe(|| workshop(node, claimed.part(), &told)))
        .unwrap_or_else(|panic| Err(anyhow!(panic_text(&*panic))));
    let seconds = before + began.elapsed().as_secs_f64();
    claimed.spend(seconds);
    let measured = measured.into_inner().expect("no holder panics");
    let made_by = MadeBy { seconds, cost: node.cost, measured, despite, ..worked? };
    let manifest = claimed.commit(&node.manifest, made_by)?;
    let bytes = manifest.files.values().map(|file| file.bytes).sum();
    tell(&Event::Made { key: node.key, seconds, bytes });
    Ok(Outcome::Made { seconds })
}

/// Of a name told twice, the last figure counts; what is no number cannot be written, and is left out.
fn record(measured: &mut Vec<Measured>, figure: &Measured) {
    if !figure.value.is_finite() {
        return;
    }
    match measured.iter_mut().find(|known| known.name == figure.name) {
        Some(known) => known.clone_from(figure),
        None => measured.push(figure.clone()),
    }
}

/// An error as what a node's failure shows: the chain in one line, the hint and exit code of its [`Fixable`].
pub fn failure_of(error: &anyhow::Error) -> Fixable {
    Fixable { message: format!("{error:#}"), hint: hint_of(error), exit: exit_of(error) }
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

#[cfg(test)]
mod tests;
