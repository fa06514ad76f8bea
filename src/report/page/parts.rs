//! Figures of parts of a sample, such as bands of plies: a table for each kind of part, a row for each part.

use super::table::{Cell, Table};
use crate::measure::score::Value;
use crate::report::results::{Asked, Measured, Point};
use crate::report::words;

/// Heading and table, in the order of the final figures.
pub(crate) fn tables(point: &Point) -> Vec<(String, Table)> {
    let finals = point.scores.iter().filter(|score| score.asked == Asked::Final);
    finals.flat_map(|score| of_score(score).into_iter().filter_map(|rows| table(score, &rows))).collect()
}

/// The parts of a score in tables: those that have values of the same names stand in one.
fn of_score(score: &Measured) -> Vec<Vec<&[Value]>> {
    let parts = score.score.values.chunk_by(|a, b| a.slice == b.slice).filter(|part| !part[0].slice.is_empty());
    let mut tables: Vec<Vec<&[Value]>> = Vec::new();
    for part in parts {
        let alike = |known: &&mut Vec<&[Value]>| {
            known.iter().all(|known| known.iter().map(|value| &value.name).eq(part.iter().map(|value| &value.name)))
        };
        match tables.last_mut().filter(alike) {
            Some(table) => table.push(part),
            None => tables.push(vec![part]),
        }
    }
    tables
}

fn table(score: &Measured, parts: &[&[Value]]) -> Option<(String, Table)> {
    let metric = score.metric.name();
    let first = parts.first()?;
    let sampled = first.iter().any(|value| words::is_sampled(metric, &value.name));
    let temperature = score.temperature().filter(|_| sampled);
    let intervals = first.iter().map(|value| value.method.as_str()).fold(Vec::new(), |mut known, method| {
        if !known.contains(&method) {
            known.push(method);
        }
        known
    });
    let heading = format!(
        "{}{}. Intervals: {}",
        words::parts(metric, &first[0].name),
        words::at(temperature).replace(" at ", ", "),
        intervals.join(", ")
    );
    let names = first.iter().map(|value| (words::column(&value.name), true));
    let head = [("Part".to_owned(), false)].into_iter().chain(names).chain([("n".to_owned(), true)]);
    let row = |part: &&[Value]| {
        let values = part.iter().map(|value| Cell::number(words::within(metric, value), Some(value.value)));
        let n = part.iter().map(|value| value.n).max().unwrap_or_default();
        [Cell::text(part[0].slice.clone())].into_iter().chain(values).chain([Cell::count(n)]).collect()
    };
    Some((heading, Table::with(head, parts.iter().map(row).collect())?))
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
        assert!(!figures.contains("0.3-0.4") && !figures.contains("ply 1-10"), "{figures}");
        // Only what is sampled has a temperature.
        assert!(figures.contains("| Every ply: move played is the first choice | – |"), "{figures}");
        assert!(figures.contains("| Every ply: legal moves | 1.0 |"), "{figures}");
        assert!(parts.starts_with(" in the first choice. Intervals: wilson 95 %**"), "{parts}");
        assert!(parts.contains("**Every ply, by part. Intervals: wilson 95 %**"), "{parts}");
        assert!(parts.contains("| ply 1-10 | 60.0 % [56.0, 63.8] | 600 |"), "{parts}");
    }
}
