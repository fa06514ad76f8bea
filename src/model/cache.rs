//! Keys and values of what was read already, so that one more token costs one more position.
//!
//! Rows have lengths of their own. A cached pass gives the logits of a full pass; what lies beyond a row's length is
//! never seen.

use tch::{Device, Kind, Tensor};

use super::attention::{Heads, Mask};
use super::config::Precision;
use super::decoder::Decoder;

/// Positions that a new cache has memory for.
const FIRST: i64 = 32;

pub struct KvCache {
    /// Of each layer, [b, h, held, d].
    keys: Vec<Tensor>,
    values: Vec<Tensor>,
    lengths: Vec<i64>,
    /// Positions that there is memory for; it grows, since most sequences end long before they are as long as they may be.
    held: i64,
    capacity: i64,
    device: Device,
}

/// Where one more token of each row goes, and what it sees.
pub(super) struct Append {
    /// Position in its row; one for all where all rows are equally long.
    pub(super) positions_b: Tensor,
    /// None where all rows are equally long.
    ragged: Option<Ragged>,
    longest: i64,
}

/// Rows of different lengths.
struct Ragged {
    /// Where the token goes among the positions of all heads of all rows laid end to end.
    slots_n: Tensor,
    mask_b11t: Tensor,
}

impl Append {
    pub(super) fn mask(&self) -> Mask<'_> {
        self.ragged.as_ref().map_or(Mask::All, |ragged| Mask::Only(&ragged.mask_b11t))
    }
}

impl KvCache {
    /// Room for `batch` rows of up to `capacity` tokens, at most the context.
    pub fn new(decoder: &Decoder, batch: usize, capacity: usize) -> Self {
        let config = decoder.config();
        let capacity = i64::from(config.context).min(capacity as i64);
        let kind = match decoder.precision() {
            Precision::F32 | Precision::Tf32 => Kind::Float,
            Precision::Bf16 => Kind::BFloat16,
        };
        let held = capacity.min(FIRST);
        let shape = [batch as i64, i64::from(config.heads), held, i64::from(config.width / config.heads)];
        // Zeros, for what is masked is still multiplied by 0, and memory as it comes may hold NaN.
        let layers = || (0..config.layers).map(|_| Tensor::zeros(shape, (kind, decoder.device()))).collect();
        Self { keys: layers(), values: layers(), lengths: vec![0; batch], held, capacity, device: decoder.device() }
    }

    /// Tokens in each row.
    pub fn lengths(&self) -> &[i64] {
        &self.lengths
    }

    /// How many more tokens every row can take.
    pub fn room(&self) -> usize {
        (self.capacity - self.longest()) as usize
    }

    /// Keeps these rows, in this order; a row may come more than once. Rows that keep their place are not copied.
    ///
    /// # Panics
    ///
    /// Where there is no such row.
    pub fn select(&mut self, rows: &[i64]) {
        let before = self.lengths.len();
        self.lengths = rows.iter().map(|&row| self.lengths[row as usize]).collect();
        let tensor = |values: &[i64]| Tensor::from_slice(values).to_device(self.device);
        let (to, from): (Vec<i64>, Vec<i64>) = (0..).zip(rows.iter().copied()).filter(|(to, from)| to != from).unzip();
        // Few rows are moved; where there are many, a new place for all of them is as cheap, and gives memory back.
        if rows.len() > before || 2 * from.len() > rows.len() {
            let rows = tensor(rows);
            self.layers(|layer| layer.index_select(0, &rows));
            return;
        }
        let (to, from, left) = (tensor(&to), tensor(&from), rows.len() as i64);
        self.layers(|layer| {
            if from.numel() > 0 {
                let _ = layer.index_copy_(0, &to, &layer.index_select(0, &from));
            }
            layer.narrow(0, 0, left)
        });
    }

    /// Forgets what a row holds from position `length` on.
    ///
    /// # Panics
    ///
    /// Where the row is shorter.
    pub fn truncate(&mut self, row: usize, length: usize) {
        assert!(length as i64 <= self.lengths[row], "a row of {} tokens is cut to {length}", self.lengths[row]);
        self.lengths[row] = length as i64;
    }

    pub(super) fn begin(&mut self, lengths: &[i64]) {
        assert!(self.longest() == 0, "a cache is filled once, and extended step by step");
        assert!(lengths.len() == self.lengths.len(), "{} rows for a cache of {}", lengths.len(), self.lengths.len());
        self.lengths.copy_from_slice(lengths);
    }

    pub(super) fn fill(&mut self, layer: usize, heads: &Heads) {
        let length = heads.k_bhtd.size()[2];
        assert!(length <= self.capacity, "{length} tokens for a cache of {}", self.capacity);
        self.hold(length);
        for (kept, new) in [(&self.keys[layer], &heads.k_bhtd), (&self.values[layer], &heads.v_bhtd)] {
            kept.narrow(2, 0, length).copy_(new);
        }
    }

    /// Makes every row one token longer.
    pub(super) fn append(&mut self) -> Append {
        assert!(self.room() > 0, "the cache is full at {} tokens", self.capacity);
        let longest = self.longest() + 1;
        self.hold(longest);
        let tensor = |values: &[i64]| Tensor::from_slice(values).to_device(self.device);
        let is_ragged = self.lengths.iter().any(|length| length + 1 != longest);
        let positions_b = if is_ragged { tensor(&self.lengths) } else { tensor(&[longest - 1]) };
        let ragged = is_ragged.then(|| {
            let heads = self.keys.first().map_or(0, |layer| layer.size()[1]);
            let slots = self.lengths.iter().enumerate().flat_map(|(row, at)| {
                (0..heads).map(move |head| (row as i64 * heads + head, at)).map(|(head, at)| head * self.held + at)
            });
            let slots: Vec<i64> = slots.collect();
            let places_t = Tensor::arange(longest, (Kind::Int64, self.device));
            let mask_b11t = places_t.unsqueeze(0).le_tensor(&positions_b.unsqueeze(1)).unsqueeze(1).unsqueeze(1);
            Ragged { slots_n: tensor(&slots), mask_b11t }
        });
        self.lengths.iter_mut().for_each(|length| *length += 1);
        Append { positions_b, ragged, longest }
    }

    /// Stores the new keys and values, and gives back the queries with all that they may see.
    pub(super) fn write(&mut self, layer: usize, at: &Append, heads: Heads) -> Heads {
        let seen = |kept: &Tensor, new_bh1d: &Tensor| {
            let new_bhd = new_bh1d.squeeze_dim(2);
            match &at.ragged {
                None => kept.select(2, at.longest - 1).copy_(&new_bhd),
                Some(ragged) => {
                    let _ = kept.flatten(0, 2).index_copy_(0, &ragged.slots_n, &new_bhd.flatten(0, 1));
                }
            }
            kept.narrow(2, 0, at.longest)
        };
        Heads {
            k_bhtd: seen(&self.keys[layer], &heads.k_bhtd),
            v_bhtd: seen(&self.values[layer], &heads.v_bhtd),
            q_bhtd: heads.q_bhtd,
        }
    }

    /// Has memory for so many positions of each row, and then for twice as many as before.
    fn hold(&mut self, length: i64) {
        if length <= self.held {
            return;
        }
        let more = self.capacity.min(length.max(2 * self.held)) - self.held;
        self.held += more;
        self.layers(|layer| {
            let (b, h, _, d) = layer.size4().expect("a layer is [b, h, held, d]");
            Tensor::cat(&[layer.shallow_clone(), Tensor::zeros([b, h, more, d], (layer.kind(), layer.device()))], 2)
        });
    }

    fn layers(&mut self, change: impl Fn(&mut Tensor) -> Tensor) {
        self.keys.iter_mut().chain(&mut self.values).for_each(|layer| *layer = change(layer));
    }

    fn longest(&self) -> i64 {
        self.lengths.iter().copied().max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::config::ModelConfig;
    use crate::model::reference::assert_near;

    fn decoder() -> Decoder {
        let config = ModelConfig { layers: 2, heads: 2, width: 32, hidden: 64, context: 16 };
        Decoder::new(&config, 3, Device::Cpu).expect("the CPU has memory")
    }

    fn tokens(rows: &[&[i64]]) -> Tensor {
        let longest = rows.iter().map(|row| row.len()).max().unwrap_or(0);
        let flat: Vec<i64> = rows.iter().flat_map(|row| (0..longest).map(|at| row.get(at).copied().unwrap_or(0))).collect();
        Tensor::from_slice(&flat).view([rows.len() as i64, longest as i64])
    }

    #[test]
    fn rows_of_any_lengths_read_step_by_step_give_the_logits_of_a_full_pass() {
        for precision in [Precision::F32, Precision::Bf16] {
            let decoder = decoder().with_precision(precision);
            let mut rows = vec![vec![1, 20, 30, 40, 50], vec![1, 60], vec![1, 70, 80]];
            let mut cache = KvCache::new(&decoder, rows.len(), 16);
            let lengths: Vec<i64> = rows.iter().map(|row| row.len() as i64).collect();
            let all = |rows: &[Vec<i64>]| {
                let lengths: Vec<i64> = rows.iter().map(|row| row.len() as i64).collect();
                decoder.last_logits(&tokens(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>()), &lengths)
            };
            let tolerance = if precision == Precision::F32 { 1e-5 } else { 0.03 };
            let first = decoder.prefill(&tokens(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>()), &lengths, &mut cache);
            assert_near("prefill", &first, &all(&rows), tolerance);
            for step in 0..11 {
                for (at, row) in rows.iter_mut().enumerate() {
                    row.push(100 + 7 * step + at as i64);
                }
                let new: Vec<i64> = rows.iter().filter_map(|row| row.last().copied()).collect();
                let logits = decoder.step(&Tensor::from_slice(&new).view([-1, 1]), &mut cache);
                assert_near(&format!("step {step}"), &logits, &all(&rows), tolerance);
            }
            assert_eq!((cache.room(), cache.lengths()), (0, [16, 13, 14].as_slice()));
        }
    }

    #[test]
    fn a_cache_that_grows_and_has_rows_moved_gives_the_logits_of_a_full_pass() {
        let config = ModelConfig { layers: 2, heads: 2, width: 32, hidden: 64, context: 100 };
        let decoder = Decoder::new(&config, 3, Device::Cpu).expect("the CPU has memory");
        let mut rows: Vec<Vec<i64>> = (0..8).map(|_| vec![1]).collect();
        let mut cache = KvCache::new(&decoder, rows.len(), 100);
        for step in 0..100 {
            let new: Vec<i64> = rows.iter().filter_map(|row| row.last().copied()).collect();
            let logits = decoder.step(&Tensor::from_slice(&new).view([-1, 1]), &mut cache);
            let all = tokens(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>());
            assert_near(&format!("step {step}"), &logits, &decoder.last_logits(&all, &vec![step + 1; rows.len()]), 1e-5);
            // The last row takes the place of one that ends; and once more than half of them change places.
            let kept: &[i64] = match step {
                20 => &[0, 7, 2, 3, 4, 5, 6],
                40 => &[0, 1, 2, 3, 4, 5],
                60 => &[5, 0, 3, 1],
                80 => &[0, 3, 2],
                _ => &[],
            };
            if !kept.is_empty() {
                cache.select(kept);
                rows = kept.iter().map(|&row| rows[row as usize].clone()).collect();
            }
            rows.iter_mut().enumerate().for_each(|(at, row)| row.push(3 + 17 * step + at as i64));
        }
        assert_eq!(cache.room(), 0);
    }

    #[test]
    fn an_empty_cache_can_be_filled_by_steps_alone_and_rows_be_kept_repeated_and_cut() {
        let decoder = decoder();
        let mut cache = KvCache::new(&decoder, 2, 8);
        for column in [[1_i64, 1], [20, 30], [40, 50]] {
            let _ = decoder.step(&Tensor::from_slice(&column).view([2, 1]), &mut cache);
        }
        cache.select(&[1, 0, 1]);
        cache.truncate(2, 2);
        let logits = decoder.step(&Tensor::from_slice(&[60_i64, 70, 80]).view([3, 1]), &mut cache);
        let rows = tokens(&[&[1, 30, 50, 60], &[1, 20, 40, 70], &[1, 30, 80]]);
        assert_near("logits", &logits, &decoder.last_logits(&rows, &[4, 4, 3]), 1e-5);
    }
}
