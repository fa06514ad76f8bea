//! A resolved experiment, printed, is the experiment again.

use std::path::Path;

use fs_err as fs;
use insta::assert_snapshot;
use proptest::prelude::*;

use crate::experiment::{Loaded, Request, Show, load};
use crate::train::config::Length;

use super::{BASE, Folder, asking, train};

#[test]
fn the_resolved_experiment_shows_every_value_and_where_it_was_set() {
    let folder =
        Folder::new().asking("# Why?\nextends = \"base.toml\"\n[published]\n\"legality.rate\" = { value = 0.9, n = 5 }\n");
    assert_snapshot!(folder.loaded(&["train.seed=5", "gates.initial_loss=false"]).resolved(0, Show::Origins), @r#"
    # Why?

    name = "x"  # experiments/x.toml

    [corpus]
    months = ["2013-01"]  # experiments/base.toml:3

    [corpus.keep]
    exclude_speeds = ["Bullet"]  # experiments/base.toml:5
    elo = [1800, 2600]           # experiments/base.toml:6
    terminations = ["Normal"]    # experiments/base.toml:7
    plies = [20, 300]            # experiments/base.toml:8

    [corpus.split]
    validation = 0.01  # experiments/base.toml:10
    by = "draw"        # experiments/base.toml:11
    seed = 1337        # experiments/base.toml:12

    [model]
    layers = 2    # experiments/base.toml:14
    heads = 4     # experiments/base.toml:15
    width = 64    # experiments/base.toml:16
    hidden = 128  # experiments/base.toml:17
    context = 64  # experiments/base.toml:18

    [train]
    steps = 1000         # experiments/base.toml:20
    batch = 8            # experiments/base.toml:21
    accumulate = 1       # experiments/base.toml:22
    sampler = "windows"  # experiments/base.toml:23
    packing = "stream"   # experiments/base.toml:24
    weight_decay = 0.1   # experiments/base.toml:26
    betas = [0.9, 0.95]  # experiments/base.toml:27
    clip = 1.0           # experiments/base.toml:28
    precision = "f32"    # experiments/base.toml:29
    seed = 5             # --set train.seed=5

    [train.learning_rate]
    peak = 0.0006        # experiments/base.toml:25
    floor = 6e-5         # experiments/base.toml:25
    warmup = 50          # experiments/base.toml:25
    schedule = "cosine"  # experiments/base.toml:25

    [train.validate]
    every = 100  # experiments/base.toml:31
    batches = 2  # experiments/base.toml:31

    [train.snapshots]
    every = 200  # experiments/base.toml:32

    [gates]
    initial_loss = false  # --set gates.initial_loss=false

    [gates.replay]
    games = 10  # experiments/base.toml:34

    [measure]
    seed = 7  # experiments/base.toml:37

    [measure.snapshots.legality]
    positions = 20     # experiments/base.toml:39
    temperature = 1.0  # experiments/base.toml:39

    [measure.final]
    checkpoint = "best"  # experiments/base.toml:41

    [measure.final.legality]
    positions = 200    # experiments/base.toml:42
    temperature = 1.0  # experiments/base.toml:42

    [measure.final.full_games]
    games = 10                 # experiments/base.toml:43
    temperatures = [1.0, 0.6]  # experiments/base.toml:43

    [published."legality.rate"]
    value = 0.9  # experiments/x.toml:4
    n = 5        # experiments/x.toml:4
    "#);
}

/// The points of a resolved text are the experiment again.
fn round_trips(folder: &Folder, sets: &[&str]) {
    let loaded = folder.loaded(sets);
    for (at, wanted) in loaded.points.iter().enumerate() {
        let again = Folder::new().asking(&loaded.resolved(at, Show::Origins)).loaded(&[]).points.remove(0);
        // A point of a sweep becomes an experiment of its own.
        let wanted = crate::experiment::Experiment { point: wanted.name.clone(), ..wanted.clone() };
        assert_eq!(again, wanted);
    }
}

#[test]
fn what_was_turned_off_stays_off_and_files_are_found_from_elsewhere() {
    let folder = asking("gates = false\nmeasure.snapshots = false\n[corpus]\nfiles = [\"g.pgn\"]\n[published]\n\"full_games.clean@T=0.6\" = { value = 0.5 }\n")
        .with("experiments/g.pgn", "x");
    round_trips(&folder, &["train.epochs=0.5", "measure.final=false", "sweep.grid.seed=[1, 2]"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn a_resolved_experiment_loads_again_as_itself(
        peak in 1e-9_f64..1e3, clip in 1e-300_f64..1e300, seed in 0_i64..i64::MAX, steps in 51_u64..1 << 40,
        low in 0_u32..3000, speed in "[^\\p{C}]{0,8}[a-z\"'\\\\#]", temperature in 0.0_f64..10.0, moves in proptest::option::of(1_i64..i64::MAX),
    ) {
        let text = format!(
            "# Q?\nextends = \"base.toml\"\n[corpus]\n{}\nkeep.elo = [{low}, 3000]\nkeep.exclude_speeds = [{}]\n[train]\nclip = {clip:?}\nseed = {seed}\n\
             steps = {steps}\nsnapshots.every = {steps}\nlearning_rate = {{ peak = {peak:?}, floor = 0 }}\n[measure.final]\nlegality.temperature = {temperature:?}\n",
            moves.map_or_else(String::new, |moves| format!("moves = {moves}")),
            toml::Value::String(speed),
        );
        round_trips(&Folder::new().asking(&text), &[]);
    }

    #[test]
    fn the_strongest_layer_that_sets_a_key_decides(base in 1_u32..99, own in proptest::option::of(1_u32..99), set in proptest::option::of(1_u32..99)) {
        let own_text = own.map_or_else(String::new, |own| format!("[train]\nbatch = {own}\n"));
        let folder = asking(&own_text).with("experiments/base.toml", &BASE.replace("batch = 8", &format!("batch = {base}")));
        let sets: Vec<String> = set.iter().map(|set| format!("train.batch={set}")).collect();
        let loaded = folder.loaded(&sets.iter().map(String::as_str).collect::<Vec<_>>());
        prop_assert_eq!(train(&loaded.points[0]).batch, set.or(own).unwrap_or(base));
    }
}

/// A committed experiment, in a folder where the mined corpus is any bytes: the true one is large.
fn committed(name: &str) -> Loaded {
    let experiments = Path::new(env!("CARGO_MANIFEST_DIR")).join("experiments");
    let mut folder = Folder::new().with("experiments/mined-2026-01.pgn.zst", "games");
    for file in committed_names() {
        let text = fs::read_to_string(experiments.join(&file)).expect("it is committed");
        folder = folder.with(&format!("experiments/{file}"), &text);
    }
    let request = Request { file: Path::new("experiments").join(name), ..folder.request(&[], &[]) };
    load(&request).unwrap_or_else(|problems| panic!("{problems}"))
}

fn committed_names() -> Vec<String> {
    let entries = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("experiments")).expect("the committed experiments");
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    // `….mine.toml` says how a month is mined, and is read elsewhere.
    names.filter(|name| name.strip_suffix(".toml").is_some_and(|stem| !stem.contains('.'))).collect()
}

#[test]
fn the_committed_experiments_load_and_ask_something() {
    let names = committed_names();
    assert!(names.len() >= 6, "{names:?}");
    for name in names.iter().filter(|name| *name != "base.toml") {
        for e in committed(name).points {
            assert!(e.question.ends_with('?'), "{name} asks `{}`", e.question);
            assert_eq!(format!("{}.toml", e.name), *name);
        }
    }
}

#[test]
fn run1_is_the_published_run() {
    let e = committed("run1.toml").points.remove(0);
    assert_eq!((e.model.parameters(), e.model.flops_per_token()), (51_397_120, 333_548_544));
    assert_eq!((train(&e).length, train(&e).tokens_per_step(e.model.context)), (Length::Steps(16_300), 192 * 256));
    assert_eq!((e.corpus.moves, e.corpus.keep.elo, e.corpus.keep.plies), (Some(800_000_000), [1800, 2600], [20, 300]));
    assert_eq!(e.measure.last.len(), 5, "full games at two temperatures");
    let legality = e.published["legality.rate"];
    assert_eq!((legality.value, legality.low, legality.n), (0.9786, Some(0.9765), Some(20_000)));
}

#[test]
fn the_temperatures_are_those_of_one_training() {
    let quickstart = committed("quickstart.toml").points.remove(0);
    let temperatures = committed("temperature.toml").points;
    assert_eq!(temperatures.len(), 5);
    for e in temperatures {
        assert_eq!((&e.corpus, &e.model, e.train()), (&quickstart.corpus, &quickstart.model, quickstart.train()));
        assert_eq!(e.measure.last.len(), 1);
    }
}
