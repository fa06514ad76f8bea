//! A figure of all settings side by side.

use std::collections::BTreeSet;

use crate::measure::score::Value;
use crate::measure::values::{self, Better, Told, Unit};
use crate::report::compare::{Subject, lines};
use crate::report::results::{Measured, Point};
use crate::report::words;
use crate::stats::{Estimate, difference};
use crate::store::Key;
use crate::text::number_within;

pub(crate) struct Figure {
    pub(crate) metric: String,
    pub(crate) name: String,
    pub(crate) label: String,
    pub(crate) unit: Unit,
    pub(crate) better: Option<Better>,
    /// Whether all settings were measured by one protocol: else nothing is subtracted.
    pub(crate) comparable: bool,
    /// One a setting.
    pub(crate) cells: Vec<Option<Cell>>,
}

/// The figure of a setting: of its one point, or the mean of its seeds.
pub(crate) struct Cell {
    /// A loss that was not measured with its interval has bounds that are no numbers.
    pub(crate) value: Value,
    /// Of each seed, in the order of the points.
    pub(crate) seeds: Vec<Value>,
    measurements: BTreeSet<Key>,
}

/// What is read first.
const FIRST: [(&str, &str); 6] = [
    ("loss", "nats"),
    ("loss", "validation"),
    ("legality", "rate"),
    ("agreement", "top1"),
    ("agreement", "top5"),
    ("full_games", "clean"),
];

pub(super) fn figures(settings: &[Subject]) -> Vec<Figure> {
    // Of the hottest temperature, where a point has several.
    let pick = |_: usize, point| first_finals(point);
    let mut figures: Vec<Figure> = Vec::new();
    for line in lines(settings, &pick) {
        let known = values::find(line.metric, line.value);
        let is_of_the_model = !line.value.starts_with("real_") && known.is_none_or(|known| known.told != Told::Extreme);
        if !line.slice.is_empty() || !is_of_the_model {
            continue;
        }
        let cells = line.cells.iter().map(|cell| {
            let cell = cell.as_ref()?;
            let seeds: Vec<Value> = cell.scores.iter().filter_map(|(_, score)| score.value(line.value).cloned()).collect();
            let measurements = cell.scores.iter().map(|(_, score)| score.key).collect();
            Some(Cell { value: of_seeds(&seeds)?, seeds, measurements })
        });
        match figures.iter_mut().find(|figure| figure.metric == line.metric && figure.name == line.value) {
            // Another protocol: it stands beside, and is not compared.
            Some(figure) => {
                figure.comparable = false;
                figure.cells.iter_mut().zip(cells).for_each(|(known, cell)| *known = known.take().or(cell));
            }
            None => figures.push(Figure {
                metric: line.metric.to_owned(),
                name: line.value.to_owned(),
                label: words::figure(line.metric, line.value),
                unit: known.map_or(Unit::Share, |known| known.unit),
                better: known.and_then(|known| known.better),
                comparable: true,
                cells: cells.collect(),
            }),
        }
    }
    if !figures.iter().any(|figure| figure.metric == "loss" && figure.cells.iter().all(Option::is_some)) {
        figures.retain(|figure| figure.metric != "loss");
        figures.extend(validation_loss(settings));
    }
    let place = |figure: &Figure| FIRST.iter().position(|first| *first == (&figure.metric, &figure.name)).unwrap_or(FIRST.len());
    figures.sort_by_key(place);
    figures
}

/// The mean of seeds, within the interval of what each was asked: as wide as that of one seed, since all were asked the same.
///
/// The few seeds of a setting tell too little of all others for an interval of their own: of two, Student's is 13 times as wide
/// as they lie apart.
fn of_seeds(seeds: &[Value]) -> Option<Value> {
    let first = seeds.first()?;
    if seeds.len() == 1 {
        return Some(first.clone());
    }
    let mean = |of: fn(&Value) -> f64| seeds.iter().map(of).sum::<f64>() / seeds.len() as f64;
    Some(Value {
        value: mean(|seed| seed.value),
        low: mean(|seed| seed.low),
        high: mean(|seed| seed.high),
        n: seeds.iter().map(|seed| seed.n).min()?,
        method: format!("mean of {} seeds, interval as of one: {}", seeds.len(), first.method),
        ..first.clone()
    })
}

fn first_finals(point: &Point) -> Vec<&Measured> {
    let mut metrics: Vec<&str> = Vec::new();
    for score in &point.scores {
        if !metrics.contains(&score.metric.name()) {
            metrics.push(score.metric.name());
        }
    }
    metrics.into_iter().filter_map(|metric| point.finals(metric).into_iter().next()).collect()
}

/// The best loss of each training on its validation windows.
fn validation_loss(settings: &[Subject]) -> Option<Figure> {
    let of_point = |point: &Point| {
        let training = point.training.as_ref()?;
        let (loss, n) = (training.best?.loss, words::validation_tokens(point));
        let method = "the lowest of the training".to_owned();
        let value =
            Value { name: "validation".into(), slice: String::new(), value: loss, n, low: f64::NAN, high: f64::NAN, method };
        Some((training.key, value))
    };
    let cells: Vec<Option<Cell>> = settings
        .iter()
        .map(|setting| {
            let found: Vec<_> = setting.members.iter().map(|member| of_point(member.point)).collect::<Option<_>>()?;
            let (measurements, seeds): (BTreeSet<Key>, Vec<Value>) = found.into_iter().unzip();
            Some(Cell { value: of_seeds(&seeds)?, seeds, measurements })
        })
        .collect();
    let windows = |setting: &Subject| {
        let e = &setting.first().experiment;
        let train = e.train()?;
        Some((e.corpus.clone(), words::validation_tokens(setting.first()), e.model.context, train.packing))
    };
    let comparable = settings.iter().all(|setting| windows(setting) == windows(&settings[0]));
    cells.iter().any(Option::is_some).then(|| Figure {
        metric: "loss".to_owned(),
        name: "validation".to_owned(),
        label: "Best validation loss, nats".to_owned(),
        unit: Unit::Nats,
        better: Some(Better::Lower),
        comparable,
        cells,
    })
}

impl Figure {
    /// Whether settings have values that differ, of more than one measurement: the same zeros tell nothing.
    pub(crate) fn differs(&self) -> bool {
        let cells: Vec<&Cell> = self.cells.iter().flatten().collect();
        let measured = cells.iter().map(|cell| &cell.measurements).collect::<BTreeSet<_>>().len();
        let values = || cells.iter().flat_map(|cell| &cell.seeds).map(|seed| seed.value.to_bits());
        // Of one setting with several seeds it is they that differ.
        (measured > 1 || self.cells.len() == 1) && values().collect::<BTreeSet<_>>().len() > 1
    }

    /// How far the second setting lies above the first; none where one has no value, or no interval.
    pub(crate) fn apart(&self, a: usize, b: usize) -> Option<Estimate> {
        let (a, b) = (self.cells[a].as_ref()?, self.cells[b].as_ref()?);
        (self.comparable && a.measurements != b.measurements).then(|| between(&a.value, &b.value))
    }

    /// The place of the best setting, where one side is better and all are comparable.
    pub(crate) fn best(&self) -> Option<usize> {
        let side = self.better.filter(|_| self.comparable)?;
        let sign = if side == Better::Higher { 1.0 } else { -1.0 };
        let known = self.cells.iter().enumerate().filter_map(|(at, cell)| Some((at, sign * cell.as_ref()?.value.value)));
        known.filter(|(_, value)| value.is_finite()).max_by(|a, b| a.1.total_cmp(&b.1)).map(|(at, _)| at)
    }

    /// A value with its interval, as everywhere on the page.
    pub(crate) fn within(&self, value: &Value) -> String {
        if self.unit == Unit::Share {
            return words::within(&self.metric, value);
        }
        number_within(value.value, Some(value.low), Some(value.high))
    }
}

/// `b` less `a`. Where a bound is none, so are those of the difference.
pub(crate) fn between(a: &Value, b: &Value) -> Estimate {
    let estimate = |value: &Value| Estimate { value: value.value, low: value.low, high: value.high, n: value.n };
    difference::apart(estimate(a), estimate(b))
}
