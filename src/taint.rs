//! What a user let pass: gates that refused, and what was made although they did.

use std::path::Path;

use anyhow::Result;
use fs_err as fs;
use serde::{Deserialize, Serialize};

use crate::key::Key;

/// A gate that refused and was passed over. An artifact that was made after it, or of such an artifact, says so for good.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Refusal {
    /// The gate's stage.
    pub gate: String,
    pub message: String,
}

/// The note in an unfinished artifact of what it has been made despite so far.
pub const FILE: &str = ".despite";

/// Adds what an unfinished artifact was begun despite, and notes all of it there: a later try goes on from tainted files.
///
/// # Errors
///
/// Where the note cannot be read or written: the taint must not be lost.
pub fn note(part: &Path, despite: &mut Vec<Refusal>) -> Result<()> {
    despite.extend(noted(part)?);
    despite.sort();
    despite.dedup();
    if !despite.is_empty() {
        fs::write(part.join(FILE), serde_json::to_vec(&*despite)?)?;
    }
    Ok(())
}

/// What an unfinished artifact has been made despite so far.
///
/// # Errors
///
/// As [`note`].
pub fn noted(part: &Path) -> Result<Vec<Refusal>> {
    let path = part.join(FILE);
    if !path.exists() {
        return Ok(Vec::new());
    }
    Ok(serde_json::from_slice(&fs::read(&path)?)?)
}

/// One sentence for each refusal that taints any of these artifacts, each given as its stage and what it was made despite.
pub fn sentences<'a>(artifacts: impl Iterator<Item = (&'a str, &'a [Refusal])>) -> Vec<String> {
    let mut known: Vec<(&Refusal, bool)> = Vec::new();
    for (stage, despite) in artifacts {
        for refusal in despite {
            let trained = stage == "train";
            match known.iter_mut().find(|(of, _)| *of == refusal) {
                Some((_, already)) => *already |= trained,
                None => known.push((refusal, trained)),
            }
        }
    }
    known.sort();
    let sentence = |(refusal, trained): (&Refusal, bool)| {
        let made = if trained { "trained" } else { "made" };
        // A message of several lines would end the line that it is told in.
        let message = refusal.message.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("Tainted: {made} although the gate `{}` refused: {message}", refusal.gate)
    };
    known.into_iter().map(sentence).collect()
}

/// The gates passed over, by the node that refused.
pub type PassedOver = std::collections::BTreeMap<Key, Refusal>;

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(gate: &str) -> Refusal {
        Refusal { gate: gate.into(), message: format!("{gate}\nsays no") }
    }

    #[test]
    fn a_later_try_inherits_the_taint_of_the_files_it_goes_on_from() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut first = Vec::new();
        note(dir.path(), &mut first).expect("nothing to note");
        assert!(first.is_empty() && !dir.path().join(FILE).exists());
        note(dir.path(), &mut vec![refusal("overfit")]).expect("noted");
        let mut later = vec![refusal("inspect"), refusal("overfit")];
        note(dir.path(), &mut later).expect("noted");
        assert_eq!(later, [refusal("inspect"), refusal("overfit")]);
        let mut last = Vec::new();
        note(dir.path(), &mut last).expect("noted");
        assert_eq!(last, later);
    }

    #[test]
    fn each_refusal_is_told_once_and_in_one_line() {
        let (overfit, both) = ([refusal("overfit")], [refusal("inspect"), refusal("overfit")]);
        let artifacts: [(&str, &[Refusal]); 4] =
            [("parse", &[]), ("evaluate", &both), ("train", &overfit), ("evaluate", &overfit)];
        assert_eq!(
            sentences(artifacts.into_iter()),
            [
                "Tainted: made although the gate `inspect` refused: inspect says no",
                "Tainted: trained although the gate `overfit` refused: overfit says no",
            ]
        );
    }
}
