//! What came out at each position, for two models to be compared pair by pair. No libtorch here.

use super::answers::{Answer, Answers, LEGAL};
use super::metric::Metric;
use super::rules::Rule;

/// The outcomes behind a value, in the order of the draw.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcomes {
    /// Game and ply: equal places are the same question.
    pub places: Vec<(u32, u32)>,
    /// 0 or 1 where the value is a share.
    pub of: Vec<f64>,
    pub share: bool,
    /// Whether many positions are of one game, so that games are what varies.
    pub by_game: bool,
}

/// The outcomes whose mean is a value of a metric, over its whole sample; none where it has none of positions, or is no mean.
pub fn outcomes(metric: &Metric, value: &str, answers: &Answers) -> Option<Outcomes> {
    let rows = answers.rows.iter();
    let place = |row: &Answer| (row.game, row.ply);
    let sampled = |rows: usize, temperature: f64, by_game: bool| Outcomes {
        places: answers.rows.iter().take(rows).map(place).collect(),
        of: answers.sampled(temperature).iter().take(rows).map(|sampled| yes(sampled.outcome == LEGAL)).collect(),
        share: true,
        by_game,
    };
    let all = |of: Outcome, share, by_game, kept: &mut dyn Iterator<Item = &Answer>| {
        let (places, of) = kept.map(|row| (place(row), of(row))).unzip();
        Outcomes { places, of, share, by_game }
    };
    match (metric, value) {
        (Metric::Legality { positions, temperature, .. }, "rate") => Some(sampled(*positions as usize, *temperature, false)),
        (Metric::Agreement { positions, .. }, "top1" | "top5")
        | (Metric::Mass { positions, .. }, "mean")
        | (Metric::Calibration { positions, .. }, "right" | "log_loss") => {
            let (of, share) = of_answer(value)?;
            Some(all(of, share, false, &mut rows.take(*positions as usize)))
        }
        (Metric::Rules { positions, .. }, name) => {
            let (rule, aspect) = name.split_once('.')?;
            let rule = Rule::ALL.into_iter().find(|known| known.name() == rule)?;
            let (of, share) = of_answer(aspect)?;
            Some(all(of, share, false, &mut rows.filter(|row| row.rule == Some(rule)).take(*positions as usize)))
        }
        (Metric::Dense { games, temperature, .. }, name) => {
            let rows_of_games: usize = answers.rows.chunk_by(|a, b| a.game == b.game).take(*games as usize).map(<[_]>::len).sum();
            if name == "legal" {
                return Some(sampled(rows_of_games, *temperature, true));
            }
            let (of, share) = of_answer(name)?;
            Some(all(of, share, true, &mut rows.take(rows_of_games)))
        }
        _ => None,
    }
}

/// What comes out at a position.
type Outcome = fn(&Answer) -> f64;

/// By the last part of a value's name; and whether it is 0 or 1.
fn of_answer(what: &str) -> Option<(Outcome, bool)> {
    Some(match what {
        "top1" | "human" | "right" => (|row| yes(row.rank == 0), true),
        "top5" => (|row| yes(row.rank < 5), true),
        "legal" => (|row| yes(row.top_is_legal), true),
        "mass" | "mean" => (|row| row.legal_mass, false),
        "log_loss" => (|row| row.human_probability.ln().abs(), false),
        _ => return None,
    })
}

fn yes(is: bool) -> f64 {
    f64::from(u8::from(is))
}

#[cfg(test)]
mod tests {
    use super::super::fakes;
    use super::super::{answers, judge, positions::ValidationGames};
    use super::*;
    use crate::progress::silent;

    #[test]
    fn the_mean_of_the_outcomes_is_the_value_that_was_told() {
        let games = fakes::games();
        let mut compared = 0;
        for metric in [
            Metric::Legality { positions: 300, temperature: 0.5, seed: 3 },
            Metric::Agreement { positions: 250, seed: 3 },
            Metric::Mass { positions: 200, seed: 3 },
            Metric::Calibration { positions: 300, seed: 3 },
            Metric::Rules { positions: 20, seed: 3 },
            Metric::Dense { games: 6, temperature: 1.0, seed: 3 },
        ] {
            let (draw, temperature) = metric.asks().expect("it asks about positions");
            let temperatures: Vec<f64> = temperature.into_iter().collect();
            let on = ValidationGames::new(fakes::slices(&games));
            let answers = answers::ask(&fakes::moody(), &on, draw, &temperatures, &silent()).expect("games");
            for value in judge(&metric, &answers).expect("a metric of positions").values {
                let Some(outcomes) = outcomes(&metric, &value.name, &answers).filter(|_| value.slice.is_empty()) else {
                    continue;
                };
                let mean = outcomes.of.iter().sum::<f64>() / outcomes.of.len() as f64;
                assert!((mean - value.value).abs() < 1e-12, "{}: {mean}, and {value}", metric.name());
                assert_eq!((outcomes.of.len() as u64, outcomes.places.len()), (value.n, outcomes.of.len()));
                compared += 1;
            }
        }
        assert!(compared >= 1 + 2 + 1 + 2 + 3 + 4, "{compared}");
    }
}
