//! One optimiser step after another. What is told of them, and when to stop, is the caller's.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::Scope;

use anyhow::{Result, anyhow};
use tch::{Device, Tensor};

use super::config::{Precision, TrainConfig};
use super::exchange::Exchange;
use super::files::CurvePoint;
use super::loader::{Loader, Taken};
use super::optimiser::Optimiser;
use super::windows::Windows;
use crate::data::packing::Packed;
use crate::data::tokens::TokenStream;
use crate::error::Fixable;
use crate::model::config::ModelConfig;
use crate::model::decoder::Decoder;
use crate::model::shim;
use crate::model::weights::Weights;
use crate::ranks::{Alone, Ranks};

pub struct Trainer<'a> {
    pub decoder: Decoder,
    pub optimiser: Optimiser,
    config: &'a TrainConfig,
    windows: Windows<'a>,
    exchange: Exchange<'a>,
    /// Where batches come from; without it, each is made when it is asked for.
    loader: Option<Loader>,
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
    pub fn new(config: &'a TrainConfig, decoder: Decoder, tokens: impl Into<TokenStream<'a>>, steps: u64) -> Result<Self> {
        shim::allow_tf32(config.precision == Precision::Tf32)?;
        let windows = Windows::training(config, tokens, decoder.config().context, decoder.device())?;
        let optimiser = Optimiser::new(config, decoder.weights());
        Ok(Self { decoder, optimiser, config, windows, exchange: Exchange::new(&Alone), loader: None, step: 0, steps })
    }

    /// Goes on after `step`, with the moments of then; the decoder has the weights of then already.
    #[must_use]
    pub fn at(mut self, step: u64, moments: &[Weights; 2]) -> Self {
        self.step = step;
        self.optimiser.restore(step, moments);
        self
    }

    /// Shares each forward pass with the other ranks: this one takes its rows of the batch.
    ///
    /// # Errors
    ///
    /// [`Exit::Usage`](crate::error::Exit::Usage) where the batch cannot be shared evenly.
    pub fn among(mut self, ranks: &'a dyn Ranks) -> Result<Self> {
        self.windows = self.windows.rows(ranks.rows(self.config.batch)?);
        self.exchange = Exchange::new(ranks);
        Ok(self)
    }

    /// Has the batches from here on filled ahead, by a thread of `scope` that ends with the trainer. They are the same ones.
    ///
    /// # Errors
    ///
    /// Where there is no memory for them, or no thread.
    pub fn ahead<'scope>(&mut self, scope: &'scope Scope<'scope, '_>) -> Result<()>
    where
        'a: 'scope,
    {
        self.loader = Some(Loader::start(scope, &self.windows, self.step * u64::from(self.config.accumulate))?);
        Ok(())
    }

    /// The windows of whole games, where the training is of those.
    pub fn packed(&self) -> Option<&Packed<'a>> {
        self.windows.packed()
    }

    /// Steps done.
    pub fn step(&self) -> u64 {
        self.step
    }

    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Tokens trained on, padding of packed windows counted as they are: it takes as long.
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
        let (gradients, mut mean) = self.pass(self.step * passes)?;
        for pass in 1..passes {
            let (more, loss) = self.pass(self.step * passes + pass)?;
            shim::add(&gradients, &more)?;
            mean += loss;
        }
        let (gradients, mean) = self.exchange.sum(gradients, mean)?;
        let norm = self.optimiser.step(&gradients, rate)?;
        drop(gradients);
        Ok(Tensor::f_stack(&[mean, norm], 0)?)
    }

    /// The gradients of one forward pass, and its share of the mean loss over all targets of the step.
    fn pass(&self, pass: u64) -> Result<(Vec<Tensor>, Tensor)> {
        // Until the end: the backward pass still looks at the batch.
        let batch = self.batch(pass)?;
        let mut loss = batch.loss(&self.decoder, self.config.precision);
        if batch.targets.here != batch.targets.step {
            loss = loss.f_div_scalar(batch.shares())?;
        }
        Ok((self.optimiser.gradients(&loss)?, loss.f_detach()?))
    }

    fn batch(&self, pass: u64) -> Result<Taken<'_>> {
        match &self.loader {
            Some(loader) => loader.take(pass),
            None => self.windows.batch(pass).map(Taken::from),
        }
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
fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
        Err(anyhow!("{}", text.unwrap_or("a panic without a message")))
    })
}
