//! What things are called on the page.

use crate::measure::score::Value;
use crate::measure::values::{self, Unit};
use crate::report::charts::{RULES, opening_name};
use crate::text::{number_within, percent, percent_within, plural, thousands};

/// How an interval was made, as people call it: `wilson 95 %` is `Wilson, 95 %`.
pub(crate) fn method(method: &str) -> String {
    const NAMES: [(&str, &str); 7] = [
        ("wilson", "Wilson"),
        ("student t", "Student's t"),
        ("bootstrap percentile", "bootstrap"),
        ("bootstrap, at least", "bootstrap, at least"),
        ("bootstrap", "bootstrap"),
        ("clustered by game", "clustered by game"),
        ("kaplan-meier, log-log", "Kaplan-Meier, log-log"),
    ];
    if let Some(rest) = method.strip_prefix("bootstrap ").and_then(|rest| rest.strip_suffix(", bias off")) {
        return format!("basic bootstrap, bias-corrected, {rest}");
    }
    let known = NAMES.into_iter().find_map(|(begin, name)| Some((name, method.strip_prefix(begin)?.trim_start())));
    known.map_or_else(
        || method.to_owned(),
        |(name, rest)| if name.ends_with("least") { format!("{name} {rest}") } else { format!("{name}, {rest}") },
    )
}

/// A reason for rejecting a game, in words.
pub(crate) fn reason(name: &str) -> String {
    let words = match name {
        "speed" => "Speed",
        "elo_missing" => "Rating missing",
        "elo_range" => "Rating out of range",
        "termination" => "Termination",
        "start_position" => "Start position",
        "variant" => "Other rules",
        "not_rated" => "Not rated",
        "bot" => "A program plays",
        "rating_difference" => "Rating difference",
        "rating_band" => "Ratings of two bands",
        "date_missing" => "Date missing",
        "date_range" => "Date out of range",
        "time_control" => "Time control",
        "result" => "Result",
        "too_short" => "Too short",
        "too_long" => "Too long",
        "null_move" => "Null move",
        "unbalanced" => "Open comment or variation",
        "invalid_san" => "Unplayable move",
        "duplicate" => "Duplicate",
        "player_games" => "Enough games of a player",
        other => return other.replace('_', " "),
    };
    words.to_owned()
}

/// A value of a metric, in words.
pub(crate) fn figure(metric: &str, name: &str) -> String {
    let words = match (metric, name) {
        ("legality", "rate") => "Legal moves",
        ("agreement", "top1") => "Move played is the first choice",
        ("agreement", "top5") => "Move played is among the first five",
        ("mass", "mean") => "Mass on legal moves",
        ("mass", "above_99") => "More than 99 % on legal moves",
        ("calibration", "ece") => "Calibration error (ECE)",
        ("calibration", "log_loss") => "Loss at the move played, nats",
        ("calibration", "confidence") => "Calibration: confidence in the first choice",
        ("calibration", "right") => "Calibration: first choice is the move played",
        ("dense", "top1") => "Every ply: move played is the first choice",
        ("dense", "top5") => "Every ply: move played is among the first five",
        ("dense", "legal") => "Every ply: legal moves",
        ("dense", "mass") => "Every ply: mass on legal moves",
        ("dense", "survival") => "Games still without an illegal token",
        ("full_games", "clean") => "Games without an illegal move",
        ("full_games", "plies") => "Mean length of games, plies",
        ("full_games", "by_rules") => "Games ended by mate or drawn by a rule",
        ("full_games", "real_plies") => "Validation games: mean length, plies",
        ("loss", "nats") => "Loss over all of validation, nats",
        ("openings", "divergence") => "Moves of the model against the games', Jensen-Shannon bits",
        ("openings", "variation") => "Moves of the model against the games', total variation",
        ("puzzles", "solved") => "Puzzles solved",
        ("full_games", "real_by_rules") => "Validation games: ended by mate or drawn by a rule",
        ("probe", name) => return probe(name),
        ("loss", "train") => "Training loss at the end",
        ("loss", "validation") => "Validation loss at the end",
        ("model", "parameters") => "Parameters without embeddings",
        ("model", "flops_per_token") => "FLOPs per token",
        ("corpus", "read") => "Games read",
        ("corpus", "kept") => "Games kept",
        ("tokens", "train") => "Training tokens",
        ("tokens", "validation") => "Validation tokens",
        ("corpus", name) => return format!("Rejected: {}", lower(&reason(name))),
        ("rules", name) => {
            let (rule, aspect) = name.split_once('.').unwrap_or((name, ""));
            let rule = RULES.into_iter().find(|known| known.0 == rule).map_or(rule, |known| known.1);
            let aspect = match aspect {
                "legal" => "first choice legal",
                "human" => "first choice is the move played",
                "mass" => "mass on legal moves",
                "mass_min" => "least mass on legal moves",
                "mass_max" => "most mass on legal moves",
                other => other,
            };
            return format!("{rule}: {aspect}");
        }
        _ => return format!("{metric}.{name}"),
    };
    words.to_owned()
}

/// `to_move.random.occupied`: `Probe: occupied squares, random weights, pieces by side to move`.
fn probe(name: &str) -> String {
    let (frame, rest) = name.strip_prefix("to_move.").map_or(("colour", name), |rest| ("side to move", rest));
    let (of, rest) = rest.split_once('.').unwrap_or(("", rest));
    let of = match of {
        "random" => ", random weights",
        "majority" => ", most frequent content",
        _ => "",
    };
    let squares = if rest == "occupied" { "occupied squares" } else { "all squares" };
    format!("Probe: {squares}{of}, pieces by {frame}")
}

/// What the parts of a metric's sample are.
pub(crate) fn parts(metric: &str, name: &str) -> String {
    match (metric, name) {
        ("calibration", _) => "By confidence in the first choice".to_owned(),
        ("dense", "survival") => "Games still without an illegal token".to_owned(),
        ("dense", _) => "Every ply, by part".to_owned(),
        ("openings", _) => "Moves after a beginning, beside the training games".to_owned(),
        ("probe", _) => "Probe, by layer".to_owned(),
        ("puzzles", _) => "Puzzles, by rating".to_owned(),
        _ => format!("{metric}, by part"),
    }
}

/// A value of a part, as the head of a column.
pub(crate) fn column(metric: &str, name: &str) -> String {
    let words = match name {
        _ if metric == "probe" => return figure(metric, name).replace("Probe: ", ""),
        "top1" | "right" => "First choice is the move played",
        "top5" => "One of the first five",
        "legal" => "Legal",
        "mass" => "Mass on legal moves",
        "confidence" => "Confidence",
        "survival" => "Without an illegal token",
        "divergence" => "Jensen-Shannon divergence, bits",
        "variation" => "Total variation",
        "solved" => "Solved",
        other => other,
    };
    words.to_owned()
}

/// A part of a sample, such as `ply 1–10` or `1. e4 c5`.
pub(crate) fn part(metric: &str, slice: &str) -> String {
    match metric {
        "openings" => opening_name(slice),
        // From one number to another.
        _ => match slice.split_once('-') {
            Some((from, to)) if from.ends_with(|c: char| c.is_ascii_digit()) => format!("{from}–{to}"),
            _ => slice.to_owned(),
        },
    }
}

/// Whether a value is of what the model sampled, and so depends on the temperature.
pub(crate) fn is_sampled(metric: &str, name: &str) -> bool {
    values::find(metric, name).is_some_and(|known| known.sampled)
}

/// Whether a value is a share of something.
pub(crate) fn is_share(metric: &str, name: &str) -> bool {
    values::find(metric, name).is_none_or(|known| known.unit == Unit::Share)
}

/// A value with its interval, as a share or as a number. An extreme of a sample has none: its bounds are no estimate.
pub(crate) fn within(metric: &str, value: &Value) -> String {
    if ["mass_min", "mass_max"].iter().any(|extreme| value.name.ends_with(extreme)) {
        return percent(value.value, if value.value < 0.001 { 4 } else { 2 });
    }
    if is_share(metric, &value.name) { share(value) } else { number_within(value.value, Some(value.low), Some(value.high)) }
}

pub(super) fn lower(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// A share with its interval.
pub(crate) fn share(value: &Value) -> String {
    let shown = percent_within(value.value, Some(value.low), Some(value.high));
    // None of some, and all of them, are exact: their decimals would be those of the interval, and differ from line to line.
    match shown.split_once(" %") {
        Some((_, rest)) if value.value == 0.0 => format!("0 %{rest}"),
        Some((_, rest)) if value.value >= 1.0 => format!("100 %{rest}"),
        _ => shown,
    }
}

/// What an interval is of, where the bare number would not say it: `333 windows`.
pub(crate) fn of_how_many(metric: &str, n: u64) -> String {
    if metric == "loss" { plural("window", n) } else { thousands(n) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_that_a_metric_may_find_has_words() {
        for known in values::known() {
            let words = figure(known.metric, &known.name);
            assert!(!words.contains('_') && !words.starts_with(&format!("{}.", known.metric)), "{words}");
        }
    }

    #[test]
    fn intervals_have_the_names_of_those_who_found_them() {
        let named = [
            "wilson 95 %",
            "student t 95 %",
            "kaplan-meier, log-log 95 %",
            "bootstrap, at least 95 %",
            "bootstrap 95 %, bias off",
        ];
        assert_eq!(
            named.map(method),
            [
                "Wilson, 95 %",
                "Student's t, 95 %",
                "Kaplan-Meier, log-log, 95 %",
                "bootstrap, at least 95 %",
                "basic bootstrap, bias-corrected, 95 %"
            ]
        );
        assert_eq!(method("as it was told"), "as it was told");
    }

    #[test]
    fn parts_are_named_as_people_write_them() {
        assert_eq!(part("dense", "ply 1-10"), "ply 1–10");
        assert_eq!(part("dense", "not in check"), "not in check");
        assert_eq!(part("openings", "e2e4 c7c5"), "1. e4 c5");
        assert_eq!(part("openings", "start"), "From the start");
    }
}
