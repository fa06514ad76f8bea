//! What can be made while another node is: the nodes that need no more of it than a file which is already there.
//!
//! They are made in a second workshop, in plan order, each as its file is published and its other inputs are there. What is
//! not reached before the other node ends is left for the first workshop, as if there were no second one. A failure here
//! ends nothing there: the other node may be the work of hours, and the run ends with that failure when it is done.

use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use anyhow::Result;

use super::make::Making;
use super::{Event, Outcome, Outcomes, Workshop, ends, missing, needs};
use crate::error::{Exit, exit_of};
use crate::plan::Node;
use crate::progress::Tick;
use crate::store::{Claim, Key, State, Unfinished, Wait};
use crate::taint;

/// How often it is looked whether a file is published.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Makes a node, and beside it what can be; says how it ended, and how they did.
pub(super) fn make(
    making: Making,
    node: &Node,
    wanted: &BTreeSet<Key>,
    known: &Outcomes,
    workshop: &mut Workshop,
) -> (Outcome, Outcomes) {
    let Some(second) = making.options.beside else { return (making.make(node, workshop), Outcomes::new()) };
    let mut early = making.plan.early(node.key);
    early.retain(|node| wanted.contains(&node.key) && !known.contains_key(&node.key));
    if early.is_empty() {
        return (making.make(node, workshop), Outcomes::new());
    }
    let over = AtomicBool::new(false);
    let (outcome, mut made) = thread::scope(|scope| {
        let (announce, announced) = channel::<Unfinished>();
        let (early, over) = (&early, &over);
        let beside = scope.spawn(move || {
            let mut made = Outcomes::new();
            // Where nothing comes, the node was kept, or never began.
            if let Ok(of) = announced.recv() {
                second(&mut |workshop| made = Beside { making, of: &of, early, known, over }.make(workshop));
            }
            made
        });
        // Only now is the folder its own: files of an earlier try that was not to be gone on with are removed.
        let mut work = |node: &Node, out: &Path, tell: &(dyn Fn(Tick) + Sync)| {
            announce.send(unfinished(node, out)?).ok();
            workshop(node, out, tell)
        };
        let outcome = making.make(node, &mut work);
        drop(announce);
        over.store(true, Ordering::Relaxed);
        (outcome, beside.join().unwrap_or_else(|panic| resume_unwind(panic)))
    });
    // What was made of a file that came out otherwise in the end is no longer kept, and its turn comes again.
    made.retain(|key, outcome| {
        let is_there = matches!(outcome, Outcome::Kept | Outcome::Made { .. });
        !is_there || early.iter().any(|node| node.key == *key && making.store.state(node.slot()) == State::Kept)
    });
    (outcome, made)
}

fn unfinished(node: &Node, out: &Path) -> Result<Unfinished> {
    Ok(Unfinished {
        part: out.to_owned(),
        stage: node.stage.clone(),
        key: node.key,
        made_of: node.manifest.clone(),
        despite: taint::noted(out)?,
    })
}

/// The second workshop's side of it.
struct Beside<'a> {
    making: Making<'a>,
    /// What the other workshop makes.
    of: &'a Unfinished,
    early: &'a [&'a Node],
    /// How the nodes before it ended.
    known: &'a Outcomes,
    /// Whether the other workshop is done.
    over: &'a AtomicBool,
}

impl Beside<'_> {
    fn make(&self, workshop: &mut Workshop) -> Outcomes {
        let mut outcomes = self.kept();
        while outcomes.len() < self.early.len() {
            for node in self.early {
                if self.over.load(Ordering::Relaxed) || self.making.options.stop.load(Ordering::Relaxed) {
                    return outcomes;
                }
                if outcomes.contains_key(&node.key) {
                    continue;
                }
                let Some(outcome) = self.attempt(node, &outcomes, workshop) else { continue };
                let ended = ends(&outcome, self.making.options).is_some();
                outcomes.insert(node.key, outcome);
                if ended {
                    return outcomes;
                }
            }
            thread::sleep(LOOK_EVERY);
        }
        outcomes
    }

    /// What is kept needs no file, and stays so even if none is ever published.
    fn kept(&self) -> Outcomes {
        let kept = self.early.iter().filter(|node| self.making.is_kept(node));
        kept.map(|node| {
            (self.making.tell)(&Event::Kept { key: node.key });
            (node.key, Outcome::Kept)
        })
        .collect()
    }

    /// Makes a node, unless it has to wait.
    fn attempt(&self, node: &Node, outcomes: &Outcomes, workshop: &mut Workshop) -> Option<Outcome> {
        let outcome = |key: &Key| outcomes.get(key).or_else(|| self.known.get(key));
        let of = self.of.key;
        let others = || needs(node, self.making.passed_over).filter(move |key| **key != of);
        if let Some(because) = others().find_map(|key| missing(*key, outcome(key))) {
            return Some(Outcome::Skipped { because });
        }
        if !others().all(|key| matches!(outcome(key), Some(Outcome::Kept | Outcome::Made { .. }))) {
            return None;
        }
        self.try_make(node, workshop).unwrap_or_else(|error| Some(self.making.failed(node, &error)))
    }

    /// Makes a node whose file is published. One that another process makes is left: it may be kept when its turn comes again.
    fn try_make(&self, node: &Node, workshop: &mut Workshop) -> Result<Option<Outcome>> {
        let file = node.piece.as_ref().map(|piece| piece.file.as_str());
        if file.is_some_and(|file| !self.of.has(file)) {
            return Ok(None);
        }
        let claimed = match self.making.claim(node, Wait::No) {
            Ok(Claim::Make(claimed)) => claimed,
            Ok(Claim::Kept) => return Ok(Some(Outcome::Kept)),
            Err(error) if exit_of(&error) == Exit::Locked => return Ok(None),
            Err(error) => return Err(error),
        };
        let piece = match file.map(|file| claimed.take(self.of, file)).transpose()? {
            // The other node is finished by now, and its folder has another name.
            Some(None) => return Ok(None),
            piece => piece.flatten(),
        };
        self.making.work(node, claimed, piece, workshop).map(Some)
    }
}
