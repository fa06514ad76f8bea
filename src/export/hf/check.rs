//! What an export must pass before it is kept, and what it leaves for others to check it with.
//!
//! The decoder's logits must equal those of [`Llama`], which reads the exported files. What is left is the decoder's own
//! logits and most likely continuations, for `scripts/check_hf.py` to hold `transformers` against.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use safetensors::Dtype;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::llama::Llama;
use crate::chess::vocabulary::{BOS, EOS, MOVES, SPECIAL_TOKENS, VOCABULARY_SIZE, parse, uci};
use crate::error::Fixable;
use crate::export::tensors::{Tensor, write};
use crate::random::{below, stream};

/// The greatest difference of two logits that is taken for rounding.
pub const TOLERANCE: f64 = 1e-4;
/// Lengths in tokens; the context itself is added.
const LENGTHS: [usize; 4] = [1, 7, 64, 256];
/// A longer context is checked so far: the second opinion takes time with the square of it.
const MOST_TOKENS: usize = 1024;
/// Positions at the end of each length whose logits are left for others.
const KEPT_POSITIONS: usize = 8;

/// Beginnings that are continued with the most likely token, so many times.
const PROMPTS: [&str; 4] = ["", "e2e4", "d2d4 g8f6 c2c4 e7e6", "e2e4 e7e5 g1f3 d7d6 d2d4 c8g4 d4e5 g4f3 d1f3 d6e5 f1c4 g8f6"];
const CONTINUATION_TOKENS: usize = 24;

/// Morphy against the Duke of Brunswick and Count Isouard, Paris 1858: castling, a check, a mate.
pub(super) const GAME: &str = "e2e4 e7e5 g1f3 d7d6 d2d4 c8g4 d4e5 g4f3 d1f3 d6e5 f1c4 g8f6 f3b3 d8e7 b1c3 c7c6 c1g5 b7b5 c3b5 c6b5 \
                               c4b5 b8d7 e1c1 a8d8 d1d7 d8d7 h1d1 e7e6 b5d7 f6d7 b3b8 d7b8 d1d8";

/// Logits of a sequence at every position, row by row.
pub type Logits<'a> = dyn Fn(&[u16]) -> Result<Vec<f32>> + 'a;

/// How far the two passes are apart at a length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    pub length: usize,
    pub greatest_difference: f64,
}

/// Compares the decoder with the exported folder, and leaves `check.safetensors` and `check.json` in it.
///
/// # Errors
///
/// Where they differ by more than [`TOLERANCE`] at any length.
pub fn check(folder: &Path, context: u32, decoder: &Logits, threads: usize) -> Result<Vec<Compared>> {
    let lengths = lengths(context as usize);
    let tokens = tokens(lengths.last().copied().unwrap_or(1));
    // What a position gives depends on no later one, so the longest pass holds all the others.
    let second = Llama::read(folder)?.logits(&tokens, threads);
    let mut kept = BTreeMap::new();
    let mut compared = Vec::new();
    for &length in &lengths {
        let first = decoder(&tokens[..length])?;
        compared.push(compare(length, &first, &second)?);
        let positions = length.min(KEPT_POSITIONS);
        let last = &first[(length - positions) * VOCABULARY_SIZE..];
        kept.insert(format!("logits.{length}"), Tensor::floats(&[positions, VOCABULARY_SIZE], last));
    }
    let numbers = tokens.iter().flat_map(|&token| i64::from(token).to_le_bytes()).collect();
    kept.insert("tokens".to_owned(), Tensor { dtype: Dtype::I64, shape: vec![tokens.len()], bytes: Cow::Owned(numbers) });
    write(&folder.join("check.safetensors"), &kept, Some("pt"))?;

    let greedy = continuations(context as usize, decoder)?;
    let ids: Vec<u16> = std::iter::once(BOS).chain(GAME.split_whitespace().filter_map(parse)).collect();
    let document = json!({
        "schema": 1,
        "tolerance": TOLERANCE,
        "lengths": compared,
        "greedy": greedy.iter().map(|(prompt, continuation)| json!({ "prompt": prompt, "continuation": continuation })).collect::<Vec<_>>(),
        "game": { "text": GAME, "ids": ids },
    });
    fs_err::write(folder.join("check.json"), serde_json::to_string_pretty(&document)? + "\n")?;
    Ok(compared)
}

fn compare(length: usize, first: &[f32], second: &[f64]) -> Result<Compared> {
    anyhow::ensure!(first.len() == length * VOCABULARY_SIZE, "the decoder gave {} logits at length {length}", first.len());
    let apart = first.iter().zip(second).map(|(first, second)| (f64::from(*first) - second).abs());
    // What is no number is infinitely far away, and must not be lost on the way.
    let greatest_difference = apart.fold(0.0, |most: f64, apart| {
        if apart <= most {
            most
        } else if apart.is_nan() {
            f64::INFINITY
        } else {
            apart
        }
    });
    if greatest_difference > TOLERANCE {
        return Err(Fixable::refused(format!(
            "the exported files give other logits than the decoder: {greatest_difference:.1e} apart at length {length}, and at most {TOLERANCE:e} is rounding"
        ))
        .hint("nothing was written; see whether the weights are sound (philidor show RUN), or tell us: it may be a bug of the export")
        .into());
    }
    Ok(Compared { length, greatest_difference })
}

fn lengths(context: usize) -> Vec<usize> {
    let most = context.min(MOST_TOKENS);
    LENGTHS.into_iter().filter(|length| *length < most).chain([most]).collect()
}

/// `<bos>`, and moves drawn evenly: no game, but every move's embedding may be among them.
fn tokens(length: usize) -> Vec<u16> {
    let mut rng = stream(1337, "export check", 0);
    let draw = |_| SPECIAL_TOKENS + below(&mut rng, MOVES as u64) as u16;
    std::iter::once(BOS).chain((1..length).map(draw)).collect()
}

/// Each prompt that fits into the context, and the most likely tokens after it: until `<eos>`, and only as far as no choice
/// is so close that rounding could make another.
fn continuations(context: usize, decoder: &Logits) -> Result<Vec<(&'static str, String)>> {
    let mut all = Vec::new();
    for prompt in PROMPTS {
        let mut tokens: Vec<u16> = std::iter::once(BOS).chain(prompt.split_whitespace().filter_map(parse)).collect();
        let begin = tokens.len();
        while tokens.len() < context.min(begin + CONTINUATION_TOKENS) && tokens.last() != Some(&EOS) {
            let logits = decoder(&tokens)?;
            let Some(token) = clear_choice(&logits[logits.len() - VOCABULARY_SIZE..]) else { break };
            tokens.push(token);
        }
        let words: Vec<&str> = tokens.iter().skip(begin).map(|&token| uci(token)).collect();
        if !words.is_empty() {
            all.push((prompt, words.join(" ")));
        }
    }
    Ok(all)
}

/// The most likely token, where it leads by more than two logits can be off.
fn clear_choice(logits: &[f32]) -> Option<u16> {
    let best = (0..logits.len()).max_by(|&a, &b| logits[a].total_cmp(&logits[b]))?;
    let lead = |at: usize| f64::from(logits[best]) - f64::from(logits[at]);
    (0..logits.len()).all(|at| at == best || lead(at) > 2.0 * TOLERANCE).then_some(best as u16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::replay::Replay;

    #[test]
    fn the_game_that_the_tokenizer_is_tried_on_is_a_game() {
        let mut replay = Replay::default();
        replay.reset();
        for word in GAME.split_whitespace() {
            replay.step(parse(word).expect("in the vocabulary")).unwrap_or_else(|_| panic!("{word} is legal"));
        }
        assert_eq!(GAME.split_whitespace().count(), 33);
    }

    #[test]
    fn lengths_end_with_the_context_and_tokens_are_the_same_each_time() {
        assert_eq!(lengths(8), [1, 7, 8]);
        assert_eq!(lengths(64), [1, 7, 64]);
        assert_eq!(lengths(256), [1, 7, 64, 256]);
        assert_eq!(lengths(65_536), [1, 7, 64, 256, 1024]);
        assert_eq!(tokens(64), tokens(256)[..64]);
        assert!(tokens(256)[1..].iter().all(|token| (SPECIAL_TOKENS..VOCABULARY_SIZE as u16).contains(token)));
    }

    #[test]
    fn a_difference_beyond_rounding_and_what_is_no_number_are_refused() {
        let second = vec![1.0; VOCABULARY_SIZE];
        let apart = |value: f32| {
            let mut first = vec![1.0; VOCABULARY_SIZE];
            first[7] = value;
            compare(1, &first, &second)
        };
        assert!(apart(1.000_09).is_ok() && apart(0.9998).is_err() && apart(f32::NAN).is_err());
        assert!(apart(1.1).expect_err("too far").to_string().contains("1.0e-1 apart at length 1"));
    }

    #[test]
    fn a_continuation_stops_before_a_choice_that_rounding_could_turn() {
        // The token's own number plus one is the most likely; after five tokens two are as likely.
        let decoder = |tokens: &[u16]| {
            let mut logits = vec![0.0; tokens.len() * VOCABULARY_SIZE];
            let next = usize::from(tokens[tokens.len() - 1]) + 9;
            let row = (tokens.len() - 1) * VOCABULARY_SIZE;
            logits[row + next] = 5.0;
            logits[row + next + 1] = if tokens.len() == 5 { 4.999_95 } else { 4.0 };
            Ok(logits)
        };
        let all = continuations(8, &decoder).expect("no failure");
        assert_eq!((all.len(), all[0].0, all[0].1.split(' ').count()), (2, "", 4), "{all:?}");
        assert_eq!(all[1].1.split(' ').count(), 3);
    }
}
