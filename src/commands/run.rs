//! `philidor run`: makes what is not kept, tells what happens, and writes the report.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use anyhow::{Context as _, Result};
use serde_json::json;

use crate::cli::RunArgs;
use crate::commands::session::{self, Session};
use crate::commands::stop;
use crate::error::Exit;
use crate::experiment::Show;
use crate::plan::{Node, Stage as _};
use crate::provenance;
use crate::ranks;
use crate::report;
use crate::run::{self, Event, Options, Outcome, Run};
use crate::runs::{self, PlanRecord, RunFolder, RunRecord};
use crate::stages::Workshop;
use crate::stages::train::Train;
use crate::store::{MadeBy, State, Store, Wait};
use crate::text::{duration, plural};
use crate::ui::journal::Journal;
use crate::ui::log::Log;
use crate::ui::paint::Paint;
use crate::ui::progress::Progress;
use crate::ui::say::{answer, aside};
use crate::worker::Worker;

pub fn run(args: &RunArgs, paint: Paint) -> Result<Option<Exit>> {
    let stop = stop::on_signals()?;
    let mut documents = Vec::new();
    let (mut exit, mut printed) = (None, Ok(()));
    for file in &args.asked.files {
        let session = session::open(file, &args.asked.sets)?;
        check_ranks(&session)?;
        check_second_device(&session)?;
        for stage in args.until.iter().chain(&args.force) {
            session::check_stage(&session.plan, stage)?;
        }
        for gate in &args.despite {
            session::check_gate(&session.plan, gate)?;
        }
        let ended = run_one(file, &session, args, &stop, paint)?;
        if args.json {
            documents.push(ended.document);
        } else {
            printed = printed.and(answer(&ended.page));
        }
        exit = exit.or(ended.exit);
        if ended.exit == Some(Exit::Interrupted) || (ended.exit.is_some() && !args.keep_going) {
            break;
        }
    }
    if args.json {
        printed = answer(serde_json::to_string_pretty(&json!({ "schema": 1, "runs": documents }))?);
    }
    // How the run ended says more than that nobody read where its report is.
    if exit.is_none() {
        printed?;
    }
    Ok(exit)
}

/// Refuses a training that the ranks cannot share, before time is spent on the way to it.
fn check_ranks(session: &Session) -> Result<()> {
    let trainings = session.plan.nodes.iter().filter(|node| node.stage == Train::NAME);
    for node in trainings.filter(|node| session.store.state(node.slot()) != State::Kept) {
        let stage: Train = serde_json::from_value(node.manifest["with"].clone())?;
        ranks::rows(stage.train.batch, 0, session.loaded.machine.ranks)?;
    }
    Ok(())
}

/// Refuses a second device that does not answer, before hours are spent beside it.
fn check_second_device(session: &Session) -> Result<()> {
    let Some(second) = session.loaded.machine.beside().filter(|second| second.device != "cpu") else { return Ok(()) };
    let has_use = |node: &Node| node.piece.is_some() && session.store.state(node.slot()) != State::Kept;
    if session.plan.nodes.iter().any(has_use) {
        Worker::start(&second)?.describe(&second.device).context("looking for `measure_device`")?;
    }
    Ok(())
}

struct Ended {
    exit: Option<Exit>,
    page: String,
    document: serde_json::Value,
}

fn run_one(file: &Path, session: &Session, args: &RunArgs, stop: &AtomicBool, paint: Paint) -> Result<Ended> {
    let began = std::time::Instant::now();
    let (machine, plan) = (&session.loaded.machine, &session.plan);
    let store = Store::new(&machine.store)?;
    let command = command_line(file, args);
    let before = runs::latest(&machine.runs, session.loaded.name());
    let made_by = provenance::made_by(machine);
    let (folder, mut record) = match before.as_ref().and_then(|before| finished_before(before, session, args)) {
        Some(record) => (before.clone().expect("it is the one before"), record),
        None => begin(session, &command, &made_by)?,
    };
    let journal = Journal::append(&folder.path.join(runs::JOURNAL))?;
    let progress = Progress::new(plan, paint);
    let log = Log::append(&folder.path.join("log.txt"), plan)?;
    let tell = |event: &Event| {
        journal.write(event);
        log.write(event);
        progress.show(event);
    };
    let second = machine.beside();
    let beside = second.as_ref().map(|machine| {
        let (store, made_by) = (&store, made_by.clone());
        move |lend: &mut dyn FnMut(&mut run::Workshop)| {
            let mut workshop = Workshop::new(plan, store, machine, stop, made_by.clone());
            lend(&mut |node, out, tell| workshop.work(node, out, tell));
        }
    });
    let options = Options {
        wait: if args.no_wait { Wait::No } else { Wait::Yes },
        force: args.force.iter().cloned().collect(),
        until: args.until.clone(),
        keep_going: args.keep_going,
        despite: args.despite.iter().cloned().collect(),
        beside: beside.as_ref().map(|beside| beside as &run::Second),
        stop,
    };
    let mut workshop = Workshop::new(plan, &store, machine, stop, made_by);
    let done = run::run(plan, &store, &mut |node, out, tell| workshop.work(node, out, tell), &options, &tell);
    progress.end();
    let done = done?;
    if let Some(locked) = done.failure(Exit::Locked).filter(|_| record.outcome == "running") {
        // What was made is in the store; a run that stopped at a lock must not be the newest.
        folder.withdraw(before.as_ref())?;
        return Err(locked.clone().into());
    }

    finish(&folder, &mut record, session, &done, &store)?;
    let written =
        report::write(&folder.path, &store).with_context(|| format!("drawing the report of `{}`", folder.path.display()))?;
    let exit = done.exit();
    aside(summary(session, &done, began.elapsed().as_secs_f64(), paint));
    let tainted = warn(session, &done, &store, paint);
    if exit == Some(Exit::Interrupted) {
        aside(format!("\nInterrupted, and the work is kept. It goes on with:\n  {command}"));
    }
    let page = short_path(&written.html);
    let document = json!({ "name": record.name, "id": record.id, "outcome": record.outcome, "folder": folder.path, "report": written.html,
                           "despite": record.despite, "tainted": tainted,
                           "nodes": PlanRecord::new(plan, Some(&done)).nodes });
    Ok(Ended { exit, page, document })
}

/// The newest run of this experiment, where it asked the same and nothing is left to do: its report is drawn again,
/// and no new folder is made.
fn finished_before(folder: &RunFolder, session: &Session, args: &RunArgs) -> Option<RunRecord> {
    let record = folder.record().ok()?;
    folder.plan().ok()?;
    let same = folder.resolved().ok()? == resolved(session);
    let kept = session.plan.nodes.iter().all(|node| session.store.state(node.slot()) == State::Kept);
    let done = record.outcome == "done" && args.force.is_empty() && args.until.is_none();
    (same && kept && done).then_some(record)
}

fn resolved(session: &Session) -> serde_json::Value {
    json!({ "schema": 1, "points": session.loaded.points, "axes": session.loaded.axes })
}

fn begin(session: &Session, command: &str, made_by: &MadeBy) -> Result<(RunFolder, RunRecord)> {
    let machine = &session.loaded.machine;
    let id = provenance::run_id(session.loaded.name());
    let folder = RunFolder::create(&machine.runs, session.loaded.name(), &id)?;
    let record = RunRecord {
        schema: 1,
        id,
        name: session.loaded.name().to_owned(),
        started: provenance::now(),
        finished: None,
        outcome: "running".to_owned(),
        philidor: made_by.philidor.clone(),
        git: made_by.git.clone(),
        host: made_by.host.clone(),
        device: machine.device.clone(),
        threads: machine.threads(),
        libtorch: String::new(),
        command: command.to_owned(),
        despite: Vec::new(),
    };
    folder.write("resolved.json", &resolved(session))?;
    fs_err::write(folder.path.join("experiment.toml"), session.loaded.all_resolved(Show::Values))?;
    folder.write("plan.json", &PlanRecord::new(&session.plan, None))?;
    folder.write("run.json", &record)?;
    folder.link_latest()?;
    Ok((folder, record))
}

fn finish(folder: &RunFolder, record: &mut RunRecord, session: &Session, done: &Run, store: &Store) -> Result<()> {
    if record.outcome == "done" {
        return Ok(());
    }
    let pending = done.outcomes.len() < session.plan.nodes.len();
    let outcome = match done.exit() {
        None if pending => "partial",
        None => "done",
        Some(Exit::Refused) => "refused",
        Some(Exit::Interrupted) => "interrupted",
        Some(_) => "failed",
    };
    outcome.clone_into(&mut record.outcome);
    record.finished = Some(provenance::now());
    record.despite = done.passed_over.values().map(|refusal| refusal.gate.clone()).collect();
    record.despite.sort();
    record.despite.dedup();
    // What the worker ran on is known from what it made.
    let torch = session
        .plan
        .nodes
        .iter()
        .filter_map(|node| store.manifest(&node.stage, node.key).ok())
        .find(|manifest| !manifest.made_by.libtorch.is_empty());
    if let Some(manifest) = torch {
        record.libtorch = manifest.made_by.libtorch;
        record.device = manifest.made_by.device;
    }
    folder.write("plan.json", &PlanRecord::new(&session.plan, Some(done)))?;
    folder.write("run.json", record)
}

/// Warns of all that is tainted, whenever it was made, and of gates that were passed over; returns what is told of the first.
fn warn(session: &Session, done: &Run, store: &Store, paint: Paint) -> Vec<String> {
    let tainted = session::tainted(&session.plan.nodes, store);
    let warning = paint.yellow("warning");
    for sentence in &tainted {
        aside(format!("{warning}: {sentence}"));
    }
    for refusal in done.passed_over.values() {
        let of_it = format!("gate `{}` refused: ", refusal.gate);
        // With nothing made after it, no artifact tells.
        if !tainted.iter().any(|sentence| sentence.contains(&of_it)) {
            aside(format!("{warning}: the {of_it}{}; it was passed over", refusal.message));
        }
    }
    tainted
}

fn summary(session: &Session, done: &Run, seconds: f64, paint: Paint) -> String {
    let count = |is: fn(&Outcome) -> bool| done.outcomes.iter().filter(|(_, outcome)| is(outcome)).count();
    let made = count(|outcome| matches!(outcome, Outcome::Made { .. }));
    let kept = count(|outcome| matches!(outcome, Outcome::Kept));
    let over = done.passed_over.len();
    let failed = count(|outcome| matches!(outcome, Outcome::Failed(failure) if failure.exit != Exit::Interrupted)) - over;
    let left = session.plan.nodes.len() - made - kept - failed - over;
    let mut parts = vec![format!("{} made", plural("node", made as u64)), format!("{kept} kept")];
    if failed > 0 {
        parts.push(paint.red(&format!("{failed} failed")));
    }
    if over > 0 {
        parts.push(paint.yellow(&format!("{over} passed over")));
    }
    if left > 0 {
        parts.push(format!("{left} left"));
    }
    format!("{}: {}, in {}", paint.bold(session.loaded.name()), parts.join(", "), duration(seconds))
}

fn command_line(file: &Path, args: &RunArgs) -> String {
    let mut words = vec!["philidor run".to_owned(), quoted(&file.to_string_lossy())];
    words.extend(args.asked.sets.iter().map(|set| format!("-S {}", quoted(set))));
    words.extend(args.until.iter().map(|stage| format!("--until {}", quoted(stage))));
    words.extend(args.despite.iter().map(|gate| format!("--despite {}", quoted(gate))));
    words.join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// Relative to the working folder where it lies below it.
fn short_path(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(&here).unwrap_or(path).display().to_string()
}
