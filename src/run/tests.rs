//! What is kept, made, failed, skipped and left, on a small diamond of stages.

mod beside;
mod despite;

use std::sync::Mutex;
use std::sync::atomic::Ordering;

use super::*;
use crate::plan::{Artifact, Cx, Handle, Stage};
use crate::progress::Progress;
use crate::store::State;
use crate::taint;

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
    told(plan, &go_despite(plan, store, keep_going, &[], work))
}

fn go_despite(plan: &Plan, store: &Store, keep_going: bool, gates: &[&str], work: &mut Workshop) -> Run {
    let stop = AtomicBool::new(false);
    let despite = gates.iter().map(|&gate| gate.to_owned()).collect();
    let options =
        Options { wait: Wait::Yes, force: BTreeSet::new(), until: None, keep_going, despite, beside: None, stop: &stop };
    run(plan, store, work, &options, &|_| ()).expect("the store works")
}

fn told(plan: &Plan, run: &Run) -> Vec<String> {
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
    assert_eq!(go(&diamond(), &store, true, &mut work), ["a made", "b failed: b broke", "c made", "d skipped for b", "e made"]);
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

#[test]
fn an_interruption_leaves_the_rest_for_later_and_says_nothing_of_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = Store::new(dir.path()).expect("a store");
    let mut work = |node: &Node, out: &Path, tell: &(dyn Fn(Tick) + Sync)| match node.label.as_str() {
        "step b" => Err(Fixable::interrupted("saved").into()),
        _ => writes(node, out, tell),
    };
    let ended = ["a made", "b failed: saved", "c pending", "d pending", "e pending"];
    assert_eq!(go(&diamond(), &store, true, &mut work), ended);
}

#[test]
fn what_a_stage_measures_of_its_work_is_recorded_beside_the_artifact_and_not_in_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = Store::new(dir.path()).expect("a store");
    let mut plan = Plan::default();
    let made = add(&mut plan, "a", &[]);
    let mut work = |node: &Node, out: &Path, tell: &(dyn Fn(Tick) + Sync)| {
        let stop = AtomicBool::new(false);
        let progress = Progress::new(tell, &stop);
        progress.measured("decode", 1.0, "bytes/s");
        progress.measured("replay", 186e3, "games/s");
        progress.measured("decode", 4e8, "bytes/s");
        progress.measured("scan", f64::NAN, "games/s");
        writes(node, out, tell)
    };
    assert_eq!(go(&plan, &store, false, &mut work), ["a made"]);
    let manifest = store.manifest("step", made.key()).expect("it was made");
    let told: Vec<_> =
        manifest.made_by.measured.iter().map(|figure| format!("{} {} {}", figure.name, figure.value, figure.unit)).collect();
    assert_eq!(told, ["decode 400000000 bytes/s", "replay 186000 games/s"]);
    assert_eq!(manifest.files.keys().collect::<Vec<_>>(), ["file"]);
}

#[test]
fn a_manifest_from_before_figures_were_recorded_is_read() {
    let made_by = serde_json::json!({ "seconds": 1.0, "at": "", "host": "", "philidor": "", "git": "", "device": "", "threads": 1,
        "libtorch": "", "cost": { "flops": 0.0, "input_bytes": 0, "disk_bytes": 0, "device_bytes": 0 } });
    assert!(serde_json::from_value::<MadeBy>(made_by).expect("it is read").measured.is_empty());
}
