//! What the store knows of a training that found too little memory: the batches that have worked, and what is kept of it.

use serde::Deserialize;

use crate::error::Fixable;
use crate::memory;
use crate::model::config::ModelConfig;
use crate::plan::Node;
use crate::store::{State, Store};
use crate::text::thousands;
use crate::train::config::TrainConfig;
use crate::train::needs;

/// The settings of a stage that trains.
#[derive(Deserialize)]
struct Trains {
    model: ModelConfig,
    train: TrainConfig,
}

/// Adds to the failure of a node that trains, where memory was too little for it or may have been, the largest batch known to
/// have worked and a way out. Any other failure stays as it is.
pub(super) fn explained(error: anyhow::Error, node: &Node, store: &Store, device: &str) -> anyhow::Error {
    let Ok(Trains { model, train }) = Trains::deserialize(&node.manifest["with"]) else { return error };
    let Some(failure) = error.downcast_ref::<Fixable>() else { return error };
    // The system ends a process that takes too much by this signal; so may anybody.
    let ended = failure.message.contains("was killed by signal 9");
    if !(ended || memory::is_lack(&failure.message)) {
        return error;
    }
    let told = needs::told(&train, &model);
    let asked = if failure.message.contains(&told) { String::new() } else { format!("; it had {told}") };
    let message = format!("{}{asked}; {}", failure.message, known(&model, &train, store, device));
    let smaller = match node.stage.as_str() {
        "overfit" => "lower gates.overfit.batch".to_owned(),
        _ => format!("{}; `philidor bench train FILE` tells the largest batch that fits", needs::way_out(&train)),
    };
    let kept = match store.state(node.slot()) {
        State::Resumable(resume) => {
            format!("the same command goes on from its last checkpoint, step {}", thousands(resume.done))
        }
        _ => "the same command tries again".to_owned(),
    };
    let hint = if ended {
        format!("{kept}; if memory ran out: {smaller}")
    } else {
        format!("{smaller}; or free some memory, and {kept}")
    };
    Fixable::new(failure.exit, message).hint(hint).into()
}

/// The largest batch among finished trainings of this model in this precision, gates included, on a device of this kind.
fn known(model: &ModelConfig, train: &TrainConfig, store: &Store, device: &str) -> String {
    let is_cuda = |name: &str| name.starts_with("cuda");
    let made = ["train", "overfit"].iter().flat_map(|stage| store.manifests(stage));
    let largest = made
        .filter(|made| device == "auto" || is_cuda(device) == is_cuda(&made.made_by.device))
        .filter_map(|made| Trains::deserialize(&made.made_of["with"]).ok())
        .filter(|made| made.model == *model && made.train.precision == train.precision)
        .map(|made| made.train.batch)
        .max();
    match largest {
        Some(batch) => format!("the largest batch of this model that is known to have worked here is {batch}"),
        None => "no batch of this model is known to have worked here".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::store::Key;

    fn failed(stage: &str, store: &Store, message: &str) -> Fixable {
        let model = ModelConfig { layers: 1, heads: 2, width: 16, hidden: 32, context: 8 };
        let manifest = json!({ "stage": stage, "version": 1, "with": { "model": model, "train": TrainConfig::tiny() } });
        let node = json!({ "key": Key::of(&manifest), "stage": stage, "label": stage, "points": [], "manifest": manifest,
            "reads": [], "waits": [], "resumes": true, "origins": [], "cost": crate::plan::Cost::default() });
        let node: Node = serde_json::from_value(node).expect("a node");
        explained(Fixable::failed(message).hint("run it again").into(), &node, store, "cpu")
            .downcast()
            .expect("a fixable failure")
    }

    #[test]
    fn a_worker_that_died_of_memory_or_may_have_is_told_with_its_batch_and_a_way_out() {
        let dir = tempfile::tempdir().expect("a folder");
        let store = Store::new(dir.path()).expect("a store");
        let abort =
            failed("train", &store, "the worker was killed by signal 6; its last words: memory allocation of 8 bytes failed");
        assert!(abort.message.contains("it had a batch of 2 windows of 8 tokens, for a model of 34,144"), "{}", abort.message);
        assert!(abort.message.ends_with("no batch of this model is known to have worked here"), "{}", abort.message);
        assert!(
            abort.hint.expect("a hint").starts_with("-S train.batch=1 -S train.accumulate=2 makes steps of the same 2 windows")
        );
        let killed = failed("train", &store, "the worker was killed by signal 9 in the midst of `train`");
        assert!(killed.hint.expect("a hint").starts_with("the same command tries again; if memory ran out: -S train.batch=1"));
        let gate = failed("overfit", &store, "too little memory for it");
        assert!(gate.hint.expect("a hint").starts_with("lower gates.overfit.batch; or free some memory"));
    }

    #[test]
    fn any_other_failure_stays_as_it_is() {
        let dir = tempfile::tempdir().expect("a folder");
        let store = Store::new(dir.path()).expect("a store");
        let other = failed("train", &store, "the loss is `NaN`");
        assert_eq!((other.message.as_str(), other.hint.as_deref()), ("the loss is `NaN`", Some("run it again")));
    }
}
