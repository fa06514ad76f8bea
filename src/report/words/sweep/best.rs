//! Which setting came out best: said as the best of so many, since the best of many is partly luck.

use super::{is_settled, list, noun, told};
use crate::report::sweep::{Figure, Sweep};
use crate::text::plural;

/// Only of settings with one budget.
pub(super) fn sentence(sweep: &Sweep) -> Option<String> {
    if sweep.settings.len() < 2 || !sweep.is_of_equal_tokens() {
        return None;
    }
    let mut best: Vec<(usize, Vec<&Figure>)> = Vec::new();
    for figure in told(sweep) {
        let Some(at) = figure.best() else { continue };
        match best.iter_mut().find(|(known, _)| *known == at) {
            Some((_, figures)) => figures.push(figure),
            None => best.push((at, vec![figure])),
        }
    }
    let each: Vec<String> = best.iter().map(|(at, figures)| of_setting(sweep, *at, figures)).collect();
    let of = plural("setting", sweep.settings.len() as u64);
    (!each.is_empty()).then(|| {
        format!(
            "Best of {of}, at equal tokens: {}. The best of several is partly luck, and its figure flatters it: the more so the more \
             there are and the closer they lie.",
            each.join("; ")
        )
    })
}

fn of_setting(sweep: &Sweep, best: usize, figures: &[&Figure]) -> String {
    let nouns: Vec<String> = figures.iter().map(|figure| noun(figure)).collect();
    let mut open: Vec<String> = Vec::new();
    for other in (0..sweep.settings.len()).filter(|other| *other != best) {
        let is_open = |figure: &&&Figure| figure.apart(other, best).is_none_or(|apart| !is_settled(apart));
        let in_these: Vec<String> = figures.iter().filter(is_open).map(|figure| noun(figure)).collect();
        if !in_these.is_empty() {
            let all = in_these.len() == figures.len();
            let name = &sweep.settings[other].name;
            open.push(if all { name.clone() } else { format!("{name} (in {})", list(&in_these, in_these.len())) });
        }
    }
    let settled = match open.len() {
        0 => "told apart from every other".to_owned(),
        all if all + 1 == sweep.settings.len() && all > 3 => "told apart from none of the others".to_owned(),
        _ => format!("not told apart from {}", list(&open, 3)),
    };
    format!("{} by {}, {settled}", sweep.settings[best].name, list(&nouns, nouns.len()))
}
