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

fn request(file: &Path, sets: &[String]) -> Request {
    let working_dir = std::env::current_dir().unwrap_or_else(|_| ".".into());
    Request {
        file: file.to_owned(),
        sets: sets.to_vec(),
        environment: std::env::vars().filter(|(name, _)| name.starts_with("PHILIDOR_")).collect(),
        working_dir,
    }
}
