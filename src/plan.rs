//! What must happen: stages become keyed nodes, in order. No chess, no torch, no TOML.
//!
//! A stage is a struct whose fields are its settings and its inputs; serialised, it is its own cache key.
//! A [`Handle`] is made only by [`Plan::add`], so an input always stands before its user and a cycle cannot
//! be written. Nodes are plain values: the work is found by the stage's name, here or in another process.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::machine::Machine;
use crate::passes::Passes;
use crate::progress::Progress;
use crate::ranks::Ranks;
pub use crate::store::Cost;
use crate::store::{Key, Slot, Store};

mod handle;

pub use handle::Handle;

/// One cached step. Its fields are its settings and its inputs; serialised, they are its key.
pub trait Stage: Serialize + DeserializeOwned + 'static {
    const NAME: &'static str;
    /// Raised by hand when the same fields would write different files.
    const VERSION: u32;
    /// Whether a second try may start from the files of the first.
    const RESUMES: bool = false;
    /// The JSON pointer, in the manifest, of the field whose variant sets unlike work apart: the time of one variant tells
    /// nothing of another.
    const VARIANT: &'static str = "";
    type Output: Artifact;

    /// Writes the artifact's files into `out`, and reads only what [`Cx::open`] opens.
    fn run(&self, cx: &Cx, out: &Path) -> Result<()>;

    /// What the work takes, as far as the settings tell; `plan` turns it into time.
    fn cost(&self) -> Cost {
        Cost::default()
    }

    /// What passes through a model for it, as far as the settings tell; nothing by default.
    fn passes(&self) -> Option<Passes> {
        None
    }

    /// How nodes like this one may begin where smaller ones ended; none do by default.
    fn growth(&self) -> Option<Growth> {
        None
    }

    /// The one file that it reads of an input, where it need not wait for the rest of that.
    fn piece(&self) -> Option<Piece> {
        None
    }

    /// What the user calls this node beside the stage's name, such as `legality at best`.
    fn detail(&self) -> String {
        String::new()
    }
}

/// How a node is larger or smaller than others that are made of the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Growth {
    /// The JSON pointer, in the manifest, of the number that is its size.
    pub size: String,
    /// What the size counts, in the plural.
    pub unit: String,
    /// A smaller node is begun from only where its size is a multiple of this.
    pub multiple_of: u64,
    /// Why none of this kind is begun from a smaller one.
    pub refused: Option<String>,
}

/// All that a node reads of an input, which so need not be finished.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    pub of: Key,
    /// Its path in the folder of the input, where it is whole once it is there.
    pub file: String,
}

/// What a finished folder is, seen from the stage after it.
pub trait Artifact: Sized {
    fn open(dir: &Path) -> Result<Self>;
}

/// A stage with its type erased: everything a runner, here or elsewhere, needs to know.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Node {
    pub key: Key,
    pub stage: String,
    /// The stage and what distinguishes it: unique within a point.
    pub label: String,
    /// The points of the sweep that need it.
    pub points: Vec<String>,
    /// Exactly what was hashed: `{"stage", "version", "with"}`.
    pub manifest: Value,
    /// The artifacts named in the manifest.
    pub reads: Vec<Key>,
    /// The gates passed on the way; not in the key.
    pub waits: Vec<Key>,
    pub resumes: bool,
    /// Fields of `with` and the experiment keys that set them: `("metric.legality", "measure.final.legality")`.
    pub origins: Vec<(String, String)>,
    pub cost: Cost,
    #[serde(default)]
    pub growth: Option<Growth>,
    /// Not in the key: what comes of the piece comes of the whole.
    #[serde(default)]
    pub piece: Option<Piece>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passes: Option<Passes>,
    /// [`Stage::VARIANT`].
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub variant: String,
}

impl Node {
    /// The node's place in a store.
    pub fn slot(&self) -> Slot<'_> {
        Slot { stage: &self.stage, key: self.key, label: &self.label, resumes: self.resumes }
    }

    /// Whether the manifest of a node of this stage is of the same [variant](Stage::VARIANT).
    pub fn is_of_the_variant(&self, manifest: &Value) -> bool {
        let variant = |manifest: &Value| match manifest.pointer(&self.variant) {
            Some(Value::Object(fields)) => fields.keys().next().cloned(),
            Some(Value::String(name)) => Some(name.clone()),
            _ => None,
        };
        self.variant.is_empty() || variant(&self.manifest) == variant(manifest)
    }
}

/// Every node in order: inputs before their users.
#[derive(Default)]
pub struct Plan {
    pub nodes: Vec<Node>,
    point: String,
    gates: Vec<Key>,
}

impl Plan {
    /// Begins the next point of a sweep: gates of the last one hold nobody up any more.
    pub fn point(&mut self, name: &str) {
        name.clone_into(&mut self.point);
        self.gates.clear();
    }

    /// Adds a stage; equal work is one node. `origins` tell which experiment keys set its fields.
    ///
    /// # Panics
    ///
    /// Where a stage does not serialise to JSON, which is a bug in the stage.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "the plan takes the stage; a borrowed one could be changed and added twice"
    )]
    pub fn add<S: Stage>(&mut self, stage: S, origins: &[(&str, &str)]) -> Handle<S::Output> {
        let manifest = json!({ "stage": S::NAME, "version": S::VERSION, "with": &stage });
        let key = Key::of(&manifest);
        if let Some(node) = self.nodes.iter_mut().find(|node| node.key == key) {
            if !node.points.contains(&self.point) {
                node.points.push(self.point.clone());
            }
        } else {
            let detail = stage.detail();
            self.nodes.push(Node {
                key,
                stage: S::NAME.to_owned(),
                label: if detail.is_empty() { S::NAME.to_owned() } else { format!("{} {detail}", S::NAME) },
                points: vec![self.point.clone()],
                reads: artifacts(&manifest),
                waits: self.gates.clone(),
                manifest,
                resumes: S::RESUMES,
                origins: origins.iter().map(|&(field, key)| (field.to_owned(), key.to_owned())).collect(),
                cost: stage.cost(),
                growth: stage.growth(),
                piece: stage.piece(),
                passes: stage.passes(),
                variant: S::VARIANT.to_owned(),
            });
        }
        Handle::of(key)
    }

    /// Makes every later node of the point wait for `gate`, without a word in their keys.
    pub fn gate<T>(&mut self, gate: Handle<T>) {
        self.gates.push(gate.key());
    }

    /// Whether others wait for it.
    pub fn is_gate(&self, key: Key) -> bool {
        self.nodes.iter().any(|node| node.waits.contains(&key))
    }

    /// The nodes that can be made while `of` is: those that read no more than a piece of it, and what follows from them. None of
    /// them is a gate.
    pub fn early(&self, of: Key) -> Vec<&Node> {
        let mut early: Vec<&Node> = Vec::new();
        for node in &self.nodes {
            let needs_whole = node.reads.contains(&of) && node.piece.as_ref().is_none_or(|piece| piece.of != of);
            let follows = node.reads.iter().any(|key| *key == of || early.iter().any(|before| before.key == *key));
            if follows && !needs_whole && !self.is_gate(node.key) {
                early.push(node);
            }
        }
        early
    }

    pub fn node(&self, key: Key) -> Option<&Node> {
        self.nodes.iter().find(|node| node.key == key)
    }
}

/// The keys marked as artifacts in a manifest, in order, each once.
pub fn artifacts(value: &Value) -> Vec<Key> {
    fn walk(value: &Value, found: &mut Vec<Key>) {
        match value {
            Value::Object(fields) => {
                if let (1, Some(key)) = (fields.len(), fields.get("artifact").and_then(Value::as_str).and_then(Key::parse)) {
                    if !found.contains(&key) {
                        found.push(key);
                    }
                } else {
                    fields.values().for_each(|field| walk(field, found));
                }
            }
            Value::Array(items) => items.iter().for_each(|item| walk(item, found)),
            _ => (),
        }
    }
    let mut found = Vec::new();
    walk(value, &mut found);
    found
}

/// What a stage may reach beyond its fields: its inputs, and what must not decide the result.
pub struct Cx<'a> {
    pub node: &'a Node,
    /// Each artifact that it reads, or a piece of it, and the folder where that lies.
    pub inputs: &'a [(Key, PathBuf)],
    pub store: &'a Store,
    pub machine: &'a Machine,
    pub progress: Progress<'a>,
    /// The processes that do this work together; one, but for a training.
    pub ranks: &'a dyn Ranks,
}

impl Cx<'_> {
    /// Opens an input.
    ///
    /// # Errors
    ///
    /// Where the handle is none of the stage's own fields: it would not be in the key.
    pub fn open<T: Artifact>(&self, input: Handle<T>) -> Result<T> {
        let known = self.inputs.iter().find(|(key, _)| *key == input.key() && self.node.reads.contains(key));
        let (_, dir) =
            known.with_context(|| format!("stage `{}` opens {}, which is not in its key", self.node.stage, input.key()))?;
        T::open(dir)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Text;

    impl Artifact for Text {
        fn open(_: &Path) -> Result<Self> {
            Ok(Self)
        }
    }

    #[derive(Serialize, Deserialize)]
    struct Leaf {
        text: String,
    }

    impl Stage for Leaf {
        const NAME: &'static str = "leaf";
        const VERSION: u32 = 1;
        type Output = Text;
        fn run(&self, _: &Cx, _: &Path) -> Result<()> {
            Ok(())
        }
    }

    #[derive(Serialize, Deserialize)]
    struct Join {
        parts: Vec<Handle<Text>>,
    }

    impl Stage for Join {
        const NAME: &'static str = "join";
        const VERSION: u32 = 1;
        type Output = Text;
        fn run(&self, _: &Cx, _: &Path) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn equal_work_in_two_points_is_one_node_and_inputs_are_found_in_the_manifest() {
        let mut plan = Plan::default();
        let mut ends = Vec::new();
        for point in ["a", "b"] {
            plan.point(point);
            let leaf = plan.add(Leaf { text: "same".into() }, &[]);
            let other = plan.add(Leaf { text: point.into() }, &[]);
            ends.push(plan.add(Join { parts: vec![leaf, other] }, &[]));
        }
        assert_eq!(plan.nodes.len(), 5);
        assert_eq!(plan.nodes[0].points, ["a", "b"]);
        let join = plan.node(ends[0].key()).expect("added above");
        assert_eq!(join.reads, [plan.nodes[0].key, plan.nodes[1].key]);
    }

    #[derive(Serialize, Deserialize)]
    struct Look {
        at: Handle<Text>,
    }

    impl Stage for Look {
        const NAME: &'static str = "look";
        const VERSION: u32 = 1;
        type Output = Text;
        fn run(&self, _: &Cx, _: &Path) -> Result<()> {
            Ok(())
        }
        fn piece(&self) -> Option<Piece> {
            Some(Piece { of: self.at.key(), file: "first".into() })
        }
    }

    #[test]
    fn early_is_what_reads_a_piece_and_what_follows_unless_it_reads_the_whole_too_or_is_a_gate() {
        let mut plan = Plan::default();
        plan.point("a");
        let long = plan.add(Leaf { text: "long".into() }, &[]);
        let look = plan.add(Look { at: long }, &[]);
        let follows = plan.add(Join { parts: vec![look] }, &[]);
        plan.add(Join { parts: vec![look, long] }, &[]);
        let gate = plan.add(Join { parts: vec![look, follows] }, &[]);
        plan.gate(gate);
        let held_up = plan.add(Join { parts: vec![follows] }, &[]);
        let early: Vec<Key> = plan.early(long.key()).iter().map(|node| node.key).collect();
        assert_eq!(
            early,
            [look.key(), follows.key(), held_up.key()],
            "the last waits for a gate, which is seen to when it is made"
        );
        assert!(plan.early(look.key()).is_empty(), "what reads it reads the whole of it");
    }

    #[test]
    fn a_gate_holds_up_later_nodes_of_its_point_only_and_is_in_no_key() {
        let key_without = {
            let mut plan = Plan::default();
            plan.point("a");
            plan.add(Leaf { text: "late".into() }, &[]).key()
        };
        let mut plan = Plan::default();
        plan.point("a");
        let gate = plan.add(Leaf { text: "gate".into() }, &[]);
        plan.gate(gate);
        let late = plan.add(Leaf { text: "late".into() }, &[]);
        plan.point("b");
        let free = plan.add(Leaf { text: "free".into() }, &[]);
        assert_eq!(late.key(), key_without);
        assert_eq!(plan.node(late.key()).expect("added").waits, [gate.key()]);
        assert!(plan.node(free.key()).expect("added").waits.is_empty());
    }
}
