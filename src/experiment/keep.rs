//! `[corpus.keep]`: the rules that a game must pass. Those that an experiment may leave out are off without a value, and
//! `false` turns an inherited one off.

use std::fmt::Display;
use std::num::NonZeroU32;

use crate::corpus::clock::Speed;
use crate::corpus::config::Keep;
use crate::corpus::date::Date;

use super::kind::{Integer, Kind, List, Misfit, Pair, TEXT, Text, Yes};
use super::problem::nearest;
use super::raw;
use super::table::Section;
use super::tree::{Node, Value};

const RESULT: Text =
    Text::like("a result: `1-0`, `0-1`, `1/2-1/2` or `*`", |text| matches!(text, "1-0" | "0-1" | "1/2-1/2" | "*"));

/// What the archive writes in `Termination`.
const TERMINATIONS: [&str; 5] = ["Normal", "Time forfeit", "Abandoned", "Rules infraction", "Unterminated"];

pub(super) fn keep(s: &mut Section) -> Option<Keep> {
    let exclude_speeds = s.get("exclude_speeds", &List(TEXT));
    let numbers = Pair(Integer::at_least(0_u32));
    let elo = s.get("elo", &numbers);
    let terminations = s.get("terminations", &List(TEXT));
    let plies = s.get("plies", &numbers);
    // Other speeds may stand in `Event` on other sites.
    let speeds = Speed::ALL.map(|speed| speed.to_string());
    let speeds = speeds.each_ref().map(String::as_str);
    for (key, values, known) in [("exclude_speeds", &exclude_speeds, &speeds[..]), ("terminations", &terminations, &TERMINATIONS)]
    {
        values.iter().flatten().for_each(|value| nearly(s, key, value, known));
    }
    let rated = rule(s, "rated", &Yes);
    let exclude_bots = rule(s, "exclude_bots", &Yes);
    let estimated_seconds = rule(s, "estimated_seconds", &numbers);
    let base_seconds = rule(s, "base_seconds", &numbers);
    let increment_seconds = rule(s, "increment_seconds", &numbers);
    let rating_difference = rule(s, "rating_difference", &numbers);
    let rating_band = rule(s, "rating_band", &Integer::at_least(1_u32));
    let results = rule(s, "results", &List(RESULT));
    let dates = rule(s, "dates", &Pair(Day));
    let exclude_duplicates = rule(s, "exclude_duplicates", &Yes);
    let games_per_player = rule(s, "games_per_player", &Integer::at_least(1_u32));
    for (key, range) in [
        ("elo", elo),
        ("plies", plies),
        ("estimated_seconds", estimated_seconds.flatten()),
        ("base_seconds", base_seconds.flatten()),
        ("increment_seconds", increment_seconds.flatten()),
        ("rating_difference", rating_difference.flatten()),
    ] {
        in_order(s, key, range);
    }
    in_order(s, "dates", dates.flatten());
    not_empty(s, "terminations", terminations.as_ref(), "such as [\"Normal\"]");
    not_empty(s, "results", results.as_ref().and_then(Option::as_ref), "such as [\"1-0\", \"0-1\"], or leave it out");
    Some(Keep {
        exclude_speeds: exclude_speeds?,
        elo: elo?,
        terminations: terminations?,
        plies: plies?,
        rated: rated?.is_some(),
        exclude_bots: exclude_bots?.is_some(),
        estimated_seconds: estimated_seconds?,
        base_seconds: base_seconds?,
        increment_seconds: increment_seconds?,
        rating_difference: rating_difference?,
        rating_band: rating_band?.and_then(NonZeroU32::new),
        results: results?.unwrap_or_default(),
        dates: dates?,
        exclude_duplicates: exclude_duplicates?.is_some(),
        games_per_player: games_per_player?.and_then(NonZeroU32::new),
    })
}

/// A rule that may be left out, or be `false`: both ask nothing.
#[expect(clippy::option_option, reason = "nothing where a problem was found, and no value where the rule is off")]
fn rule<K: Kind>(s: &mut Section, key: &str, kind: &K) -> Option<Option<K::Value>> {
    match s.node(key) {
        Some(node) if !node.is_false() => s.look(key, kind).map(Some),
        _ => s.switch(key, None, |_| None),
    }
}

/// Refuses a word that is nearly one that the archive writes: it would be looked for and never found.
fn nearly(s: &Section, key: &str, value: &str, known: &[&str]) {
    if known.contains(&value) {
        return;
    }
    let same = known.iter().find(|known| known.eq_ignore_ascii_case(value)).copied();
    if let Some(meant) = same.or_else(|| nearest(value, known.iter().copied())) {
        let message = format!("`corpus.keep.{key}` has `{value}`, which no game of the archive has");
        s.refuse(key, &[], message, &format!("did you mean `{meant}`?"));
    }
}

fn in_order<T: PartialOrd + Display>(s: &Section, key: &str, range: Option<[T; 2]>) {
    if let Some([low, high]) = range.filter(|[low, high]| low > high) {
        let message = format!("`corpus.keep.{key}` runs from {low} to {high}, which keeps no game");
        s.refuse(key, &[], message, "write the lower one first");
    }
}

fn not_empty(s: &Section, key: &str, list: Option<&Vec<String>>, hint: &str) {
    if list.is_some_and(Vec::is_empty) {
        s.refuse(key, &[], format!("`corpus.keep.{key}` is empty, which keeps no game"), hint);
    }
}

/// A day, as a string or as TOML's own date.
struct Day;

impl Kind for Day {
    type Value = Date;

    fn wanted(&self) -> String {
        "a date such as `2013-01-31`".to_owned()
    }

    fn read<'a>(&self, node: &'a Node) -> Result<Date, Misfit<'a>> {
        let text = match &node.value {
            Value::Text(text) | Value::Other(text) => text,
            Value::Raw(text) => raw::unquoted(text),
            _ => return Err(Misfit::Borrowed(node)),
        };
        Date::of_iso(text).ok_or(Misfit::Borrowed(node))
    }

    fn toml(&self, date: &Date) -> String {
        date.to_string()
    }
}
