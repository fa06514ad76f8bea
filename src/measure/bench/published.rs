//! The same metrics the way that was published: each asks for itself, each position with all that stands before it, rules one
//! position at a time, and full games with the whole prefix at each ply.

use anyhow::Result;

use crate::chess::replay::{classify, legal_tokens};
use crate::measure::batched::{Asked, check};
use crate::measure::draw::{Draw, drawn};
use crate::measure::full_games;
use crate::measure::metric::Metric;
use crate::measure::parts::Threads;
use crate::measure::positions::{ValidationGames, prompt};
use crate::measure::predictor::{Logits, Predictor, Prompt, Recompute, Session};
use crate::measure::sampling::{Weights, argmax, top};
use crate::progress::Progress;
use crate::train::bench::asked::PublishedTimed;

/// Games that were played together.
const GAMES: u32 = 64;

/// A predictor and a clock.
#[derive(Clone, Copy)]
pub(super) struct Published<'a> {
    pub(super) predictor: &'a dyn Predictor,
    pub(super) games: &'a ValidationGames<'a>,
    /// Seconds since some moment.
    pub(super) now: &'a dyn Fn() -> f64,
    pub(super) progress: Progress<'a>,
}

impl Published<'_> {
    /// Times one of every `sample` positions, and 64 games at most; none where nothing was published of the metric. Drawing is
    /// not timed.
    pub(super) fn time(&self, metric: &Metric, sample: u32) -> Result<Option<PublishedTimed>> {
        let part = |positions: u32| positions.div_ceil(sample.max(1));
        let (seconds, measured, of) = match *metric {
            Metric::Legality { positions, temperature, seed } => {
                (self.each(Draw::Anywhere { positions: part(positions), seed }, Some(temperature))?, part(positions), positions)
            }
            Metric::Agreement { positions, seed } => {
                (self.each(Draw::Anywhere { positions: part(positions), seed }, None)?, part(positions), positions)
            }
            Metric::Rules { positions, seed } => {
                let draw = |positions| Draw::Rules { positions, seed };
                let of = drawn(self.games, draw(positions), self.threads(), &self.progress)?.0.len() as u32;
                let (seconds, measured) = self.alone(draw(part(positions)))?;
                (seconds, measured, of)
            }
            Metric::FullGames { games, temperature, seed } => {
                let start = (self.now)();
                let whole = Whole(self.predictor);
                full_games::play(&whole, 0..games.min(GAMES), temperature, seed, &self.progress)?;
                ((self.now)() - start, games.min(GAMES), games)
            }
            // Measured by nobody before.
            _ => return Ok(None),
        };
        Ok((measured > 0).then(|| PublishedTimed { name: name(metric), seconds, measured: measured.into(), of: of.into() }))
    }

    /// For what is not timed.
    fn threads(&self) -> &dyn Threads {
        self.predictor.threads()
    }

    /// Batches of positions, each with its own prefix.
    fn each(&self, draw: Draw, temperature: Option<f64>) -> Result<f64> {
        let (met, _) = drawn(self.games, draw, self.threads(), &self.progress)?;
        let places: Vec<_> = met.iter().map(|met| met.at).collect();
        let (mut weights, mut right) = (Weights::default(), 0_u64);
        let start = (self.now)();
        Asked::each(self.games, &places, self.predictor.context()).put(self.predictor, &self.progress, |logits, rows| {
            for (row, items) in rows.iter().enumerate() {
                let logits = logits.row(row);
                right += match temperature {
                    Some(temperature) => {
                        weights.fill(logits, temperature);
                        u64::from(classify(weights.sample(0.5), &met[items[0]].board).is_ok())
                    }
                    None => u64::from(top(logits).contains(&self.games.human(met[items[0]].at))),
                };
            }
            Ok(())
        })?;
        std::hint::black_box(right);
        Ok((self.now)() - start)
    }

    /// One position at a time.
    fn alone(&self, draw: Draw) -> Result<(f64, u32)> {
        let (met, _) = drawn(self.games, draw, self.threads(), &self.progress)?;
        let (mut weights, mut legal, mut mass) = (Weights::default(), Vec::new(), 0.0);
        let start = (self.now)();
        for met in &met {
            check(&self.progress)?;
            let tokens = prompt(self.games.before(met.at), self.predictor.context());
            let logits = self.predictor.predict(&[Prompt { tokens: &tokens, asked: &[tokens.len() as u32 - 1] }])?;
            legal_tokens(&met.board, &mut legal);
            weights.fill(logits.row(0), 1.0);
            mass += weights.mass(&legal) + f64::from(argmax(logits.row(0)));
        }
        std::hint::black_box(mass);
        Ok(((self.now)() - start, met.len() as u32))
    }
}

fn name(metric: &Metric) -> String {
    match *metric {
        Metric::FullGames { temperature, .. } => format!("{} T={temperature}", metric.name()),
        _ => metric.name().to_owned(),
    }
}

/// A predictor whose sessions cache nothing.
struct Whole<'a>(&'a dyn Predictor);

impl Predictor for Whole<'_> {
    fn context(&self) -> usize {
        self.0.context()
    }

    fn predict(&self, prompts: &[Prompt]) -> Result<Logits> {
        self.0.predict(prompts)
    }

    fn session(&self, sequences: usize, _: usize) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(Recompute::new(self.0, sequences)))
    }
}
