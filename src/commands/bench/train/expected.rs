//! What the plan has to make beside the training, and how many steps that is.

use super::subject::Subject;
use crate::commands::session::Session;
use crate::estimate::{self, Rates};
use crate::plan::{Artifact as _, Stage as _};
use crate::stages::encode::Tokens;
use crate::stages::passes;
use crate::stages::train::Train;
use crate::store::State;
use crate::train::config::Length;

/// What is known of an experiment before it runs, beside the speed of its steps.
pub(super) struct Rest {
    /// Optimiser steps; none where the length is told in epochs and no tokens are kept to count.
    pub(super) steps: Option<u64>,
    /// Of all other nodes that are to make, as `plan` estimates them.
    pub(super) seconds: f64,
    /// Nodes that `plan` has nothing to estimate from.
    pub(super) untold: u64,
}

impl Rest {
    pub(super) fn of(session: &Session, point: Subject) -> Self {
        let device = &session.loaded.machine.device;
        let flops_per_second = estimate::reached(Train::NAME, &session.store, device);
        let rates = Rates { device, network: None, flops_per_second };
        let of_point = session.plan.nodes.iter().filter(|node| node.points.is_empty() || node.points.contains(&point.point));
        let (mut seconds, mut untold) = (0.0, 0);
        for node in of_point.filter(|node| node.stage != Train::NAME) {
            let state = session.store.state(node.slot());
            match estimate::seconds(node, &state, &session.store, rates) {
                Some(estimate) => seconds += estimate.seconds,
                None => untold += 1,
            }
        }
        Self { steps: steps(session, point), seconds, untold }
    }
}

fn steps(session: &Session, point: Subject) -> Option<u64> {
    if let Length::Steps(steps) = point.train.length {
        return Some(steps);
    }
    let encode = session.plan.nodes.iter().find(|node| node.stage == "encode" && node.points.contains(&point.point))?;
    let kept = session.store.state(encode.slot()) == State::Kept;
    let tokens = Tokens::open(&session.store.dir("encode", encode.key)).ok().filter(|_| kept)?;
    passes::steps(point.train, &point.model, &tokens)
}
