//! The decoder: tokens in, logits out. Immutable in use; the cache of a generation is the caller's.

use std::path::Path;

use anyhow::Result;
use tch::{Device, Kind, Reduction, Tensor};

use super::attention::{Heads, Mask, attend, own_game};
use super::cache::KvCache;
use super::config::{ModelConfig, Precision};
use super::init::init;
use super::layers::{Rope, Turn, rms_norm, swiglu};
use super::linear::{linear, packed};
use super::weights::Weights;
use crate::error::Fixable;

/// A target that is not asked for.
pub const NOT_ASKED: i64 = -100;

pub struct Decoder {
    config: ModelConfig,
    device: Device,
    weights: Weights,
    /// The matrices once more, in bfloat16 or packed, where a pass without gradients uses them.
    shadow: Option<Weights>,
    rope: Rope,
}

impl Decoder {
    /// A decoder with random weights, the same for a seed on every machine.
    ///
    /// # Errors
    ///
    /// Where the shape is impossible, or the device has too little memory.
    pub fn new(config: &ModelConfig, seed: u64, device: Device) -> Result<Self> {
        check(config)?;
        Ok(Self::of(config, device, init(config, seed, device)?))
    }

    /// A decoder with the weights of a file, computing in float32.
    ///
    /// # Errors
    ///
    /// Where the file does not hold exactly this model, with the tensor that differs.
    pub fn load(path: &Path, config: &ModelConfig, device: Device) -> Result<Self> {
        check(config)?;
        Ok(Self::of(config, device, Weights::read(path, config, device)?))
    }

    fn of(config: &ModelConfig, device: Device, weights: Weights) -> Self {
        Self { config: config.clone(), device, weights, shadow: None, rope: Rope::new(config, device) }
    }

    /// The same decoder with passes in `precision`; weights changed later are not seen by a bfloat16 one.
    #[must_use]
    pub fn with_precision(mut self, precision: Precision) -> Self {
        self.shadow = (precision == Precision::Bf16).then(|| tch::no_grad(|| self.weights.cast(Kind::BFloat16)));
        self
    }

    /// The same decoder for many passes of few rows, which read matrices in the order of the kernels. It takes as much memory
    /// again, and does not see weights that are changed later.
    #[must_use]
    pub fn packed(&self) -> Self {
        let shadow = tch::no_grad(|| match &self.shadow {
            Some(shadow) => shadow.with_matrices(Tensor::shallow_clone),
            None => self.weights.with_matrices(packed),
        });
        let weights = self.weights.with_matrices(Tensor::shallow_clone);
        Self { config: self.config.clone(), device: self.device, weights, shadow: Some(shadow), rope: self.rope.shallow_clone() }
    }

    pub fn precision(&self) -> Precision {
        if self.active().unembed.kind() == Kind::BFloat16 { Precision::Bf16 } else { Precision::F32 }
    }

    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    pub fn device(&self) -> Device {
        self.device
    }

    /// The float32 parameters.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// Logits at every position, float32 [b, t, v], for tokens int64 [b, t] with t up to the context.
    pub fn logits(&self, tokens_bt: &Tensor) -> Tensor {
        let weights = self.active();
        project(weights, &self.full_pass(weights, tokens_bt, &Mask::Causal, |_, _| ()))
    }

    /// Logits at every position of one sequence, row by row.
    ///
    /// # Errors
    ///
    /// Where libtorch cannot hand them over.
    pub fn sequence_logits(&self, tokens: &[u16]) -> Result<Vec<f32>> {
        let tokens: Vec<i64> = tokens.iter().map(|&token| i64::from(token)).collect();
        let tokens_bt = Tensor::from_slice(&tokens).unsqueeze(0).to_device(self.device);
        Ok(Vec::try_from(tch::no_grad(|| self.logits(&tokens_bt)).flatten(0, -1))?)
    }

    /// Logits at the last real position of each row, float32 [b, v]; rows are padded on the right, which changes nothing
    /// under causal attention. Only these positions are projected.
    pub fn last_logits(&self, tokens_bt: &Tensor, lengths: &[i64]) -> Tensor {
        let (b, t) = tokens_bt.size2().expect("tokens are [b, t]");
        self.logits_at(tokens_bt, &ends(lengths, b, t))
    }

    /// Logits at some positions of right-padded rows laid end to end, float32 [n, v]. Only these positions are projected.
    pub fn logits_at(&self, tokens_bt: &Tensor, places: &[i64]) -> Tensor {
        let weights = self.active();
        let x_btc = self.full_pass(weights, tokens_bt, &Mask::Causal, |_, _| ());
        project(weights, &pick(&x_btc, places))
    }

    /// The residual stream at some positions of right-padded rows laid end to end: as the embedding makes it, and after each
    /// block, float32 [n, c] each. The last one, normed and projected, is the logits there.
    pub fn hidden(&self, tokens_bt: &Tensor, places: &[i64]) -> Vec<Tensor> {
        let turn = self.rope.first(tokens_bt.size()[1]);
        let mut hidden = Vec::with_capacity(self.weights.blocks.len() + 1);
        let see = |x_btc: &Tensor| hidden.push(pick(x_btc, places).to_kind(Kind::Float));
        let _ = self.pass(self.active(), tokens_bt, &turn, |_, heads| attend(&heads, &Mask::Causal), see);
        hidden
    }

    /// Fills an empty cache with right-padded rows, and returns what [`last_logits`](Self::last_logits) does.
    ///
    /// # Panics
    ///
    /// Where the rows are no match for the cache, or are longer than it.
    pub fn prefill(&self, tokens_bt: &Tensor, lengths: &[i64], cache: &mut KvCache) -> Tensor {
        let weights = self.active();
        cache.begin(lengths);
        let x_btc = self.full_pass(weights, tokens_bt, &Mask::Causal, |layer, heads| cache.fill(layer, heads));
        let (b, t) = tokens_bt.size2().expect("tokens are [b, t]");
        project(weights, &pick(&x_btc, &ends(lengths, b, t)))
    }

    /// Appends one token to each row, at the row's own length, and returns the logits after it, float32 [b, v].
    ///
    /// # Panics
    ///
    /// Where a row is full (see [`KvCache::room`]) or the number of rows differs.
    pub fn step(&self, tokens_b1: &Tensor, cache: &mut KvCache) -> Tensor {
        let weights = self.active();
        let at = cache.append();
        let turn = self.rope.at(&at.positions_b);
        let attention = |layer, heads| {
            let seen = cache.write(layer, &at, heads);
            attend(&seen, &at.mask())
        };
        let x_b1c = self.pass(weights, tokens_b1, &turn, attention, |_| ());
        project(weights, &x_b1c.squeeze_dim(1))
    }

    /// The mean cross-entropy of `targets_bt`, a scalar that can be differentiated, computed in `precision` from the float32
    /// weights.
    pub fn loss(&self, precision: Precision, inputs_bt: &Tensor, targets_bt: &Tensor) -> Tensor {
        self.loss_under(&Mask::Causal, precision, inputs_bt, targets_bt)
    }

    /// [`loss`](Self::loss) where no token sees those of another game: rows are games one after another, each from its `<bos>`
    /// on. Positions run on from game to game, which changes nothing: attention knows only how far apart two tokens are.
    /// Targets of −100 are not asked for.
    pub fn loss_by_game(&self, precision: Precision, inputs_bt: &Tensor, targets_bt: &Tensor) -> Tensor {
        self.loss_under(&Mask::Only(&own_game(inputs_bt)), precision, inputs_bt, targets_bt)
    }

    /// The cross-entropy of each row's targets together, float64 and one a row, without gradients. Targets of [`NOT_ASKED`] count nothing.
    pub fn row_losses(&self, inputs_bt: &Tensor, targets_bt: &Tensor) -> Tensor {
        let logits_btv = self.logits(inputs_bt);
        let losses = logits_btv.flatten(0, 1).cross_entropy_loss::<&Tensor>(
            &targets_bt.flatten(0, 1),
            None,
            Reduction::None,
            NOT_ASKED,
            0.0,
        );
        losses.view_as(targets_bt).sum_dim_intlist(-1, false, Kind::Double)
    }

    fn loss_under(&self, mask: &Mask, precision: Precision, inputs_bt: &Tensor, targets_bt: &Tensor) -> Tensor {
        match precision {
            Precision::F32 | Precision::Tf32 => self.loss_by(&self.weights, mask, inputs_bt, targets_bt),
            Precision::Bf16 => self.loss_by(&self.weights.cast(Kind::BFloat16), mask, inputs_bt, targets_bt),
        }
    }

    fn loss_by(&self, weights: &Weights, mask: &Mask, inputs_bt: &Tensor, targets_bt: &Tensor) -> Tensor {
        let logits_btv = project(weights, &self.full_pass(weights, inputs_bt, mask, |_, _| ()));
        logits_btv.flatten(0, 1).cross_entropy_loss::<&Tensor>(&targets_bt.flatten(0, 1), None, Reduction::Mean, NOT_ASKED, 0.0)
    }

    fn active(&self) -> &Weights {
        self.shadow.as_ref().unwrap_or(&self.weights)
    }

    /// All positions from 0 on; `see` is shown the heads of each layer.
    fn full_pass(&self, weights: &Weights, tokens_bt: &Tensor, mask: &Mask, mut see: impl FnMut(usize, &Heads)) -> Tensor {
        let turn = self.rope.first(tokens_bt.size()[1]);
        let attention = |layer, heads| {
            see(layer, &heads);
            attend(&heads, mask)
        };
        self.pass(weights, tokens_bt, &turn, attention, |_| ())
    }

    /// The blocks and the last norm: [b, t, c], in the kind of the matrices. `see` is shown the residual stream before the
    /// first block and after each.
    fn pass(
        &self,
        weights: &Weights,
        tokens_bt: &Tensor,
        turn: &Turn,
        mut attention: impl FnMut(usize, Heads) -> Tensor,
        mut see: impl FnMut(&Tensor),
    ) -> Tensor {
        let kind = weights.unembed.kind();
        let mut x_btc = Tensor::embedding(&weights.tok_emb, tokens_bt, -1, false, false);
        see(&x_btc);
        for (layer, block) in weights.blocks.iter().enumerate() {
            let h_btc = rms_norm(&x_btc, &block.norm_attn).to_kind(kind);
            let heads = Heads::of(&h_btc, block, i64::from(self.config.heads), turn);
            // Not in place: the backward pass of a norm needs what the norm saw.
            let mid_btc = x_btc + linear(&attention(layer, heads), &block.proj);
            let h_btc = rms_norm(&mid_btc, &block.norm_mlp).to_kind(kind);
            x_btc = mid_btc + swiglu(&h_btc, &block.gate, &block.up, &block.down);
            see(&x_btc);
        }
        rms_norm(&x_btc, &weights.norm_final).to_kind(kind)
    }
}

/// Hidden states to float32 logits, by the tied embedding.
fn project(weights: &Weights, x: &Tensor) -> Tensor {
    linear(x, &weights.unembed).to_kind(Kind::Float)
}

/// Where each row ends, among all rows laid end to end.
fn ends(lengths: &[i64], b: i64, t: i64) -> Vec<i64> {
    assert!(
        lengths.len() as i64 == b && lengths.iter().all(|length| (1..=t).contains(length)),
        "{b} rows of up to {t} tokens, and lengths {lengths:?}"
    );
    lengths.iter().enumerate().map(|(row, length)| row as i64 * t + length - 1).collect()
}

/// The states at these places of all rows laid end to end: [n, c].
fn pick(x_btc: &Tensor, places: &[i64]) -> Tensor {
    x_btc.flatten(0, 1).index_select(0, &Tensor::from_slice(places).to_device(x_btc.device()))
}

fn check(config: &ModelConfig) -> Result<()> {
    let ModelConfig { layers, heads, width, hidden, context } = *config;
    if [layers, heads, width, hidden, context].contains(&0) {
        return Err(Fixable::usage(format!(
            "a model of {layers} layers, {heads} heads, width {width}, hidden {hidden}, context {context}"
        ))
        .hint("all of them must be above 0")
        .into());
    }
    if width % heads != 0 || (width / heads) % 2 != 0 {
        return Err(Fixable::usage(format!("width `{width}` does not divide into `{heads}` heads of an even width"))
            .hint("rotary positions turn pairs of dimensions: width / heads must be even")
            .into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::reference::{assert_near, references};

    #[test]
    fn logits_loss_and_gradients_are_those_of_an_independent_implementation() {
        for reference in references() {
            let decoder = reference.decoder();
            for (_, weight) in decoder.weights().named() {
                let _ = weight.set_requires_grad(true);
            }
            let [inputs_bt, targets_bt] = reference.batch(0);
            assert_near("logits", &reference.sampled(&decoder.logits(&inputs_bt)), reference.tensor("logits"), 1e-5);
            let loss = decoder.loss(Precision::F32, &inputs_bt, &targets_bt);
            assert!((loss.double_value(&[]) / reference.told("loss_first_batch") - 1.0).abs() < 1e-6);
            let named = decoder.weights().named();
            let weights: Vec<&Tensor> = named.iter().map(|(_, weight)| *weight).collect();
            let gradients = Tensor::run_backward(&[loss], &weights, false, false);
            for ((name, _), gradient) in named.iter().zip(gradients) {
                assert_near(name, &reference.sampled(&gradient), reference.tensor(&format!("grads.{name}")), 1e-5);
            }
        }
    }

    #[test]
    fn targets_equal_to_inputs_show_as_a_loss_below_chance() {
        for reference in references() {
            let [inputs_bt, _] = reference.batch(0);
            let loss = reference.decoder().loss(Precision::F32, &inputs_bt, &inputs_bt).double_value(&[]);
            assert!((loss / reference.told("loss_identity") - 1.0).abs() < 1e-6, "{loss}");
        }
    }

    #[test]
    fn bfloat16_is_near_float32_and_no_copy_of_it() {
        let config = ModelConfig { layers: 2, heads: 2, width: 32, hidden: 64, context: 16 };
        let decoder = Decoder::new(&config, 3, Device::Cpu).expect("the CPU has memory");
        let tokens_bt = Tensor::from_slice(&[1_i64, 900, 5, 7, 1970, 44, 2, 1]).view([2, 4]);
        let exact = decoder.logits(&tokens_bt);
        let halved = decoder.with_precision(Precision::Bf16).logits(&tokens_bt);
        assert_eq!(halved.kind(), Kind::Float);
        assert_ne!(exact, halved);
        assert_near("logits", &halved, &exact, 0.03);
    }

    #[test]
    fn padding_on_the_right_changes_nothing() {
        let config = ModelConfig { layers: 2, heads: 2, width: 32, hidden: 64, context: 16 };
        let decoder = Decoder::new(&config, 3, Device::Cpu).expect("the CPU has memory");
        let short = decoder.last_logits(&Tensor::from_slice(&[1_i64, 900, 5]).view([1, 3]), &[3]);
        let padded = Tensor::from_slice(&[1_i64, 900, 5, 0, 0, 0, 1, 7, 8, 9, 10, 11]).view([2, 6]);
        let both = decoder.last_logits(&padded, &[3, 6]);
        assert_near("logits", &both.narrow(0, 0, 1), &short, 1e-5);
    }

    #[test]
    fn the_last_hidden_state_normed_and_projected_is_the_logits() {
        let config = ModelConfig { layers: 2, heads: 2, width: 32, hidden: 64, context: 16 };
        let decoder = Decoder::new(&config, 3, Device::Cpu).expect("the CPU has memory");
        let tokens_bt = Tensor::from_slice(&[1_i64, 900, 5, 0, 1, 7, 8, 9]).view([2, 4]);
        let places = [2, 4, 7, 7];
        let hidden = decoder.hidden(&tokens_bt, &places);
        let weights = decoder.weights();
        let logits = project(weights, &rms_norm(&hidden[2], &weights.norm_final));
        assert_near("logits", &logits, &decoder.logits_at(&tokens_bt, &places), 1e-5);
        assert_eq!(hidden.len(), 3);
        assert_eq!(hidden[0], Tensor::embedding(&weights.tok_emb, &Tensor::from_slice(&[5_i64, 1, 9, 9]), -1, false, false));
    }

    #[test]
    fn games_side_by_side_in_a_window_are_each_as_if_alone() {
        let config = ModelConfig { layers: 2, heads: 2, width: 32, hidden: 64, context: 16 };
        let decoder = Decoder::new(&config, 3, Device::Cpu).expect("the CPU has memory");
        let by_game = |tokens: &[i64]| {
            let tokens_bt = Tensor::from_slice(tokens).view([1, -1]);
            let mask = own_game(&tokens_bt);
            project(&decoder.weights, &decoder.full_pass(&decoder.weights, &tokens_bt, &Mask::Only(&mask), |_, _| ()))
        };
        let games: [&[i64]; 3] = [&[1, 900, 5, 7, 2], &[1, 44, 2], &[1, 5, 1970, 6]];
        let packed = by_game(&[games.concat(), vec![0, 0]].concat());
        let mut at = 0;
        for game in games {
            let alone = decoder.logits(&Tensor::from_slice(game).view([1, -1]));
            assert_near("logits", &packed.narrow(1, at, game.len() as i64), &alone, 1e-5);
            at += game.len() as i64;
        }
        assert!(bool::try_from(packed.isfinite().all()).expect("a truth"));
        // Not a bit of the second game and the padding after the third comes of the first one or reaches it.
        let other = by_game(&[&[1, 3, 4, 8, 2], games[1], games[2], &[0, 0]].concat());
        assert_eq!(packed.narrow(1, 5, 9), other.narrow(1, 5, 9));
        // In bfloat16 too, and with targets that are not asked for.
        let inputs_bt = Tensor::from_slice(&[games.concat(), vec![0, 0]].concat()).view([1, -1]);
        let targets_bt = Tensor::from_slice(&[900_i64, 5, 7, 2, -100, 44, 2, -100, 5, 1970, 6, -100, -100, -100]).view([1, -1]);
        let [exact, halved] = [Precision::F32, Precision::Bf16]
            .map(|precision| decoder.loss_by_game(precision, &inputs_bt, &targets_bt).double_value(&[]));
        assert!((exact / halved - 1.0).abs() < 0.01 && (exact - 7.586).abs() < 0.3, "{exact} {halved}");
        let later = by_game(&[games[0], &[1, 45, 9, 1, 6, 1970, 5, 3, 3]].concat());
        assert_eq!(packed.narrow(1, 0, 5), later.narrow(1, 0, 5));
    }

    #[test]
    fn shapes_that_rotary_positions_cannot_turn_are_refused() {
        for (heads, width) in [(3, 64), (64, 64), (0, 64)] {
            let config = ModelConfig { layers: 1, heads, width, hidden: 64, context: 16 };
            assert!(Decoder::new(&config, 3, Device::Cpu).is_err(), "{heads} heads of width {width}");
        }
    }
}
