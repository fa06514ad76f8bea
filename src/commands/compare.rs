//! `philidor compare RUN RUN…`: what differs in what was asked, and what differs in what came out.

use anyhow::Result;

use crate::cli::{At, CompareArgs};
use crate::commands::session;
use crate::error::{Exit, Fixable};
use crate::measure::values;
use crate::report::compare::{self, Axis, Comparison, Member, Wanted};
use crate::report::results::Results;
use crate::runs;
use crate::store::Store;
use crate::ui::say::{answer, aside};

pub fn compare(args: &CompareArgs) -> Result<Option<Exit>> {
    if let Some(figure) = &args.verdict
        && figure.split_once('.').and_then(|(metric, value)| values::find(metric, value)).is_none()
    {
        return Err(Fixable::usage(format!("`{figure}` is no figure"))
            .hint("name one as `agreement.top1`; --csv lists them all")
            .into());
    }
    let machine = session::machine()?;
    let store = Store::at(&machine.store);
    let mut loaded = Vec::new();
    for wanted in &args.runs {
        let (run, point) = compare::name(wanted);
        let folder = runs::find(&machine.runs, run)?;
        loaded.push((Results::load(&folder.path, &store)?, point));
    }
    let mut members = Vec::new();
    for (results, point) in &loaded {
        members.extend(compare::choose(results, *point)?.into_iter().map(|point| Member { results, point }));
    }
    let subjects = compare::subjects(members);
    let axis = match args.at {
        None => Axis::Shared,
        Some(At::End) => Axis::End,
        Some(At::Level(budget, at)) => Axis::At(budget, at),
    };
    let wanted = Wanted { axis, exploratory: args.exploratory, all_settings: args.all_settings };
    let comparison = Comparison::new(&subjects, &store, wanted)?;
    if let Some(out) = &args.page {
        answer(compare::write(&comparison, &subjects, out)?.display())?;
        return args.verdict.as_deref().map_or(Ok(None), |figure| verdict(&comparison, figure));
    }
    answer(match (args.json, args.csv, args.md) {
        (true, ..) => compare::json(&comparison)?,
        (_, true, _) => compare::csv(&comparison)?.trim_end().to_owned(),
        (.., true) => compare::markdown(&comparison, &subjects),
        _ => compare::terminal(&comparison, &subjects),
    })?;
    match &args.verdict {
        Some(figure) => verdict(&comparison, figure),
        None => Ok(None),
    }
}

/// Whether a figure's difference is told, of all subjects and in every section: else exit code 5.
fn verdict(comparison: &Comparison, figure: &str) -> Result<Option<Exit>> {
    let verdicts = comparison.verdicts(figure);
    if verdicts.is_empty() {
        return Err(Fixable::new(Exit::NotComparable, format!("no two of them have `{figure}` by one protocol"))
            .hint("name a figure as `agreement.top1`; --csv lists them all")
            .into());
    }
    let open = verdicts.iter().filter(|verdict| !verdict.is_reached()).count();
    aside(format!("{figure}: {} of {} verdicts reached", verdicts.len() - open, verdicts.len()));
    Ok((open > 0).then_some(Exit::NotComparable))
}
