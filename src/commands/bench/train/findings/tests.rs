//! What is concluded from trials of known speed and size.

use super::*;
use crate::experiment::Experiment;
use crate::report::fixture::experiment;
use crate::ui::paint::Paint;

const GIB: u64 = 1 << 30;

fn ok(batch: u32, passes: u32, seconds: f64, peak_memory_bytes: u64) -> Trial {
    let measured = StepsMeasured {
        device: "cpu".into(),
        threads: 2,
        steps: 10,
        median_seconds: seconds,
        least_seconds: seconds,
        validation_seconds: 0.5,
        peak_memory_bytes: Some(peak_memory_bytes),
        room: Some(Room { bytes: 10 * GIB, of: "free on this machine".into() }),
        matmul_flops_per_second: 1e13,
        watts: Some(100.0),
    };
    Trial { batch, passes, outcome: Outcome::Ok(Box::new(measured)) }
}

fn lacking(batch: u32) -> Trial {
    Trial { batch, passes: 1, outcome: Outcome::OutOfMemory("too little memory for it".into()) }
}

/// Steps of 16 windows, in two passes.
fn point() -> Experiment {
    let mut point = experiment(1_000);
    let train = point.training();
    (train.batch, train.accumulate) = (8, 2);
    (train.validate.every, train.validate.batches) = (300, 4);
    point
}

fn rest() -> Rest {
    Rest { steps: Some(1_000), seconds: 30.0, untold: 1 }
}

#[test]
fn the_largest_batch_keeps_the_step_and_leaves_the_margin() {
    let point = point();
    let largest = |tried| Findings::of(Subject::of(&point).expect("it trains"), tried, &rest()).expect("one works").largest;
    assert_eq!(largest(vec![ok(4, 4, 1.0, GIB), ok(8, 2, 1.0, 9 * GIB), ok(16, 1, 1.0, 9 * GIB + 1)]), Some(8));
    assert_eq!(largest(vec![ok(8, 2, 1.0, GIB), ok(32, 1, 1.0, 2 * GIB)]), Some(8), "32 windows are another step");
    assert_eq!(largest(vec![ok(8, 2, 1.0, 10 * GIB), lacking(16)]), None);
    let error =
        Findings::of(Subject::of(&point).expect("it trains"), vec![lacking(1)], &rest()).err().map(|error| error.to_string());
    assert_eq!(error.as_deref(), Some("too little memory for it"));
}

#[test]
fn the_whole_is_told_by_the_batch_of_the_experiment_or_the_largest_that_works() {
    let point = point();
    let findings =
        Findings::of(Subject::of(&point).expect("it trains"), vec![ok(4, 1, 0.1, GIB), ok(8, 2, 0.3, GIB), lacking(16)], &rest())
            .expect("it works");
    let expected = findings.expected.as_ref().expect("the steps are known");
    // 1,000 steps of 0.3 s; four validations on the windows of four steps of two batches, the last one after the last step.
    assert_eq!((expected.batch, expected.training_seconds.round(), expected.validation_seconds), (8, 300.0, 16.0));
    assert_eq!((expected.seconds().round(), expected.joules.map(f64::round)), (346.0, Some(31_600.0)));
    let findings =
        Findings::of(Subject::of(&point).expect("it trains"), vec![ok(2, 8, 0.4, GIB), ok(4, 1, 0.1, GIB), lacking(8)], &rest())
            .expect("it works");
    let expected = findings.expected.as_ref().expect("the steps are known");
    // A step timed with one pass of 4 windows is a quarter of the experiment's.
    assert_eq!((expected.batch, expected.training_seconds.round(), expected.validation_seconds), (4, 400.0, 32.0));
    let unknown =
        Findings::of(Subject::of(&point).expect("it trains"), vec![ok(8, 2, 0.3, GIB)], &Rest { steps: None, ..rest() })
            .expect("it works");
    assert!(unknown.expected.is_none() && unknown.document()["expected_seconds"].is_null());
}

#[test]
fn people_read_what_fits_and_how_long_it_takes() {
    let point = point();
    let findings = Findings::of(
        Subject::of(&point).expect("it trains"),
        vec![ok(4, 4, 0.32, GIB), ok(8, 2, 0.3, 2 * GIB), ok(16, 1, 0.28, 4 * GIB), ok(32, 1, 0.55, 8 * GIB), lacking(64)],
        &rest(),
    );
    insta::assert_snapshot!(super::super::table::lines(&findings.expect("it works"), Paint::none()).join("\n"));
}
