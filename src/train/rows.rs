//! What a batch holds, as a pure function of its number: the windows that the sampler names, written into rows of inputs
//! and of targets. No libtorch here.
//!
//! Under `packing = "stream"` a window is cut out of the stream wherever it falls. Under `"games"` it is a list of whole games
//! ([`Packed`]): its row has them one after another and is padded, `<eos>` is never asked for the `<bos>` that happens to
//! follow it, and padding is asked for nothing. Which of the windows come, and when, is the sampler's in both: drawn with
//! replacement, or each once an epoch.

use std::ops::Range;
use std::sync::Arc;

use anyhow::{Context as _, Result};

use super::config::{Packing, Sampler as Order};
use crate::chess::vocabulary::PAD;
use crate::data::packing::Packed;
use crate::data::sampler::Sampler;
use crate::data::tokens::TokenStream;

/// The target of a position that is asked for nothing, as libtorch's cross-entropy knows it.
pub const IGNORED: i16 = -100;

/// The batches of one stream.
#[derive(Clone)]
pub struct Rows<'a> {
    tokens: &'a [u16],
    sampler: Sampler,
    /// The windows by number, where they are of whole games.
    packed: Option<Arc<Packed<'a>>>,
    context: usize,
    /// Batches in one optimiser step.
    passes: u64,
    /// The rows of each batch that are made here; the others are those of other ranks.
    here: Range<usize>,
}

/// How many targets are asked for: of them the loss is the mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Targets {
    /// In the rows made here.
    pub here: u64,
    /// In all rows of all batches of the step.
    pub step: u64,
}

/// Kept from batch to batch, for its memory.
#[derive(Default)]
pub struct Scratch {
    windows: Vec<u64>,
    /// A step, and its targets, once they are counted.
    counted: Option<(u64, u64)>,
}

/// A number in a row: i64 as embeddings are looked up by, or i16 to travel in a quarter of the bytes. Tokens fit into both.
pub trait Number: Copy + From<i16> + 'static {}

impl Number for i16 {}
impl Number for i64 {}

impl<'a> Rows<'a> {
    /// # Errors
    ///
    /// Where the stream is too short for one window.
    pub fn new(order: Order, packing: Packing, stream: TokenStream<'a>, context: u32, batch: u32, seed: u64) -> Result<Self> {
        let packed = match packing {
            Packing::Stream => None,
            Packing::Games => Some(Arc::new(Packed::new(stream.ends, context)?)),
        };
        let tokens = stream.tokens.len() as u64;
        let sampler = match (&packed, order) {
            (None, Order::Windows) => Sampler::windows(tokens, context, batch, seed)?,
            (None, Order::Epoch) => Sampler::epoch(tokens, context, batch, seed)?,
            (Some(packed), Order::Windows) => Sampler::drawn(packed.windows(), batch, seed),
            (Some(packed), Order::Epoch) => Sampler::permuted(packed.windows(), batch, seed),
        };
        let ends = stream.ends.last().map_or(0, |&end| end);
        anyhow::ensure!(ends <= tokens, "games end at token {ends}, and there are {tokens}");
        let here = 0..batch as usize;
        Ok(Self { tokens: stream.tokens, sampler, packed, context: context as usize, passes: 1, here })
    }

    /// So many batches make one step, which has the windows that it has as one batch of all of them.
    #[must_use]
    pub fn per_step(self, passes: u32) -> Self {
        Self { passes: u64::from(passes.max(1)), sampler: self.sampler.accumulated(passes), ..self }
    }

    /// Only these rows of each batch.
    #[must_use]
    pub fn only(self, here: Range<usize>) -> Self {
        Self { here, ..self }
    }

    /// The windows of whole games, where they are that.
    pub fn packed(&self) -> Option<&Packed<'a>> {
        self.packed.as_deref()
    }

    /// Rows made here, and positions in each.
    pub fn shape(&self) -> [usize; 2] {
        [self.here.len(), self.context]
    }

    /// Writes batch `number`, counted from 0, row after row.
    ///
    /// # Panics
    ///
    /// Where the slices do not have the [`shape`](Self::shape).
    pub fn fill<T: Number>(&self, number: u64, scratch: &mut Scratch, inputs: &mut [T], targets: &mut [T]) -> Targets {
        let [rows, context] = self.shape();
        assert_eq!([inputs.len(), targets.len()], [rows * context; 2], "the memory of a batch has its shape");
        let step = self.targets_of_step(number / self.passes, scratch);
        self.sampler.starts(number, &mut scratch.windows);
        let windows = &scratch.windows[self.here.clone()];
        for ((&window, inputs), targets) in
            windows.iter().zip(inputs.chunks_exact_mut(context)).zip(targets.chunks_exact_mut(context))
        {
            match &self.packed {
                None => cut_out(&self.tokens[window as usize..=window as usize + context], inputs, targets),
                Some(packed) => lay_side_by_side(packed.games(window).map(|game| &self.tokens[game]), inputs, targets),
            }
        }
        Targets { here: self.targets(windows), step }
    }

    fn targets_of_step(&self, step: u64, scratch: &mut Scratch) -> u64 {
        if let Some((of, targets)) = scratch.counted
            && of == step
        {
            return targets;
        }
        let targets = match self.packed {
            None => self.passes * self.sampler.batch() * self.context as u64,
            Some(_) => (step * self.passes..(step + 1) * self.passes)
                .map(|number| {
                    self.sampler.starts(number, &mut scratch.windows);
                    self.targets(&scratch.windows)
                })
                .sum(),
        };
        scratch.counted = Some((step, targets));
        targets
    }

    fn targets(&self, windows: &[u64]) -> u64 {
        match &self.packed {
            None => (windows.len() * self.context) as u64,
            Some(packed) => windows.iter().flat_map(|&window| packed.games(window)).map(|game| game.len() as u64 - 1).sum(),
        }
    }
}

/// Tokens that one pass over the windows of a training goes through, padding counted as they are.
///
/// # Errors
///
/// Where there are no games to pack.
pub fn epoch_tokens(packing: Packing, stream: TokenStream, context: u32) -> Result<u64> {
    match packing {
        Packing::Stream => Ok(stream.tokens.len() as u64),
        Packing::Games => {
            let packed = Packed::new(stream.ends, context).context("packing training windows")?;
            Ok(packed.windows() * u64::from(context))
        }
    }
}

fn cut_out<T: Number>(window: &[u16], inputs: &mut [T], targets: &mut [T]) {
    for ((pair, input), target) in window.windows(2).zip(inputs).zip(targets) {
        (*input, *target) = (number(pair[0]), number(pair[1]));
    }
}

fn lay_side_by_side<'a, T: Number>(games: impl Iterator<Item = &'a [u16]>, inputs: &mut [T], targets: &mut [T]) {
    let mut at = 0;
    for game in games {
        let length = game.len() - 1;
        cut_out(game, &mut inputs[at..at + length], &mut targets[at..at + length]);
        at += length;
        // The last token of a game is an input too, but for the one that ends with the window.
        if at < inputs.len() {
            (inputs[at], targets[at]) = (number(game[length]), IGNORED.into());
            at += 1;
        }
    }
    inputs[at..].fill(number(PAD));
    targets[at..].fill(IGNORED.into());
}

/// Tokens stay below 2^15.
fn number<T: Number>(token: u16) -> T {
    (token as i16).into()
}

#[cfg(test)]
mod tests;
