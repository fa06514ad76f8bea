//! Why a node must be made: the fields in which it differs from what was made before.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::plan::{Node, Plan, artifacts};
use crate::store::{Key, Manifest, Store};

/// One field that decided the key, before and after. `None` is a field that was not there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Below `with`, such as `train.learning_rate.peak`; `version` for the stage's own.
    pub field: String,
    pub before: Option<Value>,
    pub after: Option<Value>,
    /// The experiment key that sets the field, where one does.
    pub key: Option<String>,
}

/// Why a node is not kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// No artifact of this stage and label was made before.
    New,
    /// It was made, and its files are no longer what was written.
    Damaged { damage: String },
    /// Settings of its own differ from the nearest artifact made before.
    Changed { from: Key, changes: Vec<Change> },
    /// Only its inputs differ: the labels of the nodes that made them.
    Inputs { from: Key, inputs: Vec<String> },
}

/// Why `node` must be made. `before` is the last plan of the same experiment, where there was one: the node of the same label in
/// it is the fairest to compare with; else the nearest of its kind whose place it takes; else the nearest artifact of the stage.
pub fn why(node: &Node, plan: &Plan, before: &[Node], store: &Store) -> Why {
    if let Some(damage) = store.damage(&node.stage, node.key) {
        return Why::Damaged { damage };
    }
    let last = before.iter().find(|old| old.label == node.label && old.key != node.key && shares_a_point(old, node));
    let last = last.or_else(|| replaced(node, plan, before));
    let (from, made_of) = match last {
        Some(old) => (old.key, old.manifest.clone()),
        None => match nearest(node, &store.manifests(&node.stage)) {
            Some(manifest) => (manifest.key, manifest.made_of),
            None => return Why::New,
        },
    };
    let changes = changes(&made_of, &node.manifest, &node.origins);
    let (inputs, own): (Vec<_>, Vec<_>) = changes.into_iter().partition(|change| input_of(change).is_some());
    if own.is_empty() && !inputs.is_empty() {
        let labels = inputs
            .iter()
            .filter_map(input_of)
            .map(|key| plan.node(key).map_or_else(|| key.to_string(), |input| input.label.clone()));
        return Why::Inputs { from, inputs: labels.collect() };
    }
    if own.is_empty() { Why::New } else { Why::Changed { from, changes: own } }
}

fn shares_a_point(old: &Node, node: &Node) -> bool {
    old.points.iter().any(|point| node.points.contains(point))
}

/// The node of the last plan that is no longer wanted and whose own settings, beside its inputs, differ in the fewest fields. One
/// that is alike in less than half of them is no kin.
fn replaced<'a>(node: &Node, plan: &Plan, before: &'a [Node]) -> Option<&'a Node> {
    let own = |old: &Node| changes(&old.manifest, &node.manifest, &[]).iter().filter(|change| input_of(change).is_none()).count();
    let fields = leaves(&node.manifest["with"]).saturating_sub(node.reads.len());
    let is_kin = |old: &&Node| old.stage == node.stage && node.is_of_the_variant(&old.manifest) && shares_a_point(old, node);
    before
        .iter()
        .filter(|old| is_kin(old) && plan.node(old.key).is_none())
        .map(|old| (own(old), old))
        .filter(|(distance, _)| 2 * distance <= fields)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, old)| old)
}

/// The artifact of the same inputs that differs in the fewest fields; the newest of equals. One that is alike in less than
/// half of its fields explains nothing.
fn nearest(node: &Node, manifests: &[Manifest]) -> Option<Manifest> {
    let distance = |manifest: &Manifest| changes(&manifest.made_of, &node.manifest, &[]).len();
    let (fields, inputs) = (leaves(&node.manifest["with"]), artifacts(&node.manifest));
    manifests
        .iter()
        .filter(|manifest| manifest.key != node.key && artifacts(&manifest.made_of) == inputs && 2 * distance(manifest) <= fields)
        .min_by(|a, b| distance(a).cmp(&distance(b)).then_with(|| b.made_by.at.cmp(&a.made_by.at)))
        .cloned()
}

fn leaves(value: &Value) -> usize {
    match value {
        Value::Object(fields) => fields.values().map(leaves).sum(),
        Value::Array(items) if items.iter().any(Value::is_object) => items.iter().map(leaves).sum(),
        _ => 1,
    }
}

/// The key of the input that now stands in the field, where the field is an input.
fn input_of(change: &Change) -> Option<Key> {
    let after = change.after.as_ref()?;
    // A field that was not there is told as a whole.
    let mark = after.get("artifact").or_else(|| change.field.ends_with("artifact").then_some(after));
    mark?.as_str().and_then(Key::parse)
}

/// The leaves that differ between two manifests, in order of field.
fn changes(before: &Value, after: &Value, origins: &[(String, String)]) -> Vec<Change> {
    let mut found = Vec::new();
    diff("", before, after, &mut found);
    found
        .into_iter()
        .map(|(path, before, after)| {
            let field = path.strip_prefix("with.").unwrap_or(&path).to_owned();
            let key = origins.iter().find_map(|(prefix, key)| {
                let rest = field.strip_prefix(prefix.as_str())?;
                (rest.is_empty() || rest.starts_with('.')).then(|| format!("{key}{rest}"))
            });
            Change { field, before, after, key }
        })
        .collect()
}

fn diff(path: &str, before: &Value, after: &Value, found: &mut Vec<(String, Option<Value>, Option<Value>)>) {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match (before, after) {
        (Value::Object(old), Value::Object(new)) => {
            let mut names: Vec<&String> = old.keys().chain(new.keys()).collect();
            names.sort();
            names.dedup();
            for name in names {
                match (old.get(name), new.get(name)) {
                    (Some(old), Some(new)) => diff(&below(name), old, new, found),
                    (old, new) => found.push((below(name), old.cloned(), new.cloned())),
                }
            }
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() && old.iter().any(Value::is_object) => {
            for (index, (old, new)) in old.iter().zip(new).enumerate() {
                diff(&below(&index.to_string()), old, new, found);
            }
        }
        (old, new) if old != new => found.push((path.to_owned(), Some(old.clone()), Some(new.clone()))),
        _ => (),
    }
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let show = |value: &Option<Value>| value.as_ref().map_or_else(|| "(not there)".to_owned(), Value::to_string);
        let name = self.key.as_ref().unwrap_or(&self.field);
        write!(f, "{name}: {} -> {}", show(&self.before), show(&self.after))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_change_names_the_experiment_key_and_both_values() {
        let before = json!({ "stage": "train", "version": 1, "with": { "train": { "peak": 0.1, "floor": 0.0 }, "tokens": { "artifact": "a" } } });
        let mut after = before.clone();
        after["with"]["train"]["peak"] = json!(0.2);
        let origins = [("train".to_owned(), "train".to_owned())];
        let changes = changes(&before, &after, &origins);
        assert_eq!(changes.len(), 1);
        assert_eq!(changes[0].to_string(), "train.peak: 0.1 -> 0.2");
    }

    #[test]
    fn an_artifact_of_another_experiment_explains_nothing_and_a_kindred_one_does() {
        let manifest = |with: Value| Manifest {
            schema: 1,
            key: Key::of(&with),
            made_of: json!({ "stage": "fetch", "version": 1, "with": with }),
            files: std::collections::BTreeMap::new(),
            made_by: crate::store::MadeBy::default(),
        };
        let node = |with: Value| {
            let text = json!({ "key": Key::of(&json!("node")), "stage": "fetch", "label": "fetch", "points": ["p"],
                               "manifest": { "stage": "fetch", "version": 1, "with": with }, "reads": [], "waits": [], "resumes": false,
                               "origins": [], "cost": crate::store::Cost::default() });
            serde_json::from_value::<Node>(text).expect("a node")
        };
        let past = [manifest(json!({ "file": { "blake3": "a" } })), manifest(json!({ "positions": 10, "temperature": 1.0 }))];
        assert!(nearest(&node(json!({ "month": { "month": "2026-07" } })), &past).is_none());
        let found = nearest(&node(json!({ "positions": 10, "temperature": 0.8 })), &past).expect("it is alike");
        assert_eq!(found.key, past[1].key);
    }

    #[test]
    fn a_raised_version_and_a_new_field_are_changes_too() {
        let before = json!({ "stage": "x", "version": 1, "with": {} });
        let after = json!({ "stage": "x", "version": 2, "with": { "more": [1, 2] } });
        let texts: Vec<String> = changes(&before, &after, &[]).iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["version: 1 -> 2", "more: (not there) -> [1,2]"]);
    }
    /// A node of these settings.
    fn node(label: &str, with: &Value) -> Node {
        let manifest = json!({ "stage": label, "version": 1, "with": with });
        let node = json!({ "key": Key::of(&manifest), "stage": label, "label": label, "points": ["a"], "manifest": manifest,
            "reads": [], "waits": [], "resumes": false, "origins": [["train", "train"]], "cost": crate::store::Cost::default() });
        serde_json::from_value(node).expect("a node")
    }

    /// Tokens of these moves, and a training on them with this peak.
    fn plan(moves: u64, peak: f64) -> Plan {
        let tokens = node("tokens", &json!({ "moves": moves }));
        let trained = node("trained", &json!({ "tokens": { "artifact": tokens.key }, "train": { "peak": peak } }));
        let mut plan = Plan::default();
        plan.nodes = vec![tokens, trained];
        plan
    }

    #[test]
    fn a_node_is_new_or_changed_itself_or_follows_its_inputs() {
        let dir = tempfile::tempdir().expect("a folder");
        let store = Store::new(dir.path()).expect("a store");
        let before = plan(100, 0.1);
        let of = |now: &Plan, node: usize, before: &[Node]| why(&now.nodes[node], now, before, &store);
        assert_eq!(of(&before, 1, &[]), Why::New);

        let other = plan(100, 0.2);
        let Why::Changed { from, changes } = of(&other, 1, &before.nodes) else { panic!("its peak changed") };
        assert_eq!(from, before.nodes[1].key);
        assert_eq!(changes.iter().map(ToString::to_string).collect::<Vec<_>>(), ["train.peak: 0.1 -> 0.2"]);

        let more = plan(200, 0.1);
        let inputs = Why::Inputs { from: before.nodes[1].key, inputs: vec!["tokens".to_owned()] };
        assert_eq!(of(&more, 1, &before.nodes), inputs);
        // What changed itself is told, even where its inputs changed too.
        assert!(matches!(of(&plan(200, 0.2), 1, &before.nodes), Why::Changed { changes, .. } if changes.len() == 1));
    }

    #[test]
    fn a_node_whose_label_changed_with_a_setting_is_compared_with_the_one_whose_place_it_takes() {
        let dir = tempfile::tempdir().expect("a folder");
        let store = Store::new(dir.path()).expect("a store");
        let measured = |asked: &str, metric: &str, temperature: f64| {
            let settings = json!({ "positions": 60, "temperature": temperature, "seed": 3 });
            let with = json!({ "asked": { "artifact": Key::of(&json!(asked)) }, "metric": { metric: settings } });
            let (node, variant) = (node("evaluate", &with), "/with/metric".to_owned());
            Node { label: format!("{metric} T={temperature}"), reads: artifacts(&node.manifest), variant, ..node }
        };
        let before = [measured("one", "dense", 1.0), measured("one", "legality", 1.0), measured("one", "legality", 0.6)];
        let mut plan = Plan::default();
        plan.nodes = vec![measured("two", "legality", 0.8), measured("one", "legality", 0.6)];
        let Why::Changed { from, changes } = why(&plan.nodes[0], &plan, &before, &store) else { panic!("it takes a place") };
        assert_eq!(from, before[1].key, "that at 0.6 is still wanted");
        assert_eq!(changes.iter().map(ToString::to_string).collect::<Vec<_>>(), ["metric.legality.temperature: 1.0 -> 0.8"]);
        // Nothing of its kind was there.
        plan.nodes = vec![measured("two", "mass", 0.8)];
        assert_eq!(why(&plan.nodes[0], &plan, &before, &store), Why::New);
    }

    #[test]
    fn an_input_that_was_not_there_before_is_told_by_its_label() {
        let dir = tempfile::tempdir().expect("a folder");
        let store = Store::new(dir.path()).expect("a store");
        let answers = node("answers", &json!({ "positions": 60 }));
        let of = |with: Value| node("judged", &with);
        let before = [of(json!({ "positions": 60 }))];
        let mut plan = Plan::default();
        plan.nodes = vec![answers.clone(), of(json!({ "positions": 60, "asked": { "artifact": answers.key } }))];
        let inputs = Why::Inputs { from: before[0].key, inputs: vec!["answers".to_owned()] };
        assert_eq!(why(&plan.nodes[1], &plan, &before, &store), inputs);
    }
}
