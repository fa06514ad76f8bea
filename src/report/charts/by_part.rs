//! Agreement and legality at every ply of some games, by part: ply, rating, time control, check, opening.

use super::bars::shared;
use super::drawing::{Bars, Drawing, Panel, Row, Shape, Unit};
use crate::measure::score::Value;
use crate::report::results::{Measured, Point, Results};
use crate::report::words::at;
use crate::text::{percent, percent_within, plural, thousands};

/// What parts are about, in the order of the panels, and what stands before the names of such parts.
const KINDS: [(&str, &[&str]); 5] = [
    ("By ply", &["ply "]),
    ("By the players' mean rating", &["rating "]),
    ("By time control", &["ultraBullet", "bullet", "blitz", "rapid", "classical", "correspondence"]),
    ("By check", &["in check", "not in check"]),
    ("By opening", &["opening "]),
];

pub(crate) fn agreement(_: &Results, point: &Point) -> Option<Drawing> {
    let score = point.finals("dense").into_iter().next()?;
    let what = "Share of plies at which the model's first choice is the move played";
    draw(score, "top1", "Agreement with the move played, by part", what)
}

pub(crate) fn legality(_: &Results, point: &Point) -> Option<Drawing> {
    let score = point.finals("dense").into_iter().next()?;
    let what = format!("Share of plies at which a token sampled{} is a legal move", at(score.temperature()));
    draw(score, "legal", "Legal moves, by part", &what)
}

fn draw(score: &Measured, name: &str, title: &str, what: &str) -> Option<Drawing> {
    let all = score.value(name)?;
    let panels: Vec<(&str, Vec<Row>)> = KINDS
        .into_iter()
        .map(|(heading, begins)| (heading, score.parts(name).filter(|part| is_of(part, begins)).map(row).collect::<Vec<_>>()))
        .filter(|(_, rows)| !rows.is_empty())
        .collect();
    if panels.is_empty() {
        return None;
    }
    let range = shared(&panels.iter().map(|(_, rows)| rows.as_slice()).collect::<Vec<_>>());
    let games = score.score.counts.get("games").map_or_else(String::new, |games| format!(" of {}", plural("game", *games)));
    let subtitle = format!(
        "{what}. Lines: 95 % intervals, clustered by game. The upright line is all plies: {}.",
        percent_within(all.value, Some(all.low), Some(all.high))
    );
    let note = format!("{}{games}. One axis for all panels, which need not start at zero.", plural("ply", all.n));
    let alt = panels.iter().map(|(heading, rows)| said(heading, rows)).collect::<Vec<_>>().join("; ");
    let panel = |(heading, rows): (&str, Vec<Row>)| {
        let level = Some(all.value).filter(|value| value.is_finite());
        let heads = vec!["share", "plies"];
        let bars = Bars::new(heading, Shape::Dot, rows).axis("share of plies", Unit::Share);
        Panel::Bars(Bars { range: Some(range), level, heads, ..bars })
    };
    let panels = panels.into_iter().map(panel).collect();
    Some(Drawing { title: title.to_owned(), subtitle, alt, columns: 1, panels }.note(note))
}

fn is_of(part: &Value, begins: &[&str]) -> bool {
    begins.iter().any(|begin| part.slice.starts_with(begin))
}

fn row(part: &Value) -> Row {
    let label = part.slice.strip_prefix("ply ").or_else(|| part.slice.strip_prefix("rating ")).unwrap_or(&part.slice);
    let label = label.strip_prefix("opening ").unwrap_or(label).replace('-', "–");
    let cells = vec![percent_within(part.value, Some(part.low), Some(part.high)), thousands(part.n)];
    Row { cells, ..Row::measured(label, part, "") }
}

fn said(heading: &str, rows: &[Row]) -> String {
    let parts: Vec<_> = rows.iter().map(|row| format!("{} {}", row.label, percent(row.value, 1))).collect();
    format!("{heading}: {}", parts.join(", "))
}
