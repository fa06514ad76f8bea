//! The decoder as a predictor: right-padded batches, and games that grow on a KV cache.

use anyhow::{Result, ensure};
use tch::{Device, Tensor, no_grad};

use crate::chess::vocabulary::PAD;
use crate::model::cache::KvCache;
use crate::model::config::Precision;
use crate::model::decoder::Decoder;

use super::predictor::{Logits, Predictor, Session};

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

    fn predict(&self, prompts: &[&[u16]]) -> Result<Logits> {
        let longest = prompts.iter().map(|prompt| prompt.len()).max().unwrap_or(0);
        ensure!(
            longest <= self.context() && prompts.iter().all(|prompt| !prompt.is_empty()),
            "prompts must hold 1 to {} tokens",
            self.config().context
        );
        let mut tokens = vec![i64::from(PAD); prompts.len() * longest];
        for (row, prompt) in tokens.chunks_exact_mut(longest.max(1)).zip(prompts) {
            row.iter_mut().zip(*prompt).for_each(|(place, &token)| *place = i64::from(token));
        }
        let lengths: Vec<i64> = prompts.iter().map(|prompt| prompt.len() as i64).collect();
        let tokens_bt = Tensor::from_slice(&tokens).view([prompts.len() as i64, longest as i64]).to_device(self.device());
        read(&no_grad(|| self.last_logits(&tokens_bt, &lengths)), prompts.len())
    }

    fn session(&self, sequences: usize, length: usize) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(Cached { decoder: self, cache: KvCache::new(self, sequences, length) }))
    }
}

struct Cached<'a> {
    decoder: &'a Decoder,
    cache: KvCache,
}

impl Session for Cached<'_> {
    fn step(&mut self, tokens: &[u16]) -> Result<Logits> {
        ensure!(self.cache.room() > 0, "the sequences are {} tokens long already", self.cache.lengths()[0]);
        let tokens: Vec<i64> = tokens.iter().copied().map(i64::from).collect();
        let tokens_b1 = Tensor::from_slice(&tokens).view([-1, 1]).to_device(self.decoder.device());
        read(&no_grad(|| self.decoder.step(&tokens_b1, &mut self.cache)), tokens.len())
    }

    fn keep(&mut self, sequences: &[usize]) -> Result<()> {
        let rows: Vec<i64> = sequences.iter().map(|&row| row as i64).collect();
        no_grad(|| self.cache.select(&rows));
        Ok(())
    }
}

fn read(logits_bv: &Tensor, rows: usize) -> Result<Logits> {
    Logits::new(Vec::try_from(logits_bv.flatten(0, 1).to_device(Device::Cpu))?, rows)
}

#[cfg(test)]
mod tests {
    use super::super::fakes::{self, Lawful};
    use super::super::metric::Metric;
    use super::super::positions::ValidationGames;
    use super::super::{Measured, measure, protocol};
    use super::*;
    use crate::model::config::ModelConfig;
    use crate::progress::silent;

    fn decoder() -> Decoder {
        let config = ModelConfig { layers: 2, heads: 2, width: 32, hidden: 64, context: 48 };
        Decoder::new(&config, 3, Device::Cpu).expect("the CPU has memory")
    }

    fn score(metric: Metric, predictor: &dyn Predictor) -> Measured {
        let games = fakes::games();
        measure(&metric, predictor, &ValidationGames::new(fakes::slices(&games)), &silent()).expect("games to measure on")
    }

    #[test]
    fn games_played_on_a_cache_are_those_played_with_whole_prefixes() {
        let decoder = decoder();
        for temperature in [0.0, 1.0] {
            let metric = Metric::FullGames { games: 12, temperature, seed: 5 };
            // Untrained, it would break the rules on the first move; held to them, it plays as long as its context.
            let [cached, whole] = [true, false].map(|cached| score(metric, &Lawful { inner: &decoder, cached }));
            assert_eq!(cached.games, whole.games, "at temperature {temperature}");
            assert!(cached.counts["limit"] > 6, "{:?}", cached.counts);
        }
    }

    #[test]
    fn the_size_of_batches_changes_no_outcome() {
        let decoder = decoder();
        for metric in [
            Metric::Legality { positions: 200, temperature: 1.0, seed: 5 },
            Metric::Agreement { positions: 200, seed: 5 },
            Metric::FullGames { games: 20, temperature: 1.0, seed: 5 },
        ] {
            let [one, many] = [1, 64].map(|batch| score(metric, &fakes::Rebatched { inner: &decoder, batch }));
            assert_eq!(one, many);
        }
    }

    #[test]
    fn the_protocol_names_the_precision_of_the_passes() {
        let metric = Metric::Agreement { positions: 1, seed: 5 };
        let precision = |of: Precision| protocol(&metric, "", &decoder().with_precision(of)).precision;
        assert_eq!([Precision::F32, Precision::Bf16].map(precision), ["f32", "bf16"]);
    }

    #[test]
    fn prompts_that_do_not_fit_are_an_error() {
        assert!(decoder().predict(&[&[1; 49]]).is_err());
        assert!(decoder().predict(&[&[1], &[]]).is_err());
    }
}
