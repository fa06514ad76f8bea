//! `philidor export games FILE`: the kept games of an experiment.

use std::sync::atomic::AtomicBool;

use anyhow::Result;

use crate::commands::session;
use crate::export;
use crate::plan::{Artifact as _, Stage as _};
use crate::provenance;
use crate::run::{self, Options, Outcome};
use crate::stages::Workshop;
use crate::stages::parse::{Games, Parse};
use crate::store::{Store, Wait};

/// Makes what is needed up to parse, and prints the kept games of every source in order.
pub(super) fn games(file: &std::path::Path, sets: &[String], out: &mut dyn std::io::Write) -> Result<()> {
    let session = session::open(file, sets)?;
    let machine = &session.loaded.machine;
    let store = Store::new(&machine.store)?;
    let stop = AtomicBool::new(false);
    let options = Options {
        wait: Wait::Yes,
        force: std::collections::BTreeSet::new(),
        until: Some(Parse::NAME.to_owned()),
        keep_going: false,
        despite: std::collections::BTreeSet::new(),
        beside: None,
        stop: &stop,
    };
    let mut workshop = Workshop::new(&session.plan, &store, machine, &stop, provenance::made_by(machine));
    let done = run::run(&session.plan, &store, &mut |node, part, tell| workshop.work(node, part, tell), &options, &|_| ())?;
    if let Some(failure) = done.outcomes.iter().find_map(|(_, outcome)| match outcome {
        Outcome::Failed(failure) => Some(failure.clone()),
        _ => None,
    }) {
        return Err(failure.into());
    }
    for node in session.plan.nodes.iter().filter(|node| node.stage == Parse::NAME) {
        let games = Games::open(&store.dir(&node.stage, node.key))?;
        export::games::games(&games.moves, out)?;
    }
    Ok(())
}
