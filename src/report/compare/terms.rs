//! What the words of the page mean: those that a comparison alone has, and those of every report that it uses.

use super::comparison::Comparison;
use super::document::protocols;
use super::section::Row;
use super::table;
use crate::report::words;

/// A word, whether a comparison uses it, and what it means.
type Term = (&'static str, fn(&Comparison) -> bool, &'static str);

const OWN: [Term; 8] = [
    ("equal work", |of| of.subjects.iter().any(|subject| subject.flops_per_token != of.subjects[0].flops_per_token), {
        "As many floating-point operations: training tokens times what the model takes for one."
    }),
    ("Holm", |of| of.chance.differences > 1, {
        "Holm's rule (1979): with many differences some are told by chance. It raises the p of each, so that the chance of telling any \
         that is none stays below 5 %."
    }),
    ("inconclusive", |of| of.chance.told < of.chance.differences, {
        "Not told: the interval of the difference holds 0, or the test is not below 0.05. The models may be unlike all the same, by less \
         than so many items show."
    }),
    ("McNemar", is_paired, {
        "McNemar's exact test of pairs: of the items on which only one of two models was right, how likely so uneven a split were if \
         neither were better."
    }),
    ("Newcombe", is_paired, {
        "The interval of the difference of two shares in pairs, from the Wilson intervals of both and from how they go together."
    }),
    ("pairs", is_paired, {
        "Both models answered the same positions: what is hard for both falls out of the difference, which is so known better."
    }),
    ("points", |of| rows(of).any(|row| words::is_share(&row.metric, &row.value)), {
        "Percentage points: from 20 % to 25 % are 5 points."
    }),
    ("told", |of| of.chance.differences > 0, {
        "Said to be better, worse, higher or lower: the interval of the difference does not hold 0, and McNemar's test, where there are \
         pairs, is below 0.05."
    }),
];

/// In the order of the alphabet.
pub(super) fn used(comparison: &Comparison) -> Vec<(&'static str, &'static str)> {
    let mut terms: Vec<(&str, &str)> =
        OWN.into_iter().filter(|(_, is_used, _)| is_used(comparison)).map(|(name, _, meaning)| (name, meaning)).collect();
    terms.extend(words::used(&text(comparison)).into_iter().map(|term| (term.name, term.meaning)));
    terms.sort_by_key(|(name, _)| name.to_lowercase());
    terms
}

/// What is read of figures.
fn text(comparison: &Comparison) -> String {
    let mut text: Vec<String> = comparison.answers.iter().flat_map(|answer| answer.findings.clone()).collect();
    text.extend(rows(comparison).map(table::titled));
    text.extend(comparison.of_levels.iter().cloned());
    if !protocols(comparison).is_empty() {
        text.push("protocol".to_owned());
    }
    text.push("n, interval".to_owned());
    text.join("; ")
}

fn rows(comparison: &Comparison) -> impl Iterator<Item = &Row> {
    comparison.sections.iter().flat_map(|section| section.listed(false))
}

fn is_paired(comparison: &Comparison) -> bool {
    let mut differences = rows(comparison).flat_map(|row| &row.differences).flatten();
    differences.any(|difference| difference.p.is_some())
}
