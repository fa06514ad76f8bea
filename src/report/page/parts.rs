//! Figures of parts of a sample, such as bands of plies: a table for each kind of part, a row for each part.

use serde::Serialize;

use super::table::{Cell, Table};
use crate::measure::score::Value;
use crate::report::results::{Asked, Measured, Point};
use crate::report::words;

/// A table of parts, and how its intervals were made.
#[derive(Clone, PartialEq, Serialize)]
pub(crate) struct Part {
    heading: String,
    intervals: String,
    table: Table,
}

/// In the order of the final figures.
pub(crate) fn tables(point: &Point) -> Vec<Part> {
    let finals = point.scores.iter().filter(|score| score.asked == Asked::Final);
    finals.flat_map(|score| of_score(score).into_iter().filter_map(|rows| table(score, &rows))).collect()
}

/// A part, and its values.
type Of<'a> = (&'a str, Vec<&'a Value>);

/// The parts of a score in tables: those that have values of the same names stand below each other, and those of the same
/// parts beside each other.
fn of_score(score: &Measured) -> Vec<Vec<Of<'_>>> {
    let parts = score.score.values.chunk_by(|a, b| a.slice == b.slice).filter(|part| !part[0].slice.is_empty());
    let mut tables: Vec<Vec<Of>> = Vec::new();
    for values in parts {
        let part: Of = (&values[0].slice, values.iter().collect());
        let alike = |known: &&mut Vec<Of>| {
            known.iter().all(|(_, known)| known.iter().map(|value| &value.name).eq(values.iter().map(|value| &value.name)))
        };
        match tables.last_mut().filter(alike) {
            Some(table) => table.push(part),
            None => tables.push(vec![part]),
        }
    }
    let mut joined: Vec<Vec<Of>> = Vec::new();
    for table in tables {
        let same = |known: &&mut Vec<Of>| known.iter().map(|part| part.0).eq(table.iter().map(|part| part.0));
        match joined.last_mut().filter(same) {
            Some(known) => known.iter_mut().zip(table).for_each(|(known, part)| known.1.extend(part.1)),
            None => joined.push(table),
        }
    }
    joined
}

fn table(score: &Measured, parts: &[Of]) -> Option<Part> {
    let metric = score.metric.name();
    let (_, first) = parts.first()?;
    let sampled = first.iter().any(|value| words::is_sampled(metric, &value.name));
    let temperature = score.temperature().filter(|_| sampled);
    let mut intervals: Vec<&str> = Vec::new();
    for value in first {
        if !intervals.contains(&value.method.as_str()) {
            intervals.push(&value.method);
        }
    }
    let heading = format!("{}{}", words::parts(metric, &first[0].name), words::at(temperature).replace(" at ", ", "));
    let intervals = intervals.into_iter().map(words::method).collect::<Vec<_>>().join("; ");
    let names = first.iter().map(|value| (words::column(metric, &value.name), true));
    let head = [("Part".to_owned(), false)].into_iter().chain(names).chain([("n".to_owned(), true)]);
    let row = |(slice, values): &Of| {
        let n = values.iter().map(|value| value.n).max().unwrap_or_default();
        let values = values.iter().map(|value| Cell::number(words::within(metric, value), Some(value.value)));
        [Cell::text(words::part(metric, slice))].into_iter().chain(values).chain([Cell::count(n)]).collect()
    };
    let table = Table::with(head, parts.iter().map(row).collect())?.gathered(heading.clone(), "metrics");
    Some(Part { heading, intervals, table })
}

#[cfg(test)]
mod tests {
    use crate::measure::metric::Metric;
    use crate::report::fixture::{Fixture, Wish, experiment, write};

    #[test]
    fn parts_stand_in_tables_of_their_own_and_not_among_the_final_figures() {
        let mut point = experiment(40);
        let dense = Metric::Dense { games: 60, temperature: 1.0, seed: 7 };
        point.measure.last = vec![Metric::Calibration { positions: 400, seed: 7 }, dense];
        let dir = tempfile::tempdir().expect("a temporary folder");
        let Fixture { run_dir, store } = write(dir.path(), &[point], &Wish::default());
        let written = crate::report::write(&run_dir, &store).expect("a report");
        let markdown = fs_err::read_to_string(&written.markdown).expect("the report wrote it");
        let (_, figures) = markdown.split_once("### Final figures").expect("a table of them");
        let (figures, parts) = figures.split_once("**By confidence").expect("a table of tenths");
        assert!(!figures.contains("0.3–0.4") && !figures.contains("ply 1–10"), "{figures}");
        // Only what is sampled has a temperature.
        assert!(figures.contains("| Every ply: move played is the first choice | – |"), "{figures}");
        assert!(figures.contains("| Every ply: legal moves | 1.0 |"), "{figures}");
        assert!(parts.starts_with(" in the first choice.** Intervals: Wilson, 95 %."), "{parts}");
        assert!(parts.contains("**Every ply, by part, T = 1.0.** Intervals: Wilson, 95 %."), "{parts}");
        assert!(parts.contains("| ply 1–10 | 42.0 % [38.1, 46.0] | "), "{parts}");
    }
}
