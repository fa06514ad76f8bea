//! `philidor report RUN`: draws the report again, from what the store holds.

use anyhow::Result;

use crate::cli::ReportArgs;
use crate::commands::session;
use crate::report;
use crate::runs;
use crate::store::Store;
use crate::ui::say::answer;

pub fn report(args: &ReportArgs) -> Result<()> {
    let machine = session::machine()?;
    let folder = runs::find(&machine.runs, &args.run)?;
    let written = report::write(&folder.path, &Store::at(&machine.store))?;
    answer(written.html.display())
}
