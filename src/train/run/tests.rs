//! Interrupted, resumed and checkpointed trainings end as the undisturbed one.

use super::*;
use crate::error::{Exit, exit_of};
use crate::progress::{Tick, silent};
use crate::ranks::Alone;
use crate::train::config::Validate;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

mod packed;
mod shared;
mod watched;

const MODEL: ModelConfig = ModelConfig { layers: 1, heads: 2, width: 16, hidden: 32, context: 8 };

fn config() -> TrainConfig {
    TrainConfig { accumulate: 2, ..TrainConfig::tiny() }
}

/// Alone on the CPU, saving only where it is asked to stop, and telling nobody.
fn session(clock: &dyn Fn() -> Duration) -> Session<'_> {
    Session {
        device: Device::Cpu,
        threads: 1,
        checkpoint_every: Duration::from_hours(1),
        from: None,
        clock,
        progress: silent(),
        ranks: &Alone,
    }
}

fn tokens() -> Vec<u16> {
    (0..400_u32).map(|at| (at * at % 1971) as u16).collect()
}

fn sides(tokens: &[u16]) -> TrainingTokens<'_> {
    TrainingTokens { train: (&tokens[..300]).into(), validation: (&tokens[300..]).into() }
}

/// Trains to the end, after tries that are asked to stop once they looked at the clock so many times.
fn run(config: &TrainConfig, out: &Path, stops: &[u64]) -> Result<()> {
    run_from(config, out, None, stops)
}

fn run_from(config: &TrainConfig, out: &Path, from: Option<&Path>, stops: &[u64]) -> Result<()> {
    let tokens = tokens();
    let tokens = sides(&tokens);
    let start = Instant::now();
    let clock = || start.elapsed();
    let session = Session { from, ..session(&clock) };
    for &at in stops {
        // The clock counts questions: a deterministic way to be interrupted somewhere in the middle.
        let (asked, stop) = (AtomicU64::new(0), AtomicBool::new(false));
        let clock = || {
            stop.store(asked.fetch_add(1, Ordering::Relaxed) >= at, Ordering::Relaxed);
            start.elapsed()
        };
        let tell = |_: Tick| ();
        let session = Session { clock: &clock, progress: Progress::new(&tell, &stop), ..session };
        let error = train(config, &MODEL, tokens, out, session).expect_err("it was asked to stop");
        assert_eq!(exit_of(&error), Exit::Interrupted, "{error:#}");
    }
    train(config, &MODEL, tokens, out, session)
}

/// Every file that is the same for the same training, with its bytes.
fn files(out: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for folder in [out.to_owned(), out.join("snapshots")] {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.strip_prefix(out).expect("below out").to_string_lossy().into_owned();
            if path.is_file() && !["speed.jsonl", "device.json", "resume.json"].contains(&name.as_str()) {
                found.insert(name, std::fs::read(path).expect("a file"));
            }
        }
    }
    found
}

#[test]
fn a_training_that_was_interrupted_anywhere_ends_with_the_same_bytes() {
    let whole = tempfile::tempdir().expect("a folder");
    run(&config(), whole.path(), &[]).expect("trained");
    let wanted = files(whole.path());
    let names: Vec<&str> = wanted.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "best.json",
            "best.safetensors",
            "curve.jsonl",
            "model.json",
            "snapshots/step-00000000.safetensors",
            "snapshots/step-00000003.safetensors",
            "snapshots/step-00000006.safetensors",
            "snapshots/step-00000007.safetensors",
            "training.json",
            "validation.jsonl"
        ]
    );
    for stops in [&[0][..], &[2], &[5], &[8], &[0, 2, 0, 0]] {
        let parts = tempfile::tempdir().expect("a folder");
        run(&config(), parts.path(), stops).expect("trained");
        let seen = files(parts.path());
        for (name, bytes) in &wanted {
            assert!(seen.get(name) == Some(bytes), "{name} differs after stops at {stops:?}");
        }
        assert!(!parts.path().join("checkpoints").exists() && !parts.path().join("best").exists());
    }
}

#[test]
fn what_a_killed_process_wrote_after_its_checkpoint_is_forgotten() {
    let whole = tempfile::tempdir().expect("a folder");
    run(&config(), whole.path(), &[]).expect("trained");
    let killed = tempfile::tempdir().expect("a folder");
    let out = killed.path();
    let tokens = tokens();
    let tokens = sides(&tokens);
    let (start, stop) = (Instant::now(), AtomicBool::new(true));
    let (clock, tell) = (|| start.elapsed(), |_: Tick| ());
    let session = Session { progress: Progress::new(&tell, &stop), ..session(&clock) };
    for _ in 0..4 {
        train(&config(), &MODEL, tokens, out, session).expect_err("it was asked to stop");
    }
    let resume: serde_json::Value = crate::train::files::read_json(&out.join("resume.json")).expect("written");
    assert_eq!(resume, json!({ "done": 4, "total": 7, "unit": "steps" }));
    for name in [CURVE, VALIDATION, SPEED] {
        let path = out.join(name);
        let before = std::fs::read(&path).expect("a file");
        std::fs::write(path, [before.as_slice(), b"{\"step\":9"].concat()).expect("written");
    }
    std::fs::create_dir(out.join("checkpoints/step-00000005.part")).expect("made");
    std::fs::write(out.join("best/step-00000099.safetensors"), b"half").expect("written");
    run(&config(), out, &[]).expect("trained");
    assert!(files(out) == files(whole.path()));
}

#[test]
fn a_loss_that_is_no_number_fails_with_the_step_and_keeps_the_checkpoint() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut config = config();
    config.learning_rate.peak = 1e30;
    let error = run(&config, folder.path(), &[]).expect_err("such a rate ends in no number");
    let fixable = error.downcast_ref::<Fixable>().expect("the user can mend it");
    assert!(fixable.message.contains("at step ") && fixable.hint.as_deref().is_some_and(|hint| hint.contains("checkpoint")));
    assert!(!folder.path().join(DONE).exists());
}

#[test]
fn accumulated_passes_make_the_step_of_one_large_batch() {
    let sums: Vec<f64> = [(2, 2), (4, 1)]
        .map(|(batch, accumulate)| {
            let config = TrainConfig { batch, accumulate, ..config() };
            assert_eq!(config.tokens_per_step(MODEL.context), 32);
            let decoder = Decoder::new(&MODEL, 5, Device::Cpu).expect("the CPU has memory");
            // Windows of one token repeated are the same wherever they begin.
            let mut trainer = Trainer::new(&config, decoder, &[7; 100], 1).expect("enough tokens");
            let launched = trainer.advance().expect("a step");
            trainer.read(launched).expect("a number").gradient_norm
        })
        .to_vec();
    assert!((sums[0] / sums[1] - 1.0).abs() < 1e-5, "{sums:?}");
}

#[test]
fn checkpoints_before_the_first_validation_leave_room_for_the_best_weights() {
    let tokens: Vec<u16> = (0..200).map(|at| 3 + at % 7).collect();
    let tokens = TrainingTokens { train: (&tokens).into(), validation: (&tokens).into() };
    let (often, rarely) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let start = Instant::now();
    let clock = || start.elapsed();
    for (out, checkpoint_every) in [(&often, Duration::ZERO), (&rarely, Duration::from_hours(1))] {
        let session = Session { checkpoint_every, ..session(&clock) };
        let config = TrainConfig { validate: Validate { every: 5, batches: 2 }, ..config() };
        train(&config, &MODEL, tokens, out.path(), session).expect("it trains");
    }
    assert_eq!(files(often.path()), files(rarely.path()));
}

#[test]
fn a_damaged_checkpoint_is_refused_with_a_way_out_and_left_where_it_is() {
    let dir = tempfile::tempdir().expect("a folder");
    let out = dir.path();
    let tokens = tokens();
    let tokens = sides(&tokens);
    let (start, asked, stop) = (Instant::now(), AtomicU64::new(0), AtomicBool::new(false));
    let clock = || {
        stop.store(asked.fetch_add(1, Ordering::Relaxed) >= 8, Ordering::Relaxed);
        start.elapsed()
    };
    let tell = |_: Tick| ();
    let session = Session { progress: Progress::new(&tell, &stop), ..session(&clock) };
    train(&config(), &MODEL, tokens, out, session).expect_err("it was asked to stop");
    let checkpoint = std::fs::read_dir(out.join("checkpoints")).expect("a folder").next().expect("one").expect("read").path();
    for (path, bytes) in [
        (checkpoint.join("weights.safetensors"), &b"cut short"[..]),
        (checkpoint.join("first.safetensors"), b""),
        (checkpoint.join("state.json"), br#"{"step":99,"best":null,"curve":0,"validation":0,"speed":0}"#),
        (checkpoint.join("state.json"), b"{"),
        (checkpoint.join("digests.json"), b"{}"),
        (out.join("snapshots/step-00000000.safetensors"), b"cut short"),
        (out.join(CURVE), b""),
    ] {
        let good = std::fs::read(&path).expect("it was written");
        std::fs::write(&path, bytes).expect("written");
        let error = train(&config(), &MODEL, tokens, out, session).expect_err("it is damaged");
        let fixable = error.downcast::<Fixable>().expect("the user can mend it");
        assert!(fixable.message.contains("is damaged") && fixable.hint.is_some(), "{}: {fixable:?}", path.display());
        assert_eq!(std::fs::read(&path).expect("it is still there"), bytes);
        std::fs::write(&path, good).expect("written");
    }
    run(&config(), out, &[]).expect("mended, it goes on");
}

#[test]
fn of_two_checkpoints_the_older_one_serves_where_the_newer_one_is_damaged() {
    let (whole, folder) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    run(&config(), whole.path(), &[]).expect("trained");
    let out = folder.path();
    // Each try does one step, saves, and stops.
    let stop = |out: &Path| {
        let tokens = tokens();
        let tokens = sides(&tokens);
        let (start, stop, notes) = (Instant::now(), AtomicBool::new(true), std::sync::Mutex::new(Vec::new()));
        let (clock, tell) = (
            || start.elapsed(),
            |tick: Tick| {
                if let Tick::Note { text } = tick {
                    notes.lock().expect("no holder panics").push(text);
                }
            },
        );
        let progress = Progress::new(&tell, &stop);
        let checkpoint_every = Duration::from_hours(1);
        let session = Session { checkpoint_every, progress, ..session(&clock) };
        train(&config(), &MODEL, tokens, out, session).expect_err("it was asked to stop");
        notes.into_inner().expect("no holder panics")
    };
    for _ in 0..4 {
        stop(out);
    }
    let names = || -> Vec<String> {
        let entries = std::fs::read_dir(out.join("checkpoints")).expect("a folder");
        let mut names: Vec<_> = entries.map(|entry| entry.expect("read").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(names(), ["step-00000003", "step-00000004"]);
    // Numbers of the right shape that are not the ones that were saved.
    let second = out.join("checkpoints/step-00000004/second.safetensors");
    let mut bytes = std::fs::read(&second).expect("it was written");
    *bytes.last_mut().expect("it holds numbers") ^= 1;
    std::fs::write(&second, bytes).expect("written");
    let notes = stop(out);
    assert!(notes.iter().any(|note| note.starts_with("the checkpoint of step 4 is damaged")), "{notes:?}");
    assert!(notes.iter().any(|note| note == "going on after step 3 of 7"), "{notes:?}");
    std::fs::create_dir(out.join("checkpoints/step-00000002.part")).expect("made");
    stop(out);
    assert_eq!(names(), ["step-00000004", "step-00000005"], "half a checkpoint makes room for the next");
    run(&config(), out, &[]).expect("trained");
    assert!(files(out) == files(whole.path()));
}

fn at_a_rate(schedule: Schedule, steps: u64) -> TrainConfig {
    let learning_rate = crate::train::config::LearningRate { schedule, ..config().learning_rate };
    TrainConfig { length: crate::train::config::Length::Steps(steps), learning_rate, ..config() }
}

#[test]
fn a_finished_training_made_longer_has_the_bytes_of_one_that_took_the_whole_way() {
    let [short, long, whole] = [0; 3].map(|_| tempfile::tempdir().expect("a folder"));
    run(&at_a_rate(Schedule::Constant, 6), short.path(), &[]).expect("trained");
    run(&at_a_rate(Schedule::Constant, 11), whole.path(), &[5]).expect("trained");
    let before = files(short.path());
    run_from(&at_a_rate(Schedule::Constant, 11), long.path(), Some(short.path()), &[1]).expect("trained");
    assert_eq!(files(long.path()).keys().collect::<Vec<_>>(), files(whole.path()).keys().collect::<Vec<_>>());
    assert!(files(long.path()) == files(whole.path()));
    assert!(files(short.path()) == before, "what it began from is as it was");
    assert!(long.path().join("checkpoints/step-00000011").exists(), "and it can be made longer again");
    assert!(!long.path().join("checkpoints/step-00000006").exists());
}

#[test]
fn a_decay_goes_on_from_its_trunk_as_if_it_were_one_training() {
    let [trunk, decay, whole] = [0; 3].map(|_| tempfile::tempdir().expect("a folder"));
    let wsd = at_a_rate(Schedule::Wsd { decay: 3 }, 9);
    run(&at_a_rate(Schedule::Constant, 6), trunk.path(), &[]).expect("trained");
    run(&wsd, whole.path(), &[]).expect("trained");
    run_from(&wsd, decay.path(), Some(trunk.path()), &[]).expect("trained");
    assert!(files(decay.path()) == files(whole.path()));
    assert!(!decay.path().join("checkpoints").exists(), "a decay is the end");
}
