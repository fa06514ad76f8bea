//! Lays a drawing out on a sheet of some width: title and subtitle, and below them its panels in rows.

use super::bars::{self, Rooms};
use super::canvas::{self, Anchor, Canvas};
use super::drawing::{Bars, Drawing, Panel, Plane};
use super::plane::{self, Margins};
use super::style::{Hue, LEADING, TEXT, TICK, TITLE, Weight, wrap};
use super::{spans, squares};

/// At a desk, and on a telephone.
pub(crate) const WIDE: f64 = 680.0;
pub(crate) const NARROW: f64 = 350.0;

const MARGIN: f64 = 14.0;
const GUTTER: f64 = 30.0;

/// Draws at a width, in pixels; the height follows.
pub(crate) fn svg(drawing: &Drawing, width: f64) -> String {
    let inner = width - 2.0 * MARGIN;
    let title = wrap(&drawing.title, TITLE, Weight::Bold, inner);
    let subtitle = wrap(&drawing.subtitle, TEXT, Weight::Regular, inner);
    let columns = if width < WIDE { 1 } else { drawing.columns.max(1) };
    let panel_width = (inner - GUTTER * (columns - 1) as f64) / columns as f64;
    let layout = Layout::of(drawing, columns, panel_width);
    let rows = layout.rows(drawing, columns, panel_width);
    let head = 11.0 + title.len() as f64 * TITLE * LEADING + subtitle.len() as f64 * TEXT * LEADING + 14.0;
    let notes = notes(drawing, inner);
    let foot = if notes.is_empty() { 4.0 } else { notes.len() as f64 * TICK * LEADING + 10.0 };
    let height = (head + rows.iter().map(|row| row + 14.0).sum::<f64>() + foot).ceil();

    let mut svg = String::new();
    let canvas = Canvas::new(&mut svg, width, height);
    let mut baseline = 8.0;
    for (lines, size, weight, hue) in [(title, TITLE, Weight::Bold, Hue::Ink), (subtitle, TEXT, Weight::Regular, Hue::Soft)] {
        if hue == Hue::Soft {
            baseline += 3.0;
        }
        for line in lines {
            baseline += size * LEADING;
            canvas.text((MARGIN, baseline), Anchor::Start, size, weight, hue, &line);
        }
    }
    let mut top = head;
    let drawn = drawn(drawing);
    for (at, (panels, row_height)) in drawn.chunks(columns).zip(rows).enumerate() {
        let row = of_row(panels, panel_width);
        for (i, panel) in panels.iter().enumerate() {
            let corner = (MARGIN + i as f64 * (panel_width + GUTTER), top);
            match panel {
                Panel::Plane(plane) => {
                    let margins = layout.margins(plane, panel_width).in_row(row);
                    plane::draw(plane, &canvas, corner, panel_width, margins);
                }
                Panel::Bars(bars) => {
                    let has_axis = shows_axis(drawn, columns, at * columns + i);
                    bars::draw(bars, &canvas, corner, panel_width, &layout.rooms, has_axis);
                }
                Panel::Board(board) => squares::draw(board, &canvas, corner, panel_width),
                Panel::Spans(spans) => spans::draw(spans, &canvas, corner, panel_width),
                Panel::Note(_) => (),
            }
        }
        top += row_height + 14.0;
    }
    for (i, line) in notes.iter().enumerate() {
        let baseline = top + TICK + i as f64 * TICK * LEADING;
        canvas.text((MARGIN, baseline), Anchor::Start, TICK, Weight::Regular, Hue::Soft, line);
    }
    canvas.finish();
    canvas::dress(&svg, width, height, &format!("{}. {}", drawing.title, drawing.alt))
}

/// The panels without the small print.
fn drawn(drawing: &Drawing) -> &[Panel] {
    let notes = drawing.panels.iter().rev().take_while(|panel| matches!(panel, Panel::Note(_))).count();
    &drawing.panels[..drawing.panels.len() - notes]
}

/// The small print, in lines.
fn notes(drawing: &Drawing, width: f64) -> Vec<String> {
    let text = |panel: &Panel| if let Panel::Note(text) = panel { wrap(text, TICK, Weight::Regular, width) } else { Vec::new() };
    drawing.panels.iter().flat_map(text).collect()
}

/// Of panels of rows that have one axis, the lowest in its column shows it.
fn shows_axis(panels: &[Panel], columns: usize, at: usize) -> bool {
    match (&panels[at], panels.get(at + columns)) {
        (Panel::Bars(own), Some(Panel::Bars(below))) => !bars::same_axis(own, below),
        _ => true,
    }
}

/// What the panels of a chart share, so that their plots and bars stand in line.
struct Layout {
    /// Of all planes together, where some stand side by side or have one x axis.
    shared: Option<Margins>,
    rooms: Rooms,
}

impl Layout {
    fn of(drawing: &Drawing, columns: usize, panel_width: f64) -> Self {
        let planes: Vec<&Plane> =
            drawing.panels.iter().filter_map(|panel| if let Panel::Plane(plane) = panel { Some(plane) } else { None }).collect();
        let bars: Vec<&Bars> =
            drawing.panels.iter().filter_map(|panel| if let Panel::Bars(bars) = panel { Some(bars) } else { None }).collect();
        let one_x = planes.windows(2).all(|pair| pair[0].x.range.is_some() && pair[0].x.range == pair[1].x.range);
        // On a telephone, panels lie below each other, and each takes the width that it can.
        let shared = (columns > 1 || one_x).then(|| {
            let all = planes.iter().map(|plane| Margins::of(plane, panel_width)).fold(Margins::default(), Margins::most);
            planes.iter().fold(all, |all, plane| all.checked(plane, panel_width))
        });
        Self { shared, rooms: Rooms::of(&bars, panel_width) }
    }

    fn margins(&self, plane: &Plane, panel_width: f64) -> Margins {
        self.shared.unwrap_or_else(|| Margins::of(plane, panel_width))
    }

    /// The heights of the rows of panels.
    fn rows(&self, drawing: &Drawing, columns: usize, panel_width: f64) -> Vec<f64> {
        let drawn = drawn(drawing);
        let height = |at: usize, row: Margins| match &drawn[at] {
            Panel::Plane(plane) => plane::height(plane, row),
            Panel::Bars(bars) => bars::height(bars, panel_width, &self.rooms, shows_axis(drawn, columns, at)),
            Panel::Board(_) => squares::height(panel_width),
            Panel::Spans(spans) => spans::height(spans, panel_width),
            Panel::Note(_) => 0.0,
        };
        let row = |(at, panels): (usize, &[Panel])| {
            let above = of_row(panels, panel_width);
            (0..panels.len()).map(|i| height(at * columns + i, above)).fold(0.0, f64::max)
        };
        drawn.chunks(columns).enumerate().map(row).collect()
    }
}

/// The margins of panels that stand side by side.
fn of_row(panels: &[Panel], panel_width: f64) -> Margins {
    let planes = panels.iter().filter_map(|panel| if let Panel::Plane(plane) = panel { Some(plane) } else { None });
    planes.map(|plane| Margins::of(plane, panel_width)).fold(Margins::default(), Margins::most)
}
