//! What a sweep saves where its points need the same nodes.

use serde_json::{Value, json};

use crate::experiment::Experiment;
use crate::stages;
use crate::text::thousands;

/// Nodes of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sharing {
    points: usize,
    /// Of the plan, each once.
    distinct: usize,
    /// Of the plans of the points alone, summed.
    alone: usize,
}

impl Sharing {
    /// None where there is one point only.
    pub(super) fn of(points: &[Experiment], distinct: usize) -> Option<Self> {
        let alone = |point: &Experiment| stages::plan(std::slice::from_ref(point)).0.nodes.len();
        (points.len() > 1).then(|| Self { points: points.len(), distinct, alone: points.iter().map(alone).sum() })
    }

    fn saved(self) -> usize {
        self.alone.saturating_sub(self.distinct)
    }

    /// Such as ` for 5 points; sharing saves 16 (without it there would be 140)`.
    pub(super) fn words(self) -> String {
        let count = |n: usize| thousands(n as u64);
        let points = format!(" for {} points", count(self.points));
        match self.saved() {
            0 => format!("{points}; they share none"),
            saved => format!("{points}; sharing saves {} (without it there would be {})", count(saved), count(self.alone)),
        }
    }

    pub(super) fn document(self) -> Value {
        json!({ "nodes": self.distinct, "nodes_without_sharing": self.alone, "nodes_saved": self.saved() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_is_the_nodes_of_each_point_alone_less_those_of_the_plan() {
        let sharing = Sharing { points: 5, distinct: 1_124, alone: 1_140 };
        assert_eq!(sharing.words(), " for 5 points; sharing saves 16 (without it there would be 1,140)");
        assert_eq!(sharing.document()["nodes_saved"], 16);
        assert_eq!(Sharing { alone: 1_124, ..sharing }.words(), " for 5 points; they share none");
    }
}
