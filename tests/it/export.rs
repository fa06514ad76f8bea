//! A model given away and taken in again: the same weights to the bit, and the same score.

use std::path::Path;

use philidor::export::tensors::TensorFile;
use serde_json::Value;

use crate::support::{Lab, TINY};

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).expect("the file is there")).expect("JSON")
}

/// The values of a run's scores, by metric, without the names of the checkpoints.
fn scores(lab: &Lab, run: &str) -> Vec<(Value, Value, Value)> {
    let shown: Value = serde_json::from_str(&lab.philidor(&["show", run, "--json"]).ended(0).stdout).expect("JSON");
    let all = shown["scores"].as_array().expect("scores").iter().map(|score| &score["score"]);
    // The curve belongs to the training.
    let last = all.filter(|score| ["best", "imported"].contains(&score["checkpoint"]["name"].as_str().expect("a name")));
    last.map(|score| (score["metric"].clone(), score["fingerprint"].clone(), score["values"].clone())).collect()
}

#[test]
fn what_was_exported_and_imported_is_the_same_model_and_has_the_same_score() {
    let lab = Lab::new();
    lab.philidor(&["run", "tiny.toml"]).ended(0);
    let said = lab.philidor(&["export", "hf", "tiny"]).ended(0);
    assert_eq!(said.stdout, "tiny-hf\n");
    let mut files: Vec<String> = std::fs::read_dir(lab.path("tiny-hf"))
        .expect("a folder")
        .map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned())
        .collect();
    files.sort();
    assert_eq!(
        files,
        [
            "README.md",
            "check.json",
            "check.safetensors",
            "config.json",
            "generation_config.json",
            "model.safetensors",
            "special_tokens_map.json",
            "tokenizer.json",
            "tokenizer_config.json"
        ]
    );
    let card = std::fs::read_to_string(lab.path("tiny-hf/README.md")).expect("a card");
    assert!(card.contains("| `legality.rate` | 1.0 |") && card.contains("| libtorch | `2.11.0` |"), "{card}");

    let imported = lab.philidor(&["import", "tiny-hf", "--out", "ours"]).ended(0).stdout;
    assert!(imported.contains("2 layers, 2 heads, width 32, hidden 64, a context of 32 tokens"), "{imported}");
    // Everything that the experiment sets of a training goes, and what it extends may stay.
    lab.philidor(&["run", "tiny.toml", "-S", "name=again", "-S", "model.weights=tiny-hf"]).ended(0);
    lab.philidor(&["run", "tiny.toml", "-S", "name=third", "-S", "model.weights=ours"]).ended(0);
    let plan = json(&lab.path("runs/again/latest/plan.json"));
    let stages: Vec<&str> = plan["nodes"].as_array().expect("nodes").iter().filter_map(|node| node["stage"].as_str()).collect();
    assert_eq!(
        stages,
        ["fetch", "parse", "encode", "inspect", "import", "ask", "ask", "evaluate", "evaluate", "evaluate", "evaluate"]
    );

    let trained = TensorFile::read(&lab.only("train").join("best.safetensors")).expect("trained weights");
    let again = lab.artifacts("import", "");
    assert_eq!(again.len(), 2, "one by each file's content");
    for again in again {
        let again = TensorFile::read(&again.join("best.safetensors")).expect("imported weights");
        let (trained, again) = (trained.tensors(), again.tensors());
        assert!(trained.keys().eq(again.keys()));
        assert!(trained.iter().all(|(name, tensor)| tensor.bytes == again[name].bytes && tensor.shape == again[name].shape));
    }
    assert_eq!(scores(&lab, "tiny").len(), 4);
    assert_eq!(scores(&lab, "again"), scores(&lab, "tiny"));
    assert_eq!(scores(&lab, "third"), scores(&lab, "tiny"));

    let report = std::fs::read_to_string(lab.path("runs/again/latest/report.md")).expect("a report");
    assert!(report.contains("imported from tiny-hf") && !report.contains("### Training"), "{report}");
    // What was imported can be given away again.
    lab.philidor(&["export", "hf", "again"]).ended(0);
    let files = ["tiny-hf", "again-hf"].map(|folder| std::fs::read(lab.path(folder).join("model.safetensors")).expect("weights"));
    assert!(files[0] == files[1], "the same bytes");
}

#[test]
fn an_export_that_cannot_be_says_why_and_writes_nothing() {
    let lab = Lab::new();
    lab.philidor(&["run", "tiny.toml", "--until", "encode"]).ended(0);
    let said = lab.philidor(&["export", "hf", "tiny"]).ended(1);
    assert!(said.stderr.contains("the weights of `tiny` are not in the store"), "{}", said.stderr);
    assert!(said.stderr.contains("make them first: philidor run tiny.toml"), "{}", said.stderr);
    lab.philidor(&["run", "tiny.toml", "--until", "train"]).ended(0);
    let said = lab.philidor(&["export", "hf", "tiny", "--checkpoint", "7"]).ended(1);
    assert!(said.stderr.contains("the training published no weights at step `7`"), "{}", said.stderr);
    let said = lab.philidor(&["export", "hf", "tiny", "--checkpoint", "ema"]).ended(1);
    assert!(said.stderr.contains("the training kept no moving average of its weights"), "{}", said.stderr);
    lab.philidor(&["export", "hf", "tiny", "--checkpoint", "soon"]).ended(2);
    std::fs::create_dir(lab.path("full")).expect("a folder");
    lab.write("full/letter.txt", "mine");
    let said = lab.philidor(&["export", "hf", "tiny", "--out", "full"]).ended(2);
    assert!(said.stderr.contains("`full` is there, and is not empty"), "{}", said.stderr);
    assert!(!lab.path("tiny-hf").exists());
    let card = lab.philidor(&["export", "hf", "tiny", "--checkpoint", "20", "--out", "deep/at-20"]).ended(0);
    assert!(card.stderr.contains("those of step 20, after 20 steps and 2,560 tokens"), "{}", card.stderr);
    let card = std::fs::read_to_string(lab.path("deep/at-20/README.md")).expect("a card");
    assert!(card.contains("Of these weights nothing was measured."), "{card}");
}

#[test]
fn a_folder_that_cannot_be_imported_says_why() {
    let lab = Lab::new();
    let refused = |arguments: &[&str], wanted: &str| {
        let said = lab.philidor(arguments);
        assert!(said.code == 2 || said.code == 1, "{}", said.code);
        assert!(said.stderr.contains(wanted) && said.stderr.contains("hint: "), "{arguments:?}: {}", said.stderr);
    };
    refused(&["import", "nowhere"], "`nowhere` is not there");
    let made = std::process::Command::new("mkfifo").arg(lab.path("pipe.safetensors")).status().expect("mkfifo starts");
    assert!(made.success());
    // Reading it would wait for somebody who writes.
    refused(&["import", "pipe.safetensors"], "`pipe.safetensors` is no plain file");
    let folder = lab.path("model");
    std::fs::create_dir(&folder).expect("a folder");
    refused(&["import", "model"], "there is no safetensors file in `model`");
    lab.write("model/pytorch_model.bin", "pickled");
    refused(&["import", "model"], "what PyTorch pickled can run code");
    lab.write("model/a.safetensors", "cut");
    refused(&["import", "model"], "there is neither `model.json` nor `config.json` beside `model/a.safetensors`");
    lab.write("model/model.json", r#"{ "layers": 2, "heads": 3, "width": 32, "hidden": 64, "context": 32 }"#);
    refused(&["import", "model"], "a width of 32 cannot be cut into 3 heads");
    lab.write("model/model.json", r#"{ "layers": 2, "heads": 2, "width": 32, "hidden": 64, "context": 32 }"#);
    refused(&["import", "model"], "`model/a.safetensors` is no whole safetensors file");
    refused(&["plan", "tiny.toml", "-S", "model.weights=model"], "is no whole safetensors file");
    lab.write("model/b.safetensors", "cut");
    refused(&["import", "model"], "has several files of weights");
    lab.write("model/model.safetensors.index.json", "{}");
    refused(&["import", "model"], "the weights in `model` are cut into several files");
    // What the experiment itself says of a training is no inheritance.
    lab.write("both.toml", &TINY.replace("layers = 2", "weights = \"model\"\nlayers = 2"));
    let said = lab.philidor(&["plan", "both.toml"]).ended(2);
    for key in ["model.layers", "train", "gates.initial_loss", "measure.snapshots"] {
        assert!(said.stderr.contains(&format!("`{key}` says nothing beside `model.weights`")), "{key}: {}", said.stderr);
    }
}
