//! How figures answer to what a sweep varies: to the size of the model, to the tokens it saw, to any setting that is a number.

use std::fmt::Write as _;

use super::drawing::{Axis as Scale, Drawing, Mark, Panel, Plane, Stroke, Unit};
use super::plane::shared_y;
use super::style::Hue;
use crate::measure::values;
use crate::report::results::Results;
use crate::report::sweep::{Axis, Cell, Figure, Kind, Sweep};
use crate::text::percent;

/// Figures that have a panel, with what stands above it.
const FIGURES: [(&str, &str, &str); 6] = [
    ("loss", "nats", "Loss over all of validation"),
    ("loss", "validation", "Best validation loss"),
    ("legality", "rate", "Legal moves"),
    ("agreement", "top1", "Agreement, top-1"),
    ("full_games", "clean", "Games without an illegal move"),
    ("agreement", "top5", "Agreement, top-5"),
];

/// Figures of one chart; fewer where each of them has several panels.
const MOST_FIGURES: usize = 4;

/// Panels side by side for what else varies are no more than these.
const MOST_FACETS: usize = 8;

pub(crate) fn by_parameters(results: &Results) -> Option<Drawing> {
    over(&Sweep::of(results)?, &Kind::Parameters)
}

pub(crate) fn by_tokens(results: &Results) -> Option<Drawing> {
    over(&Sweep::of(results)?, &Kind::Tokens)
}

pub(crate) fn by_setting(results: &Results) -> Option<Drawing> {
    of_settings(results, 0)
}

pub(crate) fn by_second_setting(results: &Results) -> Option<Drawing> {
    of_settings(results, 1)
}

fn of_settings(results: &Results, place: usize) -> Option<Drawing> {
    let sweep = Sweep::of(results)?;
    // Every temperature is another protocol, and has a chart of its own.
    let is_number = |axis: &&Axis| matches!(axis.kind, Kind::Setting(_)) && axis.numbers.is_some() && !axis.is_temperature();
    let kind = sweep.axes.iter().filter(is_number).nth(place)?.kind.clone();
    let axis = sweep.axis(&kind)?;
    let values: std::collections::BTreeSet<&String> = axis.texts.iter().collect();
    // Two values of a second setting are told by the panels of the first.
    if place > 0 && values.len() < 3 { None } else { over(&sweep, &kind) }
}

/// The figures that charts of this module show, so that rows of points need not; none where nothing is drawn along an axis.
pub(crate) fn shown<'s>(sweep: &'s Sweep) -> Vec<&'s Figure> {
    let is_drawn = |axis: &Axis| !axis.is_temperature() && facets(sweep, axis).is_some_and(|facets| !facets.is_empty());
    if !sweep.axes.iter().any(is_drawn) {
        return Vec::new();
    }
    let of = |(metric, name, _): (&str, &str, &str)| {
        sweep.figures.iter().find(|figure| figure.metric == metric && figure.name == name)
    };
    let told = FIGURES.into_iter().filter_map(of).filter(|figure| figure.comparable && figure.differs());
    told.take(if sweep.axes.len() > 1 { MOST_FIGURES - 1 } else { MOST_FIGURES }).collect()
}

fn heading(figure: &Figure) -> Option<&'static str> {
    FIGURES.iter().find(|(metric, name, _)| figure.metric == *metric && figure.name == *name).map(|(_, _, heading)| *heading)
}

/// Settings that are equal in all but one axis, with what they are equal in.
struct Facet {
    heading: String,
    /// Along the axis.
    order: Vec<usize>,
}

fn facets(sweep: &Sweep, axis: &Axis) -> Option<Vec<Facet>> {
    let others: Vec<&Axis> = sweep.axes.iter().filter(|other| other.kind != axis.kind).collect();
    let mut facets: Vec<Facet> = Vec::new();
    for at in axis.ascending()? {
        let beside: Vec<String> = others.iter().map(|other| format!("{} {}", other.label(), other.texts[at])).collect();
        let heading = beside.join(", ");
        match facets.iter_mut().find(|facet| facet.heading == heading) {
            Some(facet) => facet.order.push(at),
            None => facets.push(Facet { heading, order: vec![at] }),
        }
    }
    facets.retain(|facet| facet.order.len() > 1);
    facets.sort_by_key(|facet| facet.order.iter().min().copied());
    Some(facets)
}

fn over(sweep: &Sweep, kind: &Kind) -> Option<Drawing> {
    let axis = sweep.axis(kind)?;
    let mut facets = facets(sweep, axis)?;
    let all = facets.len();
    facets.truncate(MOST_FACETS);
    let figures = shown(sweep);
    if figures.is_empty() || facets.is_empty() {
        return None;
    }
    let (x_unit, x_range, place) = scale(axis)?;
    let mut panels = Vec::new();
    for figure in &figures {
        let marks: Vec<Vec<Mark>> = facets.iter().map(|facet| marks(sweep, axis, figure, facet, &place)).collect();
        let unit = if figure.unit == values::Unit::Share { Unit::Share } else { Unit::Number };
        let range = with_room(shared_y(&marks.iter().map(Vec::as_slice).collect::<Vec<_>>(), unit, &[]), unit);
        for (facet, marks) in facets.iter().zip(marks) {
            let name = heading(figure).unwrap_or(&figure.label);
            let heading = if facet.heading.is_empty() { name.to_owned() } else { format!("{name}, {}", facet.heading) };
            let y = Scale::new(unit_words(figure), unit).range(range);
            let x = Scale::new(&axis.label(), x_unit).range(x_range);
            panels.push(Panel::Plane(Plane { heading, x, y, marks, height: 190.0 }));
        }
    }
    // Rows of one figure, where they come out even.
    let columns = match facets.len() {
        1 | 2 | 4 => panels.len().min(2),
        _ => 3,
    };
    let alt = figures.iter().filter_map(|figure| ends(sweep, figure, facets.last()?)).collect::<Vec<_>>().join("; ");
    Some(Drawing { title: title(sweep, axis), subtitle: subtitle(sweep, axis, all - facets.len()), alt, columns, panels })
}

/// What the numbers of a panel are of.
fn unit_words(figure: &Figure) -> &'static str {
    match figure.unit {
        values::Unit::Share => match figure.metric.as_str() {
            "legality" => "share of sampled moves",
            "agreement" => "share of positions",
            "full_games" => "share of games",
            _ => "",
        },
        values::Unit::Nats => "nats per token",
        values::Unit::Bits => "bits",
        values::Unit::Plies => "plies",
    }
}

/// The axis of a chart, a little longer than what lies on it, and where a setting lies.
fn scale(axis: &Axis) -> Option<(Unit, (f64, f64), Vec<f64>)> {
    let numbers = axis.numbers.as_ref()?;
    let place: Vec<f64> = if axis.is_logarithmic() { numbers.iter().map(|at| at.log10()).collect() } else { numbers.clone() };
    let (low, high) = place.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| (low.min(*at), high.max(*at)));
    let pad = (high - low) * 0.07;
    let unit = match axis.kind {
        _ if axis.is_logarithmic() => Unit::Logarithm,
        Kind::Setting(_) => Unit::Number,
        _ => Unit::Count,
    };
    Some((unit, (low - pad, high + pad), place))
}

/// A little more above and below, for names.
fn with_room((low, high): (f64, f64), unit: Unit) -> (f64, f64) {
    let room = (high - low) * 0.08;
    if unit == Unit::Share { ((low - room).max(0.0), (high + room).min(1.0)) } else { (low - room, high + room) }
}

fn marks(sweep: &Sweep, axis: &Axis, figure: &Figure, facet: &Facet, place: &[f64]) -> Vec<Mark> {
    let cells: Vec<(usize, &Cell)> = facet.order.iter().filter_map(|&at| Some((at, figure.cells[at].as_ref()?))).collect();
    let hue = Hue::Blue;
    let points: Vec<(f64, f64)> = cells.iter().map(|(at, cell)| (place[*at], cell.value.value)).collect();
    let mut marks = vec![Mark::Line { points: points.clone(), hue, stroke: Stroke::Thin, label: String::new() }];
    for (at, cell) in &cells {
        let (low, high) = (cell.value.low, cell.value.high);
        marks.push(Mark::Whisker { x: place[*at], low, high, hue });
        if cell.seeds.len() > 1 {
            let seeds = cell.seeds.iter().map(|seed| (place[*at], seed.value)).collect();
            marks.push(Mark::Specks { points: seeds, hue: Hue::Orange });
        }
    }
    marks.push(Mark::Dots { points: points.clone(), hue, label: String::new() });
    // All else is told by the axis, and by what stands above the panel.
    if axis.kind == Kind::Parameters {
        let model = |at: usize| &sweep.settings[at].first().experiment.model;
        let name = |at: usize| format!("{} × {}", model(at).layers, model(at).width);
        marks.push(Mark::Names { points: cells.iter().zip(points).map(|((at, _), point)| (point, name(*at))).collect() });
    }
    marks
}

fn title(sweep: &Sweep, axis: &Axis) -> String {
    let equal = if axis.kind != Kind::Tokens && sweep.is_of_equal_tokens() { ", at equal training tokens" } else { "" };
    let by = match &axis.kind {
        Kind::Parameters => "the size of the model".to_owned(),
        Kind::Tokens => "training tokens".to_owned(),
        Kind::Setting(_) => axis.label(),
    };
    format!("What came out, by {by}{equal}")
}

fn subtitle(sweep: &Sweep, axis: &Axis, left_out: usize) -> String {
    let mut said = vec!["A dot a setting, with its 95 % interval".to_owned()];
    if sweep.repeated().next().is_some() {
        said.push("of several seeds their mean, and each seed as an orange ring".to_owned());
    }
    let mut text = said.join("; ") + ".";
    match axis.kind {
        Kind::Parameters => text += " Parameters without the embedding, on a logarithmic axis.",
        _ if axis.is_logarithmic() => text += " The axis below is logarithmic.",
        _ => (),
    }
    text += " Axes need not start at zero.";
    if left_out > 0 {
        write!(text, " {left_out} more panels of each figure are left out.").expect("written to a string");
    }
    text
}

fn ends(sweep: &Sweep, figure: &Figure, facet: &Facet) -> Option<String> {
    let (first, last) = (*facet.order.first()?, *facet.order.last()?);
    let value = |at: usize| {
        let value = figure.cells[at].as_ref()?.value.value;
        Some(if figure.unit == values::Unit::Share { percent(value, 1) } else { crate::text::fixed(value, 3) })
    };
    let [a, b] = [first, last].map(|at| &sweep.settings[at].name);
    Some(format!("{}: {} at {a}, {} at {b}", heading(figure)?, value(first)?, value(last)?))
}
