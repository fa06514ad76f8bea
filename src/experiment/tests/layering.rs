//! Which layer decides, and how the text of an override is read.

use std::path::Path;

use insta::assert_snapshot;

use crate::corpus::config::Source;
use crate::corpus::config::SplitBy;
use crate::experiment::{Request, load, machine};
use crate::measure::metric::Checkpoint;
use crate::measure::metric::Metric;
use crate::train::config::Length;
use crate::train::config::Precision;

use super::{Folder, asking, train};

#[test]
fn an_experiment_lies_over_its_base_and_overrides_over_both() {
    let folder = asking("[train]\nbatch = 9\nlearning_rate = { peak = 7e-4 }\n[corpus.keep]\nexclude_speeds = []\n");
    let loaded = folder.loaded(&[
        "train.batch=1_0",
        "train.learning_rate={ warmup = 5 }",
        "corpus.keep.terminations=[Normal, \"Time forfeit\"]",
    ]);
    let [e] = loaded.points.as_slice() else { panic!("one point") };
    let rate = train(e).learning_rate;
    assert_eq!((train(e).batch, rate.peak, rate.warmup, rate.floor), (10, 7e-4, 5, 6e-5), "tables merge by key");
    assert!(e.corpus.keep.exclude_speeds.is_empty(), "lists replace");
    assert_eq!(e.corpus.keep.terminations, ["Normal", "Time forfeit"]);
    assert_eq!((e.name.as_str(), e.point.as_str()), ("x", "x"));
    let origin = |key| loaded.origins.of(key).unwrap_or_default();
    assert_eq!(origin("train.batch"), "--set train.batch=1_0");
    assert_eq!(origin("train.learning_rate.peak"), "experiments/x.toml:4");
    assert_eq!(origin("train.learning_rate.floor"), "experiments/base.toml:25");
    assert_eq!(origin("train.length.steps"), "experiments/base.toml:20");
    assert_eq!(origin("measure.final.legality.seed"), "experiments/base.toml:37");
    assert_eq!(origin("measure.final.full_games.temperature"), "experiments/base.toml:43");
    assert_eq!(origin("corpus.keep.exclude_speeds"), "experiments/x.toml:6");
    assert!(origin("corpus.keep").starts_with("--set corpus.keep.terminations="), "the nearest to the user's hand");
    assert_eq!(loaded.origins.of("train.bogus"), None);
}

#[test]
fn overrides_are_read_by_the_type_of_their_key() {
    let sets = [
        "train.learning_rate.peak=1e-3",
        "train.precision=bf16",
        "corpus.keep.terminations=[2, Normal]",
        "measure.final.checkpoint=400",
        "measure.final.full_games.temperatures=[0.1, 0.5]",
        "model={width = 32, layers = 1}",
        "corpus.split.by='game-hash'",
    ];
    let e = asking("").loaded(&sets).points.remove(0);
    assert_eq!((train(&e).learning_rate.peak, train(&e).precision), (1e-3, Precision::Bf16));
    assert_eq!((e.model.width, e.model.layers, e.model.heads, e.corpus.split.by), (32, 1, 4, SplitBy::GameHash));
    assert_eq!(e.measure.checkpoint, Checkpoint::Step(400));
    assert_eq!(e.measure.last[2], Metric::FullGames { games: 10, temperature: 0.5, seed: 7 });
}

#[test]
fn machine_settings_go_from_file_over_environment_to_override() {
    let folder = asking("").with("philidor.toml", "device = \"cuda:1\"\nthreads = 2\nstore = \"s\"\n");
    let environment = [("PHILIDOR_THREADS", "3"), ("PHILIDOR_DEVICE", "cuda"), ("PHILIDOR_RUNS", ""), ("HOME", "x")];
    let loaded = load(&folder.request(&["machine.device=cpu"], &environment)).unwrap_or_else(|problems| panic!("{problems}"));
    let m = &loaded.machine;
    assert_eq!(
        (m.device.as_str(), m.threads, m.store.as_path(), m.runs.as_path()),
        ("cpu", 3, Path::new("s"), Path::new("runs"))
    );
    assert_eq!(loaded.origins.of("machine.threads").as_deref(), Some("PHILIDOR_THREADS"));
    assert_eq!(loaded.origins.of("machine.store").as_deref(), Some("philidor.toml:3"));
    let Request { working_dir, environment, sets, .. } = folder.request(&["machine.device=cpu"], &environment);
    assert_eq!(machine(&working_dir, &environment, &sets).as_ref(), Ok(m));
    assert!(machine(&working_dir, &environment, &["train.seed=1".to_owned()]).is_err());
}

#[test]
fn a_mirror_is_an_address_or_nothing() {
    let mirror = |file: &str, variable: &str| {
        let folder = asking("").with("philidor.toml", file);
        let loaded = load(&folder.request(&[], &[("PHILIDOR_MIRROR", variable)])).unwrap_or_else(|problems| panic!("{problems}"));
        loaded.machine.mirror().map(str::to_owned)
    };
    assert_eq!(mirror("", "").as_deref(), Some(crate::machine::ARCHIVE));
    assert_eq!(mirror("mirror = \"\"\n", ""), None);
    assert_eq!(mirror("mirror = \"http://host/a\"\n", "").as_deref(), Some("http://host/a"));
    assert_eq!(mirror("mirror = \"http://host/a\"\n", "none"), None);
    for wrong in ["host/a", "ftp://host", "http://", "http://host/a?b", "no"] {
        let folder = asking("").with("philidor.toml", &format!("mirror = \"{wrong}\"\n"));
        assert!(folder.problems(&[]).contains("`machine.mirror` wants an address such as"), "{}", folder.problems(&[]));
    }
}

#[test]
fn a_second_device_is_named_or_none() {
    let device = |text: &str| {
        let folder = asking("").with("philidor.toml", "measure_device = \"cuda:1\"\n");
        let loaded = load(&folder.request(&[], &[("PHILIDOR_MEASURE_DEVICE", text)]));
        loaded.unwrap_or_else(|problems| panic!("{problems}")).machine.measure_device
    };
    assert_eq!(
        ["", "cpu", "cuda", "none"].map(device),
        [Some("cuda:1"), Some("cpu"), Some("cuda"), None].map(|name| name.map(str::to_owned))
    );
    let folder = asking("").with("philidor.toml", "measure_device = \"auto\"\n");
    let problem = folder.problems(&[]);
    assert!(problem.contains("`machine.measure_device` wants `none`, `cpu`, `cuda` or `cuda:1`, not"), "{problem}");
}

#[test]
fn setting_one_of_two_alternatives_unsets_an_inherited_other() {
    let folder =
        asking("measure.snapshots = false\n[train]\nepochs = 2\n[corpus]\nfiles = [\"g.pgn\"]\n").with("experiments/g.pgn", "x");
    let e = folder.loaded(&[]).points.remove(0);
    assert_eq!(train(&e).length, Length::Epochs(2.0));
    let blake3 = blake3::hash(b"x").to_hex().to_string();
    assert_eq!(e.corpus.sources, [Source::File { name: "g.pgn".into(), blake3: blake3.clone() }]);
    let loaded = folder.loaded(&["train.steps=60", "train.snapshots.every=30"]);
    assert_eq!(train(&loaded.points[0]).length, Length::Steps(60));
    assert_eq!(loaded.files[&blake3], folder.0.path().join("experiments/g.pgn"));
    assert_snapshot!(folder.problems(&["train.steps=60", "train.epochs=1", "measure.snapshots={legality={positions=1,temperature=1}}"]), @r#"
    --set measure.snapshots={legality={positions=1,temperature=1}}: `measure.snapshots` needs `train.steps`: from `train.epochs` the steps are known only when the corpus is encoded
      hint: set `train.steps`, or `measure.snapshots` to false

    1 problem
    "#);
    assert_snapshot!(asking("[train]\nsteps = 60\nepochs = 1\n").problems(&[]), @r#"
    experiments/x.toml:4: `train` has both `steps` and `epochs` (`train.steps` is set at experiments/x.toml:3)
        epochs = 1
                 ^
      hint: keep one of them

    1 problem
    "#);
}

#[test]
fn what_is_inherited_can_be_turned_off() {
    let e =
        asking("gates = false\n[measure]\nsnapshots = false\n[measure.final]\nlegality = false\n").loaded(&[]).points.remove(0);
    assert_eq!((e.gates.replay, e.gates.initial_loss), (0, None));
    assert!(e.measure.snapshots.is_empty());
    assert!(e.measure.last.iter().all(|metric| metric.name() == "full_games"));
}

#[test]
fn the_first_paragraph_of_the_first_comment_is_the_question() {
    let folder = Folder::new().asking("#!\n#  Does it\n#  learn?\n#\n# More.\nextends = \"base.toml\" # no\n");
    assert_eq!(folder.loaded(&[]).points[0].question, "! Does it learn?");
    assert_eq!(asking("").loaded(&[]).points[0].question, "", "the base's own is not inherited");
}
