//! The sheet that charts are drawn on: Plotters' SVG backend, four units to a pixel, since it knows whole units only.
//!
//! Text is placed by its baseline. The finished SVG carries each colour twice: as an attribute, which every viewer
//! knows, and as a class, by which a style sheet changes the theme.

use std::fmt::Write as _;
use std::ops::Range;

use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::element::{Drawable, PointCollection};
use plotters::prelude::{
    Cartesian2d, Circle, DrawingArea, FontStyle, IntoDrawingArea as _, IntoFont as _, PathElement, Polygon, RGBColor, Rectangle,
    SVGBackend, ShapeStyle,
};
use plotters::style::Color as _;

use super::style::{FAMILY, Hue, Weight, hex, width};

/// Units of the backend in a pixel.
pub(crate) const FINE: f64 = 4.0;

type Sheet<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// A plot with data coordinates.
pub(crate) type Plot<'a> = DrawingArea<SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

pub(crate) struct Canvas<'a> {
    sheet: Sheet<'a>,
}

/// Why drawing cannot fail: the backend appends to a string.
const IN_MEMORY: &str = "a shape is written to a string";

impl<'a> Canvas<'a> {
    /// A sheet of so many pixels, written to `svg`.
    pub(crate) fn new(svg: &'a mut String, width: f64, height: f64) -> Self {
        let size = ((width * FINE) as u32, (height * FINE) as u32);
        Self { sheet: SVGBackend::with_string(svg, size).into_drawing_area() }
    }

    pub(crate) fn text(&self, (x, baseline): (f64, f64), anchor: Anchor, size: f64, weight: Weight, hue: Hue, text: &str) {
        if text.is_empty() {
            return;
        }
        // The backend divides sizes by 1.24, and knows text from above: its top lies 0.76 em over the baseline.
        let style = match weight {
            Weight::Regular => FontStyle::Normal,
            Weight::Bold => FontStyle::Bold,
        };
        let style = (FAMILY, size * FINE * 1.24, style).into_font().color(&colour(hue));
        let left = match anchor {
            Anchor::Start => x,
            Anchor::Middle => x - width(text, size, weight) / 2.0,
            Anchor::End => x - width(text, size, weight),
        };
        self.sheet.draw_text(text, &style, at(left, baseline - 0.76 * size)).expect(IN_MEMORY);
    }

    pub(crate) fn line(&self, from: (f64, f64), to: (f64, f64), hue: Hue, stroke: f64) {
        let path = PathElement::new([at(from.0, from.1), at(to.0, to.1)], line_style(hue, stroke, 1.0));
        self.sheet.draw(&path).expect(IN_MEMORY);
    }

    pub(crate) fn rect(&self, (x, y): (f64, f64), (width, height): (f64, f64), hue: Hue) {
        let corners = [at(x, y), at(x + width, y + height)];
        self.sheet.draw(&Rectangle::new(corners, colour(hue).filled())).expect(IN_MEMORY);
    }

    /// A rectangle through which the surface shows.
    pub(crate) fn tint(&self, (x, y): (f64, f64), (width, height): (f64, f64), hue: Hue, opacity: f64) {
        let corners = [at(x, y), at(x + width, y + height)];
        self.sheet.draw(&Rectangle::new(corners, colour(hue).mix(opacity).filled())).expect(IN_MEMORY);
    }

    pub(crate) fn dot(&self, (x, y): (f64, f64), radius: f64, hue: Hue) {
        let circle = Circle::new(at(x, y), (radius * FINE) as i32, colour(hue).filled());
        self.sheet.draw(&circle).expect(IN_MEMORY);
    }

    /// The part of the sheet between two corners, in data coordinates.
    pub(crate) fn plot(&self, x: Range<f64>, y: Range<f64>, left_top: (f64, f64), right_bottom: (f64, f64)) -> Plot<'a> {
        let ((left, top), (right, bottom)) = (at(left_top.0, left_top.1), at(right_bottom.0, right_bottom.1));
        self.sheet.apply_coord_spec(Cartesian2d::new(x, y, (left..right, bottom..top)))
    }

    pub(crate) fn finish(self) {
        self.sheet.present().expect(IN_MEMORY);
    }
}

/// Draws in data coordinates.
pub(crate) trait InData {
    fn line(&self, points: &[(f64, f64)], hue: Hue, stroke: f64, opacity: f64);
    fn area(&self, outline: &[(f64, f64)], hue: Hue, opacity: f64);
    fn column(&self, from: (f64, f64), to: (f64, f64), hue: Hue);
    fn dot(&self, at: (f64, f64), radius: f64, hue: Hue);
    /// Where a point lies on the sheet, in pixels.
    fn pixel(&self, at: (f64, f64)) -> (f64, f64);
}

impl InData for Plot<'_> {
    fn line(&self, points: &[(f64, f64)], hue: Hue, stroke: f64, opacity: f64) {
        put(self, &PathElement::new(points, line_style(hue, stroke, opacity)));
    }

    fn area(&self, outline: &[(f64, f64)], hue: Hue, opacity: f64) {
        put(self, &Polygon::new(outline, colour(hue).mix(opacity).filled()));
    }

    fn column(&self, from: (f64, f64), to: (f64, f64), hue: Hue) {
        put(self, &Rectangle::new([from, to], colour(hue).filled()));
    }

    fn dot(&self, at: (f64, f64), radius: f64, hue: Hue) {
        put(self, &Circle::new(at, (radius * FINE) as i32, colour(hue).filled()));
    }

    fn pixel(&self, at: (f64, f64)) -> (f64, f64) {
        let (x, y) = self.map_coordinate(&at);
        (f64::from(x) / FINE, f64::from(y) / FINE)
    }
}

fn put<'b, 'a, E>(plot: &Plot<'a>, element: &'b E)
where
    &'b E: PointCollection<'b, (f64, f64)>,
    E: Drawable<SVGBackend<'a>>,
{
    plot.draw(element).expect(IN_MEMORY);
}

fn at(x: f64, y: f64) -> (i32, i32) {
    ((x * FINE).round() as i32, (y * FINE).round() as i32)
}

fn colour(hue: Hue) -> RGBColor {
    let [_, r, g, b] = hue.light().to_be_bytes();
    RGBColor(r, g, b)
}

fn line_style(hue: Hue, stroke: f64, opacity: f64) -> ShapeStyle {
    colour(hue).mix(opacity).stroke_width((stroke * FINE).round() as u32)
}

/// Makes the backend's SVG one for people: named, in the embedded font, with a class beside each colour.
pub(crate) fn dress(svg: &str, width: f64, height: f64, title: &str) -> String {
    let body = svg.split_once('>').map_or("", |(_, body)| body);
    let mut dressed = String::with_capacity(svg.len() + svg.len() / 4);
    write!(
        dressed,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {} {}" role="img" aria-label="{title}" stroke-linejoin="round" stroke-linecap="round">"#,
        width * FINE,
        height * FINE,
        title = escape(title),
    )
    .and_then(|()| write!(dressed, "\n<title>{}</title>", escape(title)))
    .expect("written to a string");
    dressed.push_str(body);
    let mut dressed = dressed
        .replace("\n</text>", "</text>")
        .replace(" opacity=\"1\"", "")
        .replace(" stroke=\"none\"", "")
        .replace(" text-anchor=\"start\"", "")
        .replace(" \"/>", "\"/>")
        .replace(&format!(" font-family=\"{FAMILY}\""), "")
        .replace("role=\"img\"", &format!("role=\"img\" font-family=\"{FAMILY}\""));
    for hue in Hue::ALL {
        let (colour, name) = (hex(hue.light()), hue.name());
        for (attribute, prefix) in [("fill", "f"), ("stroke", "s")] {
            let seen = format!(" {attribute}=\"{}\"", colour.to_uppercase());
            dressed = dressed.replace(&seen, &format!(" {attribute}=\"{colour}\" class=\"{prefix}-{name}\""));
        }
    }
    dressed
}

/// The SVG as a file of its own: on the surface, and dark for those who prefer it.
pub(crate) fn alone(dressed: &str) -> String {
    let mut rules = String::new();
    for hue in Hue::ALL {
        let (name, colour) = (hue.name(), hex(hue.dark()));
        write!(rules, ".f-{name}{{fill:{colour}}}.s-{name}{{stroke:{colour}}}").expect("written to a string");
    }
    let style = format!("<style>@media (prefers-color-scheme: dark){{{rules}}}</style>");
    on_surface(dressed).replacen("</title>", &format!("</title>\n{style}"), 1)
}

/// The SVG on a sheet of the surface's colour.
pub(crate) fn on_surface(dressed: &str) -> String {
    let surface = hex(Hue::Surface.light());
    let sheet = format!("</title>\n<rect width=\"100%\" height=\"100%\" fill=\"{surface}\" class=\"f-surface\"/>");
    dressed.replacen("</title>", &sheet, 1)
}

pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
