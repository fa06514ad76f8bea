//! Draws the marks of a plot, within its sides.

use super::canvas::{InData as _, Plot};
use super::drawing::{Mark, Stroke};
use super::labels::STAR;
use super::style::Hue;

/// Of a dashed line, in pixels: a dash, and the gap after it.
const DASH: (f64, f64) = (7.0, 6.0);

/// Keeps marks within the ranges, and their number within what can be seen.
pub(super) struct Inside {
    pub(super) x: (f64, f64),
    pub(super) y: (f64, f64),
    /// Pixels across, and from top to bottom.
    pub(super) columns: f64,
    pub(super) rows: f64,
}

impl Inside {
    pub(super) fn mark(&self, mark: &Mark, plot: &Plot) {
        match mark {
            Mark::Line { points, hue, stroke, .. } => {
                let (thick, opacity) = match stroke {
                    Stroke::Strong | Stroke::Dashed => (2.25, 1.0),
                    Stroke::Thin => (1.5, 1.0),
                    Stroke::Fine => (1.0, 0.65),
                    Stroke::Raw => (1.0, 0.22),
                };
                for piece in points.split(|&(x, y)| !x.is_finite() || !y.is_finite()) {
                    let piece: Vec<_> = piece.iter().filter(|(x, _)| self.holds_x(*x)).map(|&point| self.clamp(point)).collect();
                    let piece = thin(&piece, self.columns);
                    match stroke {
                        Stroke::Dashed => self.dashes(&piece).iter().for_each(|dash| plot.line(dash, *hue, thick, opacity)),
                        _ if piece.len() > 1 => plot.line(&piece, *hue, thick, opacity),
                        _ => (),
                    }
                }
            }
            Mark::Band { points, hue } => {
                let points: Vec<_> =
                    points.iter().filter(|(x, low, high)| self.holds_x(*x) && low.is_finite() && high.is_finite()).collect();
                let lower = points.iter().map(|(x, low, _)| self.clamp((*x, *low)));
                let upper = points.iter().rev().map(|(x, _, high)| self.clamp((*x, *high)));
                if points.len() > 1 {
                    plot.area(&lower.chain(upper).collect::<Vec<_>>(), *hue, 0.18);
                }
            }
            Mark::Dots { points, hue, .. } => {
                for &point in points.iter().filter(|point| self.holds(**point)) {
                    plot.dot(point, 3.5, *hue);
                }
            }
            Mark::Star { at, hue, .. } if self.holds(*at) => {
                // A rim of the surface sets it off from the curve below it.
                plot.area(&self.star(*at, STAR + 2.0), Hue::Surface, 1.0);
                plot.area(&self.star(*at, STAR), *hue, 1.0);
            }
            Mark::Whisker { x, low, high, hue } if self.holds_x(*x) && !low.is_nan() && !high.is_nan() => {
                let (lower, upper) = (self.clamp((*x, *low)), self.clamp((*x, *high)));
                plot.line(&[lower, upper], *hue, 1.5, 1.0);
                // An arrow says that a bound is open.
                let (dx, dy) = self.pixels(4.0, 5.0);
                for (tip, dy, open) in [(lower, dy, *low == f64::NEG_INFINITY), (upper, -dy, *high == f64::INFINITY)] {
                    if open {
                        plot.line(&[(tip.0 - dx, tip.1 + dy), tip, (tip.0 + dx, tip.1 + dy)], *hue, 1.5, 1.0);
                    }
                }
            }
            Mark::Level { y, .. } => {
                if self.holds((self.x.0, *y)) {
                    plot.line(&[(self.x.0, *y), (self.x.1, *y)], Hue::Faint, 1.25, 1.0);
                }
            }
            Mark::Columns { bins, hue } => {
                let gap = (self.x.1 - self.x.0) / self.columns * 0.5;
                for &(from, to, height) in bins.iter().filter(|(_, _, height)| height.is_finite() && *height > 0.0) {
                    let gap = gap.min((to - from) * 0.2);
                    plot.column(self.clamp((from + gap, self.y.0.max(0.0))), self.clamp((to - gap, height)), *hue);
                }
            }
            Mark::Specks { points, hue } => {
                for &point in points.iter().filter(|point| self.holds(**point)) {
                    plot.dot(point, 4.75, *hue);
                    plot.dot(point, 3.25, Hue::Surface);
                }
            }
            Mark::Star { .. } | Mark::Whisker { .. } | Mark::Upright { .. } | Mark::Names { .. } => (),
        }
    }

    /// What a whisker takes up, in pixels: names keep clear of it.
    pub(super) fn upright_line(&self, mark: &Mark, plot: &Plot) -> Option<[f64; 4]> {
        let Mark::Whisker { x, low, high, .. } = mark else { return None };
        if !self.holds_x(*x) || low.is_nan() || high.is_nan() {
            return None;
        }
        let ((x, bottom), (_, top)) = (plot.pixel(self.clamp((*x, *low))), plot.pixel(self.clamp((*x, *high))));
        Some([x - 2.0, top, x + 2.0, bottom])
    }

    /// So many pixels across and up, in data coordinates.
    fn pixels(&self, across: f64, up: f64) -> (f64, f64) {
        (across * (self.x.1 - self.x.0) / self.columns, up * (self.y.1 - self.y.0) / self.rows)
    }

    /// The outline of a star of five points.
    fn star(&self, (x, y): (f64, f64), radius: f64) -> Vec<(f64, f64)> {
        let corner = |i: u32| {
            let (angle, reach) =
                (f64::from(i) * std::f64::consts::PI / 5.0, if i.is_multiple_of(2) { radius } else { radius * 0.45 });
            let (dx, dy) = self.pixels(reach * angle.sin(), reach * angle.cos());
            (x + dx, y + dy)
        };
        (0..10).map(corner).collect()
    }

    /// A line cut into dashes that are as long on the sheet whatever its slope.
    fn dashes(&self, line: &[(f64, f64)]) -> Vec<Vec<(f64, f64)>> {
        let (wide, high) = self.pixels(1.0, 1.0);
        let (mut dashes, mut on, mut left) = (Vec::new(), true, DASH.0);
        let mut dash: Vec<(f64, f64)> = line.first().copied().into_iter().collect();
        for pair in line.windows(2) {
            let (mut from, to) = (pair[0], pair[1]);
            loop {
                let (dx, dy) = (to.0 - from.0, to.1 - from.1);
                let length = (dx / wide).hypot(dy / high);
                if length <= left || !length.is_finite() {
                    left -= length;
                    dash.push(to);
                    break;
                }
                from = (from.0 + dx * left / length, from.1 + dy * left / length);
                dash.push(from);
                let whole = std::mem::replace(&mut dash, vec![from]);
                if on {
                    dashes.push(whole);
                }
                on = !on;
                left = if on { DASH.0 } else { DASH.1 };
            }
        }
        if on && dash.len() > 1 {
            dashes.push(dash);
        }
        dashes
    }

    pub(super) fn holds_x(&self, x: f64) -> bool {
        let slack = (self.x.1 - self.x.0) * 1e-9;
        x >= self.x.0 - slack && x <= self.x.1 + slack
    }

    pub(super) fn holds(&self, (x, y): (f64, f64)) -> bool {
        let slack = (self.y.1 - self.y.0) * 1e-9;
        self.holds_x(x) && y >= self.y.0 - slack && y <= self.y.1 + slack
    }

    fn clamp(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (x.clamp(self.x.0, self.x.1), y.clamp(self.y.0, self.y.1))
    }
}

/// Of each column of pixels the first, lowest, highest and last point: what a line over it shows.
fn thin(points: &[(f64, f64)], columns: f64) -> Vec<(f64, f64)> {
    if points.len() as f64 <= columns * 2.0 {
        return points.to_vec();
    }
    let (first, last) = (points[0].0, points[points.len() - 1].0);
    let column = |x: f64| ((x - first) / (last - first).max(f64::MIN_POSITIVE) * columns) as i64;
    let mut thinned = Vec::new();
    for bucket in points.chunk_by(|a, b| column(a.0) == column(b.0)) {
        let by_height = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let mut kept: Vec<_> = [bucket.first(), bucket.iter().min_by(by_height), bucket.iter().max_by(by_height), bucket.last()]
            .into_iter()
            .flatten()
            .collect();
        kept.sort_by(|a, b| a.0.total_cmp(&b.0));
        kept.dedup();
        thinned.extend(kept);
    }
    thinned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_are_of_one_length_on_the_sheet_and_lie_on_their_line() {
        let inside = Inside { x: (0.0, 10.0), y: (0.0, 1.0), columns: 100.0, rows: 100.0 };
        let dashes = inside.dashes(&[(0.0, 0.0), (10.0, 0.0)]);
        assert_eq!(dashes.len(), 8);
        assert!(dashes[..7].iter().all(|dash| (dash[dash.len() - 1].0 - dash[0].0 - 0.7).abs() < 1e-9));
        let bent = inside.dashes(&[(0.0, 0.0), (0.3, 0.0), (0.3, 1.0)]);
        assert_eq!(bent[0], [(0.0, 0.0), (0.3, 0.0), (0.3, 0.04)]);
        assert!(inside.dashes(&[]).is_empty() && inside.dashes(&[(1.0, 1.0)]).is_empty());
    }
}
