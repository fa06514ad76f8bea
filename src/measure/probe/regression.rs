//! Softmax regressions, one of each square on the states of each layer, trained side by side.

use anyhow::Result;
use tch::{Kind, Tensor};

use crate::model::shim::{AdamW, adamw};
use crate::progress::Progress;
use crate::random::{below, stream};

use super::super::batched::check;

pub(super) const SQUARES: usize = 64;
/// What can stand on a square: nothing, or six pieces of two sides.
pub(super) const CONTENTS: usize = 13;
/// Steps of the optimiser, and positions in each.
pub(super) const STEPS: u64 = 300;
const BATCH: usize = 256;
/// Of a training, for each number of a state: two products of each position with what can stand on all squares.
pub(super) const FLOPS_PER_NUMBER: f64 = (STEPS as usize * BATCH * 2 * 2 * SQUARES * CONTENTS) as f64;
/// The first rate; it falls in a straight line to nothing.
const RATE: f64 = 1e-2;
/// Decoupled decay of the weights, the ridge that keeps them small (Loshchilov and Hutter 2019).
const DECAY: f64 = 1.0;
/// Numbers that vary less than this are constant.
const LEAST_SPREAD: f64 = 1e-6;

/// Probes of all layers. Suffixes: l layers, n positions, c numbers of a state, o contents of all squares.
pub(super) struct Probes {
    mean_l1c: Tensor,
    spread_l1c: Tensor,
    weights_lco: Tensor,
    bias_l1o: Tensor,
}

impl Probes {
    /// Fits probes to float32 states [l, n, c] and contents, int64 [n, 64] on the same device. Each number of a state is
    /// standardised; the bias begins at the frequencies of the contents, the weights at nothing.
    ///
    /// # Errors
    ///
    /// Where libtorch fails, or the user stops the work.
    pub(super) fn fit(states_lnc: &Tensor, contents_ns: &Tensor, seed: u64, progress: &Progress) -> Result<Self> {
        let (l, n, c) = states_lnc.size3()?;
        let device = states_lnc.device();
        let mean_l1c = states_lnc.mean_dim(1, true, Kind::Float);
        let spread_l1c = states_lnc.std_dim(1, false, true).clamp_min(LEAST_SPREAD);
        let states_lnc = (states_lnc - &mean_l1c) / &spread_l1c;
        let wanted_no = contents_ns.one_hot(CONTENTS as i64).transpose(1, 2).flatten(1, 2).to_kind(Kind::Float);
        let o = wanted_no.size()[1];

        let frequency_o = (wanted_no.sum_dim_intlist(0, false, Kind::Float) + 1.0) / (n as f64 + CONTENTS as f64);
        let bias_l1o = frequency_o.log().view([1, 1, o]).repeat([l, 1, 1]);
        let weights_lco = Tensor::zeros([l, c, o], (Kind::Float, device));
        let zeros = || [weights_lco.zeros_like(), bias_l1o.zeros_like()];
        let [first, second] = [zeros(), zeros()];
        let mut order = Order::new(n as usize, seed);
        for step in 0..STEPS {
            check(progress)?;
            let chosen = Tensor::from_slice(&order.next(BATCH)).to_device(device);
            let x_lbc = states_lnc.index_select(1, &chosen);
            let batch_bo = wanted_no.index_select(0, &chosen);
            let logits_lbo = bias_l1o.expand([l, x_lbc.size()[1], o], false).baddbmm(&x_lbc, &weights_lco, 1.0, 1.0);
            let mut error_lbo = by_content(&logits_lbo).softmax(2, Kind::Float).flatten(2, 3);
            let _ = error_lbo.g_sub_(&batch_bo).g_div_scalar_(x_lbc.size()[1]);
            let gradients = [x_lbc.transpose(1, 2).bmm(&error_lbo), error_lbo.sum_dim_intlist(1, true, Kind::Float)];
            let rate = RATE * (1.0 - step as f64 / STEPS as f64);
            let number = Tensor::from(step as f32 + 1.0).to_device(device);
            // A bias is no slope: the ridge leaves it alone.
            for (at, (weights, decay)) in [(&weights_lco, DECAY), (&bias_l1o, 0.0)].into_iter().enumerate() {
                let with = AdamW { rate, betas: [0.9, 0.99], decay, eps: 1e-8 };
                adamw(&[weights], &[&gradients[at]], [&[&first[at]], &[&second[at]]], &number, with, None)?;
            }
            progress.done(step + 1, STEPS, "steps");
        }
        Ok(Self { mean_l1c, spread_l1c, weights_lco, bias_l1o })
    }

    /// Whether the likeliest content of each square is what stands there: bool [l, n, 64].
    pub(super) fn right(&self, states_lnc: &Tensor, contents_ns: &Tensor) -> Tensor {
        let x_lnc = (states_lnc - &self.mean_l1c) / &self.spread_l1c;
        let logits_lno = x_lnc.bmm(&self.weights_lco) + &self.bias_l1o;
        by_content(&logits_lno).argmax(2, false).eq_tensor(contents_ns)
    }
}

/// Squares lie beside each other, not contents: a softmax over 13 neighbours is forty times as slow.
fn by_content(lno: &Tensor) -> Tensor {
    lno.unflatten(2, [CONTENTS as i64, SQUARES as i64])
}

/// Items in an order that the seed decides: all of them, before any comes again.
struct Order {
    items: Vec<i64>,
    at: usize,
    seed: u64,
    round: u64,
}

impl Order {
    fn new(items: usize, seed: u64) -> Self {
        Self { items: (0..items as i64).collect(), at: items, seed, round: 0 }
    }

    /// The next ones: `count`, or all of a round where that has fewer.
    fn next(&mut self, count: usize) -> Vec<i64> {
        let count = count.min(self.items.len());
        if self.at + count > self.items.len() {
            let mut rng = stream(self.seed, "probe order", self.round);
            for last in (1..self.items.len()).rev() {
                self.items.swap(last, below(&mut rng, last as u64 + 1) as usize);
            }
            (self.at, self.round) = (0, self.round + 1);
        }
        self.at += count;
        self.items[self.at - count..self.at].to_vec()
    }
}
