//! How it stands with all figures: how many are better, and by name those that are not as the others are.

use super::answer::pairs;
use super::section::{Alike, Difference, Row, Section};
use super::table::{far, titled};
use super::verdict::Verdict;
use crate::measure::values;
use crate::text::plural;

/// So many are named.
const MOST: usize = 5;

/// In a sentence: of all figures of the whole sample that have a better side. None where there are none but those that are said
/// already.
pub(super) fn all(section: &Section, other: usize, said: usize) -> Option<String> {
    let ranked = || pairs(section, other).filter(|(row, _)| values::better(&row.metric, &row.value).is_some());
    let of = |is: fn(&Verdict) -> bool| -> Vec<(&Row, &Difference)> {
        ranked().filter(|(row, difference)| row.alike.is_none() && is(&difference.verdict)).collect()
    };
    let better = of(|verdict| *verdict == Verdict::Better);
    let worse = of(|verdict| *verdict == Verdict::Worse);
    let unranked = of(|verdict| matches!(verdict, Verdict::Unranked(_))).len();
    let open = of(|verdict| matches!(verdict, Verdict::Inconclusive | Verdict::Same)).len();
    let all = better.len() + worse.len() + unranked + open;
    let aside = set_aside(ranked().map(|(row, _)| row));
    if all == 0 || all <= said && aside.is_empty() {
        return None;
    }
    // The exceptions are named, whichever they are.
    let (name_worse, name_better) = (worse.len() <= better.len(), better.len() < worse.len());
    let mut parts = Vec::new();
    if unranked > 0 {
        parts.push(format!("unlike and not ranked at {unranked}"));
    } else {
        parts.push(format!("better at {}{}", number(better.len()), names(&better, name_better)));
        parts.push(format!("worse at {}{}", number(worse.len()), names(&worse, name_worse)));
    }
    if open > 0 {
        parts.push(format!("not told apart at {open}"));
    }
    Some(format!("Of {} with a better side: {}{}.", plural("figure", all as u64), parts.join(", "), aside))
}

fn number(n: usize) -> String {
    if n == 0 { "none".to_owned() } else { n.to_string() }
}

/// ` (Castling: first choice legal, −14 points [−21, −7])`.
fn names(rows: &[(&Row, &Difference)], wanted: bool) -> String {
    if rows.is_empty() || !wanted {
        return String::new();
    }
    let mut named: Vec<String> =
        rows.iter().take(MOST).map(|(row, difference)| format!("{}, {}", titled(row), far(row, difference))).collect();
    if rows.len() > MOST {
        named.push(format!("and {} more", rows.len() - MOST));
    }
    format!(" ({})", named.join("; "))
}

/// What is not among them, since it could not differ.
fn set_aside<'r>(rows: impl Iterator<Item = &'r Row>) -> String {
    let alike: Vec<Alike> = rows.filter_map(|row| row.alike).collect();
    let of = |wanted: Alike| alike.iter().filter(|alike| **alike == wanted).count();
    let said = [
        (of(Alike::Zero), "at zero in all"),
        (of(Alike::Measurement), "of one and the same measurement"),
        (of(Alike::Twice), "of the same numbers as another"),
    ];
    let said: Vec<String> = said.into_iter().filter(|(n, _)| *n > 0).map(|(n, why)| format!("{n} {why}")).collect();
    if said.is_empty() { String::new() } else { format!("; not among them {}", said.join(" and ")) }
}
