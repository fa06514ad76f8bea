//! `[gates]`: what must hold before anything is trained. A gate left out, or `false`, holds nobody up.

use crate::train::config::{InitialLoss, Overfit};

use super::asked::Gates;
use super::kind::{Integer, POSITIVE};
use super::source::Place;
use super::table::Section;

/// No gate at all.
pub(super) const NONE: Gates = Gates { replay: 0, initial_loss: None, overfit: None };

pub(super) fn gates(s: &mut Section, imported: Option<&Place>) -> Option<Gates> {
    let replay = s.switch("replay", 0, |s| s.get("games", &Integer::at_least(1)));
    if let Some(place) = imported {
        for gate in ["initial_loss", "overfit"] {
            s.idle(gate, place, "it is a gate of a training");
        }
        return Some(Gates { replay: replay?, ..NONE });
    }
    let initial_loss = s.switch("initial_loss", None, |s| Some(Some(InitialLoss { within: s.get("within", &POSITIVE)? })));
    let overfit = s.switch("overfit", None, |s| {
        let games = s.get("games", &Integer::at_least(1));
        let steps = s.get("steps", &Integer::at_least(1));
        let batch = s.get("batch", &Integer::at_least(1));
        let below = s.get("below", &POSITIVE);
        Some(Some(Overfit { games: games?, steps: steps?, batch: batch?, below: below? }))
    });
    Some(Gates { replay: replay?, initial_loss: initial_loss?, overfit: overfit? })
}
