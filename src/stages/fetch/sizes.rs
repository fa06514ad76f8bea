//! What a plan may know of months before they come: from what was seen before, else from the mirror.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fs_err as fs;

use super::Fetch;
use crate::archive::mirror::Mirror;
use crate::archive::sizes::{Seen, ask};
use crate::corpus::config::Source;
use crate::disk::write_whole;
use crate::machine::Machine;
use crate::plan::{Cost, Plan, Stage as _};
use crate::store::{State, Store};

/// A plan does not wait longer for a mirror.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is known of the months that have to come over the network.
pub struct Outside {
    /// Months whose size nobody told.
    pub unknown: usize,
    /// As fast as the last download was.
    pub bytes_per_second: Option<f64>,
}

/// Notes in a plan what its months will take. Where nothing is remembered the mirror is asked, for two seconds at most.
pub fn learn(plan: &mut Plan, store: &Store, machine: &Machine) -> Outside {
    let mut seen = load(store);
    let mut outside = Outside { unknown: 0, bytes_per_second: seen.bytes_per_second };
    let mirror = machine.mirror().map(Mirror::at);
    let mut months = Vec::new();
    for (at, node) in plan.nodes.iter().enumerate().filter(|(_, node)| node.stage == Fetch::NAME) {
        let Ok(Fetch { source }) = serde_json::from_value::<Fetch>(node.manifest["with"].clone()) else { continue };
        let at_hand = || machine.data.join(source.name()).is_file() || store.state(node.slot()) == State::Kept;
        if matches!(source, Source::Month { .. }) && !at_hand() {
            months.push((at, mirror.as_ref().map(|mirror| mirror.url(&source.name())).unwrap_or_default()));
        }
    }
    if let Some(mirror) = &mirror {
        let unseen: Vec<String> = months.iter().map(|(_, url)| url.clone()).filter(|url| !seen.bytes.contains_key(url)).collect();
        let told = if unseen.is_empty() { BTreeMap::new() } else { ask(mirror, unseen, PATIENCE) };
        if !told.is_empty() {
            seen.bytes.extend(told);
            save(store, &seen);
        }
    }
    for (at, url) in months {
        match seen.bytes.get(&url) {
            Some(&bytes) => plan.nodes[at].cost = Cost { input_bytes: bytes, disk_bytes: bytes, ..Cost::default() },
            None => outside.unknown += 1,
        }
    }
    outside
}

/// What earlier commands saw.
fn load(store: &Store) -> Seen {
    // A note that cannot be read is as good as none.
    fs::read(file(store)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

/// Notes how long a file is, where the mirror told it.
pub(super) fn remember(store: &Store, url: &str, bytes: u64) {
    let mut seen = load(store);
    if bytes > 0 && seen.bytes.insert(url.to_owned(), bytes) != Some(bytes) {
        save(store, &seen);
    }
}

/// Notes how fast a download was: `came` tells how many bytes over the network, and in how many seconds.
pub(super) fn remember_speed(store: &Store, came: (u64, f64)) {
    let (bytes, seconds) = came;
    // A moment tells nothing of an hour.
    if bytes > 0 && seconds >= 1.0 {
        let mut seen = load(store);
        seen.bytes_per_second = Some((bytes as f64 / seconds).round());
        save(store, &seen);
    }
}

/// Only where there is a store already: whoever looks leaves no trace. Losing the note loses an estimate, no more.
fn save(store: &Store, seen: &Seen) {
    let file = file(store);
    if file.parent().is_some_and(Path::is_dir) {
        write_whole(&file, &serde_json::to_vec_pretty(seen).unwrap_or_default()).ok();
    }
}

fn file(store: &Store) -> PathBuf {
    store.note("months.json")
}
