//! What the intervals of a point do not tell: another training, and that positions of one game are alike.

use crate::report::results::{Point, Results};
use crate::text::{plural, significant};

/// From so many positions of each game on, it is said that they are alike.
const ALIKE: f64 = 2.0;

/// Lines that stand below the answer.
pub(crate) fn caveats(results: &Results, point: &Point) -> Vec<String> {
    [one_seed(results, point), positions(point)].into_iter().flatten().collect()
}

/// A sweep says it once, above all of its points.
fn one_seed(results: &Results, point: &Point) -> Option<String> {
    let trained = results.nodes.iter().filter(|outcome| outcome.node.stage == "train").count();
    (point.training.is_some() && !point.scores.is_empty() && trained == 1).then(|| {
        "Intervals are of the positions and games asked. They say nothing of another training seed, which may change figures by more: one \
         seed was trained."
            .to_owned()
    })
}

/// Positions that were asked, one by one, and of how many games.
fn asked(point: &Point) -> Option<(u64, u64)> {
    let figures = [("legality", "rate"), ("agreement", "top1"), ("mass", "mean"), ("calibration", "ece")];
    let most =
        figures.iter().flat_map(|(metric, name)| point.finals(metric).into_iter().filter_map(|score| Some(score.value(name)?.n)));
    let games = point.encoded.map(|encoded| encoded.validation_games);
    let games = games.or(point.inspection.as_ref().map(|found| found.validation_games)).filter(|games| *games > 0)?;
    Some((most.max()?, games))
}

/// How many positions were asked of each validation game, on average.
pub(crate) fn positions_a_game(point: &Point) -> Option<f64> {
    asked(point).map(|(positions, games)| positions as f64 / games as f64)
}

fn positions(point: &Point) -> Option<String> {
    let (positions, games) = asked(point)?;
    let dense = !point.finals("dense").is_empty();
    said(positions, games, dense)
}

fn said(positions: u64, games: u64, has_every_ply: bool) -> Option<String> {
    let each = Some(positions as f64 / games as f64).filter(|each| *each > ALIKE)?;
    let dense = if has_every_ply { "; the intervals of every ply are over games, and allow for it" } else { "" };
    Some(format!(
        "The {} are drawn from {}, about {} of each: positions of one game are alike, so their intervals are somewhat too narrow{dense}.",
        plural("position", positions),
        plural("validation game", games),
        significant(each, 2)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture::{Fixture, Wish, experiment, write};

    #[test]
    fn several_positions_of_a_game_are_told_and_single_ones_are_not() {
        let text = said(4_000, 579, true).expect("seven of each");
        assert!(text.starts_with("The 4,000 positions are drawn from 579 validation games, about 6.9 of each: "), "{text}");
        assert!(text.ends_with("; the intervals of every ply are over games, and allow for it."), "{text}");
        assert_eq!(said(4_000, 110_493, true), None);
    }

    #[test]
    fn one_seed_is_said_of_one_training_only() {
        let of = |points: &[crate::experiment::Experiment]| {
            let dir = tempfile::tempdir().expect("a temporary folder");
            let Fixture { run_dir, store } = write(dir.path(), points, &Wish::default());
            let results = Results::load(&run_dir, &store).expect("a run");
            results.points.iter().filter(|point| one_seed(&results, point).is_some()).count()
        };
        let seeds = [1, 2].map(|seed| {
            let mut point = experiment(40);
            point.point = format!("seed {seed}");
            point.training().seed = seed;
            point
        });
        assert_eq!((of(&[experiment(40)]), of(&seeds)), (1, 0));
    }
}
