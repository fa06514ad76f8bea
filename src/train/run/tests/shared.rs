//! A training that several ranks share is that of one process.

use super::*;
use crate::ranks::{Ranks, threads};
use crate::train::files::read_lines;

/// Windows of a pass: two, four and eight ranks can share them.
const BATCH: u32 = 8;

fn config() -> TrainConfig {
    TrainConfig {
        length: crate::train::config::Length::Steps(50),
        batch: BATCH,
        accumulate: 2,
        validate: Validate { every: 20, batches: 2 },
        snapshots: crate::train::config::Snapshots { every: 25 },
        ..TrainConfig::tiny()
    }
}

/// What one rank does: `stop_after` looks at the clock it is asked to stop, where a number is given.
fn train_as(ranks: &dyn Ranks, config: &TrainConfig, out: &Path, stop_after: Option<u64>) -> Result<()> {
    let tokens = tokens();
    let tokens = sides(&tokens);
    let (start, asked, stop) = (Instant::now(), AtomicU64::new(0), AtomicBool::new(false));
    let clock = || {
        stop.store(stop_after.is_some_and(|at| asked.fetch_add(1, Ordering::Relaxed) >= at), Ordering::Relaxed);
        start.elapsed()
    };
    let tell = |_: Tick| ();
    let session = Session { progress: Progress::new(&tell, &stop), ranks, ..session(&clock) };
    train(config, &MODEL, tokens, out, session)
}

/// Trains to the end, with so many ranks in each session; all but the last are stopped on the way, rank 0 being asked to.
fn shared(config: &TrainConfig, sessions: &[usize]) -> tempfile::TempDir {
    let out = tempfile::tempdir().expect("a folder");
    for (at, &size) in sessions.iter().enumerate() {
        let last = at + 1 == sessions.len();
        let ended = threads::together(size, |ranks| {
            let stop_after = (!last && ranks.is_first()).then_some(20);
            train_as(ranks, config, out.path(), stop_after).map_err(|error| (exit_of(&error), error.to_string()))
        });
        for one in &ended {
            assert!(if last { one.is_ok() } else { matches!(one, Err((Exit::Interrupted, _))) }, "{ended:?}");
            // The words name the step.
            assert_eq!(one, &ended[0]);
        }
    }
    out
}

fn assert_near(left: &Path, right: &Path) {
    let [one, other] = [left, right].map(|out| read_lines::<CurvePoint>(&out.join(CURVE)).expect("a curve"));
    assert_eq!((one.len(), other.len()), (50, 50));
    for (one, other) in one.iter().zip(&other) {
        assert!((one.loss - other.loss).abs() < 1e-5, "{one:?} {other:?}");
        assert!((one.gradient_norm / other.gradient_norm - 1.0).abs() < 1e-3, "{one:?} {other:?}");
        assert_eq!((one.step, one.tokens), (other.step, other.tokens));
    }
    let [one, other] = [left, right].map(|out| read_lines::<ValidationPoint>(&out.join(VALIDATION)).expect("a curve"));
    assert_eq!(one.iter().map(|point| point.step).collect::<Vec<_>>(), [20, 40, 50]);
    for (one, other) in one.iter().zip(&other) {
        assert!(one.step == other.step && (one.loss - other.loss).abs() < 1e-5, "{one:?} {other:?}");
    }
    assert_eq!(files(left).keys().collect::<Vec<_>>(), files(right).keys().collect::<Vec<_>>());
}

#[test]
fn two_and_four_ranks_have_the_curve_of_one_process() {
    let alone = shared(&config(), &[1]);
    for size in [2, 4] {
        assert_near(alone.path(), shared(&config(), &[size]).path());
    }
}

/// An exact answer where the one above has room: what is added up in one order is the same to the bit, however the training
/// goes. Passes of the sampler `epoch` follow one another, so that smaller ones are the rows of larger ones.
#[test]
fn ranks_that_share_a_batch_are_one_process_that_accumulates_their_shares_to_the_bit() {
    for size in [2, 4_u32] {
        let config = TrainConfig { sampler: crate::train::config::Sampler::Epoch, accumulate: 1, ..config() };
        let accumulated = TrainConfig { batch: BATCH / size, accumulate: size, ..config.clone() };
        let (ranks, alone) = (shared(&config, &[size as usize]), shared(&accumulated, &[1]));
        let [ranks, alone] = [files(ranks.path()), files(alone.path())];
        for name in [CURVE, "snapshots/step-00000025.safetensors", "snapshots/step-00000050.safetensors"] {
            assert!(ranks[name] == alone[name], "{name} of {size} ranks");
        }
    }
}

#[test]
fn ranks_stop_at_one_step_and_another_number_of_them_goes_on() {
    let alone = shared(&config(), &[1]);
    assert_near(alone.path(), shared(&config(), &[2, 4, 1, 8, 2]).path());
    // Of one number of ranks, the same to the bit.
    assert!(files(shared(&config(), &[2, 2]).path()) == files(shared(&config(), &[2]).path()));
}

#[test]
fn a_batch_that_the_ranks_cannot_share_is_refused_by_each_of_them() {
    let out = tempfile::tempdir().expect("a folder");
    let ended = threads::together(3, |ranks| train_as(ranks, &config(), out.path(), None).map_err(|error| exit_of(&error)));
    assert_eq!(ended, [Err(Exit::Usage); 3]);
}

#[test]
fn a_loss_that_is_no_number_ends_all_ranks_at_the_same_step() {
    let out = tempfile::tempdir().expect("a folder");
    let mut config = config();
    config.learning_rate.peak = 1e30;
    let ended = threads::together(2, |ranks| train_as(ranks, &config, out.path(), None).expect_err("no number").to_string());
    assert!(ended[0] == ended[1] && ended[0].contains("at step "), "{ended:?}");
}

#[test]
fn a_rank_that_has_other_weights_is_found_out() {
    let ended = threads::together(2, |ranks| {
        let decoder = Decoder::new(&MODEL, ranks.rank() as u64, Device::Cpu).expect("the CPU has memory");
        same_weights(ranks, decoder.weights(), 7).map_err(|error| error.to_string())
    });
    assert_eq!(ended, [Ok(()), Err("rank 1 no longer has the weights of rank 0 after step 7".to_owned())]);
}
