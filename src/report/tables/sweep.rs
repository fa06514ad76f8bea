//! The settings of a sweep as its page sets them side by side: of several seeds their mean, and how far they lie from each other.

use anyhow::Result;
use polars::prelude::{DataFrame, df};

use super::{frame, some};
use crate::report::results::Results;
use crate::report::sweep::{Cell, Sweep};
use crate::report::words;
use crate::stats::{Estimate, difference};

/// A row a setting and figure.
pub(super) fn sweep(results: &Results) -> Result<Option<DataFrame>> {
    let Some(sweep) = Sweep::of(results) else { return Ok(None) };
    let of_setting = |at: usize| {
        sweep.figures.iter().filter_map(move |figure| Some((at, figure, figure.cells[at].as_ref()?))).collect::<Vec<_>>()
    };
    let rows: Vec<_> = (0..sweep.settings.len()).flat_map(of_setting).collect();
    let setting = |at: usize| &sweep.settings[at];
    let of_seeds = |cell: &Cell, pick: fn(f64, f64) -> f64| {
        cell.seeds.iter().map(|seed| seed.value).reduce(pick).filter(|_| cell.seeds.len() > 1)
    };
    let known = |bound: f64| Some(bound).filter(|bound| !bound.is_nan());
    Ok(some(frame!(rows, row => {
        "setting": setting(row.0).name.as_str(),
        "points": setting(row.0).members.iter().map(|member| member.point.title()).collect::<Vec<_>>().join("; "),
        "seeds": setting(row.0).seeds() as u64,
        "parameters": setting(row.0).first().experiment.model.parameters(),
        "embedding_parameters": setting(row.0).first().experiment.model.embedding_parameters(),
        "tokens": sweep.tokens[row.0],
        "metric": format!("{}.{}", row.1.metric, row.1.name),
        "comparable": row.1.comparable,
        "value": row.2.value.value,
        "low": known(row.2.value.low),
        "high": known(row.2.value.high),
        "least_seed": of_seeds(row.2, f64::min),
        "most_seed": of_seeds(row.2, f64::max),
        "n": row.2.seeds.iter().map(|seed| seed.n).min(),
        "method": row.2.value.method.as_str(),
    })?))
}

/// What the page tells of differences: a row a figure and two settings, how far the second lies above the first; and, under the
/// same name twice, how far the seeds of a setting lie apart.
pub(super) fn differences(results: &Results) -> Result<Option<DataFrame>> {
    let Some(sweep) = Sweep::of(results) else { return Ok(None) };
    let mut rows: Vec<(String, usize, usize, Estimate)> = Vec::new();
    let all = 0..sweep.settings.len();
    for figure in words::told(&sweep) {
        let name = format!("{}.{}", figure.metric, figure.name);
        for a in all.clone() {
            rows.extend(all.clone().filter(|b| *b != a).filter_map(|b| Some((name.clone(), a, b, figure.apart(a, b)?))));
        }
        rows.extend(sweep.repeated().filter_map(|at| Some((name.clone(), at, at, words::span(figure, at)?))));
    }
    let work = |at: usize| Some(sweep.settings[at].first().experiment.model.flops_per_token() as f64 * sweep.tokens[at]? as f64);
    for (a, b) in all.clone().flat_map(|a| all.clone().map(move |b| (a, b))).filter(|(a, b)| a != b) {
        if let (Some(less), Some(more)) = (work(a), work(b)) {
            let times = Estimate { value: more / less, low: f64::NAN, high: f64::NAN, n: 0 };
            rows.push(("training.times_the_flops".to_owned(), a, b, times));
        }
    }
    let known = |bound: f64| Some(bound).filter(|bound| !bound.is_nan());
    Ok(some(frame!(rows, row => {
        "metric": row.0.as_str(),
        "setting": sweep.settings[row.1].name.as_str(),
        "other": sweep.settings[row.2].name.as_str(),
        "value": row.3.value,
        "low": known(row.3.low),
        "high": known(row.3.high),
        "n": Some(row.3.n).filter(|n| *n > 0),
        "method": if row.3.low.is_nan() { "" } else { difference::METHOD },
    })?))
}
