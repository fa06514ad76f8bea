//! `philidor doctor`: looks over this machine, and says of each thing what was found and what it is for.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use serde::Serialize;
use serde_json::{Value, json};

use crate::arena::engine::Engine;
use crate::cli::DoctorArgs;
use crate::commands::session;
use crate::disk::free_bytes;
use crate::error::{Exit, hint_of};
use crate::gpus::{self, Card, Driver};
use crate::machine::Machine;
use crate::text::bytes;
use crate::ui::paint::Paint;
use crate::worker::Worker;

/// What was found of one thing.
#[derive(Serialize)]
struct Finding {
    what: &'static str,
    /// `ok`, `absent` (some commands will not work) or `broken` (nothing will).
    state: &'static str,
    found: String,
}

pub fn doctor(args: &DoctorArgs, paint: Paint) -> Result<Option<Exit>> {
    let machine = session::machine()?;
    let (libtorch, facts) = worker(&machine);
    let cards = gpus::cards();
    let findings = [
        Finding { what: "philidor", state: "ok", found: env!("CARGO_PKG_VERSION").to_owned() },
        store(&machine),
        data(&machine),
        engine(&machine),
        processor(),
        libtorch,
        driver(&cards),
    ];
    let mut out = std::io::stdout().lock();
    if args.json {
        let document = json!({ "schema": 1, "machine": machine, "findings": findings, "worker": facts, "driver": gpus::driver(),
                               "gpus": cards });
        writeln!(out, "{}", serde_json::to_string_pretty(&document)?)?;
    } else {
        for finding in &findings {
            let state = match finding.state {
                "ok" => paint.green("ok     "),
                "absent" => paint.yellow("absent "),
                _ => paint.red("broken "),
            };
            writeln!(out, "{state}  {:<9} {}", finding.what, finding.found)?;
        }
    }
    Ok(findings.iter().any(|finding| finding.state == "broken").then_some(Exit::Failed))
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

fn store(machine: &Machine) -> Finding {
    let path = &machine.store;
    let existing = path.ancestors().find(|path| path.exists() && !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match tempfile::tempfile_in(existing) {
        Ok(_) => Finding {
            what: "store",
            state: "ok",
            found: format!("`{}`, {} free", path.display(), free_bytes(existing).map_or_else(|| "?".to_owned(), bytes)),
        },
        Err(error) => {
            Finding { what: "store", state: "broken", found: format!("`{}` cannot be written: {error}", path.display()) }
        }
    }
}

fn data(machine: &Machine) -> Finding {
    let months = fs_err::read_dir(&machine.data).map(|entries| {
        entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with("lichess_db_standard_rated_")).count()
    });
    match months {
        Ok(months) => {
            Finding { what: "data", state: "ok", found: format!("`{}`, {months} months of the archive", machine.data.display()) }
        }
        Err(_) => Finding {
            what: "data",
            state: "absent",
            found: match machine.mirror() {
                Some(mirror) => format!("`{}` is not there; months of the archive come from {mirror}", machine.data.display()),
                None => format!("`{}` is not there; experiments on months of the archive need it", machine.data.display()),
            },
        },
    }
}

fn engine(machine: &Machine) -> Finding {
    match Engine::start(&machine.stockfish, Duration::from_secs(10)) {
        Ok(engine) => {
            Finding { what: "engine", state: "ok", found: format!("{} (`{}`)", engine.name(), machine.stockfish.display()) }
        }
        Err(error) => Finding {
            what: "engine",
            state: "absent",
            found: format!("{error}; `philidor mine` needs one: apt-get install stockfish"),
        },
    }
}

/// What the worker says of its libtorch, with its facts.
fn worker(machine: &Machine) -> (Finding, Value) {
    match Worker::start(machine).and_then(|mut worker| worker.describe(&machine.device)) {
        Ok((found, facts)) => (Finding { what: "libtorch", state: "ok", found }, facts),
        Err(error) => {
            let hint = hint_of(&error).map_or_else(String::new, |hint| format!("; {hint}"));
            (Finding { what: "libtorch", state: "broken", found: format!("{error:#}{hint}") }, Value::Null)
        }
    }
}

/// Whether the processor multiplies in bfloat16; where it does not, a training in it is slower than one in float32.
fn processor() -> Finding {
    let flags = fs_err::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let has: Vec<&str> = BFLOAT16.into_iter().filter(|name| flags.split_whitespace().any(|flag| flag == *name)).collect();
    let bfloat16 = if has.is_empty() { "no bfloat16".to_owned() } else { format!("bfloat16 by {}", has.join(" and ")) };
    let name = flags.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':')).map(|(_, name)| name.trim());
    Finding { what: "cpu", state: "ok", found: format!("{}, {} cores, {bfloat16}", name.unwrap_or("unnamed"), cores()) }
}

/// As Linux names what processors have for it.
const BFLOAT16: [&str; 3] = ["avx512_bf16", "amx_bf16", "avx_ne_convert"];

fn driver(cards: &[Card]) -> Finding {
    let Some(Driver { version, cuda }) = gpus::driver() else {
        return Finding {
            what: "gpu",
            state: "absent",
            found: "no NVIDIA driver answers; everything runs on the CPU".to_owned(),
        };
    };
    let cuda = cuda.map_or_else(String::new, |cuda| format!(" (CUDA up to {cuda})"));
    let cards: Vec<String> = cards.iter().map(card).collect();
    let cards = if cards.is_empty() { "no device".to_owned() } else { cards.join("; ") };
    Finding { what: "gpu", state: "ok", found: format!("driver {version}{cuda}; {cards}") }
}

/// `0: NVIDIA H200, 139 GiB, 138 GiB free, at most 700 W, PCI 00000000:19:00.0`
fn card(card: &Card) -> String {
    let size = |size: Option<u64>, what: &str| size.map(|size| format!("{}{what}", bytes(size)));
    let parts = [
        Some(card.name.clone()),
        size(card.memory_total_bytes, ""),
        size(card.memory_free_bytes, " free"),
        card.power_limit_watts.map(|watts| format!("at most {watts:.0} W")),
        card.pci.as_ref().map(|address| format!("PCI {address}")),
    ];
    format!("{}: {}", card.index, parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_told_with_its_memory_its_power_and_its_place_where_the_driver_knows_them() {
        let whole = Card {
            index: 1,
            name: "NVIDIA H200".to_owned(),
            pci: Some("00000000:19:00.0".to_owned()),
            memory_total_bytes: Some(139 << 30),
            memory_free_bytes: Some(138 << 30),
            power_limit_watts: Some(700.0),
        };
        assert_eq!(card(&whole), "1: NVIDIA H200, 139 GiB, 138 GiB free, at most 700 W, PCI 00000000:19:00.0");
        let bare = Card { pci: None, memory_total_bytes: None, memory_free_bytes: None, power_limit_watts: None, ..whole };
        assert_eq!(card(&bare), "1: NVIDIA H200");
    }
}
