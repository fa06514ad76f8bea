//! What things are called on the page, and what the names mean.

use crate::measure::score::Value;
use crate::measure::values::{self, Unit};
use crate::report::charts::{RULES, opening_name};
use crate::text::{number_within, percent, percent_within};

/// Terms that the page uses, each explained once.
pub(crate) const TERMS: [(&str, &str); 9] = [
    (
        "nats",
        "A loss is the mean, over tokens, of minus the natural logarithm of the probability that the model gave to the right one.",
    ),
    ("T", "The temperature: logits are divided by it before a move is sampled, so that cooler is closer to the first choice."),
    (
        "legal, clean",
        "A move is sampled from all tokens, legal or not, unless a mask is named. A clean game has no illegal move, also where the model ends it early.",
    ),
    ("mass", "The probability that the model gives to all legal moves together, whichever it would choose."),
    (
        "calibration error",
        "How far the probability of the first choice lies from how often it is the move played, within tenths of that probability, \
         averaged over positions. Chance makes it too large, and the more so the fewer positions there are.",
    ),
    (
        "survival",
        "The share of games without an illegal token after so many plies, by the estimate of Kaplan and Meier: a game that ends counts \
         up to its end.",
    ),
    (
        "total variation",
        "The share of moves that would have to be other ones for two distributions to be the same. The Jensen-Shannon divergence says the \
         like in bits, from 0 to 1.",
    ),
    (
        "MFU",
        "Model FLOPs utilisation: the floating-point operations a second that the training needs, by count from the model's sizes, \
         as a share of the rate of a large matrix product measured on the same device.",
    ),
    (
        "protocol",
        "All that decides how a figure is measured: metric, data, choice of positions, temperature, mask, context, precision, seed. \
         The code is its digest: figures of equal codes may be compared.",
    ),
];

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
        ("full_games", "by_rules") => "Games ended on the board",
        ("full_games", "real_plies") => "Validation games: mean length, plies",
        ("loss", "nats") => "Loss over all of validation, nats",
        ("openings", "divergence") => "Moves of the model against the games', Jensen-Shannon bits",
        ("openings", "variation") => "Moves of the model against the games', total variation",
        ("puzzles", "solved") => "Puzzles solved",
        ("full_games", "real_by_rules") => "Validation games: ended on the board",
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
pub(super) fn share(value: &Value) -> String {
    percent_within(value.value, Some(value.low), Some(value.high))
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
    fn parts_are_named_as_people_write_them() {
        assert_eq!(part("dense", "ply 1-10"), "ply 1–10");
        assert_eq!(part("dense", "not in check"), "not in check");
        assert_eq!(part("openings", "e2e4 c7c5"), "1. e4 c5");
        assert_eq!(part("openings", "start"), "From the start");
    }
}
