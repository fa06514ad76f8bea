//! What a chart says, before it is drawn: panels of marks in data coordinates. A chart is a value of this type.
//!
//! Nothing here has a pixel; `plane` and `bars` place marks and labels by rule, at whatever width is asked for.

use super::style::Hue;
use crate::measure::score::Value;

/// One chart: a title that says what is shown, a subtitle that says how to read it, and panels.
pub(crate) struct Drawing {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    /// For those who cannot see it: the finding in a sentence.
    pub(crate) alt: String,
    /// Panels side by side, where the width allows.
    pub(crate) columns: usize,
    pub(crate) panels: Vec<Panel>,
}

pub(crate) enum Panel {
    Plane(Plane),
    Bars(Bars),
    Board(Board),
    Spans(Spans),
    /// Small print below all the others, across the whole width: what one need not know to read the chart.
    Note(String),
}

/// Two axes and what lies between them.
pub(crate) struct Plane {
    pub(crate) heading: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) marks: Vec<Mark>,
    /// Of the plot itself, in pixels.
    pub(crate) height: f64,
}

pub(crate) struct Axis {
    /// Stands below the x axis, or above the y axis.
    pub(crate) label: String,
    pub(crate) unit: Unit,
    /// At least this much is shown; the marks may widen it.
    pub(crate) include: Vec<f64>,
    /// Exactly this is shown, where panels share an axis.
    pub(crate) range: Option<(f64, f64)>,
    /// Ticks stand here and nowhere else, such as at the temperatures that were measured; none: at round values.
    pub(crate) ticks: Vec<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Number,
    /// Whole numbers, such as layers: no ticks between them.
    Whole,
    /// A share, shown as `95 %`.
    Share,
    /// Large counts, shown as `200 M`.
    Count,
    /// Time, shown as `30 s` or `5 min`.
    Seconds,
    /// Decimal logarithms, shown as what they are of: equal factors are equally long.
    Logarithm,
}

pub(crate) enum Mark {
    Line {
        points: Vec<(f64, f64)>,
        hue: Hue,
        stroke: Stroke,
        label: String,
    },
    /// x, low, high.
    Band {
        points: Vec<(f64, f64, f64)>,
        hue: Hue,
    },
    Dots {
        points: Vec<(f64, f64)>,
        hue: Hue,
        label: String,
    },
    /// The parts of a point as hollow rings, such as the seeds of a mean.
    Specks {
        points: Vec<(f64, f64)>,
        hue: Hue,
    },
    /// Names beside points, where there is room.
    Names {
        points: Vec<((f64, f64), String)>,
    },
    /// A figure of its own beside a curve, drawn as a star.
    Star {
        at: (f64, f64),
        hue: Hue,
        label: String,
    },
    Whisker {
        x: f64,
        low: f64,
        high: f64,
        hue: Hue,
    },
    /// A horizontal line to compare with.
    Level {
        y: f64,
        label: String,
    },
    /// A vertical line to compare with.
    Upright {
        x: f64,
        label: String,
    },
    /// From, to, height; they stand on zero.
    Columns {
        bins: Vec<(f64, f64, f64)>,
        hue: Hue,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stroke {
    /// What the chart is about.
    Strong,
    /// A second line beside it.
    Thin,
    /// One that lies over another where the two are nearly the same: both are seen.
    Dashed,
    /// One of several that a line is the mean of.
    Fine,
    /// Raw values behind a smoothed line.
    Raw,
}

/// Rows with a name, a bar from zero or a dot, and its value at the end.
pub(crate) struct Bars {
    pub(crate) heading: String,
    pub(crate) rows: Vec<Row>,
    pub(crate) shape: Shape,
    /// The axis ends here at least, such as 1 for shares.
    pub(crate) whole: Option<f64>,
    /// Exactly this is shown, where panels of dots share an axis.
    pub(crate) range: Option<(f64, f64)>,
    /// A line through all rows of dots to compare with.
    pub(crate) level: Option<f64>,
    /// Its name and unit, where it is drawn. Of panels below each other that have the same one, the last shows it.
    pub(crate) axis: Option<(&'static str, Unit)>,
    /// Over the columns of cells, where rows have such.
    pub(crate) heads: Vec<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Bar,
    /// A dot with its interval, on an axis that need not start at zero.
    Dot,
}

pub(crate) struct Row {
    pub(crate) label: String,
    pub(crate) value: f64,
    /// An open bound is infinite, and drawn as an arrow. Where something stands beside the value, it is the interval of that.
    pub(crate) interval: Option<(f64, f64)>,
    /// What the bar is held against, drawn as a mark across it.
    pub(crate) beside: Option<f64>,
    /// The value as written at the end of the bar.
    pub(crate) text: String,
    /// Values in columns at the right, in the place of the text.
    pub(crate) cells: Vec<String>,
    pub(crate) hue: Hue,
}

/// Rows with a name, and when something was done.
pub(crate) struct Spans {
    pub(crate) rows: Vec<SpanRow>,
    pub(crate) axis: Axis,
}

pub(crate) struct SpanRow {
    pub(crate) label: String,
    /// From, to. What is too short for a bar is drawn as a tick.
    pub(crate) spans: Vec<(f64, f64, Hue)>,
    /// Stands at the right.
    pub(crate) text: String,
}

/// A chessboard with a share on each square.
pub(crate) struct Board {
    pub(crate) heading: String,
    /// Of a1, b1 … h8.
    pub(crate) shares: Box<[f64; 64]>,
    /// The shares of the palest and of the deepest colour.
    pub(crate) range: (f64, f64),
}

impl Axis {
    pub(crate) fn new(label: &str, unit: Unit) -> Self {
        Self { label: label.to_owned(), unit, include: Vec::new(), range: None, ticks: Vec::new() }
    }

    #[must_use]
    pub(crate) fn include(mut self, values: impl IntoIterator<Item = f64>) -> Self {
        self.include.extend(values);
        self
    }

    #[must_use]
    pub(crate) fn range(mut self, range: (f64, f64)) -> Self {
        self.range = Some(range);
        self
    }

    #[must_use]
    pub(crate) fn ticks(mut self, ticks: impl IntoIterator<Item = f64>) -> Self {
        self.ticks.extend(ticks);
        self
    }
}

impl Bars {
    pub(crate) fn new(heading: impl Into<String>, shape: Shape, rows: Vec<Row>) -> Self {
        Self { heading: heading.into(), rows, shape, whole: None, range: None, level: None, axis: None, heads: Vec::new() }
    }

    #[must_use]
    pub(crate) fn axis(mut self, name: &'static str, unit: Unit) -> Self {
        self.axis = Some((name, unit));
        self
    }
}

impl Row {
    pub(crate) fn new(label: impl Into<String>, value: f64, text: impl Into<String>) -> Self {
        Self { label: label.into(), value, interval: None, beside: None, text: text.into(), cells: Vec::new(), hue: Hue::Blue }
    }

    /// A measured value with its interval.
    pub(crate) fn measured(label: impl Into<String>, value: &Value, text: impl Into<String>) -> Self {
        Self { interval: Some((value.low, value.high)), ..Self::new(label, value.value, text) }
    }
}

impl Drawing {
    /// A chart of one panel.
    pub(crate) fn one(title: &str, subtitle: String, alt: String, panel: Panel) -> Self {
        Self { title: title.to_owned(), subtitle, alt, columns: 1, panels: vec![panel] }
    }

    /// With small print, unless there is none.
    #[must_use]
    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        let note = note.into();
        if !note.is_empty() {
            self.panels.push(Panel::Note(note));
        }
        self
    }
}
