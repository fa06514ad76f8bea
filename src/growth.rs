//! Nodes of one kind and different sizes, where a larger one may begin at the end of a smaller one.
//!
//! Whether it did is not in its key: it must come out the same.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::plan::{Growth, Node, Plan};
use crate::store::{Key, Store};

/// A kept node whose end another one begins at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    pub key: Key,
    pub size: u64,
    /// The size of the one that begins there.
    pub of: u64,
    pub unit: String,
}

/// What is kept of a smaller node of the same kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Smaller {
    Begins(Start),
    /// It cannot be begun from, for this reason.
    Refused(Start, String),
}

/// The largest kept node that is made of the same as `node` and is smaller.
pub fn smaller(node: &Node, store: &Store) -> Option<Smaller> {
    let growth = node.growth.as_ref()?;
    let of = size(growth, &node.manifest)?;
    let kept = store.manifests(&node.stage).into_iter().filter_map(|manifest| {
        let size = smaller_size(growth, &manifest.made_of, &node.manifest)?;
        Some(Start { key: manifest.key, size, of, unit: growth.unit.clone() })
    });
    let kept: Vec<Start> = kept.filter(|start| store.damage(&node.stage, start.key).is_none()).collect();
    let fits = |start: &&Start| start.size.is_multiple_of(growth.multiple_of.max(1));
    let largest = |fits: &dyn Fn(&&Start) -> bool| kept.iter().filter(fits).max_by_key(|start| start.size).cloned();
    if let Some(reason) = &growth.refused {
        return largest(&|_| true).map(|start| Smaller::Refused(start, reason.clone()));
    }
    let refused = |start: Start| {
        let reason = format!("{} is no multiple of {}", start.size, growth.multiple_of);
        Smaller::Refused(start, reason)
    };
    largest(&fits).map(Smaller::Begins).or_else(|| largest(&|_| true).map(refused))
}

/// Where `node` begins, if not at nothing.
pub fn start(node: &Node, store: &Store) -> Option<Start> {
    match smaller(node, store)? {
        Smaller::Begins(start) => Some(start),
        Smaller::Refused(..) => None,
    }
}

/// Puts smaller nodes before the larger ones that can begin from them; all else stays in its order.
pub fn order(plan: &mut Plan) {
    let mut waiting = std::mem::take(&mut plan.nodes);
    while !waiting.is_empty() {
        let free = waiting.iter().position(|node| {
            let before =
                |other: &Node| node.reads.contains(&other.key) || node.waits.contains(&other.key) || begins_from(node, other);
            !waiting.iter().any(before)
        });
        // Inputs stand before their users and sizes only fall, so one is free.
        plan.nodes.push(waiting.remove(free.unwrap_or(0)));
    }
}

fn begins_from(node: &Node, other: &Node) -> bool {
    let Some(growth) = node.growth.as_ref().filter(|growth| growth.refused.is_none()) else { return false };
    node.stage == other.stage && smaller_size(growth, &other.manifest, &node.manifest).is_some()
}

fn size(growth: &Growth, manifest: &Value) -> Option<u64> {
    manifest.pointer(&growth.size)?.as_u64()
}

/// The size of `small`, where it differs from `large` by a smaller size and by nothing else.
fn smaller_size(growth: &Growth, small: &Value, large: &Value) -> Option<u64> {
    let (least, most) = (size(growth, small)?, size(growth, large)?);
    if least >= most {
        return None;
    }
    let mut grown = small.clone();
    *grown.pointer_mut(&growth.size)? = most.into();
    (grown == *large).then_some(least)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Claim, Cost, MadeBy, Wait};
    use serde_json::json;
    use std::sync::atomic::AtomicBool;

    fn node(steps: u64, seed: u64, growth: Option<&Growth>) -> Node {
        let manifest = json!({ "stage": "train", "version": 1, "with": { "steps": steps, "seed": seed } });
        let node = json!({ "key": Key::of(&manifest), "stage": "train", "label": format!("train {steps}"), "points": [], "manifest": manifest,
            "reads": [], "waits": [], "resumes": true, "origins": [], "cost": Cost::default(), "growth": growth });
        serde_json::from_value(node).expect("a node")
    }

    fn growth(multiple_of: u64) -> Growth {
        Growth { size: "/with/steps".into(), unit: "steps".into(), multiple_of, refused: None }
    }

    fn keep(store: &Store, node: &Node) {
        let (stop, mut waiting) = (AtomicBool::new(false), |_: &str| ());
        let claim = store.claim(node.slot(), Wait::No, false, &stop, &mut waiting).expect("it is free");
        let Claim::Make(claimed) = claim else { panic!("it is not kept yet") };
        claimed.commit(&node.manifest, MadeBy::default()).expect("written");
    }

    #[test]
    fn a_node_begins_at_the_largest_smaller_one_that_is_made_of_the_same() {
        let dir = tempfile::tempdir().expect("a folder");
        let store = Store::new(dir.path()).expect("a store");
        for (steps, seed) in [(10, 1), (20, 1), (25, 1), (40, 1), (30, 2)] {
            keep(&store, &node(steps, seed, None));
        }
        let began = |node: &Node| start(node, &store).map(|start| (start.size, start.of));
        assert_eq!(began(&node(40, 1, Some(&growth(10)))), Some((20, 40)));
        assert_eq!(began(&node(40, 1, Some(&growth(1)))), Some((25, 40)));
        assert_eq!(began(&node(40, 1, None)), None);
        assert_eq!(began(&node(10, 1, Some(&growth(1)))), None);
        assert_eq!(began(&node(40, 3, Some(&growth(1)))), None);
    }

    #[test]
    fn what_cannot_be_begun_from_is_told_with_the_reason() {
        let dir = tempfile::tempdir().expect("a folder");
        let store = Store::new(dir.path()).expect("a store");
        keep(&store, &node(15, 1, None));
        let reason = |growth: Growth| match smaller(&node(40, 1, Some(&growth)), &store) {
            Some(Smaller::Refused(start, reason)) => (start.size, reason),
            other => panic!("{other:?}"),
        };
        assert_eq!(reason(growth(10)), (15, "15 is no multiple of 10".to_owned()));
        let cosine = Growth { refused: Some("a cosine".into()), ..growth(1) };
        assert_eq!(reason(cosine), (15, "a cosine".to_owned()));
    }

    #[test]
    fn smaller_nodes_come_before_those_that_begin_there_and_users_after_what_they_read() {
        let grown = |steps, seed| node(steps, seed, Some(&growth(1)));
        let user_of = |of: &Node, name: &str| {
            let mut user = node(0, 9, None);
            (user.stage, user.label, user.reads) = ("evaluate".into(), name.into(), vec![of.key]);
            user.key = Key::of(&json!(name));
            user
        };
        let (large, small, other) = (grown(40, 1), grown(20, 1), grown(30, 2));
        let mut plan = Plan::default();
        plan.nodes = vec![large.clone(), user_of(&large, "of 40"), other, small.clone(), user_of(&small, "of 20")];
        order(&mut plan);
        let labels: Vec<&str> = plan.nodes.iter().map(|node| node.label.as_str()).collect();
        assert_eq!(labels, ["train 30", "train 20", "train 40", "of 40", "of 20"]);
    }
}
