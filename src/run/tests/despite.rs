//! Gates that refuse and are passed over, and the taint of what is made after them.

use super::*;

/// A gate, as a stage of its own: it is named by its stage.
#[derive(Serialize, Deserialize)]
pub(super) struct Check {
    /// What it asks for; it refuses `hard`.
    pub(super) asks: String,
}

impl Stage for Check {
    const NAME: &'static str = "check";
    const VERSION: u32 = 1;
    type Output = Folder;
    fn run(&self, _: &Cx, _: &Path) -> Result<()> {
        unreachable!("the tests hand in their own workshop")
    }
    fn detail(&self) -> String {
        self.asks.clone()
    }
}

/// `a`, a gate, then `b`, made of `a`, and `c`, made of `b`.
fn gated(asks: &str) -> Plan {
    let mut plan = Plan::default();
    plan.point("p");
    let a = add(&mut plan, "a", &[]);
    let gate = plan.add(Check { asks: asks.into() }, &[]);
    plan.gate(gate);
    let b = add(&mut plan, "b", &[a]);
    add(&mut plan, "c", &[b]);
    plan
}

/// `b` and what is made of it, with no gate any more.
fn ungated(beside: &str) -> Plan {
    let mut plan = Plan::default();
    plan.point("p");
    let a = add(&mut plan, "a", &[]);
    let b = add(&mut plan, "b", &[a]);
    add(&mut plan, beside, &[b]);
    plan
}

pub(super) fn strict(node: &Node, out: &Path, tell: &(dyn Fn(Tick) + Sync)) -> Result<MadeBy> {
    if node.label == "check hard" {
        return Err(Fixable::refused("too hard").hint("ask for less").into());
    }
    writes(node, out, tell)
}

/// What an artifact was made despite.
pub(super) fn despite_of(plan: &Plan, store: &Store, label: &str) -> Vec<String> {
    let node = plan.nodes.iter().find(|node| node.label == label).expect("in the plan");
    let manifest = store.manifest(&node.stage, node.key).expect("made");
    manifest.made_by.despite.iter().map(|refusal| format!("{}: {}", refusal.gate, refusal.message)).collect()
}

pub(super) fn store() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().expect("a folder");
    let store = Store::new(dir.path()).expect("a store");
    (dir, store)
}

#[test]
fn a_gate_that_is_passed_over_holds_nobody_up_and_taints_what_comes_after_it() {
    let (_dir, store) = store();
    let plan = gated("hard");
    let run = go_despite(&plan, &store, false, &["check"], &mut strict);
    assert_eq!(told(&plan, &run), ["a made", "check hard failed: too hard", "b made", "c made"]);
    assert_eq!(run.exit(), None);
    assert_eq!(run.passed_over.values().map(|refusal| refusal.gate.as_str()).collect::<Vec<_>>(), ["check"]);
    assert!(despite_of(&plan, &store, "step a").is_empty());
    assert_eq!(despite_of(&plan, &store, "step b"), ["check: too hard"]);
    assert_eq!(despite_of(&plan, &store, "step c"), ["check: too hard"]);

    let again = go_despite(&plan, &store, false, &[], &mut strict);
    assert_eq!(again.exit(), Some(Exit::Refused), "a later run asks the gate again");
    assert_eq!(told(&plan, &again)[2..], ["b skipped for check hard", "c skipped for check hard"]);
}

#[test]
fn what_is_made_of_a_tainted_artifact_inherits_the_taint_in_a_later_run() {
    let (_dir, store) = store();
    go_despite(&gated("hard"), &store, false, &["check"], &mut strict);
    let later = ungated("d");
    assert_eq!(go(&later, &store, false, &mut strict), ["a kept", "b kept", "d made"]);
    assert_eq!(despite_of(&later, &store, "step b"), ["check: too hard"]);
    assert_eq!(despite_of(&later, &store, "step d"), ["check: too hard"]);
}

#[test]
fn what_goes_on_from_tainted_files_is_tainted() {
    let (_dir, store) = store();
    let mut interrupted = |node: &Node, out: &Path, tell: &(dyn Fn(Tick) + Sync)| match node.label.as_str() {
        "step b" => Err(Fixable::interrupted("saved").into()),
        _ => strict(node, out, tell),
    };
    go_despite(&gated("hard"), &store, false, &["check"], &mut interrupted);
    let later = ungated("d");
    go(&later, &store, false, &mut strict);
    assert_eq!(despite_of(&later, &store, "step b"), ["check: too hard"]);
    let b = store.dir("step", later.nodes[1].key);
    assert!(!b.join(taint::FILE).exists(), "the note is in the manifest now");
}

#[test]
fn a_gate_that_passes_taints_nothing() {
    let (_dir, store) = store();
    let plan = gated("little");
    let run = go_despite(&plan, &store, false, &["check"], &mut strict);
    assert!(run.passed_over.is_empty());
    assert!(despite_of(&plan, &store, "step b").is_empty());
}

#[test]
fn only_the_refusal_of_a_gate_that_is_named_is_passed_over() {
    let held_up = ["b skipped for check hard", "c skipped for check hard"];
    let (_dir, store) = store();
    let plan = gated("hard");
    let other = go_despite(&plan, &store, true, &["other"], &mut strict);
    assert_eq!(told(&plan, &other)[2..], held_up);
    let mut broken = |node: &Node, out: &Path, tell: &(dyn Fn(Tick) + Sync)| match node.stage.as_str() {
        "check" => Err(Fixable::failed("no device").into()),
        _ => writes(node, out, tell),
    };
    let failed = go_despite(&plan, &store, true, &["check"], &mut broken);
    assert_eq!((told(&plan, &failed)[2..].to_vec(), failed.exit()), (held_up.map(str::to_owned).to_vec(), Some(Exit::Failed)));
    // `b` is no gate, though it refuses.
    let mut unwilling = |node: &Node, out: &Path, tell: &(dyn Fn(Tick) + Sync)| match node.label.as_str() {
        "step b" => Err(Fixable::refused("b says no").into()),
        _ => writes(node, out, tell),
    };
    let refused = go_despite(&plan, &store, true, &["step"], &mut unwilling);
    assert_eq!((told(&plan, &refused)[3].as_str(), refused.exit()), ("c skipped for b", Some(Exit::Refused)));
}

#[test]
fn the_refusal_of_a_gate_names_the_way_on() {
    let (_dir, store) = store();
    let plan = gated("hard");
    let run = go_despite(&plan, &store, false, &[], &mut strict);
    let refusal = run.failure(Exit::Refused).expect("it refused");
    let hint = "ask for less; who knows better goes on with --despite check, and all that is then made says so";
    assert_eq!(refusal.hint.as_deref(), Some(hint));
}
