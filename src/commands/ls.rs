//! `philidor ls`: the runs, newest last.

use std::io::Write as _;

use anyhow::Result;
use serde_json::json;

use crate::cli::LsArgs;
use crate::commands::session;
use crate::runs;
use crate::ui::paint::Paint;

pub fn ls(args: &LsArgs, paint: Paint) -> Result<()> {
    let machine = session::machine()?;
    let mut found = runs::all(&machine.runs);
    found.sort_by(|(_, a), (_, b)| a.started.cmp(&b.started));
    let mut out = std::io::stdout().lock();
    if args.json {
        let runs: Vec<_> = found.iter().map(|(folder, record)| json!({ "folder": folder.path, "run": record })).collect();
        writeln!(out, "{}", serde_json::to_string_pretty(&json!({ "schema": 1, "runs": runs }))?)?;
        return Ok(());
    }
    if found.is_empty() {
        writeln!(out, "no runs yet in `{}`", machine.runs.display())?;
    }
    let width = found.iter().map(|(_, record)| record.name.len()).max().unwrap_or(0);
    for (folder, record) in &found {
        let report = folder.path.join("report.html");
        let page = if report.exists() { report.display().to_string() } else { String::new() };
        writeln!(
            out,
            "{:<width$}  {}  {:<11}  {}  {}",
            paint.bold(&record.name),
            record.id,
            record.outcome,
            record.started,
            paint.dim(&page)
        )?;
    }
    Ok(())
}
