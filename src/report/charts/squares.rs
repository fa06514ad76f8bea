//! Draws a panel that is a chessboard: each square is as blue as its share is high, and says it in per cent.

use super::canvas::{Anchor, Canvas};
use super::drawing::Board;
use super::style::{Hue, TEXT, TICK, Weight, fit};

const HEADING: f64 = 26.0;
/// Beside the board for ranks, and below it for files.
const NAMES: f64 = 16.0;
const LARGEST: f64 = 40.0;
/// Of the blue, at the ends of the range: numbers must stand out from it in either theme.
const PALEST: f64 = 0.05;
const DEEPEST: f64 = 0.72;

pub(crate) fn height(panel_width: f64) -> f64 {
    HEADING + 8.0 * side(panel_width) + NAMES + 4.0
}

fn side(panel_width: f64) -> f64 {
    ((panel_width - NAMES) / 8.0).floor().min(LARGEST)
}

pub(crate) fn draw(board: &Board, canvas: &Canvas, (left, top): (f64, f64), panel_width: f64) {
    let heading = fit(&board.heading, TEXT, Weight::Bold, panel_width);
    canvas.text((left, top + TEXT), Anchor::Start, TEXT, Weight::Bold, Hue::Ink, &heading);
    let side = side(panel_width);
    let (from, first) = (left + NAMES, top + HEADING);
    let (low, high) = board.range;
    for (at, share) in board.shares.iter().enumerate().filter(|(_, share)| share.is_finite()) {
        // a1 is at the bottom left.
        let corner = (from + (at % 8) as f64 * side, first + (7 - at / 8) as f64 * side);
        let depth = if high > low { ((share - low) / (high - low)).clamp(0.0, 1.0) } else { 1.0 };
        canvas.tint(corner, (side - 1.0, side - 1.0), Hue::Blue, PALEST + (DEEPEST - PALEST) * depth);
        let middle = (corner.0 + (side - 1.0) / 2.0, corner.1 + side / 2.0 + TICK * 0.36);
        canvas.text(middle, Anchor::Middle, TICK, Weight::Regular, Hue::Ink, &format!("{:.0}", share * 100.0));
    }
    for at in 0..8_u8 {
        let along = (f64::from(at) + 0.5) * side;
        let (file, rank) = (char::from(b'a' + at).to_string(), char::from(b'1' + at).to_string());
        let bottom = first + 8.0 * side;
        canvas.text((from + along, bottom + TICK + 1.0), Anchor::Middle, TICK, Weight::Regular, Hue::Soft, &file);
        canvas.text((left, bottom - along + TICK * 0.36), Anchor::Start, TICK, Weight::Regular, Hue::Soft, &rank);
    }
}
