//! Where the time went: one row a stage, evaluations gathered by metric, from the start of each node to its end.

use super::drawing::{Axis, Bars, Drawing, Panel, Row, Shape, SpanRow, Spans, Unit};
use super::style::Hue;
use crate::report::results::{Outcome, Results, State};
use crate::text::{duration, plural};

struct Group<'a> {
    label: String,
    nodes: Vec<&'a Outcome>,
}

pub(crate) fn draw(results: &Results) -> Option<Drawing> {
    let mut groups: Vec<Group> = Vec::new();
    for outcome in &results.nodes {
        let label = label(outcome);
        match groups.iter_mut().find(|group| group.label == label) {
            Some(group) => group.nodes.push(outcome),
            None => groups.push(Group { label, nodes: vec![outcome] }),
        }
    }
    let total: f64 = results.nodes.iter().map(spent).sum();
    if total <= 0.0 {
        return None;
    }
    let title = "Where the time went";
    let alt = format!("{} took {} in all", plural("node", results.nodes.len() as u64), duration(total));
    let made = results.nodes.iter().filter(|outcome| outcome.state != State::Kept);
    let (mut made, kept) = (made.peekable(), kept(&groups));
    if made.peek().is_none() {
        let subtitle = format!("Nothing was made in this run: {kept}");
        return Some(Drawing { title: title.to_owned(), subtitle, alt, columns: 1, panels: Vec::new() });
    }
    if made.all(|outcome| outcome.spans.is_empty()) {
        return Some(by_seconds(title, &groups, alt));
    }
    let rows: Vec<_> = groups.iter().filter(|group| !group.is_kept()).map(Group::row).collect();
    let subtitle = "When each stage was at work, and for how long. Bar: from the start of a node to its end; a thin upright line is a node \
                    that is too short for a bar.";
    let broken = results.nodes.iter().any(|outcome| hue(outcome) == Hue::Orange);
    let broken = if broken { "Orange: failed, refused or skipped. " } else { "" };
    let note = if kept.is_empty() { broken.to_owned() } else { format!("{broken}{kept}") };
    let spans = Spans { rows, axis: Axis::new("since the run began", Unit::Seconds).include([0.0]) };
    Some(Drawing::one(title, subtitle.to_owned(), alt, Panel::Spans(spans)).note(note.trim_end()))
}

/// What was kept from earlier runs, in words; empty for nothing.
fn kept(groups: &[Group]) -> String {
    let of: Vec<&Group> = groups.iter().filter(|group| group.of(State::Kept) > 0).collect();
    if of.is_empty() {
        return String::new();
    }
    let nodes: usize = of.iter().map(|group| group.of(State::Kept)).sum();
    let kept = of.iter().flat_map(|group| &group.nodes).filter(|node| node.state == State::Kept);
    let seconds: f64 = kept.map(|node| spent(node)).sum();
    let names: Vec<_> = of.iter().map(|group| group.label.as_str()).collect();
    let verb = if nodes == 1 { "was" } else { "were" };
    format!(
        "{} {verb} kept from before ({}); making took {} then.",
        plural("node", nodes as u64),
        names.join(", "),
        duration(seconds)
    )
}

/// Without times of day: how long each took.
fn by_seconds(title: &str, groups: &[Group], alt: String) -> Drawing {
    let rows = groups.iter().map(|group| {
        let hue = if group.is_kept() { Hue::Faint } else { group.hue() };
        Row { hue, ..Row::new(group.name(), group.seconds(), group.text(group.seconds())) }
    });
    let subtitle = "Time of work by stage. Blue: made in this run. Grey: kept from before, shown by what it took then. Orange: failed, \
                    refused or skipped.";
    let panel = Bars::new("", Shape::Bar, rows.collect()).axis("", Unit::Seconds);
    Drawing::one(title, subtitle.to_owned(), alt, Panel::Bars(panel))
}

fn hue(outcome: &Outcome) -> Hue {
    match outcome.state {
        State::Failed | State::Refused | State::Skipped => Hue::Orange,
        State::Kept | State::Made | State::Pending => Hue::Blue,
    }
}

impl Group<'_> {
    fn of(&self, state: State) -> usize {
        self.nodes.iter().filter(|node| node.state == state).count()
    }

    fn is_kept(&self) -> bool {
        self.of(State::Kept) == self.nodes.len()
    }

    fn name(&self) -> String {
        if self.nodes.len() > 1 { format!("{} × {}", self.label, self.nodes.len()) } else { self.label.clone() }
    }

    fn hue(&self) -> Hue {
        if self.nodes.iter().any(|node| hue(node) == Hue::Orange) { Hue::Orange } else { Hue::Blue }
    }

    fn seconds(&self) -> f64 {
        self.nodes.iter().map(|node| spent(node)).sum()
    }

    fn row(&self) -> SpanRow {
        let spans = self.nodes.iter().flat_map(|node| node.spans.iter().map(|span| (span.0, span.1, hue(node))));
        // What was kept took no time of this run.
        let worked = self.nodes.iter().filter(|node| node.state != State::Kept).map(|node| spent(node)).sum();
        SpanRow { label: self.name(), spans: spans.collect(), text: self.text(worked) }
    }

    /// How long it took, and what became of it where that is not that it was made.
    fn text(&self, seconds: f64) -> String {
        let (made, kept) = (self.of(State::Made), self.of(State::Kept));
        let mut parts = Vec::new();
        if made + kept > 0 || seconds > 0.0 {
            parts.push(duration(seconds));
        }
        if made > 0 && kept > 0 {
            parts.push(format!("{made} made, {kept} kept"));
        } else if kept > 0 {
            parts.push("kept".to_owned());
        }
        for state in [State::Failed, State::Refused, State::Skipped, State::Pending] {
            match self.of(state) {
                0 => (),
                1 if self.nodes.len() == 1 => parts.push(state.name().to_owned()),
                count => parts.push(format!("{count} {}", state.name())),
            }
        }
        parts.join(" · ")
    }
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
