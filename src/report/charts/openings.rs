//! How the model opens, beside the games that it was trained on: how far it is from them, and move by move.

use super::drawing::{Bars, Drawing, Panel, Row, Shape, Unit};
use crate::chess::line;
use crate::measure::openings::FEWEST_GAMES;
use crate::measure::score::Value;
use crate::report::results::items::NextMove;
use crate::report::results::{Measured, Point, Results};
use crate::stats::wilson;
use crate::text::{number_within, percent, percent_within, plural, thousands};

/// Beginnings that are shown move by move, and moves of each.
const SHOWN: usize = 8;
const MOVES: usize = 5;
/// Beginnings that are named where they are left out.
const MOST_NAMED: usize = 6;
/// Letters of a line in a heading.
const LONGEST: usize = 26;

/// A beginning as people write it.
pub(crate) fn name(prefix: &str) -> String {
    if prefix == "start" { "From the start".to_owned() } else { line::numbered(prefix) }
}

/// The distance of each beginning.
pub(crate) fn distances(_: &Results, point: &Point) -> Option<Drawing> {
    let score = point.finals("openings").into_iter().next()?;
    let rows = |value: &str, show: fn(&Value) -> String| -> Vec<Row> {
        let row = |part: &Value| {
            let cells = vec![show(part), thousands(part.n)];
            Row { cells, ..Row::measured(ending(&name(&part.slice)), part, "") }
        };
        score.parts(value).map(row).collect()
    };
    let shares = rows("variation", |part| percent_within(part.value, Some(part.low), Some(part.high)));
    let bits = rows("divergence", |part| number_within(part.value, Some(part.low), Some(part.high)));
    let panel = |(heading, name, unit, rows)| {
        Panel::Bars(Bars { heads: vec!["distance", "games"], ..Bars::new(heading, Shape::Bar, rows).axis(name, unit) })
    };
    let panels: Vec<_> = [
        ("Total variation distance", "moves that would have to change", Unit::Share, shares),
        ("Jensen-Shannon divergence", "bits", Unit::Number, bits),
    ]
    .into_iter()
    .filter(|(.., rows)| !rows.is_empty())
    .map(panel)
    .collect();
    let subtitle = "How far the model's moves after a beginning are from those of the training games that go on from there. \
                    Whiskers and brackets: 95 % intervals."
        .to_owned();
    let (least, most) = (extreme(score, f64::min)?, extreme(score, f64::max)?);
    let alt = format!("The total variation distance is from {} to {}", percent(least, 1), percent(most, 1));
    let title = "Openings: how far from the training games".to_owned();
    (!panels.is_empty()).then_some(Drawing { title, subtitle, alt, columns: 1, panels }.note(left_out(score)))
}

/// Which beginnings were asked for and are not told of, and why.
fn left_out(score: &Measured) -> String {
    let n = score.score.counts.get("left_out").copied().unwrap_or(0);
    if n == 0 {
        return String::new();
    }
    let mut names: Vec<String> = score
        .next_moves
        .chunk_by(|a, b| a.prefix == b.prefix)
        .filter(|next| score.parts("variation").all(|part| part.slice != next[0].prefix))
        .map(|next| ending(&name(&next[0].prefix)))
        .collect();
    if names.len() > MOST_NAMED {
        names.truncate(MOST_NAMED);
        names.push("…".to_owned());
    }
    let names = if names.is_empty() { String::new() } else { format!(" ({})", names.join("; ")) };
    let (beginnings, verb) = (plural("beginning", n), if n == 1 { "is" } else { "are" });
    format!("{beginnings}{names} {verb} left out: fewer than {FEWEST_GAMES} training games go on from there.")
}

fn extreme(score: &Measured, of: fn(f64, f64) -> f64) -> Option<f64> {
    score.parts("variation").map(|part| part.value).reduce(of)
}

/// The likeliest moves after some beginnings.
pub(crate) fn moves(_: &Results, point: &Point) -> Option<Drawing> {
    let score = point.finals("openings").into_iter().next()?;
    let beginnings: Vec<&[NextMove]> = score.next_moves.chunk_by(|a, b| a.prefix == b.prefix).collect();
    let compared = |next: &&&[NextMove]| score.parts("variation").any(|part| part.slice == next[0].prefix);
    let all = beginnings.iter().filter(compared).count();
    let shown: Vec<(String, Vec<Row>)> = beginnings.iter().filter(compared).take(SHOWN).filter_map(|next| panel(next)).collect();
    // One axis for all: bars can be compared over panels.
    let bounds = shown.iter().flat_map(|(_, rows)| rows).flat_map(|row| [row.value, row.interval.map_or(0.0, |(_, high)| high)]);
    let whole = bounds.filter(|bound| bound.is_finite()).fold(0.0, f64::max);
    let more = if all > shown.len() {
        format!("The first {} of {all} beginnings are shown; the table has all. ", shown.len())
    } else {
        String::new()
    };
    let subtitle = "The likeliest legal moves after a beginning. Bar: the probability that the model gives. Upright mark: the \
                    share of the training games that go on so, with its 95 % interval."
        .to_owned();
    let said =
        |row: &Row| Some(format!("{} {} by the model and {} in the games", row.label, row.cells.first()?, row.cells.get(1)?));
    let alt = shown.iter().filter_map(|(heading, rows)| Some(format!("{heading}: {}", said(rows.first()?)?)));
    let alt = alt.collect::<Vec<_>>().join("; ");
    let panels: Vec<_> = shown
        .into_iter()
        .map(|(heading, rows)| {
            let bars = Bars::new(heading, Shape::Bar, rows).axis("share of moves", Unit::Share);
            Panel::Bars(Bars { whole: Some(whole), heads: vec!["model", "games"], ..bars })
        })
        .collect();
    let title = "Openings: the model's moves, and those of the games".to_owned();
    let note = format!("{more}One axis for all.");
    (!panels.is_empty()).then_some(Drawing { title, subtitle, alt, columns: 2, panels }.note(note))
}

/// A long line by its end, which says where the game is.
fn ending(line: &str) -> String {
    let letters = line.chars().count();
    if letters <= LONGEST {
        return line.to_owned();
    }
    let end: String = line.chars().skip(letters - LONGEST).collect();
    format!("… {}", end.split_once(' ').map_or(end.as_str(), |(_, end)| end))
}

fn panel(next: &[NextMove]) -> Option<(String, Vec<Row>)> {
    let games: u64 = next.iter().map(|one| one.games).sum();
    let share = |one: &NextMove| one.games as f64 / games.max(1) as f64;
    let mut likeliest: Vec<&NextMove> = next.iter().collect();
    likeliest.sort_by(|a, b| b.probability.max(share(b)).total_cmp(&a.probability.max(share(a))));
    let rows = likeliest.into_iter().take(MOVES).filter_map(|one| {
        let played = wilson::share(one.games, games)?;
        let cells = vec![percent(one.probability, 1), percent(played.value, 1)];
        let before = if one.prefix == "start" { "" } else { &one.prefix };
        let label = line::after(before, &one.uci);
        Some(Row {
            interval: Some((played.low, played.high)),
            beside: Some(played.value),
            cells,
            ..Row::new(label, one.probability, "")
        })
    });
    let rows: Vec<Row> = rows.collect();
    let heading = format!("{}: {}", ending(&name(&next.first()?.prefix)), plural("game", games));
    (!rows.is_empty()).then_some((heading, rows))
}
