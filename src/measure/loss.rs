//! How surprised is a model by games that it was not trained on? The loss over all of validation, not a sample of it.

use anyhow::Result;

use crate::error::Fixable;
use crate::progress::Progress;

use super::predictor::Predictor;
use super::score::Value;
use super::{Measured, batched};

pub(super) const VERSION: u32 = 1;

pub(super) const DRAWN: &str =
    "all validation tokens in windows of the context laid end to end, every token but the very first asked for once";

/// Tokens of one pass for each prompt that a predictor takes at a time: a batch of short prompts is of this length.
const TOKENS_OF_A_PROMPT: usize = 64;

/// `nats`, the mean loss of a token in nats, with the windows as its clusters: the sample of its interval is of windows, whose
/// tokens depend on each other. How many tokens were asked for is counted.
///
/// The mean over all tokens is that of the windows but for the last, which is shorter: a ratio of sums, whose spread is that of
/// what each window has beyond it (Cochran, "Sampling Techniques", 1977, section 6.3).
pub(super) fn measure(predictor: &dyn Predictor, tokens: &[u16], progress: &Progress) -> Result<Measured> {
    let context = predictor.context().max(1);
    // The last token of a window is the first that the next one is shown.
    let windows: Vec<&[u16]> =
        (0..tokens.len().saturating_sub(1)).step_by(context).map(|at| &tokens[at..tokens.len().min(at + context + 1)]).collect();
    if windows.len() < 2 {
        let wanted = context + 2;
        return Err(Fixable::failed(format!("validation holds `{}` tokens, and two windows take `{wanted}`", tokens.len()))
            .hint("raise `corpus.split.validation`, or take a larger corpus")
            .into());
    }
    let together = (predictor.batch() * TOKENS_OF_A_PROMPT / context).max(1);
    let mut nats = Vec::with_capacity(windows.len());
    for batch in windows.chunks(together) {
        batched::check(progress)?;
        nats.extend(predictor.losses(batch)?);
        progress.done(nats.len() as u64, windows.len() as u64, "windows");
    }
    let targets = tokens.len() as u64 - 1;
    let mean = nats.iter().sum::<f64>() / targets as f64;
    if !mean.is_finite() {
        return Err(Fixable::failed("a token of validation is impossible to the model: its loss is no number")
            .hint("look at the curve of the loss: the training has diverged")
            .into());
    }
    let targets_a_window = targets as f64 / windows.len() as f64;
    let beyond = |(nats, window): (&f64, &&[u16])| mean + (nats - mean * (window.len() - 1) as f64) / targets_a_window;
    let sample: Vec<f64> = nats.iter().zip(&windows).map(beyond).collect();
    let value = Value::mean("nats", &sample, &(0.0..=f64::MAX));
    let counts = [("tokens".to_owned(), targets), ("windows".to_owned(), windows.len() as u64)];
    Ok(Measured { values: Vec::from_iter(value), counts: counts.into(), ..Measured::default() })
}

#[cfg(test)]
mod tests {
    use super::super::fakes::{self, Fake};
    use super::super::parts::Own;
    use super::*;
    use crate::chess::vocabulary::{BOS, EOS, VOCABULARY_SIZE};
    use crate::progress::silent;

    fn tokens() -> Vec<u16> {
        fakes::games().into_iter().flat_map(|game| [vec![BOS], game, vec![EOS]].concat()).collect()
    }

    fn score(predictor: &dyn Predictor) -> Measured {
        measure(predictor, &tokens(), &silent()).expect("tokens to measure on")
    }

    #[test]
    fn a_model_that_knows_nothing_loses_the_logarithm_of_the_vocabulary() {
        for context in [9, 128] {
            let got = score(&fakes::uniform().context(context));
            let value = &got.values[0];
            let guessing = (VOCABULARY_SIZE as f64).ln();
            assert!([value.low, value.value, value.high].iter().all(|nats| (nats - guessing).abs() < 1e-9), "{value:?}");
            let asked = tokens().len() as u64 - 1;
            assert_eq!((got.counts["tokens"], value.n), (asked, asked.div_ceil(context as u64)));
            assert_eq!(got.counts["windows"], value.n);
        }
    }

    #[test]
    fn a_model_that_believes_in_one_token_loses_by_how_often_it_comes() {
        // Its probability is 1000 of 1000 + 1970.
        let one = fakes::Fake::new(|_| {
            let mut logits = vec![0.0; VOCABULARY_SIZE];
            logits[usize::from(EOS)] = 1000_f32.ln();
            logits
        });
        let asked = &tokens()[1..];
        let ends = asked.iter().filter(|&&token| token == EOS).count() as f64 / asked.len() as f64;
        let wanted = 2970_f64.ln() - ends * 1000_f64.ln();
        let value = &score(&one.context(50)).values[0];
        assert!((value.value - wanted).abs() < 1e-6, "{value:?}, not {wanted}");
        assert!(value.low < wanted && wanted < value.high && value.high - value.low < 0.2, "{value:?}");
    }

    #[test]
    fn every_token_but_the_first_is_asked_for_once_after_what_its_window_shows() {
        // Knows each token by the one before: right everywhere, so that a shift by one would show.
        let tokens: Vec<u16> = (0..1000_u16).collect();
        let next = Fake::new(|shown: &[u16]| {
            let mut logits = vec![0.0; VOCABULARY_SIZE];
            logits[usize::from(shown[shown.len() - 1]) + 1] = 60.0;
            logits
        });
        for context in [7, 998] {
            let got =
                measure(&Fake { context, answer: &next.answer, batch: 3, threads: Own(1) }, &tokens, &silent()).expect("tokens");
            assert!(got.values[0].value < 1e-9 && got.counts["tokens"] == 999, "{got:?}");
        }
    }

    #[test]
    fn the_size_of_batches_changes_nothing() {
        let [one, many] = [1, 64].map(|batch| score(&fakes::moody().context(40).batch(batch)));
        assert_eq!(one, many);
    }

    #[test]
    fn too_few_tokens_and_an_impossible_one_are_failures_that_say_so() {
        assert!(measure(&fakes::uniform(), &tokens()[..401], &silent()).is_err());
        assert!(measure(&fakes::always(EOS).context(50), &tokens(), &silent()).is_err());
    }
}
