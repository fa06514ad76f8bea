//! What a point learned beside legality and games, in sentences.

use std::fmt::Write as _;

use super::lead::difference;
use super::names::{share, within};
use super::{at, part, validation_tokens};
use crate::measure::score::Value;
use crate::report::results::{Measured, Point};
use crate::text::{plural, thousands};

pub(super) fn mass(score: &Measured) -> Option<String> {
    let mean = score.value("mean")?;
    let sure = score.value("above_99").map_or_else(String::new, |sure| format!(", and more than 99 % in {}", share(sure)));
    Some(format!("Of its probability, {} lies on legal moves on average over {}{sure}.", share(mean), plural("position", mean.n)))
}

pub(super) fn calibration(score: &Measured) -> Option<String> {
    let error = score.value("ece")?;
    let (confidence, right) = (score.value("confidence")?, score.value("right")?);
    Some(format!(
        "Its first choice has {} of the probability on average, and is the move played in {} of {}: {}. The mean distance of the two \
         within tenths of probability (ECE) is {}.",
        share(confidence),
        share(right),
        plural("position", right.n),
        way(confidence, right),
        share(error)
    ))
}

/// Which way confidence errs, where the intervals say it.
fn way(confidence: &Value, right: &Value) -> &'static str {
    if confidence.low > right.high {
        "it is surer than it is right"
    } else if confidence.high < right.low {
        "it is less sure than it is right"
    } else {
        "which of the two is larger is not settled"
    }
}

pub(super) fn dense(score: &Measured) -> Option<String> {
    let all = score.value("top1")?;
    let games = score.score.counts.get("games").map_or_else(String::new, |games| format!(" of {}", plural("game", *games)));
    let mut text = format!("At every ply{games} ({}), its first choice is the move played in {}", thousands(all.n), share(all));
    if let Some(legal) = score.value("legal") {
        write!(text, ", and {} of the tokens sampled{} are legal", share(legal), at(score.temperature()))
            .expect("written to a string");
    }
    // A game that stays legal as long as the parts go on says most.
    if let Some((plies, left)) = score.parts("survival").last().and_then(|value| Some((value.slice.split(' ').nth(1)?, value))) {
        write!(text, "; after {plies} plies {} of the games are still without an illegal one", share(left))
            .expect("written to a string");
    }
    Some(text + ".")
}

pub(super) fn openings(score: &Measured) -> Option<String> {
    let by_distance = |a: &&Value, b: &&Value| a.value.total_cmp(&b.value);
    let (least, most) = (score.parts("variation").min_by(by_distance)?, score.parts("variation").max_by(by_distance)?);
    let told = |value: &Value| format!("{}, {} (n = {})", of_line(&value.slice), share(value), thousands(value.n));
    let start = score.parts("variation").find(|value| value.slice == "start");
    let start = start.filter(|start| *start != least && *start != most).map_or_else(String::new, |start| told(start) + "; ");
    let beginnings = score.parts("variation").count() as u64;
    if beginnings == 1 {
        return Some(format!("Its moves differ from those of the training games {}, by total variation.", told(least)));
    }
    // An extreme is one only where it is apart from all others.
    let is_settled = |extreme: &Value| {
        let others = score.parts("variation").filter(|value| *value != extreme);
        others.map(|value| difference(extreme, value)).all(|apart| apart.low > 0.0 || apart.high < 0.0)
    };
    let open = match (is_settled(least), is_settled(most)) {
        (true, true) => "",
        (true, false) => ". After which they differ most is not settled",
        (false, true) => ". After which they differ least is not settled",
        (false, false) => ". After which they differ least, and after which most, is not settled",
    };
    Some(format!(
        "Its moves after {} differ from those of the training games, by total variation: {start}least {}; most {}{open}.",
        plural("beginning", beginnings),
        told(least),
        told(most)
    ))
}

fn of_line(slice: &str) -> String {
    if slice == "start" { "at the start".to_owned() } else { format!("after {}", part("openings", slice)) }
}

/// The loss over all of validation, and what sets the other losses of the page apart from it.
pub(super) fn loss(point: &Point) -> Vec<String> {
    point.finals("loss").into_iter().filter_map(|score| loss_of(score, point)).collect()
}

fn loss_of(score: &Measured, point: &Point) -> Option<String> {
    let nats = score.value("nats")?;
    let tokens = score.score.counts.get("tokens").map_or_else(String::new, |tokens| format!(" {}", thousands(*tokens)));
    let mut text =
        format!("Over all{tokens} validation tokens, in {}, its loss is {} nats", plural("window", nats.n), within("loss", nats));
    if let Some(best) = point.training.as_ref().and_then(|training| training.best) {
        let tokens = thousands(validation_tokens(point));
        write!(text, "; {:.3} is that of the {tokens} tokens which chose the checkpoint", best.loss)
            .expect("written to a string");
    }
    if let Some(played) = point.finals("calibration").first().and_then(|score| score.value("log_loss")) {
        let (loss, positions) = (within("calibration", played), plural("position", played.n));
        write!(text, "; {loss}, of {positions}, that of moves alone, without the ends of games").expect("written to a string");
    }
    Some(text + ".")
}

pub(super) fn puzzles(score: &Measured) -> Option<String> {
    let solved = score.value("solved")?;
    Some(format!("It solved {} of {}, each shown with the game that led to it.", share(solved), plural("puzzle", solved.n)))
}

pub(super) fn probe(score: &Measured) -> Option<String> {
    let all = score.value("accuracy")?;
    let layer = score.probed("trained").next().map_or_else(String::new, |square| format!(" ({})", square.layer));
    // Each share stands beside those of the same squares only.
    let beside = |name: &str| {
        let partner = |of: &str, words: &str| Some(format!("{words} {}", share(score.value(&format!("{of}.{name}"))?)));
        let partners = [partner("random", "with random weights"), partner("majority", "by the most frequent content of each")];
        let partners: Vec<_> = partners.into_iter().flatten().collect();
        if partners.is_empty() { String::new() } else { format!(" ({})", partners.join(", ")) }
    };
    let mut text = format!(
        "Of a board that it was never shown, a linear probe of its states{layer} identified {} of all squares correctly{}, in {}",
        share(all),
        beside("accuracy"),
        plural("position", all.n),
    );
    if let Some(occupied) = score.value("occupied") {
        write!(text, "; of the occupied squares {}{}", share(occupied), beside("occupied")).expect("written to a string");
    }
    Some(text + ".")
}

#[cfg(test)]
mod tests {
    use super::super::summary;
    use super::*;
    use crate::measure::metric::Metric;
    use crate::report::fixture::{Fixture, Wish, experiment, write};
    use crate::report::results::Results;

    fn said(last: Vec<Metric>) -> Vec<String> {
        let mut point = experiment(40);
        point.measure.last = last;
        let dir = tempfile::tempdir().expect("a temporary folder");
        let Fixture { run_dir, store } = write(dir.path(), &[point], &Wish::default());
        let groups = summary(&Results::load(&run_dir, &store).expect("a run").points[0]);
        groups.into_iter().flat_map(|group| group.said.into_iter().chain(group.more)).collect()
    }

    #[test]
    fn a_loss_over_all_of_validation_and_puzzles_are_told_in_sentences() {
        let last = vec![Metric::Loss, Metric::Puzzles { blake3: "9f2c".into(), puzzles: 500, seed: 7 }];
        let said = said(last);
        let of =
            |begin: &str| said.iter().find(|sentence| sentence.starts_with(begin)).unwrap_or_else(|| panic!("{begin}: {said:?}"));
        let loss = of("Over all 25,600 validation tokens, in 100 windows, its loss is 1.9");
        assert!(loss.contains("] nats; 1.6") && loss.ends_with(" tokens which chose the checkpoint."), "{loss}");
        let puzzles = of("It solved 37.6 % [");
        assert!(puzzles.ends_with("] of 500 puzzles, each shown with the game that led to it."), "{puzzles}");
    }

    #[test]
    fn which_way_confidence_errs_is_said_only_where_the_intervals_are_apart() {
        let shares = |of: u64| Value::share("", of, 100).expect("a sample");
        assert_eq!(way(&shares(80), &shares(50)), "it is surer than it is right");
        assert_eq!(way(&shares(50), &shares(80)), "it is less sure than it is right");
        assert_eq!(way(&shares(50), &shares(52)), "which of the two is larger is not settled");
    }
}
