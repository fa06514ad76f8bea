//! `[published]`: figures of others, to be printed beside what is measured here. They decide nothing.

use std::collections::BTreeMap;

use super::asked::Published;
use super::kind::{ANY, Integer};
use super::problem::{nearest, one_of};
use super::table::Section;

/// What a report can set beside them, each by its full name; `@T=0.6` may follow what is sampled.
const NAMES: [&str; 41] = [
    "legality.rate",
    "agreement.top1",
    "agreement.top5",
    "rules.castling.legal",
    "rules.castling.human",
    "rules.castling.mass",
    "rules.en_passant.legal",
    "rules.en_passant.human",
    "rules.en_passant.mass",
    "rules.promotion.legal",
    "rules.promotion.human",
    "rules.promotion.mass",
    "rules.check.legal",
    "rules.check.human",
    "rules.check.mass",
    "mass.mean",
    "mass.above_99",
    "calibration.ece",
    "calibration.log_loss",
    "dense.top1",
    "dense.top5",
    "dense.legal",
    "dense.mass",
    "full_games.clean",
    "full_games.plies",
    "full_games.by_rules",
    "loss.train",
    "loss.validation",
    "model.parameters",
    "model.flops_per_token",
    "corpus.read",
    "corpus.kept",
    "corpus.speed",
    "corpus.elo_missing",
    "corpus.elo_range",
    "corpus.termination",
    "corpus.too_short",
    "corpus.too_long",
    "corpus.invalid_san",
    "tokens.train",
    "tokens.validation",
];

pub(super) fn published(s: &mut Section) -> Option<BTreeMap<String, Published>> {
    let names = s.keys();
    for name in &names {
        if !is_measured(name) {
            let hint = match nearest(name, NAMES) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("known are {}", one_of(NAMES)),
            };
            s.refuse(name, &[], format!("no report has `{name}`"), &hint);
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
    let (plain, temperature) = name.split_once("@T=").unwrap_or((name, "1"));
    NAMES.contains(&plain) && temperature.parse::<f64>().is_ok_and(|temperature| temperature >= 0.0)
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
