//! Tables of what was asked, and of what others have published.

use anyhow::Result;
use polars::prelude::{DataFrame, df};

use super::{frame, rows, some};
use crate::report::published;
use crate::report::results::Results;

/// Each setting as the page shows it.
pub(super) fn settings(results: &Results) -> Result<Option<DataFrame>> {
    let settings = rows(results, |point| {
        let groups = crate::report::settings::settings(&point.experiment).into_iter();
        groups.flat_map(|(group, rows)| rows.into_iter().map(move |(name, value)| (group, name, value))).collect()
    });
    Ok(some(frame!(settings, row => { "point": row.point, "group": row.of.0, "name": row.of.1, "value": row.of.2.as_str() })?))
}

/// Published figures beside what was measured here.
pub(super) fn published(results: &Results) -> Result<Option<DataFrame>> {
    let lines = rows(results, |point| published::compare(&results.run, point));
    Ok(some(frame!(lines, row => {
        "point": row.point,
        "figure": row.of.label.as_str(),
        "name": row.of.name.as_str(),
        "value": row.of.here.and_then(|[value, ..]| value),
        "low": row.of.here.and_then(|[_, low, _]| low),
        "high": row.of.here.and_then(|[.., high]| high),
        "n": row.of.n,
        "published": row.of.there.value,
        "published_low": row.of.there.low,
        "published_high": row.of.there.high,
        "published_n": row.of.there.n,
        "verdict": row.of.verdict.text(),
    })?))
}
