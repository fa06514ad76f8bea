//! How long a plan takes, and how much it fills: from what was made before where there is any, else from FLOPs.

use serde::{Deserialize, Serialize};

use crate::plan::{Cost, Node};
use crate::store::{Manifest, State, Store};

/// Training and inference rate where nothing was measured yet: two modest cores in float32, 200 GFLOP/s.
const ASSUMED_CPU_FLOPS_PER_SECOND: f64 = 2e11;
/// A consumer GPU in bf16 at 67 % of 63 TFLOP/s, which the published runs reached.
const ASSUMED_CUDA_FLOPS_PER_SECOND: f64 = 42e12;

/// What an estimate stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    History,
    Flops,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    pub seconds: f64,
    pub basis: Basis,
}

/// The time that the rest of a node takes; `None` where there is nothing to tell it from.
pub fn seconds(node: &Node, state: &State, store: &Store, device: &str) -> Option<Estimate> {
    let left = match state {
        State::Kept => return Some(Estimate { seconds: 0.0, basis: Basis::History }),
        State::Resumable(resume) if resume.total > 0 => 1.0 - resume.done.min(resume.total) as f64 / resume.total as f64,
        State::Resumable(_) | State::Absent => 1.0,
    };
    let past = store.manifests(&node.stage);
    if let Some(seconds) = from_history(node, &past) {
        return Some(Estimate { seconds: seconds * left, basis: Basis::History });
    }
    let rate = if device.starts_with("cuda") { ASSUMED_CUDA_FLOPS_PER_SECOND } else { ASSUMED_CPU_FLOPS_PER_SECOND };
    (node.cost.flops > 0.0).then(|| Estimate { seconds: node.cost.flops / rate * left, basis: Basis::Flops })
}

/// By FLOPs or bytes where both sides know them, else the mean of nodes of the same kind.
fn from_history(node: &Node, past: &[Manifest]) -> Option<f64> {
    let by = |size: fn(&Cost) -> f64| {
        let wanted = size(&node.cost);
        let known = past.iter().filter(|made| size(&made.made_by.cost) > 0.0);
        let (work, seconds) =
            known.fold((0.0, 0.0), |(work, seconds), made| (work + size(&made.made_by.cost), seconds + made.made_by.seconds));
        (wanted > 0.0 && work > 0.0 && seconds > 0.0).then(|| wanted / work * seconds)
    };
    let mean = || {
        let kin: Vec<f64> =
            past.iter().filter(|made| kind(&made.made_of) == kind(&node.manifest)).map(|made| made.made_by.seconds).collect();
        (!kin.is_empty()).then(|| kin.iter().sum::<f64>() / kin.len() as f64)
    };
    by(|cost| cost.flops).or_else(|| by(|cost| cost.input_bytes as f64)).or_else(mean)
}

/// What sets unlike nodes of one stage apart: the names of its variants, not their numbers.
fn kind(manifest: &serde_json::Value) -> Vec<String> {
    let with = manifest["with"].as_object();
    with.into_iter()
        .flatten()
        .flat_map(|(name, value)| {
            value.as_object().into_iter().flat_map(move |fields| fields.keys().map(move |field| format!("{name}.{field}")))
        })
        .collect()
}
