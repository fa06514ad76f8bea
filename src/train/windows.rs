//! Windows of a token stream as batches on the device: inputs, and the same one token later as targets.

use anyhow::Result;
use rand_chacha::ChaCha8Rng;
use tch::{Device, Kind, Tensor};

use super::config::TrainConfig;
use crate::error::Fixable;
use crate::random;

/// A stream of tokens, and how many of them a window shows.
#[derive(Clone, Copy)]
pub struct Windows<'a> {
    tokens: &'a [u16],
    /// Tokens in a window, without the one more that is its last target.
    context: usize,
    device: Device,
}

/// Inputs and targets, int64 [b, t] on the device.
pub struct Batch {
    pub inputs_bt: Tensor,
    pub targets_bt: Tensor,
}

impl<'a> Windows<'a> {
    /// # Errors
    ///
    /// Where the stream is too short for one window.
    pub fn new(tokens: &'a [u16], context: u32, device: Device, of: &str) -> Result<Self> {
        let context = context as usize;
        if tokens.len() <= context {
            return Err(Fixable::failed(format!(
                "the {of} data have `{}` tokens, and one window takes {}",
                tokens.len(),
                context + 1
            ))
            .hint("take more games, keep more of them, or set a shorter model.context")
            .into());
        }
        Ok(Self { tokens, context, device })
    }

    /// The windows of a forward pass: pass `pass` of all those that training does, from 0.
    pub fn training(&self, config: &TrainConfig, pass: u64) -> Result<Batch> {
        self.at(&self.random_starts(&mut random::stream(config.seed, "windows", pass), config.batch))
    }

    /// Batch `index` of a fixed set, the same each time.
    pub fn fixed(&self, seed: u64, batch: u32, index: u32) -> Result<Batch> {
        self.at(&self.random_starts(&mut random::stream(seed, "validation windows", u64::from(index)), batch))
    }

    fn random_starts(&self, rng: &mut ChaCha8Rng, batch: u32) -> Vec<usize> {
        let places = (self.tokens.len() - self.context) as u64;
        (0..batch).map(|_| random::below(rng, places) as usize).collect()
    }

    /// The windows that begin at these tokens.
    fn at(&self, starts: &[usize]) -> Result<Batch> {
        let long = self.context + 1;
        let mut flat: Vec<i16> = Vec::with_capacity(starts.len() * long);
        for &start in starts {
            // Tokens stay below 2^15, so that i16 holds them: a quarter of the bytes of int64 on the way to the device.
            flat.extend_from_slice(bytemuck::cast_slice(&self.tokens[start..start + long]));
        }
        let tokens = Tensor::from_slice(&flat).f_view([starts.len() as i64, long as i64])?;
        let tokens = tokens.f_to_device(self.device)?.f_to_kind(Kind::Int64)?;
        let context = self.context as i64;
        Ok(Batch { inputs_bt: tokens.f_narrow(1, 0, context)?, targets_bt: tokens.f_narrow(1, 1, context)? })
    }
}
