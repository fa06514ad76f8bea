//! The numbers of a run as tables, never rounded. A new one is a function and a line in [`TABLES`].

mod asked;
mod corpus;
mod games;
mod summary;
mod sweep;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result};
use fs_err as fs;
use polars::prelude::{CsvWriter, DataFrame, ParquetWriter, SerWriter as _, df};

use super::cores::on_all_cores;
use super::results::{Asked, Measured, Point, Results};
use crate::stats::{Estimate, wilson};

pub(crate) struct Table {
    pub(crate) name: &'static str,
    /// None where there is nothing to put in it.
    pub(crate) frame: fn(&Results) -> Result<Option<DataFrame>>,
}

pub(crate) const TABLES: &[Table] = &[
    Table { name: "summary", frame: summary::summary },
    Table { name: "metrics", frame: metrics },
    Table { name: "sweep", frame: sweep::sweep },
    Table { name: "differences", frame: sweep::differences },
    Table { name: "published", frame: asked::published },
    Table { name: "settings", frame: asked::settings },
    Table { name: "failures", frame: counts },
    Table { name: "survival", frame: games::survival },
    Table { name: "own_games", frame: games::own_games },
    Table { name: "openings", frame: games::openings },
    Table { name: "probe", frame: probe },
    Table { name: "training", frame: training },
    Table { name: "validation", frame: validation },
    Table { name: "speed", frame: speed },
    Table { name: "gates", frame: gates },
    Table { name: "corpus", frame: corpus::corpus },
    Table { name: "sources", frame: corpus::sources },
    Table { name: "lengths", frame: corpus::lengths },
    Table { name: "sides", frame: corpus::sides },
    Table { name: "overlap", frame: corpus::overlap },
    Table { name: "stages", frame: stages },
    Table { name: "measured", frame: measured },
];

/// Writes the tables that have something in them, as CSV and Parquet, and tells their names.
pub(crate) fn write(results: &Results, dir: &Path) -> Result<Vec<&'static str>> {
    fs::create_dir_all(dir)?;
    let written = on_all_cores(TABLES, |_, table| {
        let [csv, parquet] = ["csv", "parquet"].map(|ending| dir.join(format!("{}.{ending}", table.name)));
        let Some(mut frame) = (table.frame)(results).with_context(|| format!("making the table `{}`", table.name))? else {
            for stale in [csv, parquet].iter().filter(|path| path.exists()) {
                fs::remove_file(stale)?;
            }
            return Ok(None);
        };
        let mut bytes = Vec::new();
        CsvWriter::new(&mut bytes).finish(&mut frame).with_context(|| format!("writing the table `{}`", table.name))?;
        // Both are made of the same rows, and the CSV is written last: where that is there and the same, so is the other.
        if parquet.exists() && fs::read(&csv).is_ok_and(|old| old == bytes) {
            return Ok(Some(table.name));
        }
        if csv.exists() {
            fs::remove_file(&csv)?;
        }
        let mut columns = Vec::new();
        ParquetWriter::new(&mut columns).finish(&mut frame).with_context(|| format!("writing the table `{}`", table.name))?;
        fs::write(parquet, &columns)?;
        fs::write(csv, &bytes)?;
        Ok(Some(table.name))
    });
    written.into_iter().filter_map(Result::transpose).collect()
}

fn some(frame: DataFrame) -> Option<DataFrame> {
    (frame.height() > 0).then_some(frame)
}

/// A row about something, and where it belongs.
struct Row<'a, T> {
    run: &'a str,
    experiment: &'a str,
    point: &'a str,
    of: T,
}

fn rows<'a, T>(results: &'a Results, list: impl Fn(&'a Point) -> Vec<T>) -> Vec<Row<'a, T>> {
    let run = results.run.id.as_str();
    let row = |point: &'a Point, of| Row { run, experiment: point.experiment.name.as_str(), point: point.title(), of };
    results.points.iter().flat_map(|point| list(point).into_iter().map(move |of| row(point, of))).collect()
}

/// A data frame of one column a name, each cell taken from its row.
macro_rules! frame {
    ($rows:expr, $row:ident => { $($name:literal: $cell:expr),+ $(,)? }) => {
        df!($($name => $rows.iter().map(|$row| $cell).collect::<Vec<_>>()),+)
    };
}
use frame;

fn metrics(results: &Results) -> Result<Option<DataFrame>> {
    let stages: BTreeMap<_, _> = results.nodes.iter().map(|outcome| (outcome.node.key, outcome.node.stage.as_str())).collect();
    let values = rows(results, |point| {
        point.scores.iter().flat_map(|score| score.score.values.iter().map(move |value| (score, value))).collect()
    });
    Ok(some(frame!(values, row => {
        "run": row.run,
        "experiment": row.experiment,
        "point": row.point,
        "stage": stages.get(&row.of.0.key).copied(),
        "asked": if row.of.0.asked == Asked::Final { "final" } else { "snapshot" },
        "metric": format!("{}.{}", row.of.0.metric.name(), row.of.1.name),
        "slice": row.of.1.slice.as_str(),
        "temperature": row.of.0.temperature(),
        "masked": row.of.0.score.protocol.masked,
        "protocol": row.of.0.score.fingerprint.as_str(),
        "checkpoint": row.of.0.score.checkpoint.name.as_str(),
        "step": row.of.0.score.checkpoint.step,
        "tokens": row.of.0.score.checkpoint.tokens,
        "value": row.of.1.value,
        "low": row.of.1.low,
        "high": row.of.1.high,
        "n": row.of.1.n,
        "method": row.of.1.method.as_str(),
        "key": row.of.0.key.full(),
    })?))
}

/// A score, a kind, how many there are of it, and what share that is.
type Counted<'a> = (&'a Measured, &'a str, u64, Option<Estimate>);

fn counted(score: &Measured) -> Vec<Counted<'_>> {
    let of = score.value("rate").or(score.value("clean")).map(|value| value.n);
    let share = |count: u64| wilson::share(count, of.filter(|of| count <= *of)?);
    score.score.counts.iter().map(|(kind, count)| (score, kind.as_str(), *count, share(*count))).collect()
}

/// What was counted, and what share it is of all of its kind: of the moves that were sampled, of the games that were played.
fn counts(results: &Results) -> Result<Option<DataFrame>> {
    let counts = rows(results, |point| point.scores.iter().flat_map(counted).collect());
    Ok(some(frame!(counts, row => {
        "point": row.point,
        "metric": row.of.0.metric.name(),
        "temperature": row.of.0.temperature(),
        "checkpoint": row.of.0.score.checkpoint.name.as_str(),
        "step": row.of.0.score.checkpoint.step,
        "tokens": row.of.0.score.checkpoint.tokens,
        "kind": row.of.1,
        "count": row.of.2,
        "share": row.of.3.map(|share| share.value),
        "low": row.of.3.map(|share| share.low),
        "high": row.of.3.map(|share| share.high),
        "n": row.of.3.map(|share| share.n),
        "key": row.of.0.key.full(),
    })?))
}

fn probe(results: &Results) -> Result<Option<DataFrame>> {
    let squares =
        rows(results, |point| point.scores.iter().flat_map(|score| score.squares.iter().map(move |at| (score, at))).collect());
    Ok(some(frame!(squares, row => {
        "point": row.point,
        "checkpoint": row.of.0.score.checkpoint.name.as_str(),
        "step": row.of.0.score.checkpoint.step,
        "frame": row.of.1.frame.as_str(),
        "model": row.of.1.model.as_str(),
        "layer": row.of.1.layer.as_str(),
        "chosen": row.of.1.chosen,
        "square": row.of.1.square.as_str(),
        "accuracy": row.of.1.accuracy(),
        "right": row.of.1.right,
        "n": row.of.1.n,
        "key": row.of.0.key.full(),
    })?))
}

fn training(results: &Results) -> Result<Option<DataFrame>> {
    let steps = rows(results, |point| point.training.as_ref().map_or_else(Vec::new, |training| training.curve.iter().collect()));
    Ok(some(frame!(steps, row => {
        "point": row.point, "step": row.of.step, "tokens": row.of.tokens, "loss": row.of.loss, "learning_rate": row.of.learning_rate,
        "gradient_norm": row.of.gradient_norm, "skipped": row.of.skipped,
    })?))
}

fn validation(results: &Results) -> Result<Option<DataFrame>> {
    let losses =
        rows(results, |point| point.training.as_ref().map_or_else(Vec::new, |training| training.validation.iter().collect()));
    Ok(some(frame!(losses, row => { "point": row.point, "step": row.of.step, "tokens": row.of.tokens, "loss": row.of.loss })?))
}

fn speed(results: &Results) -> Result<Option<DataFrame>> {
    let speeds = rows(results, |point| point.training.as_ref().map_or_else(Vec::new, |training| training.speed.iter().collect()));
    Ok(some(frame!(speeds, row => {
        "point": row.point, "step": row.of.step, "seconds": row.of.seconds, "tokens_per_second": row.of.tokens_per_second,
        "power_watts": row.of.power_watts, "clock_mhz": row.of.clock_mhz, "temperature_celsius": row.of.temperature_celsius,
    })?))
}

fn gates(results: &Results) -> Result<Option<DataFrame>> {
    let gates = rows(results, |point| point.gates.iter().collect());
    Ok(some(frame!(gates, row => {
        "point": row.point,
        "gate": row.of.stage.as_str(),
        "state": row.of.state.name(),
        "measured": row.of.verdict.as_ref().map(|verdict| verdict.measured),
        "wanted": row.of.verdict.as_ref().map(|verdict| verdict.wanted.as_str()),
        "passed": row.of.verdict.as_ref().map(|verdict| verdict.passed),
        "error": row.of.error.as_deref(),
    })?))
}

fn stages(results: &Results) -> Result<Option<DataFrame>> {
    let nodes = &results.nodes;
    Ok(some(frame!(nodes, outcome => {
        "label": outcome.node.label.as_str(),
        "stage": outcome.node.stage.as_str(),
        "points": outcome.node.points.join("; "),
        "state": outcome.state.name(),
        "seconds": outcome.seconds,
        "seconds_to_make": outcome.made_by.as_ref().map(|made_by| made_by.seconds),
        "bytes": outcome.bytes,
        "device": outcome.made_by.as_ref().map(|made_by| made_by.device.as_str()),
        "host": outcome.made_by.as_ref().map(|made_by| made_by.host.as_str()),
        "git": outcome.made_by.as_ref().map(|made_by| made_by.git.as_str()),
        "made_at": outcome.made_by.as_ref().map(|made_by| made_by.at.as_str()),
        "key": outcome.node.key.full(),
        "error": outcome.error.as_deref(),
    })?))
}

fn measured(results: &Results) -> Result<Option<DataFrame>> {
    let figures: Vec<_> = results
        .nodes
        .iter()
        .flat_map(|outcome| outcome.made_by.iter().flat_map(|made_by| &made_by.measured).map(move |figure| (outcome, figure)))
        .collect();
    Ok(some(frame!(figures, row => {
        "label": row.0.node.label.as_str(),
        "stage": row.0.node.stage.as_str(),
        "name": row.1.name.as_str(),
        "value": row.1.value,
        "unit": row.1.unit.as_str(),
        "key": row.0.node.key.full(),
    })?))
}
