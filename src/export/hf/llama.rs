//! Llama's forward pass once more, in plain Rust and float64: the second opinion that an export must agree with.
//!
//! It shares nothing with the decoder over libtorch: it reads the exported files, and follows the definition of the
//! architecture (Touvron et al. 2023, <https://arxiv.org/abs/2302.13971>) with the layout of `transformers`.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::weights::PREFIX;
use crate::export::tensors::TensorFile;

/// A model as its exported folder tells it.
pub struct Llama {
    heads: usize,
    width: usize,
    hidden: usize,
    vocabulary: usize,
    epsilon: f64,
    theta: f64,
    embedding: Vec<f32>,
    layers: Vec<Layer>,
    norm: Vec<f32>,
}

/// Matrices are [out, in], row by row.
struct Layer {
    input_norm: Vec<f32>,
    q: Vec<f32>,
    k: Vec<f32>,
    v: Vec<f32>,
    o: Vec<f32>,
    mlp_norm: Vec<f32>,
    gate: Vec<f32>,
    up: Vec<f32>,
    down: Vec<f32>,
}

impl Llama {
    /// Reads `config.json` and `model.safetensors`.
    ///
    /// # Errors
    ///
    /// Where one cannot be read, or a tensor is missing or of another shape.
    pub fn read(folder: &Path) -> Result<Self> {
        let config: Value = serde_json::from_slice(&fs_err::read(folder.join("config.json"))?)?;
        let size = |key: &str| config[key].as_u64().map(|size| size as usize).with_context(|| format!("no `{key}`"));
        let number = |key: &str| config[key].as_f64().with_context(|| format!("no `{key}`"));
        let (width, hidden, vocabulary) = (size("hidden_size")?, size("intermediate_size")?, size("vocab_size")?);
        let file = TensorFile::read(&folder.join("model.safetensors"))?;
        let read = |name: &str, shape: &[usize]| file.floats(&format!("{PREFIX}{name}.weight"), shape);
        let layer = |layer: usize| {
            let read = |name: &str, shape: &[usize]| read(&format!("layers.{layer}.{name}"), shape);
            Ok(Layer {
                input_norm: read("input_layernorm", &[width])?,
                q: read("self_attn.q_proj", &[width, width])?,
                k: read("self_attn.k_proj", &[width, width])?,
                v: read("self_attn.v_proj", &[width, width])?,
                o: read("self_attn.o_proj", &[width, width])?,
                mlp_norm: read("post_attention_layernorm", &[width])?,
                gate: read("mlp.gate_proj", &[hidden, width])?,
                up: read("mlp.up_proj", &[hidden, width])?,
                down: read("mlp.down_proj", &[width, hidden])?,
            })
        };
        ensure!(config["tie_word_embeddings"] == true, "the head is the embedding, and `tie_word_embeddings` must say so");
        Ok(Self {
            heads: size("num_attention_heads")?,
            width,
            hidden,
            vocabulary,
            epsilon: number("rms_norm_eps")?,
            theta: number("rope_theta")?,
            embedding: read("embed_tokens", &[vocabulary, width])?,
            layers: (0..size("num_hidden_layers")?).map(layer).collect::<Result<_>>()?,
            norm: read("norm", &[width])?,
        })
    }

    /// Logits at every position, row by row, computed on so many threads.
    ///
    /// # Panics
    ///
    /// Where a token is not in the vocabulary.
    pub fn logits(&self, tokens: &[u16], threads: usize) -> Vec<f64> {
        let (width, hidden) = (self.width, self.hidden);
        let row = |token: u16| &self.embedding[usize::from(token) * width..(usize::from(token) + 1) * width];
        let mut x: Vec<f64> = tokens.iter().flat_map(|&token| row(token).iter().map(|&value| f64::from(value))).collect();
        let (cos, sin) = self.rotations(tokens.len());
        for layer in &self.layers {
            let normed = self.rms_norm(&x, &layer.input_norm);
            let project = |matrix: &Vec<f32>| linear(&normed, matrix, width, width, threads);
            let [mut queries, mut keys, values] = [&layer.q, &layer.k, &layer.v].map(project);
            self.rotate(&mut queries, &cos, &sin);
            self.rotate(&mut keys, &cos, &sin);
            let attended = self.attend(&queries, &keys, &values);
            add(&mut x, &linear(&attended, &layer.o, width, width, threads));
            let normed = self.rms_norm(&x, &layer.mlp_norm);
            let [gate, up] = [&layer.gate, &layer.up].map(|matrix| linear(&normed, matrix, width, hidden, threads));
            let inner: Vec<f64> = gate.iter().zip(&up).map(|(gate, up)| gate / (1.0 + (-gate).exp()) * up).collect();
            add(&mut x, &linear(&inner, &layer.down, hidden, width, threads));
        }
        linear(&self.rms_norm(&x, &self.norm), &self.embedding, width, self.vocabulary, threads)
    }

    fn rms_norm(&self, x: &[f64], weight: &[f32]) -> Vec<f64> {
        x.chunks_exact(self.width)
            .flat_map(|row| {
                let mean = row.iter().map(|value| value * value).sum::<f64>() / self.width as f64;
                let scale = 1.0 / (mean + self.epsilon).sqrt();
                row.iter().zip(weight).map(move |(value, weight)| value * scale * f64::from(*weight))
            })
            .collect()
    }

    /// Cosines and sines of every position and dimension of a head: the frequencies once, and once more behind them.
    /// Angles are float32, as they are in `transformers`.
    fn rotations(&self, positions: usize) -> (Vec<f64>, Vec<f64>) {
        let d = self.width / self.heads;
        let angle = |position: usize, dimension: usize| {
            let frequency = 1.0 / self.theta.powf((2 * (dimension % (d / 2))) as f64 / d as f64) as f32;
            f64::from(position as f32 * frequency)
        };
        let angles: Vec<f64> = (0..positions)
            .flat_map(|position| (0..d).map(move |dimension| (position, dimension)))
            .map(|(p, i)| angle(p, i))
            .collect();
        (angles.iter().map(|angle| angle.cos()).collect(), angles.iter().map(|angle| angle.sin()).collect())
    }

    /// `x · cos + rotate_half(x) · sin`, where `rotate_half` is the second half, negated, and then the first.
    fn rotate(&self, x: &mut [f64], cos: &[f64], sin: &[f64]) {
        let d = self.width / self.heads;
        for (position, row) in x.chunks_exact_mut(self.width).enumerate() {
            let (cos, sin) = (&cos[position * d..][..d], &sin[position * d..][..d]);
            for head in row.chunks_exact_mut(d) {
                let half: Vec<f64> = head[d / 2..].iter().map(|value| -value).chain(head[..d / 2].iter().copied()).collect();
                for (i, value) in head.iter_mut().enumerate() {
                    *value = *value * cos[i] + half[i] * sin[i];
                }
            }
        }
    }

    /// `softmax(q · kᵀ / √d) · v` over the positions up to each, head by head.
    fn attend(&self, queries: &[f64], keys: &[f64], values: &[f64]) -> Vec<f64> {
        let (width, of_head) = (self.width, self.width / self.heads);
        let mut out = vec![0.0; queries.len()];
        for at in 0..queries.len() / width {
            for head in (0..width).step_by(of_head) {
                let part = |position: usize| position * width + head..position * width + head + of_head;
                let query = &queries[part(at)];
                let scores: Vec<f64> = (0..=at).map(|to| dot64(query, &keys[part(to)]) / (of_head as f64).sqrt()).collect();
                let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let weights: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
                let all: f64 = weights.iter().sum();
                for (to, weight) in weights.iter().enumerate() {
                    for (sum, value) in out[part(at)].iter_mut().zip(&values[part(to)]) {
                        *sum += weight / all * value;
                    }
                }
            }
        }
        out
    }
}

/// `x · matrixᵀ` for rows of `inputs` numbers; the rows of the matrix are shared out among threads.
fn linear(x: &[f64], matrix: &[f32], inputs: usize, outputs: usize, threads: usize) -> Vec<f64> {
    let rows = x.len() / inputs;
    // One output of all positions after another, so that each thread has a stretch of its own.
    let mut by_output = vec![0.0; rows * outputs];
    let share = outputs.div_ceil(threads.max(1));
    std::thread::scope(|scope| {
        for (stretch, weights) in by_output.chunks_mut(share * rows).zip(matrix.chunks(share * inputs)) {
            scope.spawn(move || {
                for (sums, weights) in stretch.chunks_exact_mut(rows).zip(weights.chunks_exact(inputs)) {
                    for (sum, row) in sums.iter_mut().zip(x.chunks_exact(inputs)) {
                        *sum = dot(row, weights);
                    }
                }
            });
        }
    });
    (0..rows)
        .flat_map(|row| (0..outputs).map(move |output| (row, output)))
        .map(|(row, output)| by_output[output * rows + row])
        .collect()
}

/// Eight sums side by side, which the processor can add at once.
fn dot(x: &[f64], weights: &[f32]) -> f64 {
    let mut sums = [0.0; 8];
    let (xs, ws) = (x.chunks_exact(8), weights.chunks_exact(8));
    let rest: f64 = xs.remainder().iter().zip(ws.remainder()).map(|(x, w)| x * f64::from(*w)).sum();
    for (x, w) in xs.zip(ws) {
        for i in 0..8 {
            sums[i] += x[i] * f64::from(w[i]);
        }
    }
    rest + sums.iter().sum::<f64>()
}

fn dot64(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(x: &mut [f64], y: &[f64]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x += y);
}
