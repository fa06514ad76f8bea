//! `philidor doctor`: looks over this machine, and says of each thing what was found and what it is for.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Result;
use serde::Serialize;
use serde_json::json;

use crate::arena::engine::Engine;
use crate::cli::DoctorArgs;
use crate::commands::session;
use crate::disk::free_bytes;
use crate::error::Exit;
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
    let findings = [
        Finding { what: "philidor", state: "ok", found: format!("{} on {} cores", env!("CARGO_PKG_VERSION"), cores()) },
        store(&machine),
        data(&machine),
        engine(&machine),
        worker(&machine),
        driver(),
    ];
    let mut out = std::io::stdout().lock();
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&json!({ "schema": 1, "machine": machine, "findings": findings }))?)?;
    } else {
        for finding in &findings {
            let state = match finding.state {
                "ok" => paint.green("ok     "),
                "absent" => paint.yellow("absent"),
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

fn worker(machine: &Machine) -> Finding {
    match Worker::start().and_then(|mut worker| worker.describe(&machine.device)) {
        Ok(found) => Finding { what: "libtorch", state: "ok", found },
        Err(error) => Finding { what: "libtorch", state: "broken", found: format!("{error:#}") },
    }
}

fn driver() -> Finding {
    let answer =
        Command::new("nvidia-smi").args(["--query-gpu=index,name,memory.total,driver_version", "--format=csv,noheader"]).output();
    match answer {
        Ok(output) if output.status.success() => {
            Finding { what: "gpu", state: "ok", found: String::from_utf8_lossy(&output.stdout).trim().replace('\n', "; ") }
        }
        _ => Finding { what: "gpu", state: "absent", found: "no NVIDIA driver answers; everything runs on the CPU".to_owned() },
    }
}
