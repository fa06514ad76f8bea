//! Full games as sentences: what a point measured at its own temperatures, and what the temperatures of a sweep tell.

use std::fmt::Write as _;

use super::{at, beside_temperature, share};
use crate::measure::score::Value;
use crate::report::results::{Measured, Point, Results};
use crate::text::{decimals_of, number_within, plural, temperature, thousands};

/// What a point says of its own games.
pub(super) fn sentences(point: &Point) -> Vec<String> {
    let scores = point.finals("full_games");
    let mut said: Vec<String> = scores.iter().take(1).filter_map(|score| one_temperature(score, point)).collect();
    let others: Vec<_> = scores.iter().skip(1).filter_map(|score| clean_at(score)).collect();
    if !others.is_empty() {
        said.push(format!("Sampled cooler, games without an illegal move: {}.", others.join(", ")));
    }
    if let (Some(hot), Some(cold), true) = (scores.first(), scores.last(), scores.len() > 1)
        && let (Some(hot_value), Some(cold_value)) = (hot.value("clean"), cold.value("clean"))
    {
        let temperatures = format!("between{} and{}", at(hot.temperature()), at(cold.temperature())).replace(" at ", " ");
        said.push(if hot_value.high < cold_value.low {
            format!("Cooler sampling keeps more games clean: {temperatures} the 95 % intervals do not overlap.")
        } else if cold_value.high < hot_value.low {
            format!("Cooler sampling keeps fewer games clean: {temperatures} the 95 % intervals do not overlap.")
        } else {
            format!(
                "Whether temperature changes the share of clean games is not settled: {temperatures} the 95 % intervals overlap."
            )
        });
    }
    said
}

fn one_temperature(score: &Measured, point: &Point) -> Option<String> {
    let clean = score.value("clean")?;
    let mut text =
        format!("Of {}{}, {} had no illegal move", plural("full game", clean.n), at(score.temperature()), share(clean));
    if let Some(plies) = score.value("plies") {
        write!(text, "; they lasted {} plies on average", number_within(plies.value, Some(plies.low), Some(plies.high)))
            .expect("written to a string");
        let decimals = decimals_of((plies.high - plies.low) / 2.0).max(1);
        if let Some(real) = score.value("real_plies") {
            let shown = number_within(real.value, Some(real.low), Some(real.high));
            write!(text, ", real games {shown} (n = {})", thousands(real.n)).expect("written to a string");
        } else if let Some(corpus) = point.corpus()
            && let Some(real) = corpus.mean_plies()
        {
            write!(text, ", the {} kept {real:.decimals$}", plural("game", corpus.kept)).expect("written to a string");
        }
    }
    Some(text + ".")
}

fn clean_at(score: &Measured) -> Option<String> {
    let value = score.value("clean")?;
    Some(format!("{}{} (n = {})", share(value), at(score.temperature()), thousands(value.n)))
}

/// Where a sweep measured the same weights at several temperatures: which of them keeps most games clean, and whether
/// that is settled. One answer for each set of weights.
pub(crate) fn answers(results: &Results) -> Vec<String> {
    let groups = results.over_temperatures();
    let several = groups.len() > 1;
    let answer = |(point, scores): &(&Point, Vec<Measured>)| {
        let which = if several { format!("{}: ", beside_temperature(point)) } else { String::new() };
        answer(scores).map(|answer| which + &answer)
    };
    groups.iter().filter_map(answer).collect()
}

fn answer(scores: &[Measured]) -> Option<String> {
    let clean: Vec<(&Measured, &Value)> = scores.iter().filter_map(|score| Some((score, score.value("clean")?))).collect();
    let &(best, most) = clean.iter().rev().max_by(|a, b| a.1.value.total_cmp(&b.1.value))?;
    let (apart, open): (Vec<_>, Vec<_>) =
        clean.iter().filter(|(score, _)| score.key != best.key).partition(|(_, value)| value.high < most.low);
    let list = |some: &[&(&Measured, &Value)]| {
        let each = some.iter().filter_map(|(score, value)| {
            Some(format!("T = {} ({}, n = {})", temperature(score.temperature()?), share(value), thousands(value.n)))
        });
        each.collect::<Vec<_>>().join(", ")
    };
    let mut text = format!("The largest share of games without an illegal move was {}", clean_at(best)?);
    match (apart.is_empty(), open.is_empty()) {
        (true, true) => return None,
        (false, true) => {
            write!(text, ". It is settled: the 95 % interval lies above that of every other temperature: {}", list(&apart))
        }
        (true, false) => {
            write!(text, ". Which temperature is best is not settled: the 95 % interval overlaps with that of {}", list(&open))
        }
        (false, false) => write!(
            text,
            ". Which temperature is best is not settled: the 95 % interval overlaps with that of {}; it lies above that of {}",
            list(&open),
            list(&apart)
        ),
    }
    .expect("written to a string");
    Some(text + ".")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::measure::metric::Metric;
    use crate::report::fixture::{Fixture, Wish, experiment, write};

    #[test]
    fn a_sweep_says_which_temperatures_its_best_is_not_apart_from() {
        let points = [0.2, 0.4, 1.0].map(|temperature| {
            let mut point = experiment(40);
            point.point = format!("temperatures={temperature}");
            point.measure.last = vec![Metric::FullGames { games: 200, temperature, seed: 7 }];
            point
        });
        let dir = tempfile::tempdir().expect("a temporary folder");
        let Fixture { run_dir, store } = write(dir.path(), &points, &Wish::default());
        let results = Results::load(&run_dir, &store).expect("a run");
        assert_eq!(
            answers(&results),
            ["The largest share of games without an illegal move was 87.0 % [81.6, 91.0] at T = 0.2 (n = 200). \
              Which temperature is best is not settled: the 95 % interval overlaps with that of T = 0.4 \
              (78.5 % [72.3, 83.6], n = 200); it lies above that of T = 1.0 (51.0 % [44.1, 57.8], n = 200)."]
        );
    }

    #[test]
    fn real_games_have_their_interval_and_are_told_once() {
        let change = |stage: &str, _: &str, content: String| {
            if stage != "evaluate" || !content.contains("full_games") {
                return content;
            }
            let mut score: serde_json::Value = serde_json::from_str(&content).expect("a score of the fixture");
            let real = json!({ "name": "real_plies", "slice": "", "value": 71.6, "n": 579, "low": 68.8, "high": 74.4,
                "method": "student t 95 %" });
            score["values"].as_array_mut().expect("values").push(real);
            score.to_string()
        };
        let dir = tempfile::tempdir().expect("a temporary folder");
        let Fixture { run_dir, store } = write(dir.path(), &[experiment(40)], &Wish { change, ..Wish::default() });
        let written = crate::report::write(&run_dir, &store).expect("a report");
        let markdown = fs_err::read_to_string(&written.markdown).expect("the report wrote it");
        assert!(markdown.contains("plies on average, real games 71.6 [68.8, 74.4] (n = 579)."), "{markdown}");
        assert_eq!(markdown.matches("| Real games: mean length, plies | – |").count(), 1, "{markdown}");
    }
}
