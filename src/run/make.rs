//! One node of a run: claimed, worked on, and kept.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Instant;

use anyhow::{Result, anyhow};

use super::{Event, Options, Outcome, Workshop};
use crate::error::{Exit, Fixable, exit_of, hint_of, panic_text};
use crate::growth;
use crate::plan::{Node, Plan};
use crate::progress::{Measured, Tick};
use crate::store::{Claim, Claimed, MadeBy, Manifest, State, Store, Taken, Wait};
use crate::taint::{self, PassedOver, Refusal};

/// What the making of any node of a run needs.
#[derive(Clone, Copy)]
pub(super) struct Making<'a> {
    pub(super) plan: &'a Plan,
    pub(super) store: &'a Store,
    pub(super) options: &'a Options<'a>,
    pub(super) passed_over: &'a PassedOver,
    pub(super) tell: &'a (dyn Fn(&Event) + Sync),
}

impl Making<'_> {
    /// Makes a node, where it is not kept.
    pub(super) fn make(self, node: &Node, workshop: &mut Workshop) -> Outcome {
        let made = self.claim(node, self.options.wait).and_then(|claim| match claim {
            Claim::Kept => Ok(Outcome::Kept),
            Claim::Make(claimed) => self.work(node, claimed, None, workshop),
        });
        made.unwrap_or_else(|error| self.failed(node, &error))
    }

    /// Whether a node is kept, and not to be made again.
    pub(super) fn is_kept(self, node: &Node) -> bool {
        !self.is_forced(node) && self.store.state(node.slot()) == State::Kept
    }

    fn is_forced(self, node: &Node) -> bool {
        self.options.force.contains(&node.stage)
    }

    /// The right to make a node, or that it is kept, which is told.
    pub(super) fn claim(self, node: &Node, wait: Wait) -> Result<Claim> {
        let kept = || (self.tell)(&Event::Kept { key: node.key });
        if self.is_kept(node) {
            kept();
            return Ok(Claim::Kept);
        }
        if self.options.stop.load(Ordering::Relaxed) {
            return Err(Fixable::interrupted("interrupted before it began").into());
        }
        let mut waiting = |holder: &str| (self.tell)(&Event::Waiting { key: node.key, holder: holder.to_owned() });
        let claim = self.store.claim(node.slot(), wait, self.is_forced(node), self.options.stop, &mut waiting)?;
        if matches!(claim, Claim::Kept) {
            kept();
        }
        Ok(claim)
    }

    /// Has a claimed node made; of whole inputs, but for one of which a piece was taken.
    pub(super) fn work(self, node: &Node, claimed: Claimed, piece: Option<Manifest>, workshop: &mut Workshop) -> Result<Outcome> {
        let Self { store, tell, .. } = self;
        tell(&Event::Started { key: node.key });
        if let (false, Some(damage)) = (self.is_forced(node), store.damage(&node.stage, node.key)) {
            let text = format!("what was kept is damaged, and is made again: {damage}");
            tell(&Event::Told { key: node.key, tick: Tick::Note { text } });
        }
        if let State::Resumable(resume) = store.state(node.slot()) {
            tell(&Event::Resumed { key: node.key, done: resume.done, total: resume.total, unit: resume.unit });
        }
        let (mut despite, taken) = self.inherited(node, piece);
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
        let made_by = MadeBy { seconds, cost: node.cost, measured, despite, taken, ..worked? };
        let manifest = claimed.commit(&node.manifest, made_by)?;
        let bytes = manifest.files.values().map(|file| file.bytes).sum();
        tell(&Event::Made { key: node.key, seconds, bytes });
        Ok(Outcome::Made { seconds })
    }

    /// What a node is made despite, and of which pieces: the gates passed over that it would have waited for, and all that its
    /// inputs were, the smaller node that it begins from among them. A piece stands for the input that it was taken of.
    fn inherited(self, node: &Node, piece: Option<Manifest>) -> (Vec<Refusal>, Vec<Taken>) {
        let Self { plan, store, passed_over, .. } = self;
        let unfinished = piece.as_ref().map(|piece| piece.key);
        let whole = node.reads.iter().filter(|key| Some(**key) != unfinished);
        let read = whole.filter_map(|&key| store.manifest(&plan.node(key)?.stage, key).ok());
        let begun = growth::start(node, store).and_then(|start| store.manifest(&node.stage, start.key).ok());
        let mut despite: Vec<_> = node.waits.iter().filter_map(|gate| passed_over.get(gate).cloned()).collect();
        let mut taken = Vec::new();
        for manifest in read.chain(begun).chain(piece) {
            despite.extend(manifest.made_by.despite);
            taken.extend(manifest.made_by.taken);
        }
        taken.sort();
        taken.dedup();
        (despite, taken)
    }

    /// How a node ended that failed, which is told.
    pub(super) fn failed(self, node: &Node, error: &anyhow::Error) -> Outcome {
        let mut failure = failure_of(error);
        if passes_over(&failure, node, self.plan, self.options) {
            (self.tell)(&Event::PassedOver { key: node.key, message: failure.message.clone() });
            return Outcome::Failed(failure);
        }
        if failure.exit == Exit::Refused && self.plan.is_gate(node.key) {
            let way_on = format!("who knows better goes on with --despite {}, and all that is then made says so", node.stage);
            failure.hint = Some(failure.hint.map_or_else(|| way_on.clone(), |hint| format!("{hint}; {way_on}")));
        }
        (self.tell)(&Event::Failed {
            key: node.key,
            message: failure.message.clone(),
            hint: failure.hint.clone(),
            exit: failure.exit,
        });
        Outcome::Failed(failure)
    }
}

/// Whether a node's failure is the refusal of a gate that the user does not want to be held up by.
pub(super) fn passes_over(failure: &Fixable, node: &Node, plan: &Plan, options: &Options) -> bool {
    failure.exit == Exit::Refused && options.despite.contains(&node.stage) && plan.is_gate(node.key)
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
