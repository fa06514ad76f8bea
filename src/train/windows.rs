//! Windows of a token stream as batches on the device: inputs, and the same one token later as targets.

use std::cell::RefCell;
use std::ops::Range;

use anyhow::{Context as _, Result};
use rand_core::Rng as _;
use tch::{Device, Kind, Tensor};

use super::config::{self, TrainConfig};
use crate::data::sampler::Sampler;
use crate::random::stream;

/// The batches of one stream, each a pure function of its number.
pub struct Windows<'a> {
    tokens: &'a [u16],
    sampler: Sampler,
    /// Tokens in a window, without the one more that is its last target.
    context: usize,
    device: Device,
    /// The windows of each batch that are made here; the others are those of other ranks.
    rows: Range<usize>,
    /// Kept from batch to batch, for their memory.
    scratch: RefCell<(Vec<u64>, Vec<i16>)>,
}

/// Inputs and targets, int64 [b, t] on the device.
pub struct Batch {
    pub inputs_bt: Tensor,
    pub targets_bt: Tensor,
}

impl<'a> Windows<'a> {
    /// The windows of a training, one batch a forward pass.
    ///
    /// # Errors
    ///
    /// Where the stream is too short for one window.
    pub fn training(config: &TrainConfig, tokens: &'a [u16], context: u32, device: Device) -> Result<Self> {
        let make = match config.sampler {
            config::Sampler::Windows => Sampler::windows,
            config::Sampler::Epoch => Sampler::epoch,
        };
        let sampler = make(tokens.len() as u64, context, config.batch, config.seed)
            .context("drawing training windows")?
            .accumulated(config.accumulate);
        Ok(Self::of(tokens, sampler, context, device))
    }

    /// Random windows that are the same each time they are asked for, apart from those of a training by the same seed.
    ///
    /// # Errors
    ///
    /// Where the stream is too short for one window.
    pub fn fixed(seed: u64, batch: u32, tokens: &'a [u16], context: u32, device: Device) -> Result<Self> {
        let seed = stream(seed, "fixed windows", 0).next_u64();
        let sampler = Sampler::windows(tokens.len() as u64, context, batch, seed).context("drawing validation windows")?;
        Ok(Self::of(tokens, sampler, context, device))
    }

    fn of(tokens: &'a [u16], sampler: Sampler, context: u32, device: Device) -> Self {
        let rows = 0..sampler.batch() as usize;
        Self { tokens, sampler, context: context as usize, device, rows, scratch: RefCell::default() }
    }

    /// Only these windows of each batch.
    #[must_use]
    pub fn rows(self, rows: Range<usize>) -> Self {
        Self { rows, ..self }
    }

    /// Batch `number`, counted from 0.
    pub fn batch(&self, number: u64) -> Result<Batch> {
        let (starts, flat) = &mut *self.scratch.borrow_mut();
        self.sampler.starts(number, starts);
        let starts = &starts[self.rows.clone()];
        flat.clear();
        let long = self.context + 1;
        for &start in starts {
            // Tokens stay below 2^15, so that i16 holds them: a quarter of the bytes of int64 on the way to the device.
            flat.extend_from_slice(bytemuck::cast_slice(&self.tokens[start as usize..start as usize + long]));
        }
        let tokens = Tensor::from_slice(flat).f_view([starts.len() as i64, long as i64])?;
        let tokens = tokens.f_to_device(self.device)?.f_to_kind(Kind::Int64)?;
        let context = self.context as i64;
        Ok(Batch { inputs_bt: tokens.f_narrow(1, 0, context)?, targets_bt: tokens.f_narrow(1, 1, context)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_the_inputs_one_token_later_and_batches_are_the_same_each_time() {
        let tokens: Vec<u16> = (0..1_000).collect();
        let windows = Windows::fixed(3, 4, &tokens, 8, Device::Cpu).expect("enough tokens");
        let Batch { inputs_bt, targets_bt } = windows.batch(5).expect("made");
        assert_eq!((inputs_bt.size(), inputs_bt.kind()), (vec![4, 8], Kind::Int64));
        assert_eq!(&inputs_bt + 1, targets_bt);
        assert_eq!(windows.batch(5).expect("made").inputs_bt, inputs_bt);
        assert_ne!(windows.batch(6).expect("made").inputs_bt, inputs_bt);
        assert!(Windows::fixed(3, 4, &tokens[..8], 8, Device::Cpu).is_err());
    }
}
