//! Every node of the plan: what became of it, what it took, and where it was made.

use super::table::{Cell, Table};
use crate::report::results::{Outcome, Results, State};
use crate::report::settings::moment;
use crate::report::words;
use crate::text::{bytes, duration, in_unit, plural, thousands};

/// More skipped nodes than these are one row: nothing is known of them.
const MOST_SKIPPED: usize = 3;

pub(crate) fn stages(results: &Results) -> Option<Table> {
    let row = |outcome: &Outcome| {
        let made_by = outcome.made_by.as_ref();
        let class = match outcome.state {
            State::Failed | State::Refused => "differs",
            State::Made => "",
            _ => "soft",
        };
        let state = match &outcome.error {
            Some(error) => format!("{}: {error}", outcome.state.name()),
            None => outcome.state.name().to_owned(),
        };
        let seconds = outcome.seconds.filter(|_| outcome.state != State::Kept).or(made_by.map(|made_by| made_by.seconds));
        let device = match made_by {
            Some(made_by) => {
                [made_by.device.as_str(), made_by.host.as_str()].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>()
            }
            None => Vec::new(),
        };
        let mut cells = vec![
            Cell::text(words::node_name(&outcome.node.label)),
            Cell { text: state, sort: None, class },
            Cell::number(seconds.map_or_else(|| "–".to_owned(), duration), Some(seconds.unwrap_or(-1.0))),
            Cell::number(
                outcome.bytes.map_or_else(|| "–".to_owned(), bytes),
                Some(outcome.bytes.map_or(-1.0, |bytes| bytes as f64)),
            ),
            Cell::text(device.join(", ")),
            Cell::time(made_by.map_or_else(String::new, |made_by| moment(&made_by.at))),
            Cell::code(made_by.map_or_else(String::new, |made_by| made_by.git.clone())),
            Cell::code(outcome.node.key.to_string()),
        ];
        if results.points.len() > 1 {
            let mine = results.points.iter().filter(|point| outcome.node.points.iter().any(|name| name == point.title()));
            let points: Vec<_> = if outcome.node.points.len() == results.points.len() {
                vec!["all".to_owned()]
            } else {
                mine.map(words::point_name).collect()
            };
            cells.insert(1, Cell { class: "name", ..Cell::text(points.join("; ")) });
        }
        cells
    };
    let mut head = vec![
        ("Node", false),
        ("State", false),
        ("Time to make", true),
        ("Size", true),
        ("Made on", false),
        ("Made at", false),
        ("Git", false),
        ("Key", false),
    ];
    if results.points.len() > 1 {
        head.insert(1, ("Points", false));
    }
    let fold = results.of_state(State::Skipped).count() > MOST_SKIPPED;
    let mut rows: Vec<_> = results.nodes.iter().filter(|outcome| !(fold && outcome.state == State::Skipped)).map(row).collect();
    if fold {
        rows.push(skipped(results, head.len()));
    }
    Some(Table::of(&head, rows)?.told("Every node of the plan", "stages summary"))
}

/// Seconds of work in all: of this run, and of the making of what was kept.
pub(crate) fn work(results: &Results) -> f64 {
    let spent = |outcome: &Outcome| {
        let made = outcome.made_by.as_ref().map(|made_by| made_by.seconds);
        if outcome.state == State::Kept { made } else { outcome.seconds.or(made) }
    };
    results.nodes.iter().filter_map(spent).filter(|seconds| seconds.is_finite()).sum()
}

/// `69 nodes: 68 made, 1 kept; 2 min 27 s of work, 48.6 MiB`.
pub(crate) fn total(results: &Results) -> String {
    let states = [State::Made, State::Kept, State::Failed, State::Refused, State::Skipped, State::Pending];
    let states = states.map(|state| (state, results.of_state(state).count() as u64));
    let states =
        states.into_iter().filter(|(_, nodes)| *nodes > 0).map(|(state, nodes)| format!("{} {}", thousands(nodes), state.name()));
    let size = results.nodes.iter().filter_map(|outcome| outcome.bytes).sum();
    format!(
        "{}: {}; {} of work, {}",
        plural("node", results.nodes.len() as u64),
        states.collect::<Vec<_>>().join(", "),
        duration(work(results)),
        bytes(size)
    )
}

/// What stages measured of their own work, when it was done.
pub(crate) fn measured(results: &Results) -> Option<Table> {
    let figures = results.nodes.iter().flat_map(|outcome| {
        let measured = outcome.made_by.iter().flat_map(|made_by| &made_by.measured);
        measured.map(move |figure| {
            vec![
                Cell::text(words::node_name(&outcome.node.label)),
                Cell::text(figure.name.clone()),
                Cell::number(in_unit(figure.value, &figure.unit), Some(figure.value)),
            ]
        })
    });
    let head = [("Node", false), ("Figure", false), ("Measured", true)];
    Some(Table::of(&head, figures.collect())?.told("What the stages measured of their own work", "measured"))
}

/// All skipped nodes in one row: how many there are of each stage.
fn skipped(results: &Results, columns: usize) -> Vec<Cell> {
    let mut stages: Vec<(&str, u64)> = Vec::new();
    for outcome in results.of_state(State::Skipped) {
        match stages.iter_mut().find(|(stage, _)| *stage == outcome.node.stage) {
            Some((_, nodes)) => *nodes += 1,
            None => stages.push((&outcome.node.stage, 1)),
        }
    }
    let name = |(stage, nodes): &(&str, u64)| if *nodes > 1 { format!("{stage} × {nodes}") } else { (*stage).to_owned() };
    let label = stages.iter().map(name).collect::<Vec<_>>().join(", ");
    let mut cells = vec![Cell::text(label)];
    cells.resize_with(columns, || Cell::text(""));
    cells[if results.points.len() > 1 { 2 } else { 1 }] =
        Cell { text: State::Skipped.name().to_owned(), sort: None, class: "soft" };
    cells
}

#[cfg(test)]
mod tests {
    use crate::report::fixture::{Fixture, Wish, experiment, write};

    #[test]
    fn a_run_that_failed_at_once_is_told_in_a_few_lines() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let state = |node: &crate::plan::Node| if node.stage == "fetch" { "failed" } else { "skipped" };
        let Fixture { run_dir, store } = write(dir.path(), &[experiment(40)], &Wish { state, ..Wish::default() });
        let written = crate::report::write(&run_dir, &store).expect("a report");
        let markdown = fs_err::read_to_string(&written.markdown).expect("the report wrote it");
        for empty in ["### Training", "### Corpus", "### Final figures", "### Beside the published figures"] {
            assert!(!markdown.contains(empty), "{empty}: {markdown}");
        }
        assert!(
            markdown.contains("| parse, encode, inspect, initial_loss, overfit, train, ask × 45, evaluate × 99 | skipped |"),
            "{markdown}"
        );
    }
}
