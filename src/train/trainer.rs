//! One optimiser step after another. What is told of them, and when to stop, is the caller's.

use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::{Result, anyhow};
use tch::{Device, Tensor};

use super::config::TrainConfig;
use super::files::CurvePoint;
use super::optimiser::Optimiser;
use super::windows::{Batch, Windows};
use crate::error::Fixable;
use crate::model::config::ModelConfig;
use crate::model::decoder::Decoder;
use crate::model::shim;
use crate::model::weights::Weights;

pub struct Trainer<'a> {
    pub decoder: Decoder,
    pub optimiser: Optimiser,
    config: &'a TrainConfig,
    windows: Windows<'a>,
    step: u64,
    steps: u64,
}

/// A step that was given to the device and may still be under way.
pub struct Launched {
    step: u64,
    tokens: u64,
    rate: f64,
    /// Loss and gradient norm.
    numbers: Tensor,
}

impl<'a> Trainer<'a> {
    /// Begins with the weights of `decoder`, at step 0 of `steps`.
    ///
    /// # Errors
    ///
    /// Where the tokens are too few for one window.
    pub fn new(config: &'a TrainConfig, decoder: Decoder, tokens: &'a [u16], steps: u64) -> Result<Self> {
        let windows = Windows::training(config, tokens, decoder.config().context, decoder.device())?;
        let optimiser = Optimiser::new(config, decoder.weights());
        Ok(Self { decoder, optimiser, config, windows, step: 0, steps })
    }

    /// Goes on after `step`, with the moments of then; the decoder has the weights of then already.
    #[must_use]
    pub fn at(mut self, step: u64, moments: &[Weights; 2]) -> Self {
        self.step = step;
        self.optimiser.restore(step, moments);
        self
    }

    /// Steps done.
    pub fn step(&self) -> u64 {
        self.step
    }

    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Tokens trained on.
    pub fn tokens(&self) -> u64 {
        self.step * self.config.tokens_per_step(self.decoder.config().context)
    }

    /// Gives the next step to the device, and waits for nothing.
    ///
    /// # Errors
    ///
    /// Where libtorch fails; out of memory says what the step needed.
    pub fn advance(&mut self) -> Result<Launched> {
        let rate = self.config.learning_rate.at(self.step, self.steps);
        let numbers = guarded(|| self.launch(rate)).map_err(|error| self.explained(error))?;
        self.step += 1;
        Ok(Launched { step: self.step, tokens: self.tokens(), rate, numbers })
    }

    fn launch(&mut self, rate: f64) -> Result<Tensor> {
        let passes = u64::from(self.config.accumulate);
        let (mut gradients, mut mean) = self.pass(self.step * passes)?;
        for pass in 1..passes {
            let (more, loss) = self.pass(self.step * passes + pass)?;
            shim::add(&gradients, &more)?;
            mean += loss;
        }
        let norm = self.optimiser.step(&gradients, rate)?;
        gradients.clear();
        Ok(Tensor::f_stack(&[mean, norm], 0)?)
    }

    /// The gradients of one forward pass, and its share of the mean loss.
    fn pass(&self, pass: u64) -> Result<(Vec<Tensor>, Tensor)> {
        let Batch { inputs_bt, targets_bt } = self.windows.batch(pass)?;
        let mut loss = self.decoder.loss(self.config.precision, &inputs_bt, &targets_bt);
        if self.config.accumulate > 1 {
            loss = loss.f_div_scalar(f64::from(self.config.accumulate))?;
        }
        Ok((self.optimiser.gradients(&loss)?, loss.f_detach()?))
    }

    fn explained(&self, error: anyhow::Error) -> anyhow::Error {
        if !format!("{error:#}").contains("out of memory") {
            return error;
        }
        let ModelConfig { layers, width, context, .. } = *self.decoder.config();
        Fixable::failed(format!(
            "the device has too little memory for {} windows of {context} tokens and {layers} layers of width {width}",
            self.config.batch
        ))
        .hint("a smaller train.batch with a larger train.accumulate makes the same steps in less memory")
        .into()
    }
}

impl Launched {
    /// Waits for the step and reads its loss and gradient norm.
    ///
    /// # Errors
    ///
    /// Where one of them is not finite.
    pub fn read(self) -> Result<CurvePoint> {
        let numbers = self.numbers.f_to_device(Device::Cpu)?;
        let (loss, gradient_norm) = (numbers.f_double_value(&[0])?, numbers.f_double_value(&[1])?);
        if !(loss.is_finite() && gradient_norm.is_finite()) {
            return Err(Fixable::failed(format!(
                "the loss is `{loss}` and the gradient norm `{gradient_norm}` at step {}",
                self.step
            ))
            .hint("lower train.learning_rate.peak, or make its warmup longer")
            .into());
        }
        Ok(CurvePoint { step: self.step, tokens: self.tokens, loss, learning_rate: self.rate, gradient_norm })
    }
}

/// Turns the panics of tch's plain methods, which are libtorch's errors, into errors.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
        Err(anyhow!("{}", text.unwrap_or("a panic without a message")))
    })
}
