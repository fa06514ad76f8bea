//! How much another seed changes, beside how much settings differ.

use super::{list, noun, size, told};
use crate::report::sweep::{Figure, Sweep, between};
use crate::stats::Estimate;
use crate::text::plural;

/// Pairs of neighbours that are named.
const MOST_PAIRS: usize = 4;

pub(super) fn sentences(sweep: &Sweep) -> Vec<String> {
    let mut said: Vec<String> = sweep.repeated().filter_map(|at| spread(sweep, at)).collect();
    if sweep.repeated().next().is_none() {
        return vec![
            "No setting was trained from a second seed: how much of a difference another seed would make is not known."
                .to_owned(),
        ];
    }
    said.extend(neighbours(sweep));
    said
}

/// How far the seeds of a setting lie from each other.
fn spread(sweep: &Sweep, at: usize) -> Option<String> {
    let setting = &sweep.settings[at];
    let of = |figure: &Figure| Some(format!("{} by {}", noun(figure), size(figure, span(figure, at)?)));
    let each: Vec<String> = told(sweep).filter_map(of).collect();
    let who = match setting.seeds() {
        2 => format!("Two seeds of {}", setting.name),
        seeds => format!("The furthest of {} of {}", plural("seed", seeds as u64), setting.name),
    };
    (!each.is_empty())
        .then(|| format!("{who} lie apart: {}. So much may be chance between two settings, too; the intervals of the table, and what is called settled, leave it out.", list(&each, each.len())))
}

/// The largest difference between two seeds of a setting.
pub(crate) fn span(figure: &Figure, at: usize) -> Option<Estimate> {
    let seeds = &figure.cells[at].as_ref().filter(|cell| cell.seeds.len() > 1)?.seeds;
    let least = seeds.iter().min_by(|a, b| a.value.total_cmp(&b.value))?;
    let most = seeds.iter().max_by(|a, b| a.value.total_cmp(&b.value))?;
    Some(between(least, most))
}

/// Which neighbours on the first axis lie no further apart than seeds do.
fn neighbours(sweep: &Sweep) -> Option<String> {
    let order = sweep.axes.first().filter(|_| sweep.axes.len() == 1)?.ascending()?;
    let mut within: Vec<(String, Vec<String>)> = Vec::new();
    let mut pairs = 0;
    for figure in told(sweep).filter(|figure| figure.comparable) {
        let seeds = sweep.repeated().filter_map(|at| Some(span(figure, at)?.value)).fold(0.0, f64::max);
        for pair in order.windows(2) {
            let Some(apart) = figure.apart(pair[0], pair[1]) else { continue };
            pairs += 1;
            if apart.value.abs() <= seeds {
                let [a, b] = [pair[0], pair[1]].map(|at| &sweep.settings[at].name);
                let pair = format!("{a} and {b}");
                match within.iter_mut().find(|(known, _)| *known == pair) {
                    Some((_, nouns)) => nouns.push(noun(figure)),
                    None => within.push((pair, vec![noun(figure)])),
                }
            }
        }
    }
    match (pairs, within.is_empty()) {
        (0, _) => None,
        (_, true) => Some("All neighbours on the axis lie further apart than these seeds do.".to_owned()),
        (_, false) => {
            let most = sweep.repeated().map(|at| sweep.settings[at].seeds()).max()?;
            let seeds = if most == 2 { "two seeds do" } else { "seeds do" };
            let each: Vec<String> = within
                .iter()
                .map(|(pair, nouns)| format!("{pair} differ by no more than {seeds} in {}", list(nouns, nouns.len())))
                .collect();
            let more = each.len().saturating_sub(MOST_PAIRS);
            let more = if more > 0 { format!("; and so do {}", plural("other pair", more as u64)) } else { String::new() };
            let each = each.iter().take(MOST_PAIRS).cloned().collect::<Vec<_>>().join("; ");
            Some(format!("{each}{more}."))
        }
    }
}
