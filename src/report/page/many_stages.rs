//! A plan of very many nodes: a row for each stage, since nobody reads a thousand. The table of stages has them all.

use super::table::{Cell, Table};
use crate::report::results::{Outcome, Results, State};
use crate::text::{bytes, duration};

/// Nodes of one stage, and what they took.
#[derive(Default)]
struct Sum {
    nodes: u64,
    made: u64,
    kept: u64,
    other: u64,
    seconds: f64,
    bytes: u64,
}

pub(super) fn by_stage(results: &Results) -> Option<Table> {
    let mut sums: Vec<(&str, Sum)> = Vec::new();
    for outcome in &results.nodes {
        let at = sums.iter().position(|(stage, _)| *stage == outcome.node.stage).unwrap_or_else(|| {
            sums.push((&outcome.node.stage, Sum::default()));
            sums.len() - 1
        });
        sums[at].1.add(outcome);
    }
    let row = |(stage, sum): (&str, Sum)| {
        vec![
            Cell::text(stage),
            Cell::count(sum.nodes),
            Cell::count(sum.made),
            Cell::count(sum.kept),
            Cell::count(sum.other),
            Cell::number(duration(sum.seconds), Some(sum.seconds)),
            Cell::number(bytes(sum.bytes), Some(sum.bytes as f64)),
        ]
    };
    let head = [
        ("Stage", false),
        ("Nodes", true),
        ("Made", true),
        ("Kept", true),
        ("Not there", true),
        ("Time to make all", true),
        ("Size of all", true),
    ];
    Some(Table::of(&head, sums.into_iter().map(row).collect())?.gathered("The nodes of each stage", "stages summary"))
}

impl Sum {
    fn add(&mut self, outcome: &Outcome) {
        self.nodes += 1;
        match outcome.state {
            State::Made => self.made += 1,
            State::Kept => self.kept += 1,
            _ => self.other += 1,
        }
        self.seconds += outcome.made_by.as_ref().map_or(0.0, |made_by| made_by.seconds);
        self.bytes += outcome.bytes.unwrap_or(0);
    }
}
