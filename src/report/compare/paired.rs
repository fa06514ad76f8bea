//! The difference of two cells: pair by pair where both answered the same positions, else from their intervals.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::measure::answers::Answers;
use crate::measure::pairs::{Outcomes, outcomes};
use crate::plan::{Artifact as _, Stage as _};
use crate::report::results::Measured;
use crate::stages::ask::{Ask, Asked};
use crate::stats::paired::{self, Pairs};
use crate::stats::{Estimate, difference};
use crate::store::{Key, Store};

use super::line::{Cell, Line};
use super::subject::Member;

/// How far the second lies above the first, with how that is known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Apart {
    pub(crate) estimate: Estimate,
    pub(crate) method: &'static str,
    /// Of [`Pairs::mcnemar`], where it applies.
    pub(crate) p: Option<f64>,
    /// Items on which only the first was right, and only the second.
    pub(crate) discordant: Option<[u64; 2]>,
    /// Both are of the very same measurement.
    pub(crate) same: bool,
}

impl Apart {
    pub(crate) fn new(estimate: Estimate, method: &'static str) -> Self {
        Self { estimate, method, p: None, discordant: None, same: false }
    }
}

/// How the difference of a measurement from itself is called.
const ITSELF: &str = "the same measurement";

/// Answers that the store keeps, each read once.
pub(crate) struct Kept<'s> {
    store: &'s Store,
    read: RefCell<BTreeMap<Key, Option<Rc<Answers>>>>,
}

impl<'s> Kept<'s> {
    pub(crate) fn new(store: &'s Store) -> Self {
        Self { store, read: RefCell::default() }
    }

    pub(crate) fn apart(&self, line: &Line, a: &Cell, b: &Cell) -> Apart {
        if a.scores.iter().map(|(_, score)| score.key).eq(b.scores.iter().map(|(_, score)| score.key)) {
            let estimate = Estimate { value: 0.0, low: 0.0, high: 0.0, n: a.value.n };
            return Apart { same: true, ..Apart::new(estimate, ITSELF) };
        }
        self.paired(line, a, b).unwrap_or_else(|| {
            let [a, b] = [a, b].map(|cell| Estimate {
                value: cell.value.value,
                low: cell.value.low,
                high: cell.value.high,
                n: cell.value.n,
            });
            Apart::new(difference::apart(a, b), difference::METHOD)
        })
    }

    fn paired(&self, line: &Line, a: &Cell, b: &Cell) -> Option<Apart> {
        let ([a], [b]) = (a.scores.as_slice(), b.scores.as_slice()) else { return None };
        if !line.slice.is_empty() {
            return None;
        }
        pair(&self.outcomes(a, line.value)?, &self.outcomes(b, line.value)?)
    }

    /// The outcomes behind a value; none where its metric asks no positions, or its answers are not kept.
    fn outcomes(&self, (member, measured): &(Member, &Measured), value: &str) -> Option<Outcomes> {
        let nodes = &member.results.nodes;
        let evaluate = nodes.iter().find(|outcome| outcome.node.key == measured.key)?;
        let is_ask = |key: &&Key| nodes.iter().any(|outcome| outcome.node.key == **key && outcome.node.stage == Ask::NAME);
        let key = *evaluate.node.reads.iter().find(is_ask)?;
        let mut read = self.read.borrow_mut();
        let answers = read.entry(key).or_insert_with(|| {
            let asked = Asked::open(&self.store.dir(Ask::NAME, key)).ok()?;
            Some(Rc::new(asked.answers))
        });
        outcomes(&measured.metric, value, answers.as_ref()?)
    }
}

/// None where they are not of the same positions.
fn pair(a: &Outcomes, b: &Outcomes) -> Option<Apart> {
    let n = a.of.len().min(b.of.len());
    let are_numbers = |of: &[f64]| of.iter().all(|outcome| outcome.is_finite());
    if n == 0 || a.places[..n] != b.places[..n] || !are_numbers(&a.of[..n]) || !are_numbers(&b.of[..n]) {
        return None;
    }
    let both = || a.of[..n].iter().zip(&b.of[..n]);
    if a.share && !a.by_game {
        let pairs = Pairs::of(both().map(|(a, b)| (*a > 0.5, *b > 0.5)));
        let (p, discordant) = (Some(pairs.mcnemar()), Some([pairs.only_a, pairs.only_b]));
        return Some(Apart { p, discordant, ..Apart::new(pairs.difference()?, paired::SHARES) });
    }
    let mut games = BTreeMap::<u32, (f64, u64)>::new();
    for ((game, _), (a, b)) in a.places.iter().zip(both()) {
        let (sum, items) = games.entry(*game).or_default();
        *sum += b - a;
        *items += 1;
    }
    let games: Vec<(f64, u64)> = games.into_values().collect();
    // Any seed will do, and the same one always: a comparison drawn twice is the same.
    Some(Apart::new(paired::mean(&games, 0)?, paired::MEANS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcomes(of: &[f64], first_ply: u32, share: bool) -> Outcomes {
        let places = (0..of.len() as u32).map(|at| (at / 2, first_ply + at)).collect();
        Outcomes { places, of: of.to_vec(), share, by_game: false }
    }

    #[test]
    fn shares_of_the_same_positions_are_paired_as_far_as_both_were_asked() {
        let got = pair(&outcomes(&[1.0, 1.0, 0.0, 0.0], 3, true), &outcomes(&[1.0, 0.0, 1.0], 3, true)).expect("pairs");
        assert_eq!((got.estimate.n, got.estimate.value, got.p, got.method), (3, 0.0, Some(1.0), paired::SHARES));
        assert_eq!(got.discordant, Some([1, 1]));
    }

    #[test]
    fn means_are_paired_by_game() {
        let got = pair(&outcomes(&[0.5, 0.7, 0.9, 0.3], 3, false), &outcomes(&[0.6, 0.8, 1.0, 0.4], 3, false)).expect("pairs");
        assert!((got.estimate.value - 0.1).abs() < 1e-12 && got.method == paired::MEANS, "{got:?}");
    }

    #[test]
    fn other_positions_and_numbers_that_are_none_are_no_pairs() {
        assert_eq!(pair(&outcomes(&[1.0], 3, true), &outcomes(&[1.0], 4, true)), None);
        assert_eq!(pair(&outcomes(&[1.0], 3, false), &outcomes(&[f64::INFINITY], 3, false)), None);
        assert_eq!(pair(&outcomes(&[], 3, true), &outcomes(&[], 3, true)), None);
    }
}
