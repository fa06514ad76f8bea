//! What the illegal tokens were, early in the training and at its end.

use super::drawing::{Bars, Drawing, Panel, Row, Shape, Unit};
use crate::report::results::{Measured, Point, Results};
use crate::report::words::at;
use crate::stats::wilson;
use crate::text::{percent_within, plural, si, thousands};

/// Kinds of failure, as counted and as read.
pub(crate) const KINDS: [(&str, &str); 4] = [
    ("illegal_movement", "Own piece, illegal move"),
    ("empty_square", "From an empty square"),
    ("opponents_piece", "The opponent's piece"),
    ("special_token", "A special token"),
];

pub(crate) fn draw(_: &Results, point: &Point) -> Option<Drawing> {
    // Without a final figure, the newest snapshot is the end so far.
    let last = point.finals("legality").into_iter().next().or_else(|| point.snapshots("legality").pop());
    let early = point.snapshots("legality").into_iter().find(|score| {
        score.score.checkpoint.step > 0 && last.is_none_or(|last| score.score.checkpoint.step < last.score.checkpoint.step)
    });
    let scores: Vec<&Measured> = [early, last].into_iter().flatten().collect();
    let all: Vec<Vec<Row>> = scores.iter().map(|score| rows(score)).collect();
    let whole = all.iter().flatten().map(|row| row.interval.map_or(row.value, |(_, high)| high)).fold(0.0, f64::max);
    let alt = scores.iter().zip(&all).map(|(score, rows)| said(score, rows)).collect::<Vec<_>>().join("; ");
    let panels: Vec<_> = scores
        .iter()
        .zip(all)
        .filter(|(_, rows)| !rows.is_empty())
        .map(|(score, rows)| {
            let bars = Bars::new(heading(score), Shape::Bar, rows).axis("share of all sampled tokens", Unit::Share);
            Panel::Bars(Bars { whole: Some(whole), ..bars })
        })
        .collect();
    let subtitle = "Illegal tokens by kind. Bars begin at 0; written are how many tokens, their share of all sampled tokens, legal and \
         illegal, and its 95 % interval, which the whiskers show.";
    let title = "What the illegal moves were".to_owned();
    (!panels.is_empty()).then(|| Drawing { title, subtitle: subtitle.to_owned(), alt, columns: 1, panels })
}

fn total(score: &Measured) -> u64 {
    score.value("rate").map_or_else(|| score.score.counts.values().sum(), |value| value.n)
}

fn rows(score: &Measured) -> Vec<Row> {
    let n = total(score);
    KINDS
        .into_iter()
        .filter_map(|(kind, label)| {
            let count = *score.score.counts.get(kind)?;
            let share = wilson::share(count.min(n), n)?;
            let text = format!("{} · {}", thousands(count), percent_within(share.value, Some(share.low), Some(share.high)));
            Some(Row { interval: Some((share.low, share.high)), ..Row::new(label, share.value, text) })
        })
        .collect()
}

fn heading(score: &Measured) -> String {
    let checkpoint = &score.score.checkpoint;
    let weights = match checkpoint.name.as_str() {
        "imported" => "Imported weights".to_owned(),
        _ => format!("After {} tokens", si(checkpoint.tokens as f64)),
    };
    format!("{weights}: {}{}", plural("position", total(score)), at(score.temperature()))
}

fn said(score: &Measured, rows: &[Row]) -> String {
    let kinds: Vec<_> = rows.iter().map(|row| format!("{} {}", row.label, row.text)).collect();
    format!("{}: {}", heading(score), kinds.join(", "))
}
