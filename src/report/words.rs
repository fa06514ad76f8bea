//! Numbers as sentences. A sentence says what was counted, of how many, and no more than its interval allows.

mod caveats;
mod corpus;
mod full_games;
mod lead;
mod learned;
mod names;
mod sweep;
mod terms;
mod training;

use std::fmt::Write as _;

use serde::Serialize;

use super::published::changed;
use super::results::{Measured, Outcome, Point, Results, SEED, State};
use crate::measure::score::MeasuredCheckpoint;
use crate::taint;
use crate::text::{self, plural, thousands};

pub(crate) use caveats::{caveats, positions_a_game};
pub(crate) use corpus::{TOLD, exact_share, known, known_share, origin};
pub(crate) use full_games::answers;
pub(crate) use lead::{lead, untrained};
pub(crate) use names::{column, figure, is_sampled, is_share, method, of_how_many, part, parts, reason, share, within};
pub(crate) use sweep::{span, sweep, told};
pub(crate) use terms::used;
pub(crate) use training::passes_over;

use names::lower;

/// What the sentences about the corpus stand under.
pub(crate) const TRAINING_AND_CORPUS: &str = "Training and corpus";

/// Sentences about one thing: those that everybody reads, and those for who wants to know more.
#[derive(Clone, Serialize)]
pub(crate) struct Group {
    pub(crate) heading: &'static str,
    pub(crate) said: Vec<String>,
    pub(crate) more: Vec<String>,
}

/// What came out, by what it is about; groups without a sentence are left out.
pub(crate) fn summary(point: &Point) -> Vec<Group> {
    let each = |metric: &'static str, sentence: fn(&Measured) -> Option<String>| {
        point.finals(metric).into_iter().filter_map(sentence).collect::<Vec<_>>()
    };
    let some = |said: Option<String>| said.into_iter().collect::<Vec<_>>();
    let groups = [
        ("The rules of the game", [each("legality", legality), each("rules", rules)].concat(), each("mass", learned::mass)),
        (
            "The moves that were played",
            each("agreement", agreement),
            [each("calibration", learned::calibration), each("openings", learned::openings)].concat(),
        ),
        ("Whole games", full_games::sentences(point), each("dense", learned::dense)),
        ("What else it learned", [each("puzzles", learned::puzzles), each("probe", learned::probe)].concat(), Vec::new()),
        (
            TRAINING_AND_CORPUS,
            [some(training::training(point)), some(corpus::corpus(point)), some(corpus::overlap(point))].concat(),
            [training::apart(point), learned::loss(point), some(corpus::positions(point))].concat(),
        ),
    ];
    let groups = groups.into_iter().map(|(heading, said, more)| Group { heading, said, more });
    groups.filter(|group| !group.said.is_empty() || !group.more.is_empty()).collect()
}

/// The tokens that a validation loss is the mean over.
pub(crate) fn validation_tokens(point: &Point) -> u64 {
    let Some(train) = point.experiment.train() else { return 0 };
    u64::from(train.validate.batches) * u64::from(train.batch) * u64::from(point.experiment.model.context)
}

/// The weights that were measured, as `best, step 1,300`.
pub(crate) fn checkpoint(measured: &MeasuredCheckpoint) -> String {
    match measured.name.as_str() {
        "imported" => "imported".to_owned(),
        name => format!("{name}, step {}", thousands(measured.step)),
    }
}

/// A point as people say it: `temperatures=0.2 width=128` is `T = 0.2, width=128`.
pub(crate) fn point_name(point: &Point) -> String {
    named(point, |_| true)
}

/// What of a point's name is no seed of its training; nothing where it is a seed alone.
pub(crate) fn setting_name(point: &Point) -> String {
    named(point, |part| !part.starts_with(SEED))
}

/// What of a point's name is no temperature.
fn beside_temperature(point: &Point) -> String {
    named(point, |part| !part.starts_with("T = "))
}

fn named(point: &Point, wanted: fn(&str) -> bool) -> String {
    let parts = point.parts.iter().map(|part| in_words(part).unwrap_or_else(|| part.clone()));
    let parts: Vec<_> = parts.filter(|part| wanted(part)).collect();
    // Only a temperature has blanks of its own, and needs more to tell it from its neighbours.
    parts.join(if parts.iter().any(|part| part.contains(' ')) { ", " } else { " " })
}

/// A setting of temperatures, such as `full_games.temperatures=0.2`.
fn in_words(part: &str) -> Option<String> {
    let (key, list) = part.split_once('=')?;
    let asked = ["temperature", "temperatures"].contains(&key.rsplit('.').next()?);
    let list: Vec<f64> = list.split(',').map(|t| t.parse().ok()).collect::<Option<_>>()?;
    asked.then(|| format!("T = {}", list.into_iter().map(text::temperature).collect::<Vec<_>>().join(" and ")))
}

/// The label of a node, with its temperature as everywhere else: `evaluate legality, T = 1.0, at best`.
pub(crate) fn node_name(label: &str) -> String {
    let word = |word: &str| match word.strip_prefix("T=").map(str::parse) {
        Some(Ok(t)) => format!("at T = {},", text::temperature(t)),
        _ => word.to_owned(),
    };
    label.split(' ').map(word).collect::<Vec<_>>().join(" ").trim_end_matches(',').to_owned()
}

pub(crate) fn at(temperature: Option<f64>) -> String {
    temperature.map_or_else(String::new, |t| format!(" at T = {}", text::temperature(t)))
}

/// What an illegal token did, after how many of them.
const FAILED: [(&str, &str); 4] = [
    ("illegal_movement", "moved a piece of its own illegally"),
    ("empty_square", "moved from an empty square"),
    ("opponents_piece", "moved a piece of the opponent's"),
    ("special_token", "were no move but a special token"),
];

fn legality(score: &Measured) -> Option<String> {
    let rate = score.value("rate")?;
    let masked = if score.score.protocol.masked { ", with illegal moves masked," } else { "" };
    let mut text =
        format!("{} of {} sampled moves{masked} were legal{}.", share(rate), thousands(rate.n), at(score.temperature()));
    let count = |(kind, words)| Some((*score.score.counts.get(kind)?, words));
    let mut kinds: Vec<(u64, &str)> = FAILED.into_iter().filter_map(count).filter(|kind| kind.0 > 0).collect();
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.0));
    let all: u64 = kinds.iter().map(|kind| kind.0).sum();
    if all > 0 {
        let kinds: Vec<_> = kinds.iter().map(|(count, words)| format!("{} {words}", thousands(*count))).collect();
        write!(text, " Of the {} others: {}.", thousands(all), kinds.join(", ")).expect("written to a string");
        // People resign and agree on draws there: it is a failure of another sort, so it is told apart.
        if let Some(eos) = score.score.counts.get("special_token_eos").filter(|eos| **eos > 0) {
            write!(text, " Of the special tokens, {} ended the game.", thousands(*eos)).expect("written to a string");
        }
    }
    Some(text)
}

fn agreement(score: &Measured) -> Option<String> {
    let (first, five) = (score.value("top1")?, score.value("top5")?);
    Some(format!(
        "Its first choice was the move played in {} of {}; one of its first five was in {}.",
        share(first),
        plural("position", first.n),
        share(five)
    ))
}

fn rules(score: &Measured) -> Option<String> {
    let rules: Vec<_> = super::charts::RULES
        .into_iter()
        .filter_map(|(rule, label)| {
            let value = score.value(&format!("{rule}.legal"))?;
            Some(format!("{} {} (n = {})", lower(label), share(value), thousands(value.n)))
        })
        .collect();
    (!rules.is_empty()).then(|| format!("Its first choice was legal where a rule was called for: {}.", rules.join(", ")))
}

/// What was made although a gate refused, as the artifacts themselves say.
pub(crate) fn tainted(results: &Results) -> Vec<String> {
    let made = results.nodes.iter().filter_map(|outcome| Some((outcome, outcome.made_by.as_ref()?)));
    taint::sentences(made.map(|(outcome, made_by)| (outcome.node.stage.as_str(), made_by.despite.as_slice())))
}

/// What stands above all figures: why the numbers below may not be what they seem.
pub(crate) fn warnings(results: &Results) -> Vec<String> {
    let mut said = Vec::new();
    let set = changed(&results.run);
    if !set.is_empty() {
        said.push(format!("Differs from the file, by the command line: {}.", set.join(", ")));
    }
    match results.run.outcome.as_deref() {
        None | Some("running") => said.push("The run has not ended: what is shown is what there is so far.".to_owned()),
        Some("done" | "made" | "kept" | "ok" | "finished") => (),
        Some(outcome) => said.push(format!("The run ended as: {outcome}.")),
    }
    for state in [State::Refused, State::Failed] {
        for outcome in results.of_state(state) {
            let why = outcome.error.as_deref().map_or_else(String::new, |error| format!(": {}", error.trim_end_matches('.')));
            said.push(format!(
                "{} was {}{why}.",
                node_name(&outcome.node.label),
                if state == State::Failed { "tried and failed" } else { "refused" }
            ));
        }
    }
    let skipped = results.of_state(State::Skipped).count() as u64;
    if skipped > 0 {
        said.push(format!("{} skipped because of that.", was(skipped)));
    }
    if results.points.iter().any(|point| point.training.as_ref().is_some_and(|training| training.unfinished)) {
        said.push("A training is not finished: its curves end where it is now.".to_owned());
    }
    said.extend(results.damaged.iter().cloned());
    said.extend(corpus::warnings(results));
    said.extend(unclean(results));
    said
}

/// What is worth knowing of where things come from, and is no warning.
pub(crate) fn notes(results: &Results) -> Vec<String> {
    let commit = results.run.git.split(['-', '+']).next().unwrap_or_default();
    let other = |outcome: &&Outcome| {
        let made_by = outcome.made_by.as_ref();
        made_by.is_some_and(|made_by| !commit.is_empty() && !dirty(&made_by.git) && made_by.git != commit)
    };
    let others: Vec<_> = results.nodes.iter().filter(other).collect();
    if others.is_empty() {
        return Vec::new();
    }
    let mut stages: Vec<&str> = others.iter().map(|outcome| outcome.node.stage.as_str()).collect();
    stages.dedup();
    let (its, was_made) = if others.len() == 1 { ("its key says", "it was") } else { ("their keys say", "they were") };
    vec![format!(
        "{} kept from another commit than the run's ({}): {its} that settings, inputs and the version of the stage are the same, so it does \
         not matter unless the version was not counted up when the program changed; the table \
         of nodes names the commit that {was_made} made at.",
        was(others.len() as u64),
        stages.join(", ")
    )]
}

fn dirty(git: &str) -> bool {
    git.contains("dirty") || git.ends_with('+')
}

fn was(nodes: u64) -> String {
    format!("{} {}", plural("node", nodes), if nodes == 1 { "was" } else { "were" })
}

/// Artifacts made from files that nobody can go back to: the commit is that of the folder where the run was started, which
/// holds the experiment.
fn unclean(results: &Results) -> Vec<String> {
    let mut said = Vec::new();
    if dirty(&results.run.git) {
        said.push(format!("The run began in a folder with uncommitted changes (git {}).", results.run.git));
    }
    let made = results.nodes.iter().filter_map(|outcome| outcome.made_by.as_ref());
    let unclean = made.filter(|made_by| dirty(&made_by.git)).count() as u64;
    if unclean > 0 {
        said.push(format!("{} made in a folder with uncommitted changes.", was(unclean)));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture::{Fixture, Wish, experiment, write};

    #[test]
    fn a_temperature_is_written_in_one_way() {
        let mut point = experiment(40);
        let dir = tempfile::tempdir().expect("a temporary folder");
        point.point = "temperatures=0.2 width=128".into();
        let Fixture { run_dir, store } = write(dir.path(), &[point], &Wish::default());
        let results = Results::load(&run_dir, &store).expect("a run");
        assert_eq!(point_name(&results.points[0]), "T = 0.2, width=128");
        assert_eq!(beside_temperature(&results.points[0]), "width=128");
        assert_eq!(in_words("full_games.temperatures=1,0.5").as_deref(), Some("T = 1.0 and 0.5"));
        assert_eq!(in_words("width=128"), None);
        assert_eq!(node_name("evaluate legality T=1 at best"), "evaluate legality at T = 1.0, at best");
    }
}
