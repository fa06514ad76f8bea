//! How to make the run again: the commands, what they took, and the digests that say whether the same came out.

use serde::Serialize;

use super::stages::work;
use crate::corpus::config::Source;
use crate::report::results::{Results, State};
use crate::report::settings::between;
use crate::report::{published, words};
use crate::text::{duration, plural};

#[derive(Serialize)]
pub(crate) struct Reproduce {
    /// What a command is for, and the command.
    steps: Vec<(&'static str, String)>,
    notes: Vec<String>,
    /// Names and values, which are no measured numbers.
    provenance: Vec<(&'static str, String)>,
}

impl Reproduce {
    pub(crate) fn new(results: &Results) -> Self {
        Self { steps: steps(results), notes: notes(results), provenance: provenance(results) }
    }
}

fn command(results: &Results) -> String {
    match &results.run.command {
        serde_json::Value::String(line) => line.clone(),
        serde_json::Value::Array(words) => words.iter().filter_map(|word| word.as_str()).collect::<Vec<_>>().join(" "),
        _ => String::new(),
    }
}

fn steps(results: &Results) -> Vec<(&'static str, String)> {
    let run = &results.run;
    let commit = run.git.split(['-', '+']).next().unwrap_or_default();
    let asked = |command: &str, of: &str| if of.is_empty() { String::new() } else { format!("{command} {of}") };
    let all = [
        ("Take the program and the experiment as they were", asked("git checkout", commit)),
        ("Build it; the programs lie in target/debug", if commit.is_empty() { String::new() } else { "make build".to_owned() }),
        ("Make everything and draw this page", command(results)),
        ("Say what is kept, and what would be made again", command(results).replacen(" run ", " plan ", 1)),
        ("Draw this page again from what is kept", asked("philidor report", &run.id)),
    ];
    all.into_iter().filter(|(_, command)| !command.is_empty()).collect()
}

fn notes(results: &Results) -> Vec<String> {
    let run = &results.run;
    let mut notes = Vec::new();
    let work = work(results);
    if work > 0.0 {
        let (device, threads) = results.machine();
        let threads = threads.map_or_else(String::new, |threads| format!(", {}", plural("thread", threads)));
        let on = if device.is_empty() { String::new() } else { format!(" on {device}{threads}") };
        let kept = results.of_state(State::Kept).count() as u64;
        let kept = if kept > 0 { format!(", with {} kept from before", plural("node", kept)) } else { String::new() };
        let took = run.finished.as_deref().and_then(|finished| between(&run.started, finished));
        let took = took.map_or_else(String::new, |took| format!(" This run took {took}{kept}."));
        notes.push(format!("Expect {} of work in all{on}.{took}", duration(work)));
    }
    notes.extend(corpus(results));
    notes.push(
        "The same experiment and the same data give the same keys. Trained anew on another device, with another number of threads or \
         other versions, weights may differ in their last bits, and figures within their intervals."
            .to_owned(),
    );
    notes.extend(words::notes(results));
    notes
}

/// How the games come to where they are read.
fn corpus(results: &Results) -> Option<String> {
    let (mut files, mut months) = (Vec::new(), Vec::new());
    for source in results.points.iter().flat_map(|point| &point.experiment.corpus.sources) {
        let (list, name) = match source {
            Source::File { name, .. } => (&mut files, name),
            Source::Month { month, .. } => (&mut months, month),
        };
        if !list.contains(&name.as_str()) {
            list.push(name.as_str());
        }
    }
    let files = (!files.is_empty()).then(|| {
        let (are, names) = (if files.len() == 1 { "is" } else { "are" }, files.join(", "));
        format!("{names} {are} read from where the experiment names it: a file that does not come with the experiment must be put there.")
    });
    let months = (!months.is_empty()).then(|| format!("The run itself fetches {} from the public archive.", months.join(", ")));
    let said: Vec<_> = [files, months].into_iter().flatten().collect();
    (!said.is_empty()).then(|| format!("The games: {} Their digests are below.", said.join(" ")))
}

fn provenance(results: &Results) -> Vec<(&'static str, String)> {
    let run = &results.run;
    let key = |stage: &str| {
        let made = results.nodes.iter().rfind(|outcome| outcome.node.stage == stage && outcome.made_by.is_some());
        made.map(|outcome| outcome.node.key.full())
    };
    let (device, threads) = results.machine();
    let mut corpus: Vec<String> = Vec::new();
    for source in results.points.iter().flat_map(|point| &point.sources) {
        let digest = source.digest.as_ref().map_or_else(String::new, |digest| format!(" ({digest})"));
        let line = source.name.clone() + &digest;
        if !corpus.contains(&line) {
            corpus.push(line);
        }
    }
    let one = results.points.len() == 1;
    let all = [
        ("command", command(results)),
        ("machine settings of the command", published::of_machine(run).join(" ")),
        ("run", run.id.clone()),
        ("started", run.started.clone()),
        ("finished", run.finished.clone().unwrap_or_default()),
        ("outcome", run.outcome.clone().unwrap_or_default()),
        ("philidor", run.philidor.clone()),
        ("git commit", run.git.clone()),
        ("libtorch", run.libtorch.clone()),
        ("machine", run.host.clone()),
        ("device", device),
        ("threads", threads.map_or_else(String::new, |threads| threads.to_string())),
        ("corpus", corpus.join("; ")),
        ("key of the tokens", key("encode").unwrap_or_default()),
        ("key of the weights", if one { key("train").or_else(|| key("import")).unwrap_or_default() } else { String::new() }),
    ];
    all.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}
