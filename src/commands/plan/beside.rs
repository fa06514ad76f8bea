//! What would be made while something else is, on the second device of the machine.

use super::{Line, Session};
use crate::estimate::{self, Rates};
use crate::store::State;

/// Tells of each line what it can be made beside, and how long it takes there.
pub(super) fn tell<'a>(lines: &mut [Line<'a>], session: &'a Session, rates: Rates) {
    let Some(device) = session.loaded.machine.measure_device.as_deref() else { return };
    let rates = Rates { device, ..rates };
    let is_made = |line: &&Line| line.state != State::Kept;
    let read_early =
        |line: &&Line| session.plan.nodes.iter().any(|node| node.piece.as_ref().is_some_and(|piece| piece.of == line.node.key));
    let trainings: Vec<_> = lines.iter().filter(is_made).filter(read_early).map(|line| line.node).collect();
    for training in trainings {
        let early: Vec<_> = session.plan.early(training.key).iter().map(|node| node.key).collect();
        for line in lines.iter_mut().filter(|line| line.state != State::Kept && early.contains(&line.node.key)) {
            line.beside = Some((training, device));
            line.estimate = estimate::seconds(line.node, &line.state, &session.store, rates);
        }
    }
}

/// ` (93 beside the training on cpu)`, of the nodes that are to be made.
pub(super) fn count(to_make: &[&Line]) -> String {
    let mut beside = to_make.iter().filter_map(|line| line.beside);
    let Some((_, device)) = beside.next() else { return String::new() };
    format!(" ({} beside the training on {device})", 1 + beside.count())
}
