//! What happened: the nodes of a plan are made in order, and everything is told as events.
//!
//! A node that fails skips only what depends on it; what is finished stays. The work itself is done by
//! whoever the caller hands in, here or in another process.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::{Result, anyhow};
use serde::{Deserialize, Serialize};

use crate::error::{Exit, Fixable, exit_of, hint_of};
use crate::plan::{Node, Plan};
use crate::progress::Tick;
use crate::store::{Claim, Key, MadeBy, State, Store, Wait};

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
    Skipped {
        key: Key,
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
    let mut ended = false;
    for node in &plan.nodes {
        if !wanted.contains(&node.key) {
            continue;
        }
        let outcome = if let Some(because) = node.reads.iter().chain(&node.waits).find_map(|&key| missing(key, &outcomes)) {
            tell(&Event::Skipped { key: node.key, because });
            Outcome::Skipped { because }
        } else if ended {
            Outcome::Pending
        } else {
            make(node, store, workshop, options, tell)
        };
        if let Outcome::Failed(failure) = &outcome {
            ended |= !options.keep_going || failure.exit == Exit::Interrupted;
        }
        outcomes.insert(node.key, outcome);
    }
    Ok(Run { outcomes: plan.nodes.iter().filter_map(|node| Some((node.key, outcomes.remove(&node.key)?))).collect() })
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

fn make(node: &Node, store: &Store, workshop: &mut Workshop, options: &Options, tell: &(dyn Fn(&Event) + Sync)) -> Outcome {
    match try_make(node, store, workshop, options, tell) {
        Ok(outcome) => outcome,
        Err(error) => {
            let failure = failure_of(&error);
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

fn try_make(
    node: &Node,
    store: &Store,
    workshop: &mut Workshop,
    options: &Options,
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
    let claimed = match store.claim(node.slot(), options.wait, force, &mut waiting)? {
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
    let began = Instant::now();
    let told = |tick: Tick| tell(&Event::Told { key: node.key, tick });
    let before = claimed.seconds_spent();
    // A panic, such as a libtorch error raised by a plain method, fails its node and not the run.
    let worked = catch_unwind(AssertUnwindSafe(|| workshop(node, claimed.part(), &told)))
        .unwrap_or_else(|panic| Err(anyhow!(panic_text(&*panic))));
    let seconds = before + began.elapsed().as_secs_f64();
    claimed.spend(seconds);
    let made_by = MadeBy { seconds, cost: node.cost, ..worked? };
    let manifest = claimed.commit(&node.manifest, made_by)?;
    let bytes = manifest.files.values().map(|file| file.bytes).sum();
    tell(&Event::Made { key: node.key, seconds, bytes });
    Ok(Outcome::Made { seconds })
}

/// The message of a panic, as far as it is text.
pub fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("it panicked without a message").to_owned()
}

/// An error as what a node's failure shows: the chain in one line, the hint and exit code of its [`Fixable`].
pub fn failure_of(error: &anyhow::Error) -> Fixable {
    Fixable { message: format!("{error:#}"), hint: hint_of(error), exit: exit_of(error) }
}

impl Run {
    /// The code that the process ends with: that of the first failure.
    pub fn exit(&self) -> Option<Exit> {
        self.outcomes.iter().find_map(|(_, outcome)| match outcome {
            Outcome::Failed(failure) => Some(failure.exit),
            _ => None,
        })
    }

    pub fn outcome(&self, key: Key) -> Option<&Outcome> {
        self.outcomes.iter().find(|(of, _)| *of == key).map(|(_, outcome)| outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Artifact, Cx, Handle, Stage};
    use std::sync::Mutex;

    #[derive(Serialize, Deserialize)]
    struct Step {
        name: String,
        after: Vec<Handle<Folder>>,
    }

    struct Folder;

    impl Artifact for Folder {
        fn open(_: &Path) -> Result<Self> {
            Ok(Self)
        }
    }

    impl Stage for Step {
        const NAME: &'static str = "step";
        const VERSION: u32 = 1;
        const RESUMES: bool = true;
        type Output = Folder;
        fn run(&self, _: &Cx, _: &Path) -> Result<()> {
            unreachable!("the tests hand in their own workshop")
        }
        fn detail(&self) -> String {
            self.name.clone()
        }
    }

    fn add(plan: &mut Plan, name: &str, after: &[Handle<Folder>]) -> Handle<Folder> {
        plan.add(Step { name: name.into(), after: after.to_vec() }, &[])
    }

    fn go(plan: &Plan, store: &Store, keep_going: bool, work: &mut Workshop) -> Vec<String> {
        let stop = AtomicBool::new(false);
        let options = Options { wait: Wait::Yes, force: BTreeSet::new(), until: None, keep_going, stop: &stop };
        let run = run(plan, store, work, &options, &|_| ()).expect("the store works");
        let name = |key| plan.node(key).expect("in the plan").label.replace("step ", "");
        run.outcomes
            .iter()
            .map(|(key, outcome)| {
                let how = match outcome {
                    Outcome::Kept => "kept".to_owned(),
                    Outcome::Made { .. } => "made".to_owned(),
                    Outcome::Failed(failure) => format!("failed: {}", failure.message),
                    Outcome::Skipped { because } => format!("skipped for {}", name(*because)),
                    Outcome::Pending => "pending".to_owned(),
                };
                format!("{} {how}", name(*key))
            })
            .collect()
    }

    fn writes(node: &Node, out: &Path, _: &(dyn Fn(Tick) + Sync)) -> Result<MadeBy> {
        fs_err::write(out.join("file"), &node.label)?;
        Ok(MadeBy::default())
    }

    fn diamond() -> Plan {
        let mut plan = Plan::default();
        plan.point("p");
        let a = add(&mut plan, "a", &[]);
        let b = add(&mut plan, "b", &[a]);
        let c = add(&mut plan, "c", &[a]);
        add(&mut plan, "d", &[b]);
        add(&mut plan, "e", &[c]);
        plan
    }

    #[test]
    fn a_second_run_keeps_everything() {
        let dir = tempfile::tempdir().expect("a folder");
        let store = Store::new(dir.path()).expect("a store");
        assert_eq!(go(&diamond(), &store, false, &mut writes), ["a made", "b made", "c made", "d made", "e made"]);
        assert_eq!(go(&diamond(), &store, false, &mut writes), ["a kept", "b kept", "c kept", "d kept", "e kept"]);
    }

    #[test]
    fn a_failure_or_a_panic_skips_only_what_depends_on_it() {
        let dir = tempfile::tempdir().expect("a folder");
        let store = Store::new(dir.path()).expect("a store");
        let mut work = |node: &Node, out: &Path, tell: &(dyn Fn(Tick) + Sync)| match node.label.as_str() {
            "step b" => panic!("b broke"),
            _ => writes(node, out, tell),
        };
        assert_eq!(
            go(&diamond(), &store, true, &mut work),
            ["a made", "b failed: b broke", "c made", "d skipped for b", "e made"]
        );
        assert_eq!(go(&diamond(), &store, false, &mut writes), ["a kept", "b made", "c kept", "d made", "e kept"]);
    }

    #[test]
    fn without_keep_going_the_first_failure_ends_the_run() {
        let dir = tempfile::tempdir().expect("a folder");
        let store = Store::new(dir.path()).expect("a store");
        let mut work = |node: &Node, out: &Path, tell: &(dyn Fn(Tick) + Sync)| match node.label.as_str() {
            "step b" => Err(Fixable::refused("b says no").into()),
            _ => writes(node, out, tell),
        };
        assert_eq!(
            go(&diamond(), &store, false, &mut work),
            ["a made", "b failed: b says no", "c pending", "d skipped for b", "e pending"]
        );
    }

    #[test]
    fn a_stage_that_resumes_sees_its_unfinished_files_and_a_failure_deletes_nothing() {
        let dir = tempfile::tempdir().expect("a folder");
        let store = Store::new(dir.path()).expect("a store");
        let mut plan = Plan::default();
        add(&mut plan, "a", &[]);
        let seen = Mutex::new(Vec::new());
        let mut work = |_: &Node, out: &Path, _: &(dyn Fn(Tick) + Sync)| {
            let found = out.join("half").exists();
            seen.lock().expect("one thread").push(found);
            fs_err::write(out.join("half"), "")?;
            anyhow::ensure!(found, "stopped half-way");
            Ok(MadeBy::default())
        };
        assert_eq!(go(&plan, &store, false, &mut work), ["a failed: stopped half-way"]);
        assert_eq!(go(&plan, &store, false, &mut work), ["a made"]);
        assert_eq!(*seen.lock().expect("one thread"), [false, true]);
    }

    #[test]
    fn two_runners_at_once_make_each_artifact_once() {
        let dir = tempfile::tempdir().expect("a folder");
        let made = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let store = Store::new(dir.path()).expect("a store");
                    let mut work = |node: &Node, out: &Path, tell: &(dyn Fn(Tick) + Sync)| {
                        made.fetch_add(1, Ordering::Relaxed);
                        writes(node, out, tell)
                    };
                    assert_eq!(go(&diamond(), &store, false, &mut work).len(), 5);
                });
            }
        });
        assert_eq!(made.load(Ordering::Relaxed), 5);
    }
}
