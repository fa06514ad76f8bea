//! `[published]`: figures of others, to be printed beside what is measured here. They decide nothing.

use std::collections::BTreeMap;

use super::asked::Published;
use super::kind::{ANY, Integer};
use super::table::Section;

pub(super) fn published(s: &mut Section) -> Option<BTreeMap<String, Published>> {
    let names = s.keys();
    let figures: Vec<_> = names.iter().map(|name| s.switch(name, None, |s| figure(s).map(Some))).collect();
    let figures = names.into_iter().zip(figures).filter_map(|(name, figure)| match figure {
        Some(None) => None,
        Some(Some(figure)) => Some(Some((name, figure))),
        None => Some(None),
    });
    figures.collect()
}

fn figure(s: &mut Section) -> Option<Published> {
    let value = s.get("value", &ANY);
    let low = s.look("low", &ANY);
    let high = s.look("high", &ANY);
    let n = s.look("n", &Integer::at_least(1));
    let value = value?;
    if low.is_some_and(|low| low > value) || high.is_some_and(|high| high < value) {
        s.refuse("value", &["low", "high"], format!("{value:?} lies outside its own interval"), "low <= value <= high");
    }
    Some(Published { value, low, high, n })
}
