//! What a protocol asks of a model, to be asked again with nothing read back and nothing judged: the time that it cannot do
//! without.

use std::cell::RefCell;

use anyhow::{Context as _, Result};

use crate::measure::decoder::{Cached, logits};
use crate::measure::parts::Threads;
use crate::measure::predictor::{Logits, Next, Predictor, Prompt, Session};
use crate::model::decoder::Decoder;
use crate::model::device;

/// A decoder, and what it was asked.
pub(super) struct Recorded<'a> {
    decoder: &'a Decoder,
    calls: RefCell<Vec<Call>>,
}

enum Call {
    /// Each prompt with its places.
    Pass(Vec<(Vec<u16>, Vec<u32>)>),
    /// So many sequences, and how long they may become.
    Session(usize, usize),
    Step(Vec<u16>),
    Keep(Vec<usize>),
    Losses(Vec<Vec<u16>>),
}

/// How much was asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) passes: u64,
    /// Without padding.
    pub(super) tokens: u64,
}

impl<'a> Recorded<'a> {
    pub(super) fn new(decoder: &'a Decoder) -> Self {
        Self { decoder, calls: RefCell::default() }
    }

    /// The same passes and steps once more, of which nothing is read.
    pub(super) fn again(&self) -> Result<()> {
        let mut session: Option<Cached> = None;
        let begun = "a session begins before its steps";
        for call in &*self.calls.borrow() {
            match call {
                Call::Pass(asked) => {
                    let prompts: Vec<Prompt> = asked.iter().map(|(tokens, asked)| Prompt { tokens, asked }).collect();
                    drop(logits(self.decoder, &prompts)?);
                }
                Call::Session(sequences, length) => session = Some(Cached::new(self.decoder, *sequences, *length)),
                Call::Step(tokens) => drop(session.as_mut().context(begun)?.advance(tokens)?),
                Call::Keep(rows) => session.as_mut().context(begun)?.keep(rows)?,
                Call::Losses(windows) => {
                    drop(self.decoder.losses(&windows.iter().map(Vec::as_slice).collect::<Vec<_>>())?);
                }
            }
        }
        device::synchronize(self.decoder.device());
        Ok(())
    }

    pub(super) fn count(&self) -> Count {
        let tokens = |call: &Call| match call {
            Call::Pass(asked) => Some(asked.iter().map(|(tokens, _)| tokens.len()).sum()),
            Call::Step(tokens) => Some(tokens.len()),
            Call::Losses(windows) => Some(windows.iter().map(|window| window.len() - 1).sum()),
            Call::Session(..) | Call::Keep(_) => None,
        };
        self.calls.borrow().iter().filter_map(tokens).fold(Count::default(), |count, tokens: usize| Count {
            passes: count.passes + 1,
            tokens: count.tokens + tokens as u64,
        })
    }

    fn asked(&self, call: Call) {
        self.calls.borrow_mut().push(call);
    }
}

impl Predictor for Recorded<'_> {
    fn context(&self) -> usize {
        self.decoder.context()
    }

    fn precision(&self) -> &'static str {
        Predictor::precision(self.decoder)
    }

    fn batch(&self) -> usize {
        self.decoder.batch()
    }

    fn growing(&self) -> usize {
        self.decoder.growing()
    }

    fn threads(&self) -> &dyn Threads {
        self.decoder.threads()
    }

    fn predict(&self, prompts: &[Prompt]) -> Result<Logits> {
        self.asked(Call::Pass(prompts.iter().map(|prompt| (prompt.tokens.to_vec(), prompt.asked.to_vec())).collect()));
        self.decoder.predict(prompts)
    }

    fn session(&self, sequences: usize, length: usize) -> Result<Box<dyn Session + '_>> {
        self.asked(Call::Session(sequences, length));
        Ok(Box::new(RecordedSession { of: self, inner: Cached::new(self.decoder, sequences, length) }))
    }

    fn losses(&self, windows: &[&[u16]]) -> Result<Vec<f64>> {
        self.asked(Call::Losses(windows.iter().map(|window| window.to_vec()).collect()));
        self.decoder.losses(windows)
    }

    /// What looks inside is not recorded.
    fn decoder(&self) -> Option<&Decoder> {
        Some(self.decoder)
    }
}

struct RecordedSession<'a> {
    of: &'a Recorded<'a>,
    inner: Cached<'a>,
}

impl Session for RecordedSession<'_> {
    fn step(&mut self, tokens: &[u16]) -> Result<Logits> {
        self.of.asked(Call::Step(tokens.to_vec()));
        self.inner.step(tokens)
    }

    fn next(&mut self, tokens: &[u16], temperature: f64, uniforms: &[f64]) -> Result<Next> {
        self.of.asked(Call::Step(tokens.to_vec()));
        self.inner.next(tokens, temperature, uniforms)
    }

    fn keep(&mut self, sequences: &[usize]) -> Result<()> {
        self.of.asked(Call::Keep(sequences.to_vec()));
        self.inner.keep(sequences)
    }
}
