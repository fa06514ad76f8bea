//! `[published]`: figures of others, to be printed beside what is measured here. They decide nothing.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::corpus::report::Reason;
use crate::measure::values::{self, Told};

use super::asked::Published;
use super::kind::{ANY, Integer};
use super::problem::{nearest, one_of};
use super::table::Section;

/// Figures of a run that no metric measures.
const OF_A_RUN: [&str; 8] = [
    "loss.train",
    "loss.validation",
    "model.parameters",
    "model.flops_per_token",
    "tokens.train",
    "tokens.validation",
    "corpus.read",
    "corpus.kept",
];

/// What a report can set beside them, each by its full name, and whether it is sampled: `@T=0.6` may then follow.
fn names() -> &'static [(String, bool)] {
    static NAMES: LazyLock<Vec<(String, bool)>> = LazyLock::new(|| {
        let measured = values::known().iter().filter(|value| value.told == Told::Whole);
        let measured = measured.map(|value| (format!("{}.{}", value.metric, value.name), value.sampled));
        let of_a_run = OF_A_RUN.map(|name| (name.to_owned(), false));
        let rejected = Reason::ALL.map(|reason| (format!("corpus.{}", reason.name()), false));
        measured.chain(of_a_run).chain(rejected).collect()
    });
    &NAMES
}

pub(super) fn published(s: &mut Section) -> Option<BTreeMap<String, Published>> {
    let names = s.keys();
    for name in &names {
        if !is_measured(name) {
            s.refuse(name, &[], format!("no report has `{name}`"), &hint(name));
        }
    }
    let figures: Vec<_> = names.iter().map(|name| s.switch(name, None, |s| figure(s).map(Some))).collect();
    let figures = names.into_iter().zip(figures).filter_map(|(name, figure)| match figure {
        Some(None) => None,
        Some(Some(figure)) => Some(Some((name, figure))),
        None => Some(None),
    });
    figures.collect()
}

fn is_measured(name: &str) -> bool {
    let (plain, temperature) = match name.split_once("@T=") {
        Some((plain, temperature)) => (plain, Some(temperature)),
        None => (name, None),
    };
    let fits = |sampled: bool| match temperature.map(str::parse::<f64>) {
        None => true,
        Some(temperature) => sampled && temperature.is_ok_and(|temperature| temperature >= 0.0),
    };
    names().iter().any(|(known, sampled)| known == plain && fits(*sampled))
}

fn hint(name: &str) -> String {
    let known = || names().iter().map(|(known, _)| known.as_str());
    if let Some(meant) = nearest(name, known()) {
        return format!("did you mean `{meant}`?");
    }
    let group = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    let alike: Vec<&str> = known().filter(|known| group(known) == group(name)).collect();
    if !alike.is_empty() {
        return format!("known are {}", one_of(alike));
    }
    let mut groups: Vec<String> = known().map(group).collect();
    groups.sort();
    groups.dedup();
    format!("write it as in `legality.rate`; known are figures of {}", one_of(groups.iter().map(String::as_str)))
}

fn figure(s: &mut Section) -> Option<Published> {
    let value = s.get("value", &ANY);
    let low = s.look("low", &ANY);
    let high = s.look("high", &ANY);
    let n = s.look("n", &Integer::at_least(1));
    let value = value?;
    if low.is_some_and(|low| low > value) || high.is_some_and(|high| high < value) {
        let message = format!("`{}` is {value:?}, outside its own interval", s.name("value"));
        s.refuse("value", &["low", "high"], message, "low <= value <= high");
    }
    Some(Published { value, low, high, n })
}
