//! The findings for people.

use std::io::Write as _;

use anyhow::Result;

use super::findings::{Findings, MARGIN, fits};
use super::ladder::passes;
use super::trial::{Outcome, Trial};
use crate::text::{bytes, duration, percent, plural, si, thousands};
use crate::train::config::Precision;
use crate::ui::paint::Paint;

pub(super) fn print(findings: &Findings, paint: Paint) -> Result<()> {
    let mut out = std::io::stdout().lock();
    for line in lines(findings, paint) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

pub(super) fn lines(findings: &Findings, paint: Paint) -> Vec<String> {
    let mut lines = vec![headline(findings), String::new()];
    lines.push(paint.dim(&format!(
        "{:>7}{:>12}{:>12}{:>12}{:>9}{:>14}{:>12}{:>14}",
        "batch", "accumulate", "step", "tokens/s", "MFU", "peak memory", "reckoned", "free before"
    )));
    for trial in &findings.tried {
        let line = row(findings, trial);
        lines.push(if Some(trial.batch) == findings.largest { paint.bold(&line) } else { line });
    }
    lines.push(String::new());
    lines.extend(fewer(findings));
    lines.push(largest(findings));
    lines.extend(above(findings));
    lines.extend(expected(findings));
    lines
}

fn headline(findings: &Findings) -> String {
    let (point, measured) = (findings.point, findings.first());
    let precision = match point.train.precision {
        Precision::F32 => "f32",
        Precision::Tf32 => "tf32",
        Precision::Bf16 => "bf16",
    };
    let place = measured.map_or_else(String::new, |measured| match measured.device.as_str() {
        "cpu" => format!("on {} of the CPU", plural("thread", measured.threads as u64)),
        device => format!("on {device}"),
    });
    format!(
        "{}: {} in {precision} {place}, which multiplies {}FLOP/s",
        point.name,
        plural("parameter", point.model.parameters() + point.model.embedding_parameters()),
        si(findings.matmul_flops_per_second)
    )
}

fn row(findings: &Findings, trial: &Trial) -> String {
    let accumulate = passes(findings.step, trial.batch).map_or_else(|| "–".to_owned(), |passes| thousands(passes.into()));
    let begin = format!("{:>7}{accumulate:>12}", thousands(trial.batch.into()));
    match &trial.outcome {
        Outcome::Ok(measured) => {
            let (tokens_per_second, mfu) = findings.speed(trial, measured);
            let windows = passes(findings.step, trial.batch).map_or(trial.batch, |_| findings.step);
            let step = f64::from(windows) * f64::from(findings.point.model.context) / tokens_per_second;
            let free = measured.room.as_ref().map_or_else(|| "?".to_owned(), |room| bytes(room.bytes));
            let peak = measured.peak_memory_bytes.map_or_else(|| "?".to_owned(), bytes);
            let tight = if fits(measured) { "" } else { "  less than the margin is left" };
            let (step, mfu, reckoned) = (duration(step), percent(mfu, 1), bytes(findings.reckoned_bytes(trial, measured)));
            format!("{begin}{step:>12}{:>12}{mfu:>9}{peak:>14}{reckoned:>12}{free:>14}{tight}", si(tokens_per_second))
        }
        Outcome::OutOfMemory(said) => format!("{begin}  out of memory: {said}"),
        Outcome::TooLarge(said) | Outcome::NotTried(said) => format!("{begin}  not tried: {said}"),
    }
}

fn fewer(findings: &Findings) -> Option<String> {
    let fewer = |trial: &Trial| passes(findings.step, trial.batch).is_some_and(|all| trial.passes < all);
    let trial = findings.tried.iter().find(|trial| trial.measured().is_some() && fewer(trial))?;
    Some(format!("where accumulate is large, steps of fewer passes were timed ({} of batch {})", trial.passes, trial.batch))
}

fn largest(findings: &Findings) -> String {
    let margin = percent(MARGIN, 0);
    let Some(batch) = findings.largest else {
        return format!("no batch leaves {margin} of the free memory free");
    };
    let accumulate = passes(findings.step, batch).unwrap_or(1);
    let step = plural("window", findings.step.into());
    let own = if batch == findings.point.train.batch { ", as the experiment has it" } else { "" };
    let bound = if findings.tried.iter().any(does_not_fit) {
        "the largest batch that fits"
    } else {
        "the largest batch tried, and it fits"
    };
    format!("{bound} with {margin} of the free memory left: {batch}, with accumulate = {accumulate} for steps of {step}{own}")
}

fn does_not_fit(trial: &Trial) -> bool {
    match &trial.outcome {
        Outcome::Ok(measured) => !fits(measured),
        Outcome::OutOfMemory(_) | Outcome::TooLarge(_) => true,
        Outcome::NotTried(_) => false,
    }
}

/// A batch beyond the step of the experiment that fits too.
fn above(findings: &Findings) -> Option<String> {
    let fit = |trial: &&Trial| trial.batch > findings.step && trial.measured().is_some_and(fits);
    let most = findings.tried.iter().filter(fit).map(|trial| trial.batch).max()?;
    Some(format!("{most} windows fit too; a step of so many is another experiment"))
}

fn expected(findings: &Findings) -> Vec<String> {
    let Some(expected) = &findings.expected else {
        return vec!["how long the whole takes is not known: its epochs have no steps before its games are encoded".to_owned()];
    };
    let untold = match findings.untold {
        0 => String::new(),
        nodes => format!(", without {} never timed", plural("node", nodes)),
    };
    let energy = match expected.joules {
        Some(joules) => format!("training and validation take about {}J of energy", si(joules)),
        None => "the energy is not known: the device does not tell it".to_owned(),
    };
    vec![
        format!(
            "the whole experiment by batch {}: about {}: {} for {}, {} for validation, {} for all else that is to make{untold}",
            expected.batch,
            duration(expected.seconds()),
            duration(expected.training_seconds),
            plural("step", expected.steps),
            duration(expected.validation_seconds),
            duration(expected.rest_seconds),
        ),
        energy,
    ]
}
