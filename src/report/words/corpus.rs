//! What was kept, and what of validation the training games hold already.

use std::fmt::Write as _;

use crate::corpus::config::{Source, SplitBy};
use crate::data::overlap::AtPly;
use crate::report::results::{Inspection, Point, Results};
use crate::stats::Estimate;
use crate::stats::wilson;
use crate::text::{percent, percent_within, plural, thousands};

/// From this share of twins on, they may move a figure by more than its interval.
const MANY_TWINS: f64 = 0.01;

/// More sources than these are told by the first and the last.
const MOST_SOURCES: usize = 4;

/// What the names of files begin with that `philidor mine` writes.
const MINED: &str = "mined-";

/// The plies of which a sentence tells.
pub(crate) const TOLD: [u32; 3] = [10, 20, 40];

pub(super) fn corpus(point: &Point) -> Option<String> {
    let corpus = point.corpus().filter(|corpus| corpus.read > 0)?;
    let mut text = format!(
        "{} of {} read were kept ({})",
        thousands(corpus.kept),
        plural("game", corpus.read),
        percent(corpus.kept as f64 / corpus.read as f64, 2)
    );
    if let Some(mean) = corpus.mean_plies() {
        write!(text, "; they have {mean:.1} plies on average").expect("written to a string");
    }
    if let Some(share) = corpus.by_rules() {
        write!(text, ", and {} of them end by mate or are drawn by a rule", percent(share, 1)).expect("written to a string");
    }
    Some(text + ".")
}

/// Where the games come from, and what is known of who played them.
pub(crate) fn origin(point: &Point) -> Vec<String> {
    let corpus = &point.experiment.corpus;
    let names: Vec<&str> = corpus.sources.iter().map(name_of).collect();
    let shown = match names.as_slice() {
        [] => return Vec::new(),
        [first, .., last] if names.len() > MOST_SOURCES => format!("{first} to {last}"),
        some => some.join(", "),
    };
    let mut said = vec![format!("The games are those of {shown}.")];
    let mined =
        corpus.sources.iter().filter(|source| matches!(source, Source::File { name, .. } if name.starts_with(MINED))).count();
    if mined > 0 {
        let which = if mined == names.len() { "" } else { ", where a name begins so," };
        said.push(format!(
            "Mined{which} means that philidor mine made them: engines played, and players, ratings, speeds and clocks are invented."
        ));
    }
    let keep = &corpus.keep;
    let speeds =
        if keep.exclude_speeds.is_empty() { String::new() } else { format!(", no {} games", keep.exclude_speeds.join(" or ")) };
    said.push(format!(
        "Ratings and speeds are what the tags of the games say; kept were games with both ratings from {} to {}{speeds}. The rating of a \
         game is the mean of its two.",
        keep.elo[0], keep.elo[1]
    ));
    said
}

fn name_of(source: &Source) -> &str {
    match source {
        Source::File { name, .. } => name,
        Source::Month { month, .. } => month,
    }
}

pub(super) fn overlap(point: &Point) -> Option<String> {
    let (same, all) = twins(point)?;
    let by = point.experiment.corpus.split.by;
    if same == 0 {
        return Some(match by {
            SplitBy::GameHash => format!(
                "None of {} is also a training game: equal games fall on one side, by construction.",
                plural("distinct validation game", all)
            ),
            SplitBy::Draw => {
                format!("None of {} is also in the training games, move for move.", plural("distinct validation game", all))
            }
        });
    }
    let why = match by {
        SplitBy::Draw => ": games were drawn one by one, and twins may fall on both sides",
        SplitBy::GameHash => "",
    };
    Some(format!(
        "{} of {} ({}) {} also in the training games, move for move{why}.",
        thousands(same),
        plural("distinct validation game", all),
        percent(same as f64 / all as f64, 3),
        if same == 1 { "is" } else { "are" }
    ))
}

/// Distinct validation games that are training games too, and all of them.
fn twins(point: &Point) -> Option<(u64, u64)> {
    let found = point.inspection.as_ref().filter(|found| found.distinct_validation_games > 0)?;
    Some((found.overlap_games, found.distinct_validation_games))
}

/// How much of what is measured could be memory.
pub(super) fn positions(point: &Point) -> Option<String> {
    let found = point.inspection.as_ref()?;
    let overlap = &found.overlap;
    let (seen, same) = (known(found, overlap.seen, overlap.positions)?, known(found, overlap.prefixes, overlap.positions)?);
    let mut text = format!(
        "{} of {} in {} occur in a training game, and {} are reached there by the same moves: at those, a right answer may be memory.",
        percent(seen.value, 1),
        plural("position", overlap.positions),
        plural("validation game", overlap.games),
        percent(same.value, 1),
    );
    let mut told = overlap.by_ply.iter().filter(|at| TOLD.contains(&at.ply));
    let share = |at: &AtPly| Some(known_share(found, known(found, at.prefixes, at.positions)?));
    if let Some((first, known)) = told.next().and_then(|at| Some((at, share(at)?))) {
        let plies = plural("ply", first.ply.into());
        write!(text, " The same moves begin a training game in {known} after {plies}").expect("written to a string");
        for (at, known) in told.filter_map(|at| Some((at, share(at)?))) {
            write!(text, ", {known} after {}", at.ply).expect("written to a string");
        }
        text.push('.');
    }
    Some(text)
}

/// The share of validation positions that training holds.
pub(crate) fn known(found: &Inspection, hits: u64, n: u64) -> Option<Estimate> {
    let exact = wilson::share(hits.min(n), n)?;
    Some(if found.sampled() { exact } else { Estimate { low: exact.value, high: exact.value, ..exact } })
}

/// Such a share in words: with an interval where it is of a sample, and exact where it is not.
pub(crate) fn known_share(found: &Inspection, share: Estimate) -> String {
    if found.sampled() {
        return percent_within(share.value, Some(share.low), Some(share.high));
    }
    exact_share(share.value)
}

/// A share that is no estimate.
pub(crate) fn exact_share(share: f64) -> String {
    percent(share, if share > 0.0 && share < 0.001 { 3 } else { 1 })
}

/// Twins on both sides of a split that are more than a trifle, or that should not be there.
pub(super) fn warnings(results: &Results) -> Vec<String> {
    let mut said = Vec::new();
    for point in &results.points {
        let Some((same, all)) = twins(point).filter(|(same, _)| *same > 0) else { continue };
        let share = same as f64 / all as f64;
        let of = format!("{} of {} are training games too", thousands(same), plural("distinct validation game", all));
        let line = match point.experiment.corpus.split.by {
            SplitBy::GameHash => format!("{of}, which a split by game-hash cannot give: the token files are not of this split."),
            SplitBy::Draw if share >= MANY_TWINS => format!(
                "{of} ({}), so what is measured on validation games is in part memory: corpus.split.by = \"game-hash\" keeps equal games on one side.",
                percent(share, 1)
            ),
            SplitBy::Draw => continue,
        };
        if !said.contains(&line) {
            said.push(line);
        }
    }
    said
}
