//! Spikes are skipped or end the training, averages follow, leaks are refused; and all of it survives interruptions.

use super::*;
use crate::train::config::{Ema, Length, OnSpike, Spikes};
use crate::train::files::{ema_file, read_lines};

/// A rate so high that losses jump; nothing is expected before the eighth step.
fn jumpy(then: OnSpike) -> TrainConfig {
    let learning_rate = crate::train::config::LearningRate { peak: 0.3, floor: 0.3, warmup: 1, ..config().learning_rate };
    TrainConfig {
        length: Length::Steps(40),
        learning_rate,
        spikes: Some(Spikes { z: 0.5, window: 8, then }),
        ema: Some(Ema { decay: 0.8 }),
        ..config()
    }
}

fn curve(out: &Path) -> Vec<CurvePoint> {
    read_lines(&out.join(CURVE)).expect("a curve")
}

#[test]
fn spikes_are_skipped_counted_and_the_same_after_interruptions() {
    let (whole, parts) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    run(&jumpy(OnSpike::Skip), whole.path(), &[]).expect("trained");
    run(&jumpy(OnSpike::Skip), parts.path(), &[3, 40, 60, 2]).expect("trained");
    let skipped = curve(whole.path()).iter().filter(|point| point.skipped).count();
    assert!((1..32).contains(&skipped), "{skipped}");
    assert!(curve(whole.path())[..8].iter().all(|point| !point.skipped));
    let told: serde_json::Value = crate::train::files::read_json(&whole.path().join(DONE)).expect("written");
    assert_eq!(told["skipped"], skipped);
    assert!(files(whole.path()).contains_key("ema.safetensors"));
    assert!(files(whole.path()) == files(parts.path()));
}

#[test]
fn a_skipped_step_changes_no_weight_no_moment_and_no_average() {
    let config = jumpy(OnSpike::Skip);
    let decoder = Decoder::new(&MODEL, 5, Device::Cpu).expect("the CPU has memory");
    let tokens = tokens();
    let mut trainer = Trainer::new(&config, decoder, &tokens, 40).expect("enough tokens");
    let state = |trainer: &Trainer| -> Vec<tch::Tensor> {
        let [first, second] = trainer.optimiser.moments();
        let weights = trainer.decoder.weights().named();
        let all = weights.into_iter().chain(first).chain(second);
        tch::no_grad(|| all.map(|(_, tensor)| tensor.detach().copy()).collect())
    };
    let (mut skipped, mut taken) = (0, 0);
    for _ in 0..40 {
        let before = state(&trainer);
        let launched = trainer.advance().expect("a step");
        let point = trainer.read(launched).expect("a number");
        let same = before.iter().zip(state(&trainer)).all(|(one, other)| *one == other);
        assert_eq!(same, point.skipped, "step {}", point.step);
        *(if point.skipped { &mut skipped } else { &mut taken }) += 1;
    }
    assert!(skipped > 0 && taken >= 8, "{skipped} and {taken}");
}

#[test]
fn a_spike_may_end_the_training_with_its_step_its_batch_and_the_last_checkpoint() {
    let folder = tempfile::tempdir().expect("a folder");
    let error = run(&jumpy(OnSpike::Stop), folder.path(), &[]).expect_err("it jumps");
    let fixable = error.downcast::<Fixable>().expect("the user can mend it");
    assert!(fixable.message.contains("is a spike: its loss is `"), "{fixable:?}");
    assert!(fixable.message.contains("whose windows begin at the tokens ") && fixable.message.contains("BLAKE3"), "{fixable:?}");
    assert!(fixable.hint.as_deref().is_some_and(|hint| hint.starts_with("there is no checkpoint before it; ")), "{fixable:?}");
}

#[test]
fn the_average_is_that_of_all_weights_so_far() {
    let folder = tempfile::tempdir().expect("a folder");
    let every = crate::train::config::Snapshots { every: 1 };
    let config = TrainConfig { ema: Some(Ema { decay: 0.8 }), snapshots: every, ..config() };
    run(&config, folder.path(), &[2]).expect("trained");
    let weights = |path: &Path| Decoder::load(path, &MODEL, Device::Cpu).expect("weights");
    let named = |decoder: &Decoder| -> Vec<tch::Tensor> {
        decoder.weights().named().into_iter().map(|(_, tensor)| tensor.shallow_clone()).collect()
    };
    let mut wanted = named(&weights(&snapshot_file(folder.path(), 0)));
    for step in 1..=7 {
        for (average, weight) in wanted.iter_mut().zip(named(&weights(&snapshot_file(folder.path(), step)))) {
            *average = &*average * 0.8 + weight * 0.2;
        }
    }
    for (seen, wanted) in named(&weights(&ema_file(folder.path()))).iter().zip(&wanted) {
        assert!((seen - wanted).abs().max().double_value(&[]) < 1e-6);
    }
    let told: Best = crate::train::files::read_json(&folder.path().join("ema.json")).expect("written");
    assert!(told.step == 7 && told.loss.is_finite());
}

#[test]
fn a_first_loss_below_chance_is_refused_as_a_leak() {
    let folder = tempfile::tempdir().expect("a folder");
    // Each target is its input, which tied embeddings tell at once: what targets that are not shifted by one look like. A wide
    // model, for a narrow one sees little of it.
    let model = ModelConfig { layers: 1, heads: 2, width: 512, hidden: 32, context: 8 };
    let tokens = TrainingTokens { train: (&[7; 100]).into(), validation: (&[7; 100]).into() };
    let start = Instant::now();
    let clock = || start.elapsed();
    let session = session(&clock);
    let error = train(&config(), &model, tokens, folder.path(), session).expect_err("a leak");
    assert_eq!(exit_of(&error), Exit::Refused, "{error:#}");
    assert!(error.to_string().starts_with("the loss of the first step is `"), "{error}");
}

#[test]
fn each_lap_tells_its_share_of_the_one_measured_matmul_rate() {
    let folder = tempfile::tempdir().expect("a folder");
    let tokens = tokens();
    let tokens = sides(&tokens);
    let (start, stop, told) = (Instant::now(), AtomicBool::new(false), std::sync::Mutex::new(Vec::new()));
    let clock = || start.elapsed();
    let tell = |tick: Tick| {
        if let Tick::Metric { name, step, value } = tick
            && name == "mfu"
        {
            told.lock().expect("no holder panics").push((step, value));
        }
    };
    let session = Session { progress: Progress::new(&tell, &stop), ..session(&clock) };
    let config = TrainConfig { length: Length::Steps(45), ..config() };
    train(&config, &MODEL, tokens, folder.path(), session).expect("trained");
    let device: serde_json::Value = crate::train::files::read_json(&folder.path().join("device.json")).expect("written");
    let flops = device["matmul_flops_per_second"].as_f64().expect("measured");
    let laps = read_lines::<crate::train::files::SpeedPoint>(&folder.path().join(SPEED)).expect("laps");
    let told = told.into_inner().expect("no holder panics");
    assert_eq!(told.iter().map(|(step, _)| *step).collect::<Vec<_>>(), [20, 40]);
    assert_eq!(laps.len(), 2);
    for ((_, mfu), lap) in told.iter().zip(&laps) {
        let wanted = lap.tokens_per_second * MODEL.flops_per_token() as f64 / flops;
        assert!((mfu / wanted - 1.0).abs() < 1e-12, "{mfu} and {wanted}");
    }
}
