//! Agreement and legality at every ply of some games, by part: ply, rating, time control, check, opening.

use std::fmt::Write as _;

use super::bars::shared;
use super::drawing::{Bars, Drawing, Panel, Row, Shape, Unit};
use crate::measure::score::Value;
use crate::report::results::{Measured, Point, Results};
use crate::report::words::at;
use crate::text::{percent, percent_within, plural, thousands};

/// What parts are about, in the order of the panels.
struct Kind {
    heading: &'static str,
    /// What the names of its parts begin with.
    begins: &'static [&'static str],
    /// Parts are of whole games, and every game should be in one.
    of_games: bool,
}

const KINDS: [Kind; 5] = [
    Kind { heading: "By ply", begins: &["ply "], of_games: false },
    Kind { heading: "By the players' mean rating", begins: &["rating "], of_games: true },
    Kind {
        heading: "By time control",
        begins: &["ultraBullet", "bullet", "blitz", "rapid", "classical", "correspondence"],
        of_games: true,
    },
    Kind { heading: "By check", begins: &["in check", "not in check"], of_games: false },
    Kind { heading: "By opening", begins: &["opening "], of_games: false },
];

/// An interval from the spread between fewer games is too narrow to be shown.
const FEWEST_GAMES: f64 = 10.0;

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
    let few = few(score, all);
    let panels: Vec<(&str, Vec<Row>)> =
        KINDS.iter().map(|kind| (kind.heading, kind.rows(score, name, all, few))).filter(|(_, rows)| !rows.is_empty()).collect();
    if panels.is_empty() {
        return None;
    }
    let range = shared(&panels.iter().map(|(_, rows)| rows.as_slice()).collect::<Vec<_>>());
    let subtitle = format!(
        "{what}. Lines: 95 % intervals, clustered by game. The upright line is all plies: {}.",
        percent_within(all.value, Some(all.low), Some(all.high))
    );
    let note = note(score, name, all, few);
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

/// Plies of a part of whole games that are some ten games; none where the games were not counted.
fn few(score: &Measured, all: &Value) -> Option<u64> {
    let games = score.score.counts.get("games").copied().filter(|games| *games > 0)?;
    Some((FEWEST_GAMES * all.n as f64 / games as f64).ceil() as u64)
}

fn note(score: &Measured, name: &str, all: &Value, few: Option<u64>) -> String {
    let games = score.score.counts.get("games").map_or_else(String::new, |games| format!(" of {}", plural("game", *games)));
    let mut note = format!("{}{games}. The axis is the same in all panels, and need not start at zero.", plural("ply", all.n));
    let hides = |kind: &Kind, few: u64| kind.of_games && kind.parts(score, name).any(|part| part.n < few);
    if let Some(few) = few.filter(|few| KINDS.iter().any(|kind| hides(kind, *few))) {
        write!(
            note,
            " Games of a rating or a time control that have fewer than {}, which is about {FEWEST_GAMES} games, are too few for \
             an interval.",
            plural("ply", few)
        )
        .expect("written to a string");
    }
    note
}

impl Kind {
    fn parts<'a>(&'a self, score: &'a Measured, name: &'a str) -> impl Iterator<Item = &'a Value> {
        score.parts(name).filter(|part| self.begins.iter().any(|begin| part.slice.starts_with(begin)))
    }

    fn rows(&self, score: &Measured, name: &str, all: &Value, few: Option<u64>) -> Vec<Row> {
        let is_few = |part: &Value| self.of_games && few.is_some_and(|few| part.n < few);
        let mut rows: Vec<Row> = self.parts(score, name).map(|part| row(part, is_few(part))).collect();
        let others = all.n.saturating_sub(self.parts(score, name).map(|part| part.n).sum());
        if self.of_games && others > 0 && !rows.is_empty() {
            rows.push(Row { cells: vec!["–".to_owned(), thousands(others)], ..Row::new("other, unknown", f64::NAN, "") });
        }
        rows
    }
}

fn row(part: &Value, is_few: bool) -> Row {
    let label = part.slice.strip_prefix("ply ").or_else(|| part.slice.strip_prefix("rating ")).unwrap_or(&part.slice);
    let label = label.strip_prefix("opening ").unwrap_or(label).replace('-', "–");
    if is_few {
        return Row { cells: vec![percent(part.value, 1), thousands(part.n)], ..Row::new(label, part.value, "") };
    }
    let cells = vec![percent_within(part.value, Some(part.low), Some(part.high)), thousands(part.n)];
    Row { cells, ..Row::measured(label, part, "") }
}

fn said(heading: &str, rows: &[Row]) -> String {
    let told = rows.iter().filter(|row| row.value.is_finite());
    let parts: Vec<_> = told.map(|row| format!("{} {}", row.label, percent(row.value, 1))).collect();
    format!("{heading}: {}", parts.join(", "))
}
