//! How the weights came about, in sentences.

use std::fmt::Write as _;

use super::validation_tokens;
use crate::chess::vocabulary::VOCABULARY_SIZE;
use crate::report::results::Point;
use crate::text::{percent, plural, si, significant, thousands};

pub(super) fn training(point: &Point) -> Option<String> {
    let training = point.training.as_ref()?;
    let last = training.curve.last()?;
    let mut text = format!(
        "A model of {} parameters, and {} of the embedding, {} {} tokens{} in {}",
        si(point.experiment.model.parameters() as f64),
        si(point.experiment.model.embedding_parameters() as f64),
        if training.unfinished { "has so far seen" } else { "saw" },
        si(last.tokens as f64),
        passes(point).map_or_else(String::new, |passes| format!(" ({passes})")),
        plural("step", last.step),
    );
    let lowest = training.best.map(|best| (best.step, best.loss)).or_else(|| {
        let losses = training.validation.iter().map(|at| (at.step, at.loss));
        losses.min_by(|a, b| a.1.total_cmp(&b.1))
    });
    if let Some((step, loss)) = lowest.filter(|(_, loss)| loss.is_finite()) {
        let guessing = (VOCABULARY_SIZE as f64).ln();
        let tokens = thousands(validation_tokens(point));
        // A loss that rose again is not what the training came to.
        let end = training.validation.last().map(|at| at.loss).filter(|end| *end > loss * 1.01);
        let came = match end {
            Some(end) => format!("was {loss:.3} nats at best, at step {}; it ended at {end:.3}", thousands(step)),
            None => format!("came down to {loss:.3} nats"),
        };
        write!(text, "; its validation loss, on the same {tokens} tokens each time, {came}, where guessing is {guessing:.3}")
            .expect("written to a string");
    }
    Some(text + ".")
}

/// `1.9 passes over 441 k`, `12 % of one pass over 441 k`: how often a training saw its corpus. None of packed games, of which some tokens are cut.
pub(super) fn passes(point: &Point) -> Option<String> {
    let (share, corpus) = passes_over(point)?;
    if share < 1.0 {
        return Some(format!("{} % of one pass over {}", significant(share * 100.0, 2), si(corpus)));
    }
    Some(format!("{} passes over {}", significant(share, 2), si(corpus)))
}

/// How many passes, and over how many tokens.
pub(crate) fn passes_over(point: &Point) -> Option<(f64, f64)> {
    let training = point.training.as_ref().filter(|training| training.summary.packing.is_none())?;
    let corpus = point.encoded.map(|encoded| encoded.train_tokens as f64).filter(|tokens| *tokens > 0.0)?;
    Some((training.curve.last()?.tokens as f64 / corpus, corpus))
}

/// What sets a training apart from the usual: packed games, spikes that were skipped, an average of the weights.
pub(super) fn apart(point: &Point) -> Vec<String> {
    let Some(training) = point.training.as_ref() else { return Vec::new() };
    let mut said = Vec::new();
    if let Some(packed) = training.summary.packing {
        let mut text = format!(
            "Its {} hold whole games, and attention does not cross them: its losses do not compare with those of a stream of games",
            plural("training window", packed.windows)
        );
        if packed.cut_games > 0 {
            let lost = plural("token", packed.cut_tokens);
            let were = if packed.cut_games == 1 { "was" } else { "were" };
            write!(text, "; {} longer than a window {were} cut, by {lost} in all", plural("game", packed.cut_games))
                .expect("written to a string");
        }
        said.push(text + ".");
    }
    let steps = training.curve.len() as u64;
    if point.experiment.train().is_some_and(|train| train.spikes.is_some()) {
        said.push(match training.skipped() {
            0 => format!("None of {} was taken for a spike.", plural("step", steps)),
            skipped => format!(
                "{} of {} ({}) {} taken for {} and changed no weight.",
                thousands(skipped),
                plural("step", steps),
                percent(skipped as f64 / steps.max(1) as f64, 2),
                if skipped == 1 { "was" } else { "were" },
                if skipped == 1 { "a spike" } else { "spikes" }
            ),
        });
    }
    if let Some(average) = training.average.filter(|average| average.loss.is_finite()) {
        let beside = training.validation.last().map(|last| last.loss).filter(|loss| loss.is_finite());
        let beside = beside.map_or_else(String::new, |loss| format!("; the last weights themselves have {loss:.3}"));
        let loss = average.loss;
        said.push(format!("The average of its weights has a validation loss of {loss:.3} nats, on the same tokens{beside}."));
    }
    said
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{summary, warnings};
    use super::*;
    use crate::report::fixture::{Fixture, Wish, experiment, write};
    use crate::report::results::Results;
    use crate::train::config::{OnSpike, Spikes};

    #[test]
    fn a_loss_that_rose_again_is_told_with_its_end() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let change = |_: &str, name: &str, content: String| match name {
            "best.json" => json!({ "step": 20, "loss": 1.2 }).to_string(),
            _ => content,
        };
        let run = json!({ "id": "x", "outcome": "done", "command": "philidor run run1.toml -S train.steps=40" });
        let Fixture { run_dir, store } = write(dir.path(), &[experiment(40)], &Wish { change, run, ..Wish::default() });
        let results = Results::load(&run_dir, &store).expect("a run");
        let said = training(&results.points[0]).expect("a training");
        assert!(said.contains("was 1.200 nats at best, at step 20; it ended at 1.6"), "{said}");
        assert!(warnings(&results).iter().any(|line| line.ends_with("by the command line: train.steps=40.")));
    }

    #[test]
    fn packed_games_skipped_spikes_and_an_average_are_told_where_there_are_any() {
        let mut point = experiment(40);
        point.training().spikes = Some(Spikes { z: 6.0, window: 20, then: OnSpike::Skip });
        let dir = tempfile::tempdir().expect("a temporary folder");
        let change = |_: &str, name: &str, content: String| match name {
            "training.json" => content.replacen(
                '{',
                r#"{"packing": { "windows": 1200, "targets": 300000, "cut_games": 1, "cut_tokens": 9 },"#,
                1,
            ),
            "curve.jsonl" => content.replacen("\"step\":7,", "\"skipped\":true,\"step\":7,", 1),
            _ => content,
        };
        let Fixture { run_dir, store } = write(dir.path(), &[point], &Wish { change, ..Wish::default() });
        let mut results = Results::load(&run_dir, &store).expect("a run");
        let trained = results.points[0].training.as_mut().expect("a training");
        trained.average = trained.best;
        let groups = summary(&results.points[0]);
        let said = groups.into_iter().flat_map(|group| [group.said, group.more].concat()).collect::<Vec<_>>().join(" ");
        assert!(said.contains("Its 1,200 training windows hold whole games"), "{said}");
        assert!(said.contains("; 1 game longer than a window was cut, by 9 tokens in all."), "{said}");
        assert!(said.contains("1 of 40 steps (2.50 %) was taken for a spike and changed no weight."), "{said}");
        assert!(said.contains("The average of its weights has a validation loss of 1.647 nats"), "{said}");
        let dir = tempfile::tempdir().expect("a temporary folder");
        let Fixture { run_dir, store } = write(dir.path(), &[experiment(40)], &Wish::default());
        assert!(apart(&Results::load(&run_dir, &store).expect("a run").points[0]).is_empty());
    }
}
