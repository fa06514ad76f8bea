//! Many prompts through a predictor, in batches of like length.

use std::collections::BTreeMap;

use anyhow::Result;

use crate::error::Fixable;
use crate::progress::Progress;

use super::predictor::Predictor;

/// Asks for every prompt and hands its number and logits to `each`, shortest prompts first.
///
/// # Errors
///
/// Those of the predictor and of `each`, and the user's wish to stop.
pub(super) fn ask(
    predictor: &dyn Predictor,
    prompts: &[Vec<u16>],
    progress: &Progress,
    mut each: impl FnMut(usize, &[f32]) -> Result<()>,
) -> Result<()> {
    // Batches of like length waste little on padding.
    let mut order: Vec<usize> = (0..prompts.len()).collect();
    order.sort_by_key(|&item| prompts[item].len());
    let mut done = 0;
    for batch in order.chunks(predictor.batch().max(1)) {
        check(progress)?;
        let rows: Vec<&[u16]> = batch.iter().map(|&item| prompts[item].as_slice()).collect();
        let logits = predictor.predict(&rows)?;
        for (row, &item) in batch.iter().enumerate() {
            each(item, logits.row(row))?;
        }
        done += batch.len();
        progress.done(done as u64, prompts.len() as u64, "positions");
    }
    Ok(())
}

/// Ends the work where the user asked for it.
pub(super) fn check(progress: &Progress) -> Result<()> {
    if progress.should_stop() {
        return Err(Fixable::interrupted("the evaluation was stopped")
            .hint("run again: it starts over, and the rest is kept")
            .into());
    }
    Ok(())
}

/// Counts one more of a kind.
pub(super) fn count(counts: &mut BTreeMap<String, u64>, kind: &str) {
    *counts.entry(kind.to_owned()).or_default() += 1;
}
