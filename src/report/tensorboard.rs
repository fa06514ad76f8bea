//! The curves of a run as event files of `TensorBoard`: one folder a point, so that points lie over each other there.

use std::path::{Path, PathBuf};

use anyhow::Result;
use fs_err as fs;

use super::results::{Asked, Measured, Point, Results};
use super::settings::since_1970;
use crate::export::tensorboard::{Scalar, events};
use crate::text;

/// Writes a file a point, and tells where. Drawn again, it is the same file: all events are of the time at which the run began,
/// since only their steps are known.
///
/// # Errors
///
/// Where the folder cannot be written.
pub fn tensorboard(results: &Results, out: &Path) -> Result<Vec<PathBuf>> {
    let began = since_1970(&results.run.started).unwrap_or(0.0);
    let mut written = Vec::new();
    for point in &results.points {
        let scalars = scalars(point);
        if scalars.is_empty() {
            continue;
        }
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.=".contains(c) { c } else { '_' };
        let title: String = point.title().chars().map(plain).collect();
        let folder = if results.points.len() > 1 { out.join(title) } else { out.to_owned() };
        fs::create_dir_all(&folder)?;
        let file = folder.join(format!("events.out.tfevents.{}.{}", began as u64, results.run.id));
        fs::write(&file, events(began, &scalars))?;
        written.push(file);
    }
    Ok(written)
}

/// Every number of a point that has a step.
fn scalars(point: &Point) -> Vec<Scalar> {
    let mut all = Vec::new();
    let mut put = |tag: String, step: u64, value: f64| all.push(Scalar { tag, step, value });
    if let Some(training) = &point.training {
        for step in &training.curve {
            put("loss/train".into(), step.step, step.loss);
            put("optimiser/learning_rate".into(), step.step, step.learning_rate);
            put("optimiser/gradient_norm".into(), step.step, step.gradient_norm);
        }
        for at in &training.validation {
            put("loss/validation".into(), at.step, at.loss);
        }
        for lap in &training.speed {
            put("speed/tokens_per_second".into(), lap.step, lap.tokens_per_second);
        }
    }
    for score in &point.scores {
        for value in score.score.values.iter().filter(|value| value.slice.is_empty()) {
            put(tag(score, &value.name), score.score.checkpoint.step, value.value);
        }
    }
    all
}

/// `legality/rate at T=1.0`; of the final figures `final legality/rate at T=1.0`.
fn tag(score: &Measured, value: &str) -> String {
    let at = score.temperature().map_or_else(String::new, |t| format!(" at T={}", text::temperature(t)));
    let asked = if score.asked == Asked::Final { "final " } else { "" };
    format!("{asked}{}/{value}{at}", score.metric.name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture::{Fixture, Wish, experiment, write};

    #[test]
    fn every_curve_of_a_run_is_there_and_drawn_again_it_is_the_same_file() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let Fixture { run_dir, store } = write(dir.path(), &[experiment(40)], &Wish::default());
        let results = Results::load(&run_dir, &store).expect("a run");
        let out = dir.path().join("board");
        let files = tensorboard(&results, &out).expect("a folder to write to");
        let first = fs::read(&files[0]).expect("written");
        assert_eq!(files.len(), 1);
        for tag in ["loss/train", "loss/validation", "optimiser/gradient_norm", "legality/rate at T=1.0", "final agreement/top1"]
        {
            assert!(first.windows(tag.len()).any(|bytes| bytes == tag.as_bytes()), "{tag}");
        }
        assert_eq!(tensorboard(&results, &out).expect("a folder to write to"), files);
        assert_eq!(fs::read(&files[0]).expect("written"), first);
    }
}
