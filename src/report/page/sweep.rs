//! The points of a sweep in one table, and those that differ in nothing but their seed as one row.

use super::table::{Cell, Table};
use crate::report::results::{Point, Results};
use crate::report::words;
use crate::stats::mean;
use crate::text::{fixed, number_within, percent_within, si, thousands};

/// A column: its head, and where its figure is.
struct Column {
    head: &'static str,
    metric: &'static str,
    value: &'static str,
}

const COLUMNS: [Column; 5] = [
    Column { head: "Legal moves", metric: "legality", value: "rate" },
    Column { head: "First choice is the move played", metric: "agreement", value: "top1" },
    Column { head: "One of five is the move played", metric: "agreement", value: "top5" },
    Column { head: "Clean games", metric: "full_games", value: "clean" },
    Column { head: "Plies of games", metric: "full_games", value: "plies" },
];

/// The figure of a point: of the hottest temperature, where there are several.
fn figure(point: &Point, column: &Column) -> Option<crate::measure::score::Value> {
    point.finals(column.metric).first()?.value(column.value).cloned()
}

fn best_loss(point: &Point) -> Option<f64> {
    point.training.as_ref()?.best.map(|best| best.loss)
}

fn on_tokens(loss: f64, tokens: u64) -> String {
    format!("{}, {} tokens", fixed(loss, 4), thousands(tokens))
}

/// One row a point; none where there is no sweep.
pub(crate) fn points(results: &Results) -> Option<Table> {
    let row = |point: &Point| {
        let parameters = point.experiment.model.parameters();
        let loss = best_loss(point);
        let mut cells = vec![
            Cell::text(words::point_name(point)),
            Cell::number(si(parameters as f64), Some(parameters as f64)),
            Cell::number(loss.map_or_else(|| "–".to_owned(), |loss| on_tokens(loss, words::validation_tokens(point))), loss),
        ];
        cells.extend(COLUMNS.iter().map(|column| match figure(point, column) {
            Some(value) => {
                let shown = format!("{}, n = {}", words::within(column.metric, &value), thousands(value.n));
                Cell::number(shown, Some(value.value))
            }
            None => Cell::number("–".to_owned(), None),
        }));
        cells
    };
    let mut head = vec![("Point", false), ("Parameters", true), ("Best validation loss", true)];
    head.extend(COLUMNS.iter().map(|column| (column.head, true)));
    let rows = if results.points.len() > 1 { results.points.iter().map(row).collect() } else { Vec::new() };
    Table::of(&head, rows).map(Table::without_empty_columns)
}

/// One row for the points that differ in their seed alone: the mean over them, and its interval.
pub(crate) fn seeds(results: &Results) -> Option<Table> {
    let mut groups: Vec<(String, Vec<&Point>)> = Vec::new();
    for point in &results.points {
        let name = without_seed(point.title());
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, points)) => points.push(point),
            None => groups.push((name, vec![point])),
        }
    }
    let rows = groups
        .into_iter()
        .filter(|(name, points)| points.len() > 1 && points.iter().all(|point| point.title() != name))
        .map(|(name, points)| {
            let losses: Vec<f64> = points.iter().filter_map(|point| best_loss(point)).collect();
            let name = if name.is_empty() { "all".to_owned() } else { name };
            let mut cells =
                vec![Cell::text(name), Cell::number(thousands(points.len() as u64), None), over(&losses, points.len(), false)];
            cells.extend(COLUMNS.iter().map(|column| {
                let values: Vec<f64> = points.iter().filter_map(|point| Some(figure(point, column)?.value)).collect();
                over(&values, points.len(), words::is_share(column.metric, column.value))
            }));
            cells
        });
    let mut head = vec![("Over seeds", false), ("Seeds", true), ("Best validation loss", true)];
    head.extend(COLUMNS.iter().map(|column| (column.head, true)));
    Table::of(&head, rows.collect()).map(Table::without_empty_columns)
}

/// The mean over `seeds` points; where some of them have no figure, it says of how many it is.
fn over(values: &[f64], seeds: usize, share: bool) -> Cell {
    let support = if share { 0.0..=1.0 } else { f64::NEG_INFINITY..=f64::INFINITY };
    match mean::mean(values, &support).filter(|estimate| estimate.n > 1 && estimate.value.is_finite()) {
        Some(estimate) => {
            let show = if share { percent_within } else { number_within };
            let some = if values.len() < seeds { format!(", n = {}", values.len()) } else { String::new() };
            Cell::number(show(estimate.value, Some(estimate.low), Some(estimate.high)) + &some, Some(estimate.value))
        }
        None => Cell::number("–".to_owned(), None),
    }
}

/// The name of a point without what it says of a seed: `width=128 train.seed=2` is `width=128`.
fn without_seed(name: &str) -> String {
    let is_seed = |part: &&str| part.split_once('=').is_some_and(|(key, _)| key.rsplit('.').next() == Some("seed"));
    name.split_whitespace().filter(|part| !is_seed(part)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_over_some_of_the_seeds_says_of_how_many() {
        assert_eq!(over(&[0.5, 0.5], 2, true).text, "50.00 % [50.00, 50.00]");
        assert!(over(&[0.5, 0.6], 3, true).text.ends_with(", n = 2"));
        assert_eq!(over(&[0.5], 2, true).text, "–");
    }

    #[test]
    fn points_are_grouped_by_everything_but_their_seed() {
        assert_eq!(without_seed("width=128 seed=1"), "width=128");
        assert_eq!(without_seed("train.seed=2 width=128"), "width=128");
        assert_eq!(without_seed("seeds=3"), "seeds=3");
    }
}
