//! Causal self-attention of one block, with the queries, keys and values from one matrix.

use tch::{Kind, Tensor};

use super::layers::Turn;
use super::linear::linear;
use super::weights::Block;
use crate::chess::vocabulary::BOS;

/// Queries, keys and values of a block, rotated to their positions, each [b, h, t, d].
#[expect(clippy::struct_field_names, reason = "the shape of a tensor is part of its name")]
pub(super) struct Heads {
    pub(super) q_bhtd: Tensor,
    pub(super) k_bhtd: Tensor,
    pub(super) v_bhtd: Tensor,
}

/// Which keys a query sees.
pub(super) enum Mask<'a> {
    /// Those at its own position and before.
    Causal,
    /// All there are.
    All,
    /// Those where this [b, 1, 1 or t, t] is true: at least one for each query.
    Only(&'a Tensor),
}

impl Heads {
    /// Splits the rows of the fused matrix, which come in the order q, k, v.
    pub(super) fn of(x_btc: &Tensor, block: &Block, heads: i64, turn: &Turn) -> Self {
        let (b, t, c) = x_btc.size3().expect("hidden states are [b, t, c]");
        let qkv = linear(x_btc, &block.qkv).view([b, t, 3, heads, c / heads]);
        let parts = qkv.split_with_sizes([2, 1], 2);
        let qk = turn.apply(&parts[0]).unbind(2);
        Self { q_bhtd: qk[0].transpose(1, 2), k_bhtd: qk[1].transpose(1, 2), v_bhtd: parts[1].squeeze_dim(2).transpose(1, 2) }
    }
}

/// The keys of the same game, at a position and before it, for rows in which each game begins at `<bos>`: [b, 1, t, t]. What
/// stands before the first `<bos>` counts as one game; padding after the last game sees it, and nobody sees the padding.
pub(super) fn own_game(tokens_bt: &Tensor) -> Tensor {
    let game_bt = tokens_bt.eq(i64::from(BOS)).cumsum(1, Kind::Int);
    game_bt.unsqueeze(2).eq_tensor(&game_bt.unsqueeze(1)).tril_(0).unsqueeze(1)
}

/// `softmax(q · kᵀ / √d) · v`, heads side by side again: [b, t, c].
pub(super) fn attend(heads: &Heads, mask: &Mask) -> Tensor {
    let Heads { q_bhtd, k_bhtd, v_bhtd } = heads;
    if q_bhtd.size()[2] == 1 && q_bhtd.kind() == Kind::Float && !q_bhtd.device().is_cuda() && !matches!(mask, Mask::Causal) {
        return attend_once(heads, mask);
    }
    let (only, causal) = match mask {
        Mask::Causal => (None, true),
        Mask::All => (None, false),
        Mask::Only(mask) => (Some(*mask), false),
    };
    let y_bhtd = Tensor::scaled_dot_product_attention(q_bhtd, k_bhtd, v_bhtd, only, 0.0, causal, None, false);
    let (b, h, t, d) = y_bhtd.size4().expect("attention gives [b, h, t, d]");
    y_bhtd.transpose(1, 2).reshape([b, t, h * d])
}

/// The same for one query in each row, as two products of all heads at once: libtorch's own kernel makes two calls for each
/// head of each row.
fn attend_once(heads: &Heads, mask: &Mask) -> Tensor {
    let (b, h, _, d) = heads.q_bhtd.size4().expect("queries are [b, h, t, d]");
    let [k_ntd, v_ntd] = [&heads.k_bhtd, &heads.v_bhtd].map(|seen| seen.flatten(0, 1));
    let q_n1d = heads.q_bhtd.reshape([b * h, 1, d]) * (d as f64).sqrt().recip();
    let mut scores_n1t = q_n1d.bmm(&k_ntd.transpose(1, 2));
    if let Mask::Only(mask) = mask {
        let _ = scores_n1t.view([b, h, 1, -1]).masked_fill_(&mask.logical_not(), f64::NEG_INFINITY);
    }
    scores_n1t = scores_n1t.softmax(-1, Kind::Float);
    scores_n1t.bmm(&v_ntd).view([b, 1, h * d])
}
