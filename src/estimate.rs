//! How long a plan takes, and how much it fills: from what was made before where there is any, else from FLOPs, and from
//! the bytes that have to come over the network.

use serde::{Deserialize, Serialize};

use crate::growth;
use crate::passes::Count;
use crate::plan::{Cost, Node, artifacts};
use crate::store::{MadeBy, Manifest, State, Store};

/// A rate of work where nothing was measured yet, and what has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Assumed {
    pub flops_per_second: f64,
    pub of: &'static str,
}

const CPU: Assumed = Assumed { flops_per_second: 2e11, of: "two CPU cores" };
/// In bf16 at 67 % of its 63 TFLOP/s, which the published runs reached.
const CUDA: Assumed = Assumed { flops_per_second: 42e12, of: "an RTX 3090" };

/// The rate assumed of a device. What `auto` finds is not known before a run, and the CPU is always there.
pub fn assumed(device: &str) -> Assumed {
    if device.starts_with("cuda") { CUDA } else { CPU }
}

/// Bytes per second that are assumed to come over the network where none came yet: 160 Mbit/s.
pub const ASSUMED_NETWORK: f64 = 20e6;

/// Seconds, of which the beginning of a process may be the larger part.
const BEGINNING: f64 = 5.0;
/// A time so short is scaled to no more than so many times the work.
const MUCH_MORE: f64 = 10.0;

/// How fast this machine is taken to be.
#[derive(Clone, Copy, Debug)]
pub struct Rates<'a> {
    /// Its device, as the machine settings name it.
    pub device: &'a str,
    /// Bytes per second over the network, as they came last.
    pub network: Option<f64>,
    /// What trainings [`reached`] on the device.
    pub flops_per_second: Option<f64>,
}

/// What an estimate stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    History,
    /// FLOPs, at the rate that other work reached on the device.
    Rate,
    /// FLOPs, at the rate that is assumed of the device.
    Flops,
    /// Bytes over the network, at the rate that is assumed of it.
    Network,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    pub seconds: f64,
    pub basis: Basis,
}

/// The share of a node's work that is left.
pub fn left(node: &Node, state: &State, store: &Store) -> f64 {
    match state {
        State::Kept => 0.0,
        State::Resumable(resume) if resume.total > 0 => 1.0 - resume.done.min(resume.total) as f64 / resume.total as f64,
        State::Resumable(_) | State::Absent => {
            growth::start(node, store).map_or(1.0, |start| 1.0 - start.size as f64 / start.of as f64)
        }
    }
}

/// The time that the rest of a node takes; `None` where there is nothing to tell it from.
pub fn seconds(node: &Node, state: &State, store: &Store, rates: Rates) -> Option<Estimate> {
    if *state == State::Kept {
        return Some(Estimate { seconds: 0.0, basis: Basis::History });
    }
    let left = left(node, state, store);
    if node.cost.input_bytes > 0 {
        // What came before, over this network or out of a folder, tells less than how fast the network was last.
        let basis = if rates.network.is_some() { Basis::History } else { Basis::Network };
        let rate = rates.network.filter(|rate| *rate > 0.0).unwrap_or(ASSUMED_NETWORK);
        return Some(Estimate { seconds: node.cost.input_bytes as f64 * left / rate, basis });
    }
    let mut past = store.manifests(&node.stage);
    past.retain(|made| tells_of(&made.made_by, rates.device) && node.is_of_the_variant(&made.made_of));
    if let Some(seconds) = from_history(node, &past) {
        return Some(Estimate { seconds: seconds * left, basis: Basis::History });
    }
    let flops = node.passes.as_ref().and_then(|passes| passes.flops).unwrap_or(node.cost.flops);
    let (rate, basis) = rate(node, rates)?;
    (flops > 0.0).then(|| Estimate { seconds: flops / rate * left, basis })
}

/// The rate of a node of a kind that was never timed here; none where no rate tells of it.
fn rate(node: &Node, rates: Rates) -> Option<(f64, Basis)> {
    let assumed = (assumed(rates.device).flops_per_second, Basis::Flops);
    let reached = rates.flops_per_second.filter(|rate| *rate > 0.0).map(|rate| (rate, Basis::Rate));
    match &node.passes {
        // A token that waits for the one before it takes as long as memory does, whatever the FLOPs.
        Some(passes) if passes.generated != Count::NONE => None,
        // What a device is assumed to do in a training says too little of how a model is asked.
        Some(passes) if !passes.learns && !passes.is_none() => reached,
        _ => Some(reached.unwrap_or(assumed)),
    }
}

/// The FLOPs per second that kept nodes of a stage reached on a device, over all of them; none where none is kept.
pub fn reached(stage: &str, store: &Store, device: &str) -> Option<f64> {
    let mut past = store.manifests(stage);
    past.retain(|made| tells_of(&made.made_by, device) && made.made_by.cost.flops > 0.0 && made.made_by.seconds >= BEGINNING);
    let sum = |of: fn(&MadeBy) -> f64| past.iter().map(|made| of(&made.made_by)).sum::<f64>();
    (!past.is_empty()).then(|| sum(|made| made.cost.flops) / sum(|made| made.seconds))
}

/// Whether the time that something took tells of the time on a device: a GPU says nothing of the CPU. What needs no libtorch
/// takes as long on any.
fn tells_of(made_by: &MadeBy, device: &str) -> bool {
    let cuda = |name: &str| name.starts_with("cuda");
    made_by.libtorch.is_empty() || made_by.device.is_empty() || device == "auto" || cuda(&made_by.device) == cuda(device)
}

/// By FLOPs, or else bytes, of the most similar nodes that both sides know them of; else the mean of nodes of the same kind.
fn from_history(node: &Node, past: &[Manifest]) -> Option<f64> {
    let own = kind(&node.manifest);
    let by = |size: fn(&Cost) -> f64| {
        let wanted = size(&node.cost);
        let known: Vec<_> = past
            .iter()
            .filter(|made| size(&made.made_by.cost) > 0.0)
            // Much of a short time is the beginning of a process, which does not grow with the work.
            .filter(|made| made.made_by.seconds >= BEGINNING || size(&made.made_by.cost) * MUCH_MORE >= wanted)
            .map(|made| (kind(&made.made_of).iter().filter(|name| own.contains(name)).count(), &made.made_by))
            .collect();
        let nearest = known.iter().map(|(shared, _)| *shared).max()?;
        let kin = known.iter().filter(|(shared, _)| *shared == nearest);
        let (work, seconds) =
            kin.fold((0.0, 0.0), |(work, seconds), (_, made)| (work + size(&made.cost), seconds + made.seconds));
        (wanted > 0.0 && seconds > 0.0).then(|| wanted / work * seconds)
    };
    // Where the size of the work is not known, only work on the same inputs tells of it: a small corpus says nothing of a month.
    let inputs = artifacts(&node.manifest);
    let mean = || {
        let same = |made: &Manifest| !inputs.is_empty() || made.made_of["with"] == node.manifest["with"];
        let like = |made: &&Manifest| kind(&made.made_of) == own && artifacts(&made.made_of) == inputs && same(made);
        let kin: Vec<f64> = past.iter().filter(like).map(|made| made.made_by.seconds).collect();
        (!kin.is_empty()).then(|| kin.iter().sum::<f64>() / kin.len() as f64)
    };
    by(|cost| cost.flops).or_else(|| by(|cost| cost.disk_bytes as f64)).or_else(mean)
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

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "known answers are exact")]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::passes::Passes;
    use crate::store::{Key, Resume};

    fn node(with: &Value, cost: Cost) -> Node {
        let manifest = json!({ "stage": "measured", "version": 1, "with": with });
        let node = json!({ "key": Key::of(&manifest), "stage": "measured", "label": "measured", "points": [], "manifest": manifest,
            "reads": [], "waits": [], "resumes": false, "origins": [], "cost": cost });
        serde_json::from_value(node).expect("a node")
    }

    fn made(with: &Value, cost: Cost, seconds: f64) -> Manifest {
        let made_of = json!({ "stage": "measured", "version": 1, "with": with });
        let key = Key::of(&made_of);
        Manifest {
            schema: 1,
            key,
            made_of,
            files: std::collections::BTreeMap::new(),
            made_by: MadeBy { seconds, cost, ..MadeBy::default() },
        }
    }

    fn flops(flops: f64) -> Cost {
        Cost { flops, ..Cost::default() }
    }

    #[test]
    fn history_goes_by_the_flops_of_the_most_similar_nodes() {
        let [quick, slow] = ["positions", "games"].map(|kind| json!({ "metric": { kind: 1 } }));
        let past = [made(&quick, flops(1e9), 1.0), made(&slow, flops(1e9), 50.0)];
        assert_eq!(from_history(&node(&quick, flops(4e9)), &past), Some(4.0));
        assert_eq!(from_history(&node(&slow, flops(4e9)), &past), Some(200.0));
        let other = json!({ "metric": { "rules": 1 } });
        assert_eq!(from_history(&node(&other, flops(2e9)), &past), Some(51.0), "none is nearer than the other");
    }

    #[test]
    fn without_flops_it_goes_by_bytes_and_then_by_the_mean_of_its_kind() {
        let with = json!({ "keep": { "elo": 1 } });
        let disk = |disk_bytes| Cost { disk_bytes, ..Cost::default() };
        assert_eq!(from_history(&node(&with, disk(30)), &[made(&with, disk(10), 2.0)]), Some(6.0));
        let past = [2.0, 4.0].map(|seconds| made(&with, Cost::default(), seconds));
        assert_eq!(from_history(&node(&with, Cost::default()), &past), Some(3.0));
        assert_eq!(from_history(&node(&json!({ "split": { "by": 1 } }), Cost::default()), &past), None);
        let elsewhere = json!({ "keep": { "elo": 1 }, "archive": { "artifact": Key::of(&json!("a month")) } });
        assert_eq!(from_history(&node(&elsewhere, Cost::default()), &past), None, "other inputs, of unknown size");
    }

    #[test]
    fn the_history_of_a_gpu_tells_nothing_of_the_cpu() {
        let on = |device: &str, libtorch: &str| MadeBy { device: device.into(), libtorch: libtorch.into(), ..MadeBy::default() };
        assert!(tells_of(&on("cuda:0", "2.11.0"), "cuda") && tells_of(&on("cuda:0", "2.11.0"), "auto"));
        assert!(!tells_of(&on("cuda:0", "2.11.0"), "cpu") && !tells_of(&on("cpu", "2.11.0"), "cuda:1"));
        assert!(tells_of(&on("cpu", ""), "cuda"), "a corpus is parsed on the CPU, whatever trains");
    }

    #[test]
    fn without_history_it_goes_by_the_rate_assumed_of_the_device_and_by_what_is_left() {
        let dir = tempfile::tempdir().expect("a folder");
        let store = Store::new(dir.path()).expect("a store");
        let node = node(&json!({}), flops(8e12));
        let half = State::Resumable(Resume { done: 5, total: 10, unit: "steps".into() });
        let rates = |device| Rates { device, network: None, flops_per_second: None };
        let seconds = |state, device| seconds(&node, state, &store, rates(device)).expect("it has FLOPs");
        assert_eq!(seconds(&State::Absent, "cpu"), Estimate { seconds: 40.0, basis: Basis::Flops });
        assert_eq!(seconds(&half, "cpu").seconds, 20.0);
        assert_eq!(seconds(&State::Absent, "cuda:1").seconds, 8e12 / 42e12);
        assert_eq!(seconds(&State::Kept, "cpu").seconds, 0.0);
        let unknown = super::tests::node(&json!({}), Cost::default());
        assert_eq!(super::seconds(&unknown, &State::Absent, &store, rates("cpu")), None);
    }

    #[test]
    fn what_comes_over_the_network_takes_as_long_as_it_did_last_or_as_is_assumed() {
        let dir = tempfile::tempdir().expect("a folder");
        let store = Store::new(dir.path()).expect("a store");
        let month = node(&json!({}), Cost { input_bytes: 100_000_000, ..Cost::default() });
        let half = State::Resumable(Resume { done: 5, total: 10, unit: "bytes".into() });
        let seconds = |state, network| seconds(&month, state, &store, Rates { device: "cpu", network, flops_per_second: None });
        assert_eq!(seconds(&State::Absent, Some(1e6)), Some(Estimate { seconds: 100.0, basis: Basis::History }));
        assert_eq!(seconds(&half, None), Some(Estimate { seconds: 2.5, basis: Basis::Network }));
    }
    #[test]
    fn work_of_one_variant_tells_nothing_of_another() {
        let of = |metric: &Value| json!({ "metric": metric });
        let [legality, games, loss] = [json!({ "legality": { "n": 5 } }), json!({ "games": { "n": 5 } }), json!("loss")];
        let past = [&legality, &games, &loss].map(|metric| made(&of(metric), flops(1.0), 1.0).made_of);
        for (at, metric) in [legality, games, loss].iter().enumerate() {
            let node = Node { variant: "/with/metric".to_owned(), ..node(&of(metric), flops(1.0)) };
            let kin: Vec<usize> = (0..3).filter(|&other| node.is_of_the_variant(&past[other])).collect();
            assert_eq!(kin, [at]);
            assert!(past.iter().all(|made_of| Node { variant: String::new(), ..node.clone() }.is_of_the_variant(made_of)));
        }
    }

    #[test]
    fn a_measure_goes_by_what_trainings_reached_here_and_by_nothing_that_is_assumed() {
        let dir = tempfile::tempdir().expect("a folder");
        let store = Store::new(dir.path()).expect("a store");
        let asking = |passes| Node { passes: Some(passes), ..node(&json!({}), flops(8e12)) };
        let seconds = |node: &Node, flops_per_second| {
            seconds(node, &State::Absent, &store, Rates { device: "cpu", network: None, flops_per_second })
        };
        let ask = Passes::reading("ask", Some(Count::at_most(100)));
        assert_eq!(seconds(&asking(ask.clone()), None), None);
        assert_eq!(seconds(&asking(ask.clone()), Some(4e12)), Some(Estimate { seconds: 2.0, basis: Basis::Rate }));
        // Counted exactly, it is less.
        assert_eq!(seconds(&asking(Passes { flops: Some(2e12), ..ask.clone() }), Some(4e12)).map(|told| told.seconds), Some(0.5));
        let games = Passes { generated: Count::at_most(50), ..ask };
        assert_eq!(seconds(&asking(games), Some(4e12)), None, "one token after another");
        let training = Passes::learning("train", Some(Count::exactly(100)));
        assert_eq!(seconds(&asking(training), None).map(|told| told.basis), Some(Basis::Flops));
        assert!(seconds(&asking(Passes::reading("judge", Some(Count::NONE))), None).is_some(), "no passes of its own");
    }

    #[test]
    fn the_rate_that_was_reached_is_that_of_all_kept_work_on_the_device() {
        let dir = tempfile::tempdir().expect("a folder");
        let store = Store::new(dir.path()).expect("a store");
        assert_eq!(reached("measured", &store, "cpu"), None);
        for (name, device, seconds) in [("a", "cpu", 10.0), ("b", "cpu", 30.0), ("c", "cuda:0", 5.0), ("beginning", "cpu", 1.0)] {
            let mut manifest = made(&json!({ "name": name }), flops(2e12), seconds);
            manifest.made_by = MadeBy { device: device.into(), libtorch: "2".into(), ..manifest.made_by };
            let folder = store.dir("measured", manifest.key);
            std::fs::create_dir_all(&folder).expect("a folder");
            std::fs::write(folder.join("manifest.json"), serde_json::to_vec(&manifest).expect("JSON")).expect("written");
        }
        assert_eq!(reached("measured", &store, "cpu"), Some(1e11));
        assert_eq!(reached("measured", &store, "cuda"), Some(4e11));
    }
}
