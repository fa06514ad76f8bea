//! Full games as sentences: what a point measured at its own temperatures, and what the temperatures of a sweep tell.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{at, beside_temperature, share};
use crate::measure::score::Value;
use crate::report::results::{Measured, Point, Results};
use crate::stats::Estimate;
use crate::stats::difference::apart;
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
        let cooler = difference(hot_value, cold_value);
        said.push(if cooler.low > 0.0 {
            format!("Cooler sampling keeps more games clean: the 95 % interval of the difference {temperatures} lies above 0.")
        } else if cooler.high < 0.0 {
            format!("Cooler sampling keeps fewer games clean: the 95 % interval of the difference {temperatures} lies below 0.")
        } else {
            format!(
                "Whether temperature changes the share of clean games is not settled: the 95 % interval of the difference \
                 {temperatures} holds 0."
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
            write!(text, ", validation games {shown} (n = {})", thousands(real.n)).expect("written to a string");
        } else if let Some(corpus) = point.corpus()
            && let Some(real) = corpus.mean_plies()
        {
            write!(text, ", the {} kept {real:.decimals$}", plural("game", corpus.kept)).expect("written to a string");
        }
    }
    if let Some(ended) = how_clean_ones_ended(score) {
        write!(text, ". {ended}").expect("written to a string");
    }
    Some(text + ".")
}

/// A share of clean games says little where a model ends them early, or plays one game again and again.
fn how_clean_ones_ended(score: &Measured) -> Option<String> {
    let clean = score.own_games.iter().filter(|game| game.is_clean()).count() as u64;
    let own = score.own_games.iter().filter(|game| game.end == "eos_non_terminal").count() as u64;
    let distinct = score.own_games.iter().map(|game| &game.moves).collect::<BTreeSet<_>>().len() as u64;
    (clean > 0).then(|| {
        format!(
            "Of the {}, the model itself ended {} where the rules did not; of all {}, {} are distinct",
            plural("clean game", clean),
            thousands(own),
            plural("game", score.own_games.len() as u64),
            thousands(distinct)
        )
    })
}

fn difference(from: &Value, to: &Value) -> Estimate {
    let [from, to] = [from, to].map(|value| Estimate { value: value.value, low: value.low, high: value.high, n: value.n });
    apart(from, to)
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
        clean.iter().filter(|(score, _)| score.key != best.key).partition(|(_, value)| difference(value, most).low > 0.0);
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
            write!(text, ". It is settled: the 95 % interval of the difference from every other temperature lies above 0: {}", list(&apart))
        }
        (true, false) => {
            write!(text, ". Which temperature is best is not settled: the 95 % interval of the difference holds 0 for {}", list(&open))
        }
        (false, false) => write!(
            text,
            ". Which temperature is best is not settled: the 95 % interval of the difference holds 0 for {}; it lies above 0 for {}",
            list(&open),
            list(&apart)
        ),
    }
    .expect("written to a string");
    if [scores.first(), scores.last()].into_iter().flatten().any(|edge| edge.key == best.key) {
        text.push_str(". It is the last temperature that was tried on its side");
    }
    if let Some(ended) = how_clean_ones_ended(best) {
        write!(text, ". {ended}").expect("written to a string");
    }
    Some(text + ".")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::measure::metric::Metric;
    use crate::report::fixture::{Fixture, Wish, experiment, write};
    use crate::report::results::OwnGame;

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
        let [answer] = answers(&results).try_into().expect("one answer");
        // The intervals of the shares overlap, and that of their difference lies above 0 all the same.
        for said in [
            "The largest share of games without an illegal move was 87.0 % [81.6, 91.0] at T = 0.2 (n = 200). ",
            "It is settled: the 95 % interval of the difference from every other temperature lies above 0: ",
            "T = 0.4 (78.5 % [72.3, 83.6], n = 200)",
            "It is the last temperature that was tried on its side.",
        ] {
            assert!(answer.contains(said), "{said}: {answer}");
        }
        let close = |clean: u64| Value::share("clean", clean, 200).expect("a sample");
        assert!(difference(&close(157), &close(171)).low < 0.0 && difference(&close(157), &close(174)).low > 0.0);
    }

    #[test]
    fn clean_games_that_the_model_ended_itself_and_that_are_one_game_are_told() {
        let mut scores = Vec::new();
        let dir = tempfile::tempdir().expect("a temporary folder");
        let Fixture { run_dir, store } = write(dir.path(), &[experiment(40)], &Wish::default());
        scores.extend(Results::load(&run_dir, &store).expect("a run").points[0].finals("full_games").into_iter().cloned());
        let game = |end: &str, moves: &str| OwnGame { end: end.into(), plies: 1, moves: moves.into() };
        scores[0].own_games =
            vec![game("eos_non_terminal", "e2e4"), game("eos_non_terminal", "e2e4"), game("illegal_empty_square", "d2d4 [d2d4]")];
        let said = how_clean_ones_ended(&scores[0]);
        assert_eq!(
            said.as_deref(),
            Some("Of the 2 clean games, the model itself ended 2 where the rules did not; of all 3 games, 2 are distinct")
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
        assert!(markdown.contains("plies on average, validation games 71.6 [68.8, 74.4] (n = 579)."), "{markdown}");
        assert_eq!(markdown.matches("| Validation games: mean length, plies | – |").count(), 1, "{markdown}");
    }
}
