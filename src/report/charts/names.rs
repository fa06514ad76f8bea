//! Names beside the points of a plot: on the side away from the curve, and left out where there is no room.

use super::canvas::{Anchor, Canvas};
use super::style::{Hue, TICK, Weight, width};

/// From a point to its name, and between two names, in pixels.
const OFF: f64 = 7.0;
const BETWEEN: f64 = 9.0;

/// Draws the names of points that `pixel` finds, clear of `lines` and within a box: left, top, right, bottom.
pub(super) fn draw(
    points: &[((f64, f64), String)],
    canvas: &Canvas,
    pixel: impl Fn((f64, f64)) -> Option<(f64, f64)>,
    lines: &[[f64; 4]],
    room: [f64; 4],
) {
    let shown: Vec<((f64, f64), &str)> = points.iter().filter_map(|(at, name)| Some((pixel(*at)?, name.as_str()))).collect();
    let dots: Vec<(f64, f64)> = shown.iter().map(|(at, _)| *at).collect();
    let mut taken: Vec<[f64; 4]> = Vec::new();
    // The ends first: what lies between can be guessed.
    let (mut order, last) = ((0..shown.len()).collect::<Vec<_>>(), shown.len().saturating_sub(1));
    order.sort_by_key(|at| (*at != last, *at != 0, *at));
    for at in order {
        let ((x, y), name) = shown[at];
        let wide = width(name, TICK, Weight::Regular);
        let rises = slope(&dots, at) < 0.0;
        let place = places(rises).into_iter().find_map(|(side, above)| {
            let left = match side {
                Anchor::Start => x + OFF,
                Anchor::Middle => x - wide / 2.0,
                Anchor::End => x - OFF - wide,
            };
            let baseline = if above { y - OFF } else { y + OFF + TICK * 0.72 };
            let area = [left, baseline - TICK * 0.75, left + wide, baseline + TICK * 0.22];
            let is_inside = area[0] >= room[0] && area[2] <= room[2] && area[1] >= room[1] - 4.0 && area[3] <= room[3];
            let touches = |line: &[f64; 4]| area[0] < line[2] && line[0] < area[2] && area[1] < line[3] && line[1] < area[3];
            let over = |other: &[f64; 4]| {
                area[0] < other[2] + BETWEEN
                    && other[0] < area[2] + BETWEEN
                    && area[1] < other[3] + 1.0
                    && other[1] < area[3] + 1.0
            };
            let on_dot =
                |(x, y): &(f64, f64)| over(&[x - 4.0, y - 4.0, x + 4.0, y + 4.0].map(|edge| edge)) && (*x, *y) != shown[at].0;
            (is_inside && !taken.iter().any(over) && !lines.iter().any(touches) && !dots.iter().any(on_dot)).then_some(area)
        });
        if let Some(area) = place {
            canvas.text((area[0], area[3] - TICK * 0.22), Anchor::Start, TICK, Weight::Regular, Hue::Ink, name);
            taken.push(area);
        }
    }
}

/// How steeply the curve goes down on the sheet, around a point.
fn slope(dots: &[(f64, f64)], at: usize) -> f64 {
    let (before, after) = (dots[at.saturating_sub(1)], dots[(at + 1).min(dots.len() - 1)]);
    (after.1 - before.1) / (after.0 - before.0).abs().max(1.0)
}

/// Sides and whether above the point, in the order in which they are tried.
fn places(rises: bool) -> [(Anchor, bool); 6] {
    if rises {
        [
            (Anchor::End, true),
            (Anchor::Start, false),
            (Anchor::Middle, true),
            (Anchor::Middle, false),
            (Anchor::Start, true),
            (Anchor::End, false),
        ]
    } else {
        [
            (Anchor::Start, true),
            (Anchor::End, false),
            (Anchor::Middle, true),
            (Anchor::Middle, false),
            (Anchor::End, true),
            (Anchor::Start, false),
        ]
    }
}
