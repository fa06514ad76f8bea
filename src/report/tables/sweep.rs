//! The settings of a sweep as its page sets them side by side: of several seeds their mean, and how far they lie from each other.

use anyhow::Result;
use polars::prelude::{DataFrame, df};

use super::{frame, some};
use crate::report::results::Results;
use crate::report::sweep::{Cell, Sweep};

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
