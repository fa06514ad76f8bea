//! Where a node's work is done: here, or in the worker that holds libtorch.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use anyhow::Result;

use crate::machine::Machine;
use crate::plan::{Cx, Node, Plan, Stage as _};
use crate::progress::{Progress, Tick};
use crate::provenance::now;
use crate::ranks::Alone;
use crate::store::{Key, MadeBy, Store};
use crate::worker::{Job, Worker};

use super::train::Train;
use super::{LOCAL, here, shortage};

/// Does the work of the nodes of one plan.
pub struct Workshop<'a> {
    pub plan: &'a Plan,
    pub store: &'a Store,
    pub machine: &'a Machine,
    pub stop: &'a AtomicBool,
    /// What every artifact says of its making; the stage adds the rest.
    pub provenance: MadeBy,
    /// The worker at hand, and the stage it was started for.
    worker: Option<(String, Worker)>,
}

impl<'a> Workshop<'a> {
    pub fn new(plan: &'a Plan, store: &'a Store, machine: &'a Machine, stop: &'a AtomicBool, provenance: MadeBy) -> Self {
        Self { plan, store, machine, stop, provenance, worker: None }
    }

    /// Does one node's work into `out`.
    pub fn work(&mut self, node: &Node, out: &Path, tell: &(dyn Fn(Tick) + Sync)) -> Result<MadeBy> {
        let inputs = self.inputs(node, out);
        if let Some(work) = here(LOCAL, node) {
            let progress = Progress::new(tell, self.stop);
            work(&Cx { node, inputs: &inputs, store: self.store, machine: self.machine, progress, ranks: &Alone }, out)?;
            return Ok(MadeBy { at: now(), ..self.provenance.clone() });
        }
        let job = Job { node: node.clone(), inputs, out: out.to_owned(), machine: self.machine.clone() };
        let stop = self.stop;
        let worked = self.worker_for(&node.stage)?.work(job, stop, tell);
        // One that crashed is of no more use, and one that failed may hold memory that the next needs. Ranks that have
        // nothing to do wait for one another, each with a core.
        if worked.is_err() || self.shared(&node.stage) {
            self.worker = None;
        }
        let made_by = worked.map_err(|error| shortage::explained(error, node, self.store, &self.machine.device))?;
        Ok(MadeBy { at: now(), device: made_by.device, libtorch: made_by.libtorch, ..self.provenance.clone() })
    }

    /// The worker at hand; a fresh one for another stage, since only an ended process returns a device's memory.
    fn worker_for(&mut self, stage: &str) -> Result<&mut Worker> {
        let any = self.machine.device == "cpu" && !self.shared(stage);
        let keep = self.worker.as_ref().is_some_and(|(last, _)| last == stage || any);
        if !keep {
            self.worker = None;
        }
        let shared = self.shared(stage);
        match &mut self.worker {
            Some((_, worker)) => Ok(worker),
            none => {
                let worker = if shared { Worker::start_ranks(self.machine)? } else { Worker::start(self.machine)? };
                Ok(&mut none.insert((stage.to_owned(), worker)).1)
            }
        }
    }

    /// Whether a stage is done by several ranks.
    fn shared(&self, stage: &str) -> bool {
        stage == Train::NAME && self.machine.ranks > 1
    }

    fn inputs(&self, node: &Node, out: &Path) -> Vec<(Key, PathBuf)> {
        node.reads.iter().filter_map(|&key| Some((key, self.store.input(out, &self.plan.node(key)?.stage, key)))).collect()
    }
}
