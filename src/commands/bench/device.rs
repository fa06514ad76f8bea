//! `philidor bench device`: how fast the device multiplies and copies, and whether it computes what the CPU computes.

use std::fmt::Write as _;

use anyhow::Result;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::cli::BenchDeviceArgs;
use crate::commands::{session, stop};
use crate::error::Exit;
use crate::gpus;
use crate::progress::Tick;
use crate::text::{in_unit, plural};
use crate::train::bench::asked::{Bench, DeviceBench};
use crate::ui::paint::Paint;
use crate::ui::say::{answer, aside};
use crate::worker::Worker;

/// What the worker found, as it is shown.
#[derive(Deserialize)]
struct Found {
    device: String,
    threads: u64,
    rates: Vec<Rate>,
    checks: Vec<Check>,
}

#[derive(Deserialize)]
struct Rate {
    name: String,
    value: f64,
    unit: String,
}

#[derive(Deserialize)]
struct Check {
    name: String,
    passed: bool,
    found: Option<f64>,
    most: f64,
    note: Option<String>,
}

pub fn device(args: &BenchDeviceArgs, paint: Paint) -> Result<Option<Exit>> {
    let machine = session::machine()?;
    let stop = stop::on_signals()?;
    let what = Bench::Device(DeviceBench { checks: !args.no_checks });
    let tell = |tick| {
        if let Tick::Note { text } = tick {
            aside(text);
        }
    };
    let mut told = Worker::start(&machine)?.bench(&what, &machine, &stop, &tell)?;
    let found = Found::deserialize(&told)?;
    let exit = (!found.checks.iter().all(|check| check.passed)).then_some(Exit::Failed);
    if args.json {
        told["schema"] = json!(1);
        told["driver"] = json!(gpus::driver());
        told["gpus"] = Value::Array(gpus::cards().iter().map(|card| json!(card)).collect());
        answer(serde_json::to_string_pretty(&told)?)?;
    } else {
        answer(table(&found, paint))?;
    }
    Ok(exit)
}

fn table(found: &Found, paint: Paint) -> String {
    let mut text = format!("{}, {}\n", found.device, plural("thread", found.threads));
    for Rate { name, value, unit } in &found.rates {
        writeln!(text, "{name:<12} {}", in_unit(*value, unit)).expect("a string takes text");
    }
    for Check { name, passed, found, most, note } in &found.checks {
        let state = if *passed { paint.green("ok    ") } else { paint.red("FAILED") };
        let apart =
            found.map_or_else(|| "failed".to_owned(), |found| format!("{}, at most {}", distance(found), distance(*most)));
        let note = note.as_ref().map_or_else(String::new, |note| format!("; {note}"));
        writeln!(text, "{state}  {name}: {apart}{note}").expect("a string takes text");
    }
    text.trim_end().to_owned()
}

/// `2.3e-6`, or a plain 0.
fn distance(apart: f64) -> String {
    if apart == 0.0 { "0".to_owned() } else { format!("{apart:.1e}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Color;

    #[test]
    fn people_read_each_rate_in_its_unit_and_how_far_apart_each_check_was() {
        let check = |name: &str, passed, found, note: Option<&str>| Check {
            name: name.to_owned(),
            passed,
            found,
            most: 1e-4,
            note: note.map(str::to_owned),
        };
        let rate = |name: &str, value, unit: &str| Rate { name: name.to_owned(), value, unit: unit.to_owned() };
        let found = Found {
            device: "cuda:0".to_owned(),
            threads: 16,
            rates: vec![rate("matmul bf16", 7.5e14, "FLOP/s"), rate("copy", 4e12, "bytes/s")],
            checks: vec![
                check("logits f32", true, Some(2.34e-6), None),
                check("gradients f32", false, Some(0.5), None),
                check("AdamW", false, None, Some("CUDA error: an illegal memory access was encountered")),
            ],
        };
        insta::assert_snapshot!(table(&found, Paint::new(Color::Never)));
    }
}
