//! Who, when, where: what every artifact and run records beside its content. The only clock and host look-ups.

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use chrono::{DateTime, Utc};

use crate::machine::Machine;
use crate::store::MadeBy;

/// The time now, as RFC 3339 in UTC.
pub fn now() -> String {
    utc().format("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// `20261129-224512-0613fa`: sorts by time to the millisecond, and two runs begun in one differ.
pub fn run_id(name: &str) -> String {
    let nanoseconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    let salt = blake3::hash(format!("{name} {nanoseconds} {}", std::process::id()).as_bytes()).to_hex();
    format!("{}{}", utc().format("%Y%m%d-%H%M%S-%3f"), &salt[..3])
}

/// What the runner knows of the making of anything; the worker adds the device and libtorch.
pub fn made_by(machine: &Machine) -> MadeBy {
    MadeBy {
        at: now(),
        host: host(),
        philidor: env!("CARGO_PKG_VERSION").to_owned(),
        git: git(),
        device: "cpu".to_owned(),
        threads: machine.threads(),
        ..MadeBy::default()
    }
}

fn utc() -> DateTime<Utc> {
    SystemTime::now().into()
}

fn host() -> String {
    fs_err::read_to_string("/proc/sys/kernel/hostname").map_or_else(|_| "unknown".to_owned(), |name| name.trim().to_owned())
}

/// The commit of the working folder, with `+dirty` where it is changed; empty outside a repository.
fn git() -> String {
    let ask = |args: &[&str]| {
        let output = Command::new("git").args(args).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let Some(commit) = ask(&["rev-parse", "--short=12", "HEAD"]) else { return String::new() };
    let dirty = ask(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|changes| !changes.is_empty());
    if dirty { format!("{commit}+dirty") } else { commit }
}
