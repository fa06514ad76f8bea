//! Scores of snapshots as curves over the tokens seen, and the final figure beside them.

use super::drawing::{Axis, Mark, Stroke, Unit};
use super::style::Hue;
use crate::report::results::Measured;
use crate::text::{percent, thousands};

/// A value of a snapshot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) tokens: f64,
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) n: u64,
}

pub(crate) fn samples(scores: &[&Measured], name: &str) -> Vec<Sample> {
    scores
        .iter()
        .filter_map(|score| {
            let value = score.value(name)?;
            let tokens = score.score.checkpoint.tokens as f64;
            Some(Sample { tokens, value: value.value, low: value.low, high: value.high, n: value.n })
        })
        .collect()
}

/// A curve that begins below this share tells of the way from nothing, and the untrained model belongs to it.
const HIGH_SHARE: f64 = 0.5;

/// The untrained model, where drawing it would press everything else into a corner.
pub(crate) fn without_untrained(mut samples: Vec<Sample>) -> (Vec<Sample>, Option<Sample>) {
    let Some(first) = samples.first().copied().filter(|first| first.tokens <= 0.0 && samples.len() > 2) else {
        return (samples, None);
    };
    let (low, high) = bounds(&samples[1..]);
    if low < HIGH_SHARE || first.value >= low - (high - low) {
        return (samples, None);
    }
    samples.remove(0);
    (samples, Some(first))
}

/// Several curves that are drawn together: the untrained model is on all of them or on none. Says whether it was left out.
pub(crate) fn together<const N: usize>(curves: [Vec<Sample>; N]) -> ([Vec<Sample>; N], bool) {
    let hidden = curves.iter().any(|samples| without_untrained(samples.clone()).1.is_some());
    let drawn = |mut samples: Vec<Sample>| {
        samples.retain(|sample| !hidden || sample.tokens > 0.0);
        samples
    };
    (curves.map(drawn), hidden)
}

fn bounds(samples: &[Sample]) -> (f64, f64) {
    samples.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), sample| (low.min(sample.value), high.max(sample.value)))
}

/// A line with its band and a dot at each snapshot.
pub(crate) fn curve(samples: &[Sample], hue: Hue, label: &str) -> Vec<Mark> {
    let points: Vec<_> = samples.iter().map(|sample| (sample.tokens, sample.value)).collect();
    let band = samples.iter().map(|sample| (sample.tokens, sample.low, sample.high)).collect();
    let mut marks = vec![
        Mark::Band { points: band, hue },
        Mark::Line { points: points.clone(), hue, stroke: Stroke::Strong, label: label.to_owned() },
    ];
    if points.len() <= 12 {
        marks.push(Mark::Dots { points, hue, label: String::new() });
    }
    marks
}

/// A line and, where there is one, the final figure; the label stands at the figure.
pub(crate) fn curve_to(samples: &[Sample], last: Option<&Measured>, name: &str, hue: Hue, label: &str) -> Vec<Mark> {
    let figure = last.map(|score| figure(score, name, hue, label.to_owned())).unwrap_or_default();
    let mut marks = curve(samples, hue, if figure.is_empty() { label } else { "" });
    marks.extend(figure);
    marks
}

/// One measured figure: a star with its interval. It need not lie at the end: the best snapshot may be an early one.
pub(crate) fn figure(score: &Measured, name: &str, hue: Hue, label: String) -> Vec<Mark> {
    let Some(value) = score.value(name) else { return Vec::new() };
    let x = score.score.checkpoint.tokens as f64;
    vec![Mark::Whisker { x, low: value.low, high: value.high, hue }, Mark::Star { at: (x, value.value), hue, label }]
}

/// Where the final figure was measured.
pub(crate) fn measured_at(score: &Measured) -> String {
    let checkpoint = &score.score.checkpoint;
    let best = if checkpoint.name == "best" { ", where the validation loss is lowest" } else { "" };
    format!("The final figure is measured at step {}{best}.", thousands(checkpoint.step))
}

/// A share as a label: nothing and everything are counts, which say how little was looked at.
pub(crate) fn share_label(share: f64, n: u64) -> String {
    match share {
        0.0 => format!("0 of {}", thousands(n)),
        1.0 => format!("all of {}", thousands(n)),
        _ => percent(share, 1),
    }
}

pub(crate) fn tokens_axis() -> Axis {
    Axis::new("training tokens", Unit::Count).include([0.0])
}
