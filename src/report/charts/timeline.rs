//! Where the time went: one row a stage, evaluations gathered by metric.

use super::drawing::{Bars, Drawing, Panel, Row, Shape};
use super::style::Hue;
use crate::report::results::{Outcome, Results, State};
use crate::text::{duration, plural};

struct Group {
    label: String,
    nodes: u64,
    seconds: f64,
    made: u64,
    kept: u64,
    broken: Vec<State>,
}

pub(crate) fn draw(results: &Results) -> Option<Drawing> {
    let mut groups: Vec<Group> = Vec::new();
    for outcome in &results.nodes {
        let label = label(outcome);
        let at = groups.iter().position(|group| group.label == label).unwrap_or_else(|| {
            groups.push(Group { label, nodes: 0, seconds: 0.0, made: 0, kept: 0, broken: Vec::new() });
            groups.len() - 1
        });
        let group = &mut groups[at];
        group.nodes += 1;
        match outcome.state {
            State::Made => group.made += 1,
            State::Kept => group.kept += 1,
            state => group.broken.push(state),
        }
        // What was kept is shown by what it once took.
        group.seconds += spent(outcome);
    }
    let total: f64 = groups.iter().map(|group| group.seconds).sum();
    let rows: Vec<_> = groups.iter().map(row).collect();
    let subtitle = "Seconds of work by stage. Blue: made in this run. Grey: kept from before, shown by what it took then. \
                    Orange: failed, refused or skipped.";
    let alt = format!("{} took {} in all", plural("node", results.nodes.len() as u64), duration(total));
    let panel = Bars::new("", Shape::Bar, rows);
    (total > 0.0).then(|| Drawing::one("Where the time went", subtitle.to_owned(), alt, Panel::Bars(panel)))
}

/// Seconds of work: of this run, or of the making of what was kept.
pub(crate) fn spent(outcome: &Outcome) -> f64 {
    let made = outcome.made_by.as_ref().map(|made_by| made_by.seconds);
    let seconds = if outcome.state == State::Kept { made } else { outcome.seconds.or(made) };
    seconds.filter(|seconds| seconds.is_finite()).unwrap_or(0.0)
}

fn label(outcome: &Outcome) -> String {
    match outcome.node.stage.as_str() {
        "evaluate" => {
            let metric = outcome.node.label.split(' ').nth(1).unwrap_or_default();
            format!("evaluate {metric}")
        }
        stage => stage.to_owned(),
    }
    .replace('_', " ")
}

fn row(group: &Group) -> Row {
    let hue = match (group.broken.iter().any(|state| *state != State::Pending), group.made) {
        (true, _) => Hue::Orange,
        (false, 0) => Hue::Faint,
        (false, _) => Hue::Blue,
    };
    let mut parts = Vec::new();
    if group.made > 0 && group.kept > 0 {
        parts.push(format!("{} made, {} kept", group.made, group.kept));
    } else if group.kept > 0 {
        parts.push("kept".to_owned());
    }
    for state in [State::Failed, State::Refused, State::Skipped, State::Pending] {
        match group.broken.iter().filter(|broken| **broken == state).count() {
            0 => (),
            1 if group.nodes == 1 => parts.push(state.name().to_owned()),
            count => parts.push(format!("{count} {}", state.name())),
        }
    }
    let mut text = duration(group.seconds);
    if group.made + group.kept == 0 && group.seconds == 0.0 {
        text.clear();
    }
    let text = [text, parts.join(", ")].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ");
    let label = if group.nodes > 1 { format!("{} × {}", group.label, group.nodes) } else { group.label.clone() };
    Row { hue, ..Row::new(label, group.seconds, text) }
}
