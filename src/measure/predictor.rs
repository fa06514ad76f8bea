//! What is measured: anything that maps a prompt to logits. Models are one kind; the fakes of the known-answer
//! tests are another.

use anyhow::{Result, ensure};

use crate::chess::vocabulary::VOCABULARY_SIZE;
use crate::error::Fixable;
use crate::model::decoder::Decoder;

use super::parts::{Own, Threads};
use super::sampling::largest;

/// A next-token predictor over the vocabulary.
pub trait Predictor {
    /// Most tokens of a prompt.
    fn context(&self) -> usize;

    /// The kind of its matrix products, which is part of the protocol: that of these passes, not of the training.
    fn precision(&self) -> &'static str {
        "f32"
    }

    /// Prompts to hand over at a time. It decides the speed, and results by no more than rounding.
    fn batch(&self) -> usize {
        64
    }

    /// Sequences that grow together at a time, in one [session](Self::session): as many as memory allows. It decides what
    /// [`batch`](Self::batch) does.
    fn growing(&self) -> usize {
        self.batch()
    }

    /// Those who work on what is done with the logits: as many as the passes take. They decide the speed, and nothing else.
    fn threads(&self) -> &dyn Threads {
        &Own(1)
    }

    /// The logits at every place that is asked for, prompt after prompt. Prompts hold 1 to [`context`](Self::context) tokens.
    fn predict(&self, prompts: &[Prompt]) -> Result<Logits>;

    /// So many sequences, all empty, that grow token by token up to `length` tokens, at most the context.
    fn session(&self, sequences: usize, length: usize) -> Result<Box<dyn Session + '_>>;

    /// The nats of each window: minus the natural logarithm of the probability of every token but its first, together. Windows
    /// hold 2 to [`context`](Self::context) + 1 tokens.
    fn losses(&self, windows: &[&[u16]]) -> Result<Vec<f64>> {
        windows.iter().map(|window| loss(self, window)).collect()
    }

    /// Its layers, for what looks inside; only a decoder has them.
    fn decoder(&self) -> Option<&Decoder> {
        None
    }
}

/// A sequence, and after which of its tokens the next one is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Prompt<'a> {
    pub tokens: &'a [u16],
    /// Indices into the tokens, ascending.
    pub asked: &'a [u32],
}

/// Sequences of equal length that grow together.
pub trait Session {
    /// Adds one token to each sequence, and returns the logits of the next.
    fn step(&mut self, tokens: &[u16]) -> Result<Logits>;

    /// The same, where no more is wanted of the logits than a token of each row, sampled by a number in [0, 1): a device that
    /// is not the host samples by itself.
    fn next(&mut self, tokens: &[u16], _temperature: f64, _uniforms: &[f64]) -> Result<Next> {
        Ok(Next::Logits(self.step(tokens)?))
    }

    /// Goes on with these sequences only, numbered as they stand now, each at most once. Those that keep their place cost
    /// nothing.
    fn keep(&mut self, sequences: &[usize]) -> Result<()>;
}

/// What comes next in each sequence.
pub enum Next {
    /// Still to be sampled from.
    Logits(Logits),
    Tokens(Vec<u16>),
}

/// Float32 logits, one row of [`VOCABULARY_SIZE`] a prompt, in memory of their own or where libtorch has them.
pub struct Logits {
    values: Box<dyn AsRef<[f32]> + Send + Sync>,
}

impl Logits {
    /// Takes `[rows, VOCABULARY_SIZE]` values in row-major order.
    ///
    /// # Errors
    ///
    /// Where the size is wrong, or a row holds NaN or +∞ or nothing but −∞: an instrument must not read a broken model.
    pub fn new(values: Vec<f32>, rows: usize) -> Result<Self> {
        // NaN is lost in a maximum.
        let most = |row: &[f32]| if row.iter().fold(false, |nan, logit| nan | logit.is_nan()) { f32::NAN } else { largest(row) };
        let largest: Vec<f32> = values.chunks_exact(VOCABULARY_SIZE).map(most).collect();
        ensure!(largest.len() == rows, "{} logits for {rows} rows of {VOCABULARY_SIZE}", values.len());
        Self::of(values, &largest)
    }

    /// The same, where the largest number of each row is known: NaN if the row holds one.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn of(values: impl AsRef<[f32]> + Send + Sync + 'static, largest: &[f32]) -> Result<Self> {
        let (given, rows) = (values.as_ref().len(), largest.len());
        ensure!(given == rows * VOCABULARY_SIZE, "{given} logits for {rows} rows of {VOCABULARY_SIZE}");
        if !largest.iter().all(|most| most.is_finite()) {
            return Err(not_numbers().into());
        }
        Ok(Self { values: Box::new(values) })
    }

    pub fn row(&self, row: usize) -> &[f32] {
        &(*self.values).as_ref()[row * VOCABULARY_SIZE..][..VOCABULARY_SIZE]
    }
}

/// Of a model whose logits hold NaN, or an infinity where they must not.
pub(super) fn not_numbers() -> Fixable {
    Fixable::failed("the model's logits are not numbers").hint("look at the curve of the loss: the training has diverged")
}

/// Asks what comes after each of these sequences, or after their last tokens that the context holds.
pub(super) fn with_last<T>(context: usize, sequences: &[Vec<u16>], ask: impl FnOnce(&[Prompt]) -> T) -> T {
    let shown = |sequence: &'_ Vec<u16>| sequence.len().saturating_sub(context);
    let last: Vec<u32> = sequences.iter().map(|sequence| (sequence.len() - shown(sequence)) as u32 - 1).collect();
    let prompts = sequences.iter().zip(&last);
    let prompts: Vec<Prompt> = prompts
        .map(|(sequence, last)| Prompt { tokens: &sequence[shown(sequence)..], asked: std::slice::from_ref(last) })
        .collect();
    ask(&prompts)
}

/// Minus the natural logarithm of the probability of a token, in float64: no probability is so small that it comes out as none.
fn nats(logits: &[f32], token: u16) -> f64 {
    let largest = f64::from(largest(logits));
    let sum: f64 = logits.iter().map(|&logit| (f64::from(logit) - largest).exp()).sum();
    largest + sum.ln() - f64::from(logits[usize::from(token)])
}

/// The nats of a window, by the probabilities at every place.
pub(super) fn loss<P: Predictor + ?Sized>(predictor: &P, window: &[u16]) -> Result<f64> {
    let places: Vec<u32> = (0..window.len() as u32 - 1).collect();
    let logits = predictor.predict(&[Prompt { tokens: &window[..places.len()], asked: &places }])?;
    Ok(window[1..].iter().enumerate().map(|(row, &token)| nats(logits.row(row), token)).sum())
}

/// A session that asks with the whole sequences each time: slow, and right for any predictor.
pub struct Recompute<'a, P: Predictor + ?Sized> {
    predictor: &'a P,
    sequences: Vec<Vec<u16>>,
}

impl<'a, P: Predictor + ?Sized> Recompute<'a, P> {
    pub fn new(predictor: &'a P, sequences: usize) -> Self {
        Self { predictor, sequences: vec![Vec::new(); sequences] }
    }
}

impl<P: Predictor + ?Sized> Session for Recompute<'_, P> {
    fn step(&mut self, tokens: &[u16]) -> Result<Logits> {
        ensure!(tokens.len() == self.sequences.len(), "{} tokens for {} sequences", tokens.len(), self.sequences.len());
        for (sequence, &token) in self.sequences.iter_mut().zip(tokens) {
            sequence.push(token);
        }
        with_last(self.predictor.context(), &self.sequences, |prompts| self.predictor.predict(prompts))
    }

    fn keep(&mut self, sequences: &[usize]) -> Result<()> {
        self.sequences = sequences.iter().map(|&sequence| std::mem::take(&mut self.sequences[sequence])).collect();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logits_that_are_no_numbers_are_refused_and_impossible_tokens_are_not() {
        let row = |at_7| {
            let mut row = vec![0.0; VOCABULARY_SIZE];
            row[7] = at_7;
            row
        };
        for bad in [f32::NAN, f32::INFINITY] {
            assert!(Logits::new(row(bad), 1).is_err(), "{bad}");
        }
        assert!(Logits::new(vec![f32::NEG_INFINITY; VOCABULARY_SIZE], 1).is_err());
        assert!(Logits::new(row(0.0), 2).is_err());
        assert!(Logits::new(row(f32::NEG_INFINITY), 1).is_ok());
    }
}
