//! What most commands begin with: the experiment loaded, planned, and its store at hand.

use std::path::Path;

use anyhow::Result;

use crate::error::Fixable;
use crate::experiment::{self, Loaded, Request};
use crate::machine::Machine;
use crate::plan::{Node, Plan};
use crate::runs;
use crate::stages;
use crate::store::Store;
use crate::taint;

pub struct Session {
    pub loaded: Loaded,
    pub plan: Plan,
    pub store: Store,
    /// The nodes of the last run of this experiment, to tell what changed since.
    pub before: Vec<Node>,
}

/// Loads and plans one experiment. Nothing is made, not even the store's folder.
pub fn open(file: &Path, sets: &[String]) -> Result<Session> {
    let mut loaded = experiment::load(&request(file, sets))?;
    loaded.machine.files = std::mem::take(&mut loaded.files);
    let (plan, _) = stages::plan(&loaded.points);
    let store = Store::at(&loaded.machine.store);
    let before = runs::latest(&loaded.machine.runs, loaded.name()).and_then(|run| run.plan().ok());
    let before = before.into_iter().flat_map(|plan| plan.nodes).map(|record| record.node).collect();
    Ok(Session { loaded, plan, store, before })
}

/// The machine settings, for commands without an experiment.
pub fn machine() -> Result<Machine> {
    let Request { environment, working_dir, .. } = request(Path::new(""), &[]);
    Ok(experiment::machine(&working_dir, &environment, &[])?)
}

/// Refuses a stage's name that no node of the plan has.
pub fn check_stage(plan: &Plan, stage: &str) -> Result<()> {
    let mut names: Vec<&str> = plan.nodes.iter().map(|node| node.stage.as_str()).collect();
    names.dedup();
    if names.contains(&stage) {
        return Ok(());
    }
    names.sort_unstable();
    names.dedup();
    Err(Fixable::usage(format!("no stage of this experiment is called `{stage}`"))
        .hint(format!("the stages are {}", names.join(", ")))
        .into())
}

/// Refuses a name that is none of the plan's gates.
pub fn check_gate(plan: &Plan, gate: &str) -> Result<()> {
    let mut names: Vec<&str> = Vec::new();
    for node in plan.nodes.iter().filter(|node| plan.is_gate(node.key)) {
        if !names.contains(&node.stage.as_str()) {
            names.push(&node.stage);
        }
    }
    if names.contains(&gate) {
        return Ok(());
    }
    Err(Fixable::usage(format!("no gate of this experiment is called `{gate}`"))
        .hint(format!("the gates are {}", names.join(", ")))
        .into())
}

/// What is to be said of these nodes' artifacts that were made despite a gate, by this run or an earlier one.
pub fn tainted<'a>(nodes: impl IntoIterator<Item = &'a Node>, store: &Store) -> Vec<String> {
    let made = nodes.into_iter().filter_map(|node| Some((&node.stage, store.manifest(&node.stage, node.key).ok()?.made_by)));
    let made: Vec<_> = made.collect();
    taint::sentences(made.iter().map(|(stage, made_by)| (stage.as_str(), made_by.despite.as_slice())))
}

fn request(file: &Path, sets: &[String]) -> Request {
    let working_dir = std::env::current_dir().unwrap_or_else(|_| ".".into());
    Request {
        file: file.to_owned(),
        sets: sets.to_vec(),
        environment: std::env::vars().filter(|(name, _)| name.starts_with("PHILIDOR_")).collect(),
        working_dir,
    }
}
