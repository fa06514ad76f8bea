//! `philidor compare RUN RUN…`: what differs in what was asked, and what differs in what came out.

use std::path::Path;

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

/// What `--verdict FIGURE=…` may want.
const VERDICTS: [&str; 5] = ["better", "worse", "higher", "lower", "inconclusive"];

pub fn compare(args: &CompareArgs) -> Result<Option<Exit>> {
    if let Some(asked) = &args.verdict {
        let (figure, wanted) = figure_of(asked);
        if figure.split_once('.').and_then(|(metric, value)| values::find(metric, value)).is_none() {
            return Err(Fixable::usage(format!("`{figure}` is no figure"))
                .hint("name one as `agreement.top1`; --csv lists them all")
                .into());
        }
        if let Some(wanted) = wanted.filter(|wanted| !VERDICTS.contains(wanted)) {
            return Err(Fixable::usage(format!("`{wanted}` is no verdict that can be wanted"))
                .hint(format!("one of {} comes after the `=`", VERDICTS.join(", ")))
                .into());
        }
    }
    let machine = session::machine()?;
    let store = Store::at(&machine.store);
    let mut loaded = Vec::new();
    for wanted in &args.runs {
        let (run, point) = compare::name(wanted);
        let folder = runs::find(&machine.runs, run)?;
        loaded.push((Results::load(&folder.path, &store)?, point, folder.path));
    }
    let mut members = Vec::new();
    for (results, point, folder) in &loaded {
        let chosen = compare::choose(results, *point)?;
        members.extend(chosen.into_iter().map(|point| Member { results, point, folder: Some(folder) }));
    }
    let subjects = compare::subjects(members);
    let axis = match args.at {
        None => Axis::Shared,
        Some(At::End) => Axis::End,
        Some(At::Level(budget, at)) => Axis::At(budget, at),
    };
    let wanted = Wanted { axis, exploratory: args.exploratory, all_settings: args.all_settings };
    let mut comparison = Comparison::new(&subjects, &store, wanted)?;
    let runs: Vec<(&str, Option<&str>)> = loaded.iter().map(|(results, point, _)| (results.run.id.as_str(), *point)).collect();
    comparison.command = again(args, &runs);
    if let Some(out) = &args.page {
        answer(compare::write(&mut comparison, &subjects, out)?.display())?;
        return args.verdict.as_deref().map_or(Ok(None), |figure| verdict(&comparison, figure));
    }
    comparison.seen_from(Path::new("."));
    answer(match (args.json, args.csv, args.md) {
        (true, ..) => compare::json(&comparison)?,
        (_, true, _) => compare::csv(&comparison)?.trim_end().to_owned(),
        (.., true) => compare::markdown(&comparison).trim_end().to_owned(),
        _ => compare::terminal(&comparison, columns()).trim_end().to_owned(),
    })?;
    match &args.verdict {
        Some(figure) => verdict(&comparison, figure),
        None => Ok(None),
    }
}

/// The command that makes the comparison again, with each run by its id: a name is the newest run's.
fn again(args: &CompareArgs, runs: &[(&str, Option<&str>)]) -> String {
    let run = |(id, point): &(&str, Option<&str>)| match point {
        Some(point) => quoted(&format!("{id}:{point}")),
        None => (*id).to_owned(),
    };
    let mut words = vec!["philidor compare".to_owned()];
    words.extend(runs.iter().map(run));
    words.extend(match args.at {
        None => None,
        Some(At::End) => Some("--at end".to_owned()),
        Some(At::Level(budget, at)) => Some(format!("--at {}={at}", budget.name())),
    });
    for (is_asked, flag) in [(args.exploratory, "--exploratory"), (args.all_settings, "--all-settings")] {
        words.extend(is_asked.then(|| flag.to_owned()));
    }
    words.extend(args.page.is_some().then(|| "--page FOLDER".to_owned()));
    words.join(" ")
}

/// As a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || "=.,:_-/+".contains(sign);
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// How wide what is printed may be: as the terminal, and 100 where there is none, but never too narrow to read.
fn columns() -> usize {
    const WITHOUT_A_TERMINAL: usize = 100;
    console::Term::stdout().size_checked().map_or(WITHOUT_A_TERMINAL, |(_, columns)| usize::from(columns).max(60))
}

/// Whether a figure's difference is told, of all subjects and at every budget that is compared, and as it is wanted: else exit
/// code 5.
fn verdict(comparison: &Comparison, asked: &str) -> Result<Option<Exit>> {
    let (figure, wanted) = figure_of(asked);
    let verdicts = comparison.verdicts(figure);
    if verdicts.is_empty() {
        return Err(Fixable::new(Exit::NotComparable, format!("no two of them have `{figure}` by one protocol"))
            .hint("name a figure as `agreement.top1`; --csv lists them all")
            .into());
    }
    let names: Vec<&str> = verdicts.iter().map(|verdict| verdict.name()).collect();
    let is_so = |verdict: &&compare::Verdict| wanted.map_or_else(|| verdict.is_told(), |wanted| verdict.name() == wanted);
    let open = verdicts.iter().filter(|verdict| !is_so(verdict)).count();
    aside(format!(
        "{figure}: {}; {} of {} are {}",
        names.join(", "),
        verdicts.len() - open,
        verdicts.len(),
        wanted.unwrap_or("told apart")
    ));
    Ok((open > 0).then_some(Exit::NotComparable))
}

/// `agreement.top1`, and the `better` of `agreement.top1=better`.
fn figure_of(asked: &str) -> (&str, Option<&str>) {
    asked.split_once('=').map_or((asked, None), |(figure, wanted)| (figure, Some(wanted)))
}
