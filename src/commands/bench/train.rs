//! `philidor bench train FILE`: the training step of an experiment by batch size, what fits into memory, and how long
//! the whole experiment takes.

mod expected;
mod findings;
mod ladder;
mod subject;
mod table;
mod trial;

use anyhow::Result;

use self::expected::Rest;
use self::findings::Findings;
use self::subject::Subject;
use self::trial::Trials;
use crate::cli::BenchTrainArgs;
use crate::commands::{session, stop};
use crate::error::Fixable;
use crate::ui::paint::Paint;
use crate::ui::say::{answer, aside};

pub fn train(args: &BenchTrainArgs, paint: Paint) -> Result<()> {
    let session = session::open(&args.file, &args.sets)?;
    let Some(measured) = session.loaded.points.first() else {
        return Err(Fixable::usage(format!("`{}` has no point", args.file.display())).hint("name an experiment").into());
    };
    if session.loaded.points.len() > 1 {
        aside(format!("of {} points, `{}` is measured", session.loaded.points.len(), measured.point));
    }
    let stop = stop::on_signals()?;

    let measured = Subject::of(measured)?;
    let trials = Trials { point: measured, machine: &session.loaded.machine, steps: args.steps, stop: &stop };
    let tried = if args.batch.is_empty() { ladder::climb(&trials)? } else { ladder::asked(&trials, &args.batch)? };
    let findings = Findings::of(measured, tried, &Rest::of(&session, measured))?;
    if args.json {
        return answer(serde_json::to_string_pretty(&findings.document())?);
    }
    table::print(&findings, paint)
}
