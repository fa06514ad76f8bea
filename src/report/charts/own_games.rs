//! The games that the model plays against itself, one by one: how long they last, and how they end.

use super::drawing::{Axis, Bars, Drawing, Mark, Panel, Plane, Row, Shape, Unit};
use super::plane::shared_y;
use super::style::Hue;
use crate::report::results::{Measured, Point, Results};
use crate::report::words::at;
use crate::stats::wilson;
use crate::text::{percent_within, plural, thousands};

/// How games end, as counted and as read, in the order of the rows.
pub(crate) const ENDS: [(&str, &str); 9] = [
    ("checkmate", "Checkmate"),
    ("stalemate", "Stalemate"),
    ("other_by_rules", "Drawn by other rules"),
    ("eos_non_terminal", "Ended by the model"),
    ("limit", "250 plies played"),
    ("illegal_illegal_movement", "Own piece, illegal move"),
    ("illegal_empty_square", "From an empty square"),
    ("illegal_opponents_piece", "The opponent's piece"),
    ("illegal_special_token", "A special token"),
];

/// The hottest and the coolest of the final temperatures that have games.
pub(crate) fn hottest_and_coolest(point: &Point) -> Vec<&Measured> {
    let scores: Vec<_> = point.finals("full_games").into_iter().filter(|score| !score.own_games.is_empty()).collect();
    match scores.as_slice() {
        [hot, .., cool] => vec![hot, cool],
        few => few.to_vec(),
    }
}

/// Lengths, and so many games of each.
type Lengths = Vec<(u32, u64)>;

pub(crate) fn lengths(_: &Results, point: &Point) -> Option<Drawing> {
    let scores = hottest_and_coolest(point);
    let own = scores.iter().map(|score| {
        let lengths: Lengths = score.own_games.iter().map(|game| (game.plies, 1)).collect();
        (format!("Its own games{}", at(score.temperature()).replace(" at ", ", ")), Hue::Blue, lengths)
    });
    let own: Vec<Shown> = own.filter(|(.., lengths)| !lengths.is_empty()).collect();
    let real = point.corpus().map(|corpus| ("Kept games of the corpus".to_owned(), Hue::Faint, corpus.lengths));
    let real: Vec<Shown> = real.into_iter().filter(|(.., lengths)| lengths.iter().any(|(_, games)| *games > 0)).collect();
    let (own_longest, real_longest) = (longest(&own)?, longest(&real).unwrap_or(0));
    let groups = if 2 * own_longest < real_longest { vec![own, real] } else { vec![own.into_iter().chain(real).collect()] };
    let (mut panels, mut said) = (Vec::new(), Vec::new());
    for group in &groups {
        panels.extend(on_one_axis(group, &mut said));
    }
    let steps: Vec<_> = groups.iter().filter_map(|group| Some(plural("ply", u64::from(step(longest(group)?))))).collect();
    let subtitle = format!(
        "Shares of games by their length, in steps of {}. The model plays both sides without a mask, and a game ends at its first \
         illegal token.",
        steps.join(", and of the corpus "),
    );
    let note = if groups.len() > 1 {
        "The corpus has its own axes: the model's games are less than half as long."
    } else {
        "One axis for all."
    };
    Some(Drawing { title: "How long games are".to_owned(), subtitle, alt: said.join("; "), columns: 1, panels }.note(note))
}

/// A heading, and what stands below it.
type Shown = (String, Hue, Lengths);

fn longest(group: &[Shown]) -> Option<u32> {
    group.iter().flat_map(|(.., lengths)| lengths).map(|(plies, _)| *plies).max()
}

/// Plies of a column. Even steps only: a game ends after White's or after Black's move, and an odd one would show that as a comb.
fn step(longest: u32) -> u32 {
    [2, 4, 6, 10, 20, 50, 100].into_iter().find(|step| longest / step < 52).unwrap_or(1 + longest / 52)
}

fn on_one_axis(group: &[Shown], said: &mut Vec<String>) -> Vec<Panel> {
    let longest = longest(group).unwrap_or(0);
    let bin = step(longest);
    let x = (0.0, f64::from((longest / bin + 1) * bin));
    let mut drawn = Vec::new();
    for (heading, hue, lengths) in group {
        let games: u64 = lengths.iter().map(|(_, games)| games).sum();
        let plies: u64 = lengths.iter().map(|(plies, games)| u64::from(*plies) * games).sum();
        let mean = plies as f64 / games as f64;
        said.push(format!("{heading}: {mean:.1} plies on average"));
        let columns = Mark::Columns { bins: bins(lengths, bin, games), hue: *hue };
        let heading = format!("{heading}: {}", thousands(games));
        drawn.push((heading, vec![columns, Mark::Upright { x: mean, label: format!("mean {mean:.1} plies") }]));
    }
    let y = shared_y(&drawn.iter().map(|(_, marks)| marks.as_slice()).collect::<Vec<_>>(), Unit::Share, &[0.0]);
    let panel = |(heading, marks)| {
        let (x, y) = (Axis::new("plies", Unit::Whole).range(x), Axis::new("", Unit::Share).range(y));
        Panel::Plane(Plane { heading, x, y, marks, height: 116.0 })
    };
    drawn.into_iter().map(panel).collect()
}

fn bins(lengths: &[(u32, u64)], bin: u32, games: u64) -> Vec<(f64, f64, f64)> {
    let last = lengths.iter().map(|(plies, _)| plies / bin).max().unwrap_or(0);
    let mut counts = vec![0_u64; last as usize + 1];
    for (plies, games) in lengths {
        counts[(plies / bin) as usize] += games;
    }
    let column = |(i, count): (usize, u64)| {
        let from = i as f64 * f64::from(bin);
        (from, from + f64::from(bin), count as f64 / games.max(1) as f64)
    };
    counts.into_iter().enumerate().map(column).collect()
}

pub(crate) fn ends(_: &Results, point: &Point) -> Option<Drawing> {
    let scores = point.finals("full_games");
    let shown: Vec<&Measured> = match scores.as_slice() {
        [hot, .., cool] => vec![hot, cool],
        few => few.to_vec(),
    };
    let panels: Vec<(String, Vec<Row>)> = shown
        .into_iter()
        .map(|score| {
            let games: u64 = score.score.counts.values().sum();
            let heading = format!("{}{}", plural("game", games), at(score.temperature()));
            (heading, rows(score, games))
        })
        .filter(|(_, rows)| !rows.is_empty())
        .collect();
    let bounds = panels.iter().flat_map(|(_, rows)| rows).map(|row| row.interval.map_or(row.value, |(_, high)| high));
    let whole = bounds.fold(0.0, f64::max);
    let alt = panels.iter().map(|(heading, rows)| {
        let rows: Vec<_> = rows.iter().map(|row| format!("{} {}", row.label, row.text)).collect();
        format!("{heading}: {}", rows.join(", "))
    });
    let alt = alt.collect::<Vec<_>>().join("; ");
    let panels: Vec<_> = panels
        .into_iter()
        .map(|(heading, rows)| {
            let bars = Bars::new(heading, Shape::Bar, rows).axis("share of games", Unit::Share);
            Panel::Bars(Bars { whole: Some(whole), ..bars })
        })
        .collect();
    let subtitle = "The model plays both sides without a mask. Blue: ended by the rules, by the model or at 250 plies; orange: by an \
                    illegal token of this kind. Written: games, share and its 95 % interval (whiskers).";
    let title = "How its own games end".to_owned();
    (!panels.is_empty()).then(|| Drawing { title, subtitle: subtitle.to_owned(), alt, columns: 1, panels })
}

/// The ways that occurred: the known ones in their order, and then others by name.
fn rows(score: &Measured, games: u64) -> Vec<Row> {
    let counts = &score.score.counts;
    let known = ENDS.into_iter().filter_map(|(kind, label)| Some((kind, label.to_owned(), *counts.get(kind)?)));
    let is_known = |kind: &str| ENDS.iter().any(|(known, _)| *known == kind);
    let others = counts.iter().filter(|(kind, _)| !is_known(kind));
    let others = others.map(|(kind, count)| (kind.as_str(), kind.replace('_', " "), *count));
    let row = |(kind, label, count): (&str, String, u64)| {
        let share = wilson::share(count.min(games), games)?;
        let text = format!("{} · {}", thousands(count), percent_within(share.value, Some(share.low), Some(share.high)));
        let hue = if kind.starts_with("illegal_") { Hue::Orange } else { Hue::Blue };
        Some(Row { interval: Some((share.low, share.high)), hue, ..Row::new(label, share.value, text) })
    };
    known.chain(others).filter(|(.., count)| *count > 0).filter_map(row).collect()
}
