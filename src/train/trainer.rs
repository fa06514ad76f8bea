//! One optimiser step after another. What is told of them, and when to stop, is the caller's.

use std::thread::Scope;

use anyhow::Result;
use tch::{Device, Tensor};

use super::average::Average;
use super::config::{OnSpike, Precision, TrainConfig};
use super::exchange::Exchange;
use super::files::CurvePoint;
use super::loader::{Loader, Taken};
use super::optimiser::Optimiser;
use super::shortage;
use super::watch::{Limits, Watch};
use super::windows::Windows;
use crate::data::packing::Packed;
use crate::data::tokens::TokenStream;
use crate::error::Fixable;
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
    /// The average of the weights, where one is asked for.
    pub average: Option<Average>,
    /// What is expected of the next steps.
    pub watch: Watch,
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
    /// What was expected of it, where spikes are watched for.
    limits: Option<Limits>,
    /// Loss, gradient norm and, where spikes are skipped, whether it was one.
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
        let average = config.ema.map(|ema| Average::of(ema, decoder.weights()));
        let (exchange, watch) = (Exchange::new(&Alone), Watch::default());
        Ok(Self { decoder, optimiser, config, windows, exchange, average, watch, loader: None, step: 0, steps })
    }

    /// Goes on after `step`, with the moments, the average and what was expected then; the decoder has the weights of then
    /// already.
    #[must_use]
    pub fn at(mut self, step: u64, moments: &[Weights; 2], average: Option<&Weights>, watch: Watch) -> Self {
        self.step = step;
        self.watch = watch;
        self.optimiser.restore(step, moments);
        if let (Some(own), Some(saved)) = (&mut self.average, average) {
            own.restore(saved);
        }
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
        let limits = self.config.spikes.map(|spikes| self.watch.limits(spikes, self.step + 1));
        let (model, device) = (self.decoder.config().clone(), self.decoder.device());
        let numbers = shortage::guarded(self.config, &model, device, || self.launch(rate, limits))?;
        self.step += 1;
        Ok(Launched { step: self.step, tokens: self.tokens(), rate, limits, numbers })
    }

    /// Waits for a step and reads its loss and gradient norm.
    ///
    /// # Errors
    ///
    /// Where one of them is not finite, or is a spike that ends the training; with the batch that it was.
    pub fn read(&mut self, launched: Launched) -> Result<CurvePoint> {
        let Launched { step, tokens, rate, limits, numbers } = launched;
        let numbers = Vec::<f32>::try_from(numbers.f_to_device(Device::Cpu)?)?;
        let [loss, gradient_norm] = [numbers[0], numbers[1]].map(f64::from);
        let skipped = numbers.get(2).is_some_and(|skipped| *skipped > 0.5);
        let point = CurvePoint { step, tokens, loss, learning_rate: rate, gradient_norm, skipped };
        self.watch.saw(&point);
        if skipped {
            return Ok(point);
        }
        let of = self.windows.named(step - 1, u64::from(self.config.accumulate));
        if !(loss.is_finite() && gradient_norm.is_finite()) {
            let text = format!("the loss is `{loss}` and the gradient norm `{gradient_norm}` at step {step}, {of}");
            return Err(Fixable::failed(text).hint("lower train.learning_rate.peak, or make its warmup longer").into());
        }
        // Under `skip` the device has decided, in float32.
        match limits.filter(|_| !self.skips()) {
            Some(most) if loss > most.loss || gradient_norm > most.norm => Err(Fixable::failed(format!(
                "step {step} is a spike: its loss is `{loss:.4}`, and up to {:.4} is expected; its gradient norm `{gradient_norm:.4}`, \
                 and up to {:.4}; {of}",
                most.loss, most.norm
            ))
            .hint("look at that batch, lower train.learning_rate.peak, or let train.spikes.then be \"skip\"")
            .into()),
            _ => Ok(point),
        }
    }

    fn launch(&mut self, rate: f64, limits: Option<Limits>) -> Result<Tensor> {
        let passes = u64::from(self.config.accumulate);
        let (gradients, mut mean) = self.pass(self.step * passes)?;
        for pass in 1..passes {
            let (more, loss) = self.pass(self.step * passes + pass)?;
            shim::add(&gradients, &more)?;
            mean += loss;
        }
        let (gradients, mean) = self.exchange.sum(gradients, mean)?;
        let norm = self.optimiser.clip(&gradients)?;
        let skip = limits.filter(|_| self.skips()).map(|limits| limits.exceeded(&mean, &norm)).transpose()?;
        self.optimiser.step(&gradients, rate, skip.as_ref())?;
        drop(gradients);
        if let Some(average) = &self.average {
            average.follow(self.decoder.weights(), skip.as_ref())?;
        }
        let numbers: Vec<Tensor> = [Some(mean), Some(norm), skip].into_iter().flatten().collect();
        Ok(Tensor::f_stack(&numbers, 0)?)
    }

    fn skips(&self) -> bool {
        self.config.spikes.is_some_and(|spikes| spikes.then == OnSpike::Skip)
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
}
