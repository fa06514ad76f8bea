//! `philidor watch RUN`: the page of a run while it runs, from its journal and what the store holds. It changes nothing.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;
use fs_err as fs;
use serde_json::json;

use crate::cli::WatchArgs;
use crate::commands::{session, stop};
use crate::report;
use crate::runs::{self, NodeRecord, RunFolder};
use crate::store::Store;
use crate::ui::loopback::{Answer, Loopback};
use crate::ui::say::answer;

/// Of the end of the log, what is shown.
const LOG_LINES: usize = 40;
/// Bytes that a journal grows by before the page is worth drawing again: some ten seconds of a training.
const WORTH_DRAWING: u64 = 4 << 10;

pub fn watch(args: &WatchArgs) -> Result<()> {
    let machine = session::machine()?;
    let folder = runs::find(&machine.runs, &args.run)?;
    let store = Store::at(&machine.store);
    // What is wrong with the run is told here, and not in a browser.
    report::live(&folder.path, &store)?;
    let server = Loopback::open(args.port)?;
    let stop = stop::on_signals()?;
    answer(server.url())?;
    server.serve(&stop, &|path| match path {
        "/" => {
            let page = report::live(&folder.path, &store).unwrap_or_else(|error| format!("<pre>{error:#}</pre>"));
            Some(Answer { kind: "text/html; charset=utf-8", body: page })
        }
        "/now.json" => Some(Answer { kind: "application/json", body: now(&folder).to_string() }),
        _ => None,
    });
    Ok(())
}

/// What changes every second; `version` says when the page itself has changed.
fn now(folder: &RunFolder) -> serde_json::Value {
    let states = runs::now(&folder.path);
    let outcome = folder.record().map_or_else(|_| "unknown".to_owned(), |record| record.outcome);
    let planned: Vec<NodeRecord> = folder.plan().map_or_else(|_| Vec::new(), |plan| plan.nodes);
    let points: BTreeSet<&str> = planned.iter().flat_map(|node| &node.node.points).map(String::as_str).collect();
    // A node of all points needs no name of them.
    let of = |node: &NodeRecord| (node.node.points.len() < points.len()).then(|| node.node.points.join(", "));
    let state = |node: &NodeRecord| states.get(&node.node.key).map_or(node.state.as_str(), |now| now.state).to_owned();
    let nodes: Vec<_> = planned
        .iter()
        .map(|node| {
            let (planned, now) = (&node.node, states.get(&node.node.key));
            json!({ "label": planned.label, "stage": planned.stage, "points": of(node), "state": state(node), "now": now })
        })
        .collect();
    let ended = states.values().filter(|now| now.state != "making").count();
    let grown = fs::metadata(folder.path.join(runs::JOURNAL)).map_or(0, |file| file.len()) / WORTH_DRAWING;
    json!({ "schema": 1, "outcome": outcome, "version": format!("{outcome} {ended} {grown}"), "nodes": nodes, "log": log(&folder.path) })
}

fn log(run_dir: &Path) -> Vec<String> {
    let text = fs::read_to_string(run_dir.join("log.txt")).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LOG_LINES)..].iter().map(|line| (*line).to_owned()).collect()
}
