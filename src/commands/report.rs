//! `philidor report RUN`: draws the report again, from what the store holds; or hands its curves to `TensorBoard`.

use anyhow::Result;

use crate::cli::ReportArgs;
use crate::commands::session;
use crate::report::{self, results::Results};
use crate::runs;
use crate::store::Store;
use crate::ui::say::answer;

pub fn report(args: &ReportArgs) -> Result<()> {
    let machine = session::machine()?;
    let folder = runs::find(&machine.runs, &args.run)?;
    if let Some(out) = &args.tensorboard {
        let results = Results::load(&folder.path, &Store::at(&machine.store))?;
        return report::tensorboard(&results, out)?.iter().try_for_each(|file| answer(file.display()));
    }
    let written = report::write(&folder.path, &Store::at(&machine.store))?;
    answer(written.html.display())
}
