//! The decoder as a predictor: right-padded batches, and games that grow on a KV cache.

use anyhow::{Result, ensure};
use tch::{Device, Tensor, no_grad};

use crate::chess::vocabulary::PAD;
use crate::model::cache::KvCache;
use crate::model::config::Precision;
use crate::model::decoder::{Decoder, NOT_ASKED};
use crate::model::host::OnHost;
use crate::model::shim;

use super::on_device;
use super::parts::Threads;
use super::predictor::{Logits, Next, Predictor, Prompt, Session, with_last};

impl Predictor for Decoder {
    fn context(&self) -> usize {
        self.config().context as usize
    }

    fn precision(&self) -> &'static str {
        match Decoder::precision(self) {
            Precision::F32 => "f32",
            Precision::Tf32 => "tf32",
            Precision::Bf16 => "bf16",
        }
    }

    fn batch(&self) -> usize {
        match self.device() {
            Device::Cpu => 64,
            _ => 256,
        }
    }

    /// As many as have their keys and values in a gigabyte, or eight on a GPU, if all of them become as long as a session.
    fn growing(&self) -> usize {
        let config = self.config();
        let bytes = if Decoder::precision(self) == Precision::Bf16 { 2 } else { 4 };
        let token = 2 * bytes * u64::from(config.layers) * u64::from(config.width);
        let room = if self.device().is_cuda() { 8_u64 << 30 } else { 1 << 30 };
        (room / (token * u64::from(config.context).min(SESSION))).clamp(64, 512) as usize
    }

    /// Those of libtorch.
    fn threads(&self) -> &dyn Threads {
        &OfLibtorch
    }

    fn predict(&self, prompts: &[Prompt]) -> Result<Logits> {
        read(&logits(self, prompts)?)
    }

    fn session(&self, sequences: usize, length: usize) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(Cached::new(self, sequences, length)))
    }

    fn losses(&self, windows: &[&[u16]]) -> Result<Vec<f64>> {
        let longest = windows.iter().map(|window| window.len()).max().unwrap_or(0);
        ensure!(
            windows.iter().all(|window| (2..=self.context() + 1).contains(&window.len())),
            "windows must hold 2 to {} tokens",
            self.context() + 1
        );
        let (b, t) = (windows.len(), longest.saturating_sub(1));
        let (mut inputs, mut targets) = (vec![i64::from(PAD); b * t], vec![NOT_ASKED; b * t]);
        for ((inputs, targets), window) in inputs.chunks_mut(t.max(1)).zip(targets.chunks_mut(t.max(1))).zip(windows) {
            inputs.iter_mut().zip(&window[..window.len() - 1]).for_each(|(place, &token)| *place = i64::from(token));
            targets.iter_mut().zip(&window[1..]).for_each(|(place, &token)| *place = i64::from(token));
        }
        let [inputs_bt, targets_bt] =
            [inputs, targets].map(|tokens| Tensor::from_slice(&tokens).view([b as i64, t as i64]).to_device(self.device()));
        Ok(Vec::try_from(no_grad(|| self.row_losses(&inputs_bt, &targets_bt)).to_device(Device::Cpu))?)
    }

    fn decoder(&self) -> Option<&Decoder> {
        Some(self)
    }
}

/// The threads that the passes have: after a pass they still wait for the next one actively, and others would share their
/// cores with them.
#[derive(Clone, Copy, Debug)]
pub(super) struct OfLibtorch;

impl Threads for OfLibtorch {
    fn count(&self) -> usize {
        tch::get_num_threads().max(1) as usize
    }

    fn at_once(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        shim::share(parts, work).expect("an iterator over a few numbers is made");
    }
}

/// Tokens that a session is reckoned to grow to.
const SESSION: u64 = 250;

/// The logits at every place that is asked for, where the device has them.
pub(super) fn logits(decoder: &Decoder, prompts: &[Prompt]) -> Result<Tensor> {
    let longest = prompts.iter().map(|prompt| prompt.tokens.len()).max().unwrap_or(0);
    ensure!(
        longest <= decoder.context() && prompts.iter().all(|prompt| !prompt.tokens.is_empty()),
        "prompts must hold 1 to {} tokens",
        decoder.config().context
    );
    let mut tokens = vec![i64::from(PAD); prompts.len() * longest];
    let mut places = Vec::new();
    for (row, (shown, prompt)) in tokens.chunks_exact_mut(longest.max(1)).zip(prompts).enumerate() {
        shown.iter_mut().zip(prompt.tokens).for_each(|(place, &token)| *place = i64::from(token));
        ensure!(prompt.asked.iter().all(|&at| (at as usize) < prompt.tokens.len()), "a place beyond the end of its prompt");
        places.extend(prompt.asked.iter().map(|&at| (row * longest) as i64 + i64::from(at)));
    }
    let tokens_bt = Tensor::from_slice(&tokens).view([prompts.len() as i64, longest as i64]).to_device(decoder.device());
    Ok(no_grad(|| decoder.logits_at(&tokens_bt, &places)))
}

/// Sequences that grow on a cache.
pub(super) struct Cached<'a> {
    decoder: &'a Decoder,
    /// The same, packed.
    stepping: Decoder,
    /// A row for each sequence, and after them some that nobody reads.
    cache: KvCache,
    /// For what comes after the context is full: then each token moves the window, and with it all that is cached.
    sequences: Vec<Vec<u16>>,
}

impl<'a> Cached<'a> {
    pub(super) fn new(decoder: &'a Decoder, sequences: usize, length: usize) -> Self {
        let cache = KvCache::new(decoder, rows_for(sequences), length.min(decoder.context()));
        Self { decoder, stepping: decoder.packed(), cache, sequences: vec![Vec::new(); sequences] }
    }

    /// Adds one token to each sequence; the logits of the next, where the device has them.
    pub(super) fn advance(&mut self, tokens: &[u16]) -> Result<Tensor> {
        ensure!(tokens.len() == self.sequences.len(), "{} tokens for {} sequences", tokens.len(), self.sequences.len());
        self.sequences.iter_mut().zip(tokens).for_each(|(sequence, &token)| sequence.push(token));
        if self.cache.room() == 0 {
            return with_last(self.decoder.context(), &self.sequences, |prompts| logits(self.decoder, prompts));
        }
        let mut shown = vec![i64::from(PAD); self.cache.lengths().len()];
        shown.iter_mut().zip(tokens).for_each(|(place, &token)| *place = i64::from(token));
        let tokens_b1 = Tensor::from_slice(&shown).view([-1, 1]).to_device(self.decoder.device());
        Ok(no_grad(|| self.stepping.step(&tokens_b1, &mut self.cache).narrow(0, 0, tokens.len() as i64)))
    }
}

impl Session for Cached<'_> {
    fn step(&mut self, tokens: &[u16]) -> Result<Logits> {
        read(&self.advance(tokens)?)
    }

    fn next(&mut self, tokens: &[u16], temperature: f64, uniforms: &[f64]) -> Result<Next> {
        let logits_nv = self.advance(tokens)?;
        match logits_nv.device() {
            Device::Cpu => Ok(Next::Logits(read(&logits_nv)?)),
            _ => Ok(Next::Tokens(on_device::sample(&logits_nv, temperature, uniforms)?)),
        }
    }

    fn keep(&mut self, sequences: &[usize]) -> Result<()> {
        self.sequences = sequences.iter().map(|&sequence| std::mem::take(&mut self.sequences[sequence])).collect();
        let unread = sequences.len()..rows_for(sequences.len()).min(self.cache.lengths().len());
        let rows: Vec<i64> = sequences.iter().copied().chain(unread).map(|row| row as i64).collect();
        no_grad(|| self.cache.select(&rows));
        Ok(())
    }
}

/// Rows for so many sequences, a sixteenth more at most: libtorch makes its kernels anew for each number of rows that it
/// meets, and games end one by one.
fn rows_for(sequences: usize) -> usize {
    sequences.next_multiple_of((sequences / 16).next_power_of_two())
}

fn read(logits_nv: &Tensor) -> Result<Logits> {
    // NaN where a row holds one.
    let largest: Vec<f32> = no_grad(|| logits_nv.amax(-1_i64, false)).to_device(Device::Cpu).try_into()?;
    Logits::of(OnHost::of(logits_nv)?, &largest)
}

#[cfg(test)]
mod tests {
    use super::super::fakes::{self, Lawful};
    use super::super::metric::Metric;
    use super::super::parts::Own;
    use super::super::positions::ValidationGames;
    use super::super::predictor::{self, Recompute};
    use super::super::{Material, Measured, measure};
    use super::*;
    use crate::model::config::ModelConfig;
    use crate::progress::silent;

    fn decoder() -> Decoder {
        let config = ModelConfig { layers: 2, heads: 2, width: 32, hidden: 64, context: 48 };
        Decoder::new(&config, 3, Device::Cpu).expect("the CPU has memory")
    }

    fn score(metric: &Metric, predictor: &dyn Predictor) -> Measured {
        let games = fakes::games();
        let on = Material::of(ValidationGames::new(fakes::slices(&games)));
        measure(metric, predictor, &on, &silent()).expect("games to measure on")
    }

    #[test]
    fn games_played_on_a_cache_are_those_played_with_whole_prefixes() {
        let decoder = decoder();
        for temperature in [0.0, 1.0] {
            let metric = Metric::FullGames { games: 12, temperature, seed: 5 };
            // Untrained, it would break the rules on the first move; held to them, it plays on past its context.
            let [cached, whole] = [true, false].map(|cached| score(&metric, &Lawful { inner: &decoder, cached }));
            assert_eq!(cached.games, whole.games, "at temperature {temperature}");
            assert!(cached.counts["limit"] > 6, "{:?}", cached.counts);
            // One game at a time, and nothing cached.
            let alone = fakes::Rebatched { inner: &Lawful { inner: &decoder, cached: false }, batch: 1, threads: Own(1) };
            assert_eq!(score(&metric, &alone).games, cached.games, "at temperature {temperature}");
        }
    }

    #[test]
    fn logits_on_a_cache_are_those_of_whole_prefixes_whichever_games_go_on_and_beyond_the_context_too() {
        let decoder = decoder();
        // As many as have a row beside them that nobody reads.
        let mut rows = 41;
        let mut whole = Recompute::new(&decoder, rows);
        let mut cached = decoder.session(rows, 250).expect("the CPU has memory");
        for step in 0..60_u16 {
            let tokens: Vec<u16> =
                (0..rows as u16).map(|row| if step == 0 { 1 } else { 3 + (31 * step + 7 * row) % 1900 }).collect();
            let (ours, full) = (cached.step(&tokens).expect("logits"), whole.step(&tokens).expect("logits"));
            for row in 0..rows {
                for (one, other) in ours.row(row).iter().zip(full.row(row)) {
                    assert!((one - other).abs() < 1e-5, "step {step}, row {row}: {one}, not {other}");
                }
            }
            let first = |count: usize| (0..count).collect::<Vec<usize>>();
            let kept = match step {
                // The last one takes the place of one that ends.
                7 => [vec![0, 40], (2..40).collect()].concat(),
                8 => first(39),
                12 => [vec![38], (1..33).collect()].concat(),
                20 => first(20),
                30 => vec![0, 19, 2, 3, 4, 5],
                50 => vec![3, 1, 2],
                _ => continue,
            };
            rows = kept.len();
            cached.keep(&kept).expect("rows there are");
            whole.keep(&kept).expect("rows there are");
        }
    }

    #[test]
    fn the_size_of_batches_and_the_number_of_threads_change_no_outcome() {
        let decoder = decoder();
        for metric in [
            Metric::Legality { positions: 200, temperature: 1.0, seed: 5 },
            Metric::Agreement { positions: 200, seed: 5 },
            Metric::FullGames { games: 20, temperature: 1.0, seed: 5 },
        ] {
            let score = |batch, threads| score(&metric, &fakes::Rebatched { inner: &decoder, batch, threads: Own(threads) });
            let one = score(1, 1);
            for (batch, threads) in [(64, 1), (64, 3), (7, 2)] {
                assert_eq!(score(batch, threads), one, "{batch} at a time by {threads}");
            }
        }
    }

    #[test]
    fn the_precision_named_is_that_of_the_passes() {
        let precision = |of: Precision| Predictor::precision(&decoder().with_precision(of));
        assert_eq!([Precision::F32, Precision::Bf16].map(precision), ["f32", "bf16"]);
    }

    #[test]
    fn prompts_that_do_not_fit_are_an_error() {
        let ask = |tokens: &[u16], asked: &[u32]| decoder().predict(&[Prompt { tokens, asked }]);
        assert!(ask(&[1; 48], &[0, 47]).is_ok());
        assert!(ask(&[1; 49], &[48]).is_err());
        assert!(ask(&[1], &[1]).is_err() && ask(&[], &[]).is_err());
    }

    #[test]
    fn losses_are_those_of_training_and_of_the_probabilities() {
        let decoder = decoder();
        let tokens: Vec<u16> = (0..98).map(|at| (at * 37 % 1971) as u16).collect();
        let windows = [&tokens[..49], &tokens[48..97], &tokens[90..]];
        let fast = decoder.losses(&windows).expect("they fit");
        for (window, nats) in windows.into_iter().zip(fast) {
            let of = |tokens: &[u16]| {
                Tensor::from_slice(&tokens.iter().map(|&token| i64::from(token)).collect::<Vec<_>>()).unsqueeze(0)
            };
            let targets = window.len() - 1;
            let loss = decoder.loss(Precision::F32, &of(&window[..targets]), &of(&window[1..])).double_value(&[]);
            assert!((nats / targets as f64 / loss - 1.0).abs() < 1e-6, "{nats} for {targets} targets, not {loss} each");
            let slow = predictor::loss(&decoder, window).expect("it fits");
            assert!((nats / slow - 1.0).abs() < 1e-6, "{nats}, not {slow}");
        }
        assert!(decoder.losses(&[&tokens[..50]]).is_err() && decoder.losses(&[&tokens[..1]]).is_err());
    }
}
