//! What linear probes find of the board in a model's states: by layer, and square by square.

use super::drawing::{Axis, Board, Drawing, Mark, Panel, Plane, Stroke, Unit};
use super::plane::shared_y;
use super::style::Hue;
use crate::measure::probe::table::Square;
use crate::report::results::{Measured, Point, Results};
use crate::text::{percent, plural};

const MODELS: [(&str, &str, Hue); 2] = [("", "trained", Hue::Blue), ("random.", "random", Hue::Orange)];
const FRAMES: [(&str, &str); 2] = [("", "by colour"), ("to_move.", "by side to move")];
const SQUARES: [(&str, &str); 2] = [("accuracy", "All squares"), ("occupied", "Occupied squares")];

pub(crate) fn by_layer(_: &Results, point: &Point) -> Option<Drawing> {
    let score = point.finals("probe").into_iter().next()?;
    let mut columns = SQUARES.map(|(name, _)| FRAMES.map(|(frame, _)| marks(score, frame, name)));
    if columns[0][0].is_empty() {
        return None;
    }
    let ranges = columns.each_ref().map(|frames| shared_y(&frames.each_ref().map(Vec::as_slice), Unit::Share, &[]));
    let mut panels = Vec::new();
    for (row, (_, frame)) in FRAMES.into_iter().enumerate() {
        for (column, (_, squares)) in SQUARES.into_iter().enumerate() {
            let marks = std::mem::take(&mut columns[column][row]);
            let x = Axis::new("layer; 0 is the embedding", Unit::Whole);
            let y = Axis::new("squares told rightly", Unit::Share).range(ranges[column]);
            panels.push(Panel::Plane(Plane { heading: format!("{squares}, {frame}"), x, y, marks, height: 190.0 }));
        }
    }
    let n = score.value("accuracy")?.n;
    let subtitle =
        "Share of squares whose content (empty, or one of 12 pieces) a linear probe of the model's state tells rightly. \
                    Random: of untrained weights. Majority: always the most frequent content."
            .to_owned();
    let note = format!(
        "{} of validation games; bands: 95 % intervals. Pieces are told apart by colour, or by whose turn it is. The majority is \
         that of the square, by side to move.",
        plural("position", n)
    );
    let shown = |name: &str| score.value(name).map_or_else(|| "–".to_owned(), |value| percent(value.value, 1));
    let alt = format!(
        "By colour, at the best layer, {} of the squares; of random weights {}; by majority {}",
        shown("accuracy"),
        shown("random.accuracy"),
        shown("majority.accuracy")
    );
    let title = "What the states tell of the board, by layer".to_owned();
    Some(Drawing { title, subtitle, alt, columns: 2, panels }.note(note))
}

/// Two lines with their bands, and the majority.
fn marks(score: &Measured, frame: &str, name: &str) -> Vec<Mark> {
    let mut marks = Vec::new();
    for (model, label, hue) in MODELS {
        let name = format!("{frame}{model}{name}");
        let layers = score.score.values.iter().filter(|value| value.name == name && !value.slice.is_empty());
        let values: Vec<_> = layers.enumerate().map(|(layer, value)| (layer as f64, value)).collect();
        let Some((_, last)) = values.last() else { continue };
        let label = format!("{label} {}", percent(last.value, 1));
        let points: Vec<_> = values.iter().map(|(layer, value)| (*layer, value.value)).collect();
        marks.push(Mark::Band { points: values.iter().map(|(layer, value)| (*layer, value.low, value.high)).collect(), hue });
        marks.push(Mark::Line { points: points.clone(), hue, stroke: Stroke::Strong, label });
        if points.len() <= 12 {
            marks.push(Mark::Dots { points, hue, label: String::new() });
        }
    }
    if let Some(value) = score.value(&format!("{frame}majority.{name}")).filter(|_| !marks.is_empty()) {
        marks.push(Mark::Level { y: value.value, label: format!("majority {}", percent(value.value, 1)) });
    }
    marks
}

pub(crate) fn by_square(_: &Results, point: &Point) -> Option<Drawing> {
    let score = point.finals("probe").into_iter().next()?;
    let boards = [("trained", "accuracy"), ("random", "random.accuracy")].map(|(model, name)| {
        let shares: Vec<f64> = score.probed(model).map(Square::accuracy).collect();
        let layer = score.probed(model).next().map(|square| square.layer.clone()).unwrap_or_default();
        Some((model, layer, score.value(name)?, <[f64; 64]>::try_from(shares).ok()?))
    });
    let boards: Vec<_> = boards.into_iter().collect::<Option<_>>()?;
    let all = boards.iter().flat_map(|(.., shares)| shares).copied();
    let range = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), share| (low.min(share), high.max(share)));
    let n = boards[0].2.n;
    let panels = boards
        .iter()
        .map(|(model, layer, value, shares)| {
            let heading = format!(
                "{}, {layer}: {}",
                if *model == "trained" { "Trained" } else { "Random weights" },
                percent(value.value, 1)
            );
            Panel::Board(Board { heading, shares: Box::new(*shares), range })
        })
        .collect();
    let subtitle =
        "In how many of 100 positions a linear probe of the model's state tells what stands on the square: nothing, or \
                    which piece of which colour. The deeper the blue, the more often."
            .to_owned();
    let note = format!("Each model at its best layer, on {} of validation games; one scale for both.", plural("position", n));
    let alt = format!(
        "Squares are told rightly in {} to {} of positions; over all, {} by the trained model and {} by random weights",
        percent(range.0, 0),
        percent(range.1, 0),
        percent(boards[0].2.value, 1),
        percent(boards[1].2.value, 1)
    );
    let title = "What the states tell of the board, by square".to_owned();
    Some(Drawing { title, subtitle, alt, columns: 2, panels }.note(note))
}
