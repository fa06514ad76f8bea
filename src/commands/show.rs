//! `philidor show RUN`: a run at a glance: how each node ended, what was measured, where the files are.

use std::io::Write as _;

use anyhow::Result;
use serde_json::json;

use crate::cli::ShowArgs;
use crate::commands::session;
use crate::plan::Stage as _;
use crate::progress::Measured;
use crate::runs::{self, NodeRecord};
use crate::stages::evaluate::{Evaluate, Score};
use crate::store::{State, Store};
use crate::text::{duration, in_unit};
use crate::ui::paint::Paint;

pub fn show(args: &ShowArgs, paint: Paint) -> Result<()> {
    let machine = session::machine()?;
    let folder = runs::find(&machine.runs, &args.run)?;
    let (record, mut plan) = (folder.record()?, folder.plan()?);
    let store = Store::at(&machine.store);
    if ["running", "killed"].contains(&record.outcome.as_str()) {
        plan.nodes.iter_mut().for_each(|node| node.state = so_far(node, &store));
    }
    let tainted = session::tainted(plan.nodes.iter().map(|node| &node.node), &store);
    let mut out = std::io::stdout().lock();
    if args.json {
        let scores: Vec<_> =
            plan.nodes.iter().filter_map(|node| Some(json!({ "key": node.node.key, "score": score(node, &store)? }))).collect();
        let measured: Vec<_> = plan
            .nodes
            .iter()
            .map(|node| json!({ "key": node.node.key, "measured": measured(node, &store) }))
            .filter(|node| node["measured"] != json!([]))
            .collect();
        writeln!(
            out,
            "{}",
            serde_json::to_string_pretty(
                &json!({ "schema": 1, "run": record, "folder": folder.path, "nodes": plan.nodes, "scores": scores, "measured": measured, "tainted": tainted })
            )?
        )?;
        return Ok(());
    }
    writeln!(out, "{}  {}  {}", paint.bold(&record.name), record.id, record.outcome)?;
    for sentence in &tainted {
        writeln!(out, "  {}", paint.red(sentence))?;
    }
    writeln!(
        out,
        "  begun {} on {} ({}), philidor {}, git {}",
        record.started, record.host, record.device, record.philidor, record.git
    )?;
    writeln!(out, "  made by: {}", record.command)?;
    writeln!(out, "  report:  {}", folder.path.join("report.html").display())?;
    writeln!(out)?;
    let width = plan.nodes.iter().map(|node| node.node.label.len()).max().unwrap_or(0).min(48);
    for node in &plan.nodes {
        let seconds = node.seconds.map_or_else(String::new, duration);
        writeln!(out, "  {:<8} {:<width$}  {}  {seconds}", node.state, node.node.label, paint.dim(&node.node.key.to_string()))?;
        if let Some(message) = &node.message {
            writeln!(out, "           {}", paint.red(message))?;
        }
        for figure in measured(node, &store) {
            let line = format!("{} {}", figure.name, in_unit(figure.value, &figure.unit));
            writeln!(out, "           {}", paint.dim(&line))?;
        }
        let values = score(node, &store).into_iter().flat_map(|score| score.values);
        for value in values.filter(|value| value.slice.is_empty()) {
            writeln!(out, "           {value}")?;
        }
    }
    Ok(())
}

/// How a node stands while its run goes on: the records are written at the end, the store knows now.
fn so_far(node: &NodeRecord, store: &Store) -> String {
    match store.state(node.node.slot()) {
        State::Kept => "kept".to_owned(),
        State::Resumable(resume) => format!("{} %", resume.done * 100 / resume.total.max(1)),
        State::Absent => node.state.clone(),
    }
}

/// What the stage measured of its own work, whenever that was.
fn measured(node: &NodeRecord, store: &Store) -> Vec<Measured> {
    store.manifest(&node.node.stage, node.node.key).map_or_else(|_| Vec::new(), |manifest| manifest.made_by.measured)
}

fn score(node: &NodeRecord, store: &Store) -> Option<Score> {
    if node.node.stage != Evaluate::NAME {
        return None;
    }
    let bytes = store.checked(&node.node.stage, node.node.key, "score.json").ok()?;
    serde_json::from_slice(&bytes).ok()
}
