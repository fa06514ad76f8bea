//! Many positions through a predictor: sequences of like length together, each read once for all that is asked about it.

use std::collections::BTreeMap;

use anyhow::Result;

use crate::error::Fixable;
use crate::progress::Progress;

use super::positions::{Position, ValidationGames, prompt};
use super::predictor::{Logits, Predictor, Prompt};

/// Rows of logits that are held at a time: 32 MB.
const ROWS: usize = 4096;

/// Sequences, and what is asked about each.
pub(super) struct Asked {
    sequences: Vec<Sequence>,
    items: usize,
}

struct Sequence {
    tokens: Vec<u16>,
    /// After which tokens the next is asked for, ascending, each once.
    places: Vec<u32>,
    /// Of each place the items that ask there.
    items: Vec<Vec<usize>>,
}

impl Asked {
    /// Positions by number. Those of one game share a sequence where the context holds the game up to them; the others have
    /// their last tokens to themselves.
    pub(super) fn at(games: &ValidationGames, positions: &[Position], context: usize) -> Self {
        let mut by_game = BTreeMap::<usize, BTreeMap<usize, Vec<usize>>>::new();
        for (item, at) in positions.iter().enumerate() {
            by_game.entry(at.game).or_default().entry(at.cut).or_default().push(item);
        }
        let mut sequences = Vec::new();
        for (game, mut cuts) in by_game {
            // `<bos>` is one token more than the moves.
            let beyond = cuts.split_off(&context);
            if let Some((&longest, _)) = cuts.last_key_value() {
                let tokens = prompt(&games.game(game)[..longest], context);
                let (places, items) = cuts.into_iter().map(|(cut, items)| (cut as u32, items)).unzip();
                sequences.push(Sequence { tokens, places, items });
            }
            for (cut, items) in beyond {
                let tokens = prompt(&games.game(game)[..cut], context);
                sequences.push(Sequence { places: vec![tokens.len() as u32 - 1], tokens, items: vec![items] });
            }
        }
        Self { sequences, items: positions.len() }
    }

    /// Each position by itself, with what stands before it: nothing is shared.
    pub(super) fn each(games: &ValidationGames, positions: &[Position], context: usize) -> Self {
        let sequence = |(item, &at): (usize, &Position)| {
            let tokens = prompt(games.before(at), context);
            Sequence { places: vec![tokens.len() as u32 - 1], tokens, items: vec![vec![item]] }
        };
        Self { sequences: positions.iter().enumerate().map(sequence).collect(), items: positions.len() }
    }

    /// Asks, shortest sequences first, and hands over the logits of each pass with the items of each row.
    ///
    /// # Errors
    ///
    /// Those of the predictor and of `read`, and the user's wish to stop.
    pub(super) fn put(
        mut self,
        predictor: &dyn Predictor,
        progress: &Progress,
        mut read: impl FnMut(&Logits, &mut [&[usize]]) -> Result<()>,
    ) -> Result<()> {
        // Sequences of like length waste little on padding.
        self.sequences.sort_by_key(|sequence| sequence.tokens.len());
        let (mut done, mut left) = (0, self.sequences.as_slice());
        while !left.is_empty() {
            check(progress)?;
            let (batch, rest) = left.split_at(fitting(left, predictor.batch().max(1)));
            let prompts: Vec<_> = batch.iter().map(|asked| Prompt { tokens: &asked.tokens, asked: &asked.places }).collect();
            let logits = predictor.predict(&prompts)?;
            let mut rows: Vec<&[usize]> = batch.iter().flat_map(|sequence| &sequence.items).map(Vec::as_slice).collect();
            read(&logits, &mut rows)?;
            done += rows.iter().map(|items| items.len()).sum::<usize>();
            progress.done(done as u64, self.items as u64, "positions");
            left = rest;
        }
        Ok(())
    }
}

/// How many of the next sequences go together: a batch, or fewer where much is asked about each.
fn fitting(sequences: &[Sequence], batch: usize) -> usize {
    let mut rows = 0;
    let fits = |sequence: &&Sequence| {
        rows += sequence.places.len();
        rows <= ROWS
    };
    sequences.iter().take(batch).take_while(fits).count().max(1)
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
