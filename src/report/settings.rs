//! What was asked, setting by setting, as people say it.

use crate::corpus::config::{Keep, Source, SplitBy};
use crate::experiment::{Experiment, Weights};
use crate::measure::metric::{Checkpoint, Metric};
use crate::text::{self, duration, percent, plural, significant, thousands};
use crate::train::config::{LearningRate, Length, OnSpike, Packing, Precision, Sampler, Schedule, TrainConfig};

/// Groups of settings: name, then setting and value.
pub(crate) type Groups = Vec<(&'static str, Vec<(&'static str, String)>)>;

pub(crate) fn settings(e: &Experiment) -> Groups {
    let weights = match &e.weights {
        Weights::Train(train) => ("Training", training(e, train)),
        Weights::Import { name, blake3 } => ("Weights", vec![("imported from", name.clone()), ("BLAKE3", blake3.clone())]),
    };
    vec![("Corpus", corpus(e)), ("Model", model(e)), weights, ("Gates", gates(e)), ("Measured", measured(e))]
}

fn corpus(e: &Experiment) -> Vec<(&'static str, String)> {
    let keep = &e.corpus.keep;
    let sources: Vec<_> = e
        .corpus
        .sources
        .iter()
        .map(|source| match source {
            Source::File { name, .. } => name.as_str(),
            Source::Month { month, .. } => month.as_str(),
        })
        .collect();
    let split = &e.corpus.split;
    let by = match split.by {
        SplitBy::Draw => "whole games drawn by seed",
        SplitBy::GameHash => "by a hash of the game, seed",
    };
    let mut rows = vec![("sources", sources.join(", "))];
    rows.extend(e.corpus.moves.map(|moves| ("stops after", plural("move", moves))));
    if !keep.exclude_speeds.is_empty() {
        rows.push(("not kept", keep.exclude_speeds.join(", ")));
    }
    rows.extend([
        ("both ratings", format!("{} to {}", keep.elo[0], keep.elo[1])),
        ("terminations", keep.terminations.join(", ")),
        ("plies", format!("{} to {}", keep.plies[0], keep.plies[1])),
    ]);
    rows.extend(more_rules(keep));
    rows.push(("validation", format!("{} of the games, {by} {}", percent(split.validation, 1), split.seed)));
    rows
}

/// The rules that an experiment may leave out, where they are on.
fn more_rules(keep: &Keep) -> Vec<(&'static str, String)> {
    let seconds = |[least, most]: [u32; 2]| format!("{least} to {most} seconds");
    let rules = [
        ("rated games", keep.rated.then(|| "only these".to_owned())),
        ("games of programs", keep.exclude_bots.then(|| "none".to_owned())),
        ("estimated time", keep.estimated_seconds.map(seconds)),
        ("base time", keep.base_seconds.map(seconds)),
        ("increment", keep.increment_seconds.map(seconds)),
        ("rating difference", keep.rating_difference.map(|[least, most]| format!("{least} to {most}"))),
        ("rating band", keep.rating_band.map(|points| plural("point", u64::from(points.get())))),
        ("results", (!keep.results.is_empty()).then(|| keep.results.join(", "))),
        ("days", keep.dates.map(|[first, last]| format!("{first} to {last}"))),
        ("duplicates", keep.exclude_duplicates.then(|| "the first of each source".to_owned())),
        ("games of a player", keep.games_per_player.map(|most| format!("at most {most} in each source"))),
    ];
    rules.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

fn model(e: &Experiment) -> Vec<(&'static str, String)> {
    let model = &e.model;
    vec![
        ("layers × width", format!("{} × {}", model.layers, model.width)),
        ("heads", model.heads.to_string()),
        ("hidden", thousands(u64::from(model.hidden))),
        ("context", plural("token", u64::from(model.context))),
        (
            "parameters",
            format!("{}, and {} of the embedding", thousands(model.parameters()), thousands(model.embedding_parameters())),
        ),
        ("FLOPs per token", thousands(model.flops_per_token())),
    ]
}

fn training(e: &Experiment, train: &TrainConfig) -> Vec<(&'static str, String)> {
    let rate = &train.learning_rate;
    let per_step = train.tokens_per_step(e.model.context);
    let length = match train.length {
        Length::Steps(steps) => format!("{} of {}", plural("step", steps), plural("token", per_step)),
        Length::Epochs(epochs) => format!("{} epochs, in steps of {}", significant(epochs, 4), plural("token", per_step)),
    };
    let mut rows = vec![
        ("length", length),
        ("batch", format!("{} × {} windows", train.batch, train.accumulate)),
        (
            "sampler",
            match train.sampler {
                Sampler::Windows => "random windows, with replacement".to_owned(),
                Sampler::Epoch => "each window once an epoch".to_owned(),
            },
        ),
        ("packing", packing(train.packing).to_owned()),
        ("learning rate", learning_rate(rate)),
        ("weight decay", number(train.weight_decay)),
        ("betas", train.betas.map(number).join(", ")),
        ("gradient clipped at", number(train.clip)),
        (
            "precision",
            match train.precision {
                Precision::F32 => "f32".to_owned(),
                Precision::Tf32 => "tf32".to_owned(),
                Precision::Bf16 => "bf16".to_owned(),
            },
        ),
        ("seed", train.seed.to_string()),
        (
            "validated every",
            format!("{}, {}", plural("step", train.validate.every), plural("batch", u64::from(train.validate.batches))),
        ),
        ("snapshot every", plural("step", train.snapshots.every)),
    ];
    rows.extend(train.ema.map(|ema| ("average of the weights", format!("exponential, decay {}", ema.decay))));
    rows.extend(train.spikes.map(|spikes| {
        let then = match spikes.then {
            OnSpike::Stop => "end the training",
            OnSpike::Skip => "are skipped",
        };
        ("spikes", format!("of {} deviations over {} {then}", number(spikes.z), plural("step", spikes.window)))
    }));
    rows
}

fn packing(packing: Packing) -> &'static str {
    match packing {
        Packing::Stream => "the stream of games as it comes",
        Packing::Games => "windows begin with a game, and attention does not cross games",
    }
}

fn learning_rate(rate: &LearningRate) -> String {
    let warmup = plural("step", rate.warmup);
    match rate.schedule {
        Schedule::Cosine => format!("{} to {}, warm-up of {warmup}", number(rate.peak), number(rate.floor)),
        Schedule::Constant => format!("{}, warm-up of {warmup}", number(rate.peak)),
        Schedule::Wsd { decay } => {
            let decay = plural("step", decay);
            let (peak, floor) = (number(rate.peak), number(rate.floor));
            format!("{peak}, warm-up of {warmup}, then constant; in the last {decay} it falls to the floor, {floor}")
        }
    }
}

fn gates(e: &Experiment) -> Vec<(&'static str, String)> {
    let mut rows = vec![("replay", plural("game", u64::from(e.gates.replay)))];
    rows.extend(e.gates.initial_loss.map(|gate| ("initial loss", format!("within {} of guessing", number(gate.within)))));
    rows.extend(e.gates.overfit.map(|gate| {
        let games = plural("game", u64::from(gate.games));
        ("overfit", format!("{games}, below {} within {}", number(gate.below), plural("step", gate.steps)))
    }));
    rows
}

fn measured(e: &Experiment) -> Vec<(&'static str, String)> {
    let list = |metrics: &[Metric]| metrics.iter().map(metric).collect::<Vec<_>>().join("; ");
    let checkpoint = match e.measure.checkpoint {
        _ if e.train().is_none() => "of the imported weights".to_owned(),
        Checkpoint::Best => "at the lowest validation loss".to_owned(),
        Checkpoint::Last => "at the last step".to_owned(),
        Checkpoint::Ema => "of the average of the weights".to_owned(),
        Checkpoint::Step(step) => format!("at step {}", thousands(step)),
    };
    let mut rows = Vec::new();
    if !e.measure.snapshots.is_empty() {
        rows.push(("at each snapshot", list(&e.measure.snapshots)));
    }
    if !e.measure.last.is_empty() {
        rows.push(("final figures", format!("{checkpoint}: {}", list(&e.measure.last))));
    }
    rows
}

fn metric(metric: &Metric) -> String {
    match metric {
        Metric::Legality { positions, temperature, .. } => {
            format!("legality of {} at T = {}", plural("position", u64::from(*positions)), text::temperature(*temperature))
        }
        Metric::Agreement { positions, .. } => format!("agreement on {}", plural("position", u64::from(*positions))),
        Metric::Rules { positions, .. } => format!("four rules, {} each", plural("position", u64::from(*positions))),
        Metric::Mass { positions, .. } => format!("mass on legal moves of {}", plural("position", u64::from(*positions))),
        Metric::Calibration { positions, .. } => format!("calibration on {}", plural("position", u64::from(*positions))),
        Metric::Dense { games, temperature, .. } => {
            format!("every ply of {} at T = {}", plural("game", u64::from(*games)), text::temperature(*temperature))
        }
        Metric::FullGames { games, temperature, .. } => {
            format!("{} at T = {}", plural("full game", u64::from(*games)), text::temperature(*temperature))
        }
        Metric::Loss => "the loss over all validation tokens".to_owned(),
        Metric::Openings { prefixes, .. } => format!("the moves after {}", plural("beginning", prefixes.len() as u64)),
        Metric::Puzzles { blake3, puzzles, .. } => {
            format!("{} of the file with BLAKE3 {}", plural("puzzle", u64::from(*puzzles)), blake3.get(..8).unwrap_or(blake3))
        }
        Metric::Probe { positions, test, .. } => format!(
            "probes for the board, taught on {} and asked on {}",
            plural("position", u64::from(*positions)),
            thousands(u64::from(*test))
        ),
    }
}

/// A setting as it would be written: `0.0006` is `6e-4`.
fn number(value: f64) -> String {
    if value != 0.0 && value.abs() < 1e-2 { format!("{value:e}") } else { value.to_string() }
}

/// When something was, without its fractions.
pub(crate) fn moment(at: &str) -> String {
    match (at.get(..10), at.get(11..16)) {
        (Some(day), Some(minute)) => format!("{day} {minute} UTC"),
        _ => at.to_owned(),
    }
}

/// From one RFC 3339 time in UTC to another.
pub(crate) fn between(started: &str, finished: &str) -> Option<String> {
    let spent = since_1970(finished)? - since_1970(started)?;
    (spent >= 0.0).then(|| duration(spent))
}

/// An RFC 3339 time in UTC, in seconds.
pub(crate) fn since_1970(at: &str) -> Option<f64> {
    const DAYS_TO_1970: i64 = 719_469;
    let number = |range: std::ops::Range<usize>| at.get(range)?.parse::<i64>().ok();
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    // Days since a fixed day by the civil calendar: years begin in March, so that leap days come last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + (153 * month + 2) / 5 + day;
    let clock = number(11..13)? * 3_600 + number(14..16)? * 60;
    let second: f64 = at.get(17..)?.trim_end_matches(['Z', 'z']).split('+').next()?.parse().ok()?;
    Some(((days - DAYS_TO_1970) * 86_400 + clock) as f64 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_subtracted_over_days_and_leap_years() {
        assert_eq!(between("2026-11-29T22:00:00Z", "2026-11-29T23:30:05.5Z").as_deref(), Some("1 h 30 min"));
        assert_eq!(between("2028-02-28T23:59:00Z", "2028-03-01T00:00:00Z").as_deref(), Some("1 d"));
        assert_eq!(between("later", "2028-03-01T00:00:00Z"), None);
        assert_eq!(since_1970("1970-01-01T00:00:00Z"), Some(0.0));
        assert_eq!(since_1970("2026-11-29T22:41:05Z"), Some(1_795_992_065.0));
        assert_eq!(moment("2026-11-29T22:00:00Z"), "2026-11-29 22:00 UTC");
    }

    #[test]
    fn settings_are_shown_as_they_are_written() {
        assert_eq!([6e-4, 0.1, 0.05, 1.0, 0.0].map(number), ["6e-4", "0.1", "0.05", "1", "0"]);
    }
}
