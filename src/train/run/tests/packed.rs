//! Trainings on windows of whole games.

use super::*;
use crate::train::config::{Packing, Sampler};

/// Games of a few different moves, back to back, and their ends.
fn games(lengths: &[u16]) -> (Vec<u16>, Vec<u64>) {
    let mut ends = Vec::new();
    let mut tokens = Vec::new();
    for (&length, first) in lengths.iter().zip(3_u16..) {
        tokens.push(1);
        tokens.extend((0..length).map(|ply| 3 + (first * 37 + ply * 101) % 1968));
        tokens.push(2);
        ends.push(tokens.len() as u64);
    }
    (tokens, ends)
}

#[test]
fn a_training_on_packed_games_is_interrupted_and_resumed_to_the_same_bytes_and_tells_how_they_are_packed() {
    let (tokens, ends) = games(&[3, 5, 2, 4, 20, 1, 6, 3, 4, 2, 5]);
    let tokens = TokenStream { tokens: &tokens, ends: &ends };
    let tokens = TrainingTokens { train: tokens, validation: tokens };
    let config = TrainConfig { packing: Packing::Games, sampler: Sampler::Epoch, length: Length::Epochs(3.0), ..config() };
    let (start, told) = (Instant::now(), std::sync::Mutex::new(Vec::new()));
    let tell = |tick: Tick| told.lock().expect("no panic").push(format!("{tick:?}"));
    let made = [&[][..], &[3]].map(|stops: &[u64]| {
        let out = tempfile::tempdir().expect("a folder");
        for at in stops.iter().copied().chain([u64::MAX]) {
            let (asked, stop) = (AtomicU64::new(0), AtomicBool::new(false));
            let clock = || {
                stop.store(asked.fetch_add(1, Ordering::Relaxed) >= at, Ordering::Relaxed);
                start.elapsed()
            };
            let session = Session { progress: Progress::new(&tell, &stop), ..session(&clock) };
            assert_eq!(train(&config, &MODEL, tokens, out.path(), session).is_ok(), at == u64::MAX);
        }
        files(out.path())
    });
    assert!(made[0] == made[1]);
    let facts: serde_json::Value = serde_json::from_slice(&made[0]["training.json"]).expect("written as JSON");
    // Eleven games in eight windows of eight inputs, three times, four windows a step.
    assert_eq!(
        (&facts["steps"], &facts["packing"]),
        (&json!(6), &json!({ "windows": 8, "targets": 53, "cut_games": 1, "cut_tokens": 13 }))
    );
    let told = told.into_inner().expect("no panic").join("\n");
    let wanted = "11 games are packed into 8 windows, 17.2 % of which predict nothing; of 1 longer game 13 tokens are left out";
    assert!(told.contains(wanted), "{told}");
}

#[test]
fn the_loss_of_packed_games_is_the_mean_over_their_targets_however_a_step_is_cut_into_passes() {
    let (tokens, ends) = games(&[3, 5, 2, 4, 20, 1, 6, 3, 4, 2, 5]);
    for sampler in [Sampler::Epoch, Sampler::Windows] {
        let seen = [(1, 4), (4, 1)].map(|(batch, accumulate)| {
            let config = TrainConfig { packing: Packing::Games, sampler, batch, accumulate, ..config() };
            let decoder = Decoder::new(&MODEL, 5, Device::Cpu).expect("the CPU has memory");
            let stream = TokenStream { tokens: &tokens, ends: &ends };
            let mut trainer = Trainer::new(&config, decoder, stream, 1).expect("games");
            let launched = trainer.advance().expect("a step");
            trainer.read(launched).expect("a number")
        });
        assert!((seen[0].loss / seen[1].loss - 1.0).abs() < 1e-6, "{seen:?}");
        assert!((seen[0].gradient_norm / seen[1].gradient_norm - 1.0).abs() < 1e-5, "{seen:?}");
    }
}

#[test]
fn too_few_tokens_are_told_by_the_side_that_lacks_them() {
    let (long, short) = (vec![7; 100], vec![7; 8]);
    for (train_on, validate_on, side) in
        [(&short, &long, "training"), (&long, &short, "validation"), (&long, &vec![], "validation")]
    {
        for packing in [Packing::Stream, Packing::Games] {
            let config = TrainConfig { packing, ..config() };
            let stream = |tokens| TokenStream { tokens, ends: if tokens.len() > 8 { &[9, 20, 100] } else { &[] } };
            let tokens = TrainingTokens { train: stream(train_on), validation: stream(validate_on) };
            let out = tempfile::tempdir().expect("a folder");
            let start = Instant::now();
            let clock = || start.elapsed();
            let session = Session { checkpoint_every: Duration::ZERO, ..session(&clock) };
            let error = train(&config, &MODEL, tokens, out.path(), session).expect_err("too few");
            assert!(format!("{error:#}").starts_with(&format!("drawing {side} windows: ")), "{error:#}");
            let hint = crate::error::hint_of(&error).expect("a next step");
            assert!(hint.starts_with("keep more games"), "{hint}");
        }
    }
}
