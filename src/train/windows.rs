//! Windows of a token stream as batches on the device: inputs, and the same one token later as targets.

use std::cell::RefCell;
use std::ops::Range;

use anyhow::{Context as _, Result};
use rand_core::Rng as _;
use tch::{Device, Tensor};

use super::config::{Packing, Precision, Sampler, TrainConfig};
use super::rows::{Rows, Scratch, Targets};
use super::slot::Slot;
use crate::data::packing::Packed;
use crate::data::tokens::TokenStream;
use crate::error::Fixable;
use crate::model::decoder::Decoder;
use crate::random::stream;

/// The batches of one stream, each a pure function of its number.
pub struct Windows<'a> {
    rows: Rows<'a>,
    device: Device,
    scratch: RefCell<Scratch>,
}

/// Windows on the device.
pub struct Batch {
    /// Int64 [b, t].
    pub inputs_bt: Tensor,
    /// Int64 [b, t]; −100 where nothing is asked for.
    pub targets_bt: Tensor,
    pub targets: Targets,
    /// Whether attention keeps to one game.
    pub by_game: bool,
}

impl<'a> Windows<'a> {
    /// The windows of a training, one batch a forward pass.
    ///
    /// # Errors
    ///
    /// Where the stream is too short for one window.
    pub fn training(config: &TrainConfig, tokens: impl Into<TokenStream<'a>>, context: u32, device: Device) -> Result<Self> {
        let rows = Rows::new(config.sampler, config.packing, tokens.into(), context, config.batch, config.seed);
        Ok(Self::of(rows.context("drawing training windows")?.per_step(config.accumulate), device))
    }

    /// Random windows that are the same each time they are asked for, apart from those of a training by the same seed.
    ///
    /// # Errors
    ///
    /// Where the stream is too short for one window.
    pub fn fixed(
        seed: u64,
        batch: u32,
        packing: Packing,
        tokens: impl Into<TokenStream<'a>>,
        context: u32,
        device: Device,
    ) -> Result<Self> {
        let seed = stream(seed, "fixed windows", 0).next_u64();
        let rows = Rows::new(Sampler::Windows, packing, tokens.into(), context, batch, seed);
        let rows = rows.map_err(|error| match error.downcast::<Fixable>() {
            Ok(short) => short.hint("keep more games, raise corpus.split.validation, or lower model.context").into(),
            Err(error) => error,
        });
        Ok(Self::of(rows.context("drawing validation windows")?, device))
    }

    fn of(rows: Rows<'a>, device: Device) -> Self {
        Self { rows, device, scratch: RefCell::default() }
    }

    /// So many batches have the windows that one of all of them has.
    #[must_use]
    pub fn per_step(self, passes: u32) -> Self {
        Self { rows: self.rows.per_step(passes), ..self }
    }

    /// Only these windows of each batch.
    #[must_use]
    pub fn rows(self, rows: Range<usize>) -> Self {
        Self { rows: self.rows.only(rows), ..self }
    }

    /// The windows of whole games, where they are that.
    pub fn packed(&self) -> Option<&Packed<'a>> {
        self.rows.packed()
    }

    /// How batches are filled, for a thread that does it ahead, and for which device.
    pub(super) fn source(&self) -> (&Rows<'a>, Device) {
        (&self.rows, self.device)
    }

    /// In words, which windows a step has, counted from 0, of `passes` batches: to look them up by.
    pub fn named(&self, step: u64, passes: u64) -> String {
        let (mut first, mut hasher) = (Vec::new(), blake3::Hasher::new());
        for number in step * passes..(step + 1) * passes {
            let windows = self.rows.windows(number);
            first.extend(windows.iter().take(4 - first.len().min(4)).map(u64::to_string));
            for window in windows {
                hasher.update(&window.to_le_bytes());
            }
        }
        let what = if self.packed().is_some() { "which has the windows" } else { "whose windows begin at the tokens" };
        format!("{what} {} … (BLAKE3 {} of all of them)", first.join(", "), &hasher.finalize().to_hex()[..16])
    }

    /// Batch `number`, counted from 0, in memory of its own.
    pub fn batch(&self, number: u64) -> Result<Batch> {
        let mut slot = Slot::new(&self.rows, self.device, false)?;
        slot.fill(&self.rows, number, &mut self.scratch.borrow_mut());
        slot.batch(self.packed().is_some())
    }
}

impl Batch {
    /// The mean cross-entropy of the targets that are asked for, in nats.
    pub fn loss(&self, decoder: &Decoder, precision: Precision) -> Tensor {
        if self.by_game {
            decoder.loss_by_game(precision, &self.inputs_bt, &self.targets_bt)
        } else {
            decoder.loss(precision, &self.inputs_bt, &self.targets_bt)
        }
    }

    /// How many times the targets of the batch go into those of its step: what its loss counts for in the mean of the step.
    pub fn shares(&self) -> f64 {
        self.targets.step as f64 / self.targets.here as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tch::Kind;

    #[test]
    fn targets_are_the_inputs_one_token_later_and_batches_are_the_same_each_time() {
        let tokens: Vec<u16> = (0..1_000).collect();
        let windows = Windows::fixed(3, 4, Packing::Stream, &tokens, 8, Device::Cpu).expect("enough tokens");
        let Batch { inputs_bt, targets_bt, .. } = windows.batch(5).expect("made");
        assert_eq!((inputs_bt.size(), inputs_bt.kind()), (vec![4, 8], Kind::Int64));
        assert_eq!(&inputs_bt + 1, targets_bt);
        assert_eq!(windows.batch(5).expect("made").inputs_bt, inputs_bt);
        assert_ne!(windows.batch(6).expect("made").inputs_bt, inputs_bt);
        assert!(Windows::fixed(3, 4, Packing::Stream, &tokens[..8], 8, Device::Cpu).is_err());
    }
}
