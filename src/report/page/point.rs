//! One point of the sweep on the page: its figures first, then how they came about.

use serde::Serialize;

use super::table::{Cell, Table};
use super::{Drawn, Figure, corpus, parts};
use crate::chess::vocabulary::VOCABULARY_SIZE;
use crate::measure::score::Value;
use crate::measure::values::{Told, find};
use crate::report::charts::{self, LEARNED, Section};
use crate::report::published::{self, Verdict};
use crate::report::results::{Asked, Measured, Point, Results, State};
use crate::report::settings::{Groups, settings};
use crate::report::words::{self, Group};
use crate::text::{bytes, fixed, percent, plural, si, significant, temperature, thousands};

#[derive(Serialize)]
pub(crate) struct PointPage {
    pub(super) anchor: String,
    pub(super) name: String,
    /// Not a point, but what all points have alike.
    pub(super) shared: bool,
    /// The answer, in one paragraph.
    pub(super) lead: Vec<String>,
    /// What the intervals do not tell.
    pub(super) caveats: Vec<String>,
    pub(super) summary: Vec<Group>,
    pub(super) tiles: Vec<Tile>,
    pub(super) published: Option<Table>,
    pub(super) figures: Option<Table>,
    pub(super) parts: Vec<parts::Part>,
    pub(super) learned: Vec<(&'static str, Vec<Figure>)>,
    pub(super) cards: Vec<(String, String)>,
    pub(super) trained: Vec<Figure>,
    /// Who played, as far as it is known.
    pub(super) origin: Vec<String>,
    pub(super) corpus: Vec<Figure>,
    pub(super) device: Vec<(&'static str, String)>,
    pub(super) gates: Option<Table>,
    pub(super) tables: Vec<(&'static str, Table)>,
    pub(super) settings: Groups,
    /// Its charts are left to their files, and so are its tables of figures.
    pub(super) is_left: bool,
    /// Where the settings that are not shown here stand.
    pub(super) beside: Option<String>,
}

/// A figure to be seen first.
#[derive(Clone, PartialEq, Serialize)]
pub(crate) struct Tile {
    label: &'static str,
    value: String,
    note: String,
    /// What it is to be held against: untrained, guessing, published.
    beside: Vec<(&'static str, String)>,
}

impl PointPage {
    pub(crate) fn new(results: &Results, index: usize, drawn: &[Drawn]) -> Self {
        let point = &results.points[index];
        let section = |section: Section| {
            let mine = drawn.iter().filter(|chart| chart.point == Some(index) && chart.section == Some(section));
            mine.map(|chart| Figure::new(chart, results)).collect::<Vec<_>>()
        };
        let is_left = drawn.iter().any(|chart| chart.point == Some(index) && chart.linked);
        Self {
            anchor: format!("point-{}", index + 1),
            name: words::point_name(point),
            shared: false,
            is_left,
            lead: words::lead(point),
            caveats: words::caveats(results, point),
            summary: words::summary(point),
            tiles: tiles(point),
            published: compared(results, point),
            figures: figures(point),
            parts: if is_left { Vec::new() } else { parts::tables(point) },
            learned: LEARNED
                .map(|(of, heading)| (of, heading, section(of)))
                .into_iter()
                .map(|(of, heading, charts)| (if of == Section::Openings { openings(&charts) } else { heading }, charts))
                .filter(|(_, charts)| !charts.is_empty())
                .collect(),
            cards: cards(index, drawn),
            trained: section(Section::Trained),
            origin: if point.corpus().is_some() { words::origin(point) } else { Vec::new() },
            corpus: section(Section::Corpus),
            device: device(results, point),
            gates: gates(point),
            tables: corpus::tables(point),
            settings: settings(&point.experiment),
            beside: None,
        }
    }
}

impl PointPage {
    /// Leaves to the tables what nobody reads of the fiftieth point: the answer and its figures stay.
    pub(super) fn leave(&mut self) {
        (self.published, self.figures) = (None, None);
        self.parts.clear();
    }
}

/// What the charts of openings and of puzzles stand under.
fn openings(charts: &[Figure]) -> &'static str {
    let puzzles = charts.iter().filter(|chart| chart.name == "puzzles").count();
    match puzzles {
        0 => "Openings",
        _ if puzzles == charts.len() => "Puzzles",
        _ => "Openings and puzzles",
    }
}

/// The pictures to be shared: what each says, and its file without the ending.
fn cards(index: usize, drawn: &[Drawn]) -> Vec<(String, String)> {
    let mine = drawn.iter().filter(|chart| chart.point == Some(index) && chart.is_card() && chart.same.is_none());
    mine.map(|card| (card.title.clone(), card.file.clone())).collect()
}

fn tiles(point: &Point) -> Vec<Tile> {
    let metric = |metric: &'static str, name: &str, label: &'static str| {
        let score = point.finals(metric).into_iter().next()?;
        let value = score.value(name)?;
        let all = words::share(value);
        let (shown, interval) =
            all.split_once(" [").map_or((all.as_str(), String::new()), |(shown, rest)| (shown, format!("[{rest}, ")));
        let note = format!("{interval}n = {}{}", thousands(value.n), words::at(score.temperature()).replace(" at ", ", "));
        let untrained = words::untrained(point, score).and_then(|first| {
            let value = first.value(name)?;
            Some(format!("{}, n = {}", words::share(value), thousands(value.n)))
        });
        let published = published::shown(point, &format!("{metric}.{name}"), score.temperature());
        let beside = [("Untrained", untrained), ("Published", published)];
        let beside = beside.into_iter().filter_map(|(what, shown)| Some((what, shown?))).collect();
        Some(Tile { label, value: shown.to_owned(), note, beside })
    };
    let loss = || {
        let best = || {
            let best = point.training.as_ref()?.best?;
            let (tokens, step) = (thousands(words::validation_tokens(point)), thousands(best.step));
            let note = format!("nats per token, on {tokens} tokens, at step {step}");
            Some(("Best validation loss", fixed(best.loss, 3), note))
        };
        // That of the checkpoint's choice is of few tokens, and the least of several.
        let of_all = || {
            let score = point.finals("loss").into_iter().next()?;
            let nats = score.value("nats")?;
            let shown = words::within("loss", nats);
            let (value, interval) = shown.split_once(" [")?;
            let windows = words::of_how_many("loss", nats.n);
            let note =
                format!("[{interval}, {windows} of {}, nats per token", plural("token", point.experiment.model.context.into()));
            Some(("Loss over all of validation", value.to_owned(), note))
        };
        let (label, value, note) = of_all().or_else(best)?;
        let guessing = Some(fixed((VOCABULARY_SIZE as f64).ln(), 3));
        let published = published::shown(point, "loss.validation", None).map(|loss| format!("{loss} at the end"));
        let beside = [("Guessing", guessing), ("Published", published)];
        let beside = beside.into_iter().filter_map(|(what, shown)| Some((what, shown?))).collect();
        Some(Tile { label, value, note, beside })
    };
    [
        metric("legality", "rate", "Legal moves"),
        metric("agreement", "top1", "First choice is the move played"),
        metric("full_games", "clean", "Full games without an illegal move"),
        loss(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn compared(results: &Results, point: &Point) -> Option<Table> {
    // Without these there is nothing to compare.
    if point.corpus().is_none() && point.training.is_none() && point.scores.is_empty() {
        return None;
    }
    let rows: Vec<_> = published::compare(&results.run, point)
        .into_iter()
        .map(|line| {
            let class = match line.verdict {
                Verdict::Agrees => "agrees",
                Verdict::Differs => "differs",
                _ => "soft",
            };
            let count = |n: Option<u64>| n.map_or_else(|| Cell::number("–".to_owned(), None), Cell::count);
            vec![
                Cell::text(line.label),
                Cell::number(line.measured, None),
                count(line.n),
                Cell::number(line.published, None),
                count(line.published_n),
                Cell { text: line.verdict.text(), sort: None, class },
            ]
        })
        .collect();
    let head = [("Figure", false), ("Here", true), ("n", true), ("Published", true), ("n", true), ("Verdict", false)];
    Some(Table::of(&head, rows)?.told("Published figures beside those measured here", "published"))
}

fn figures(point: &Point) -> Option<Table> {
    let mut shown: Vec<(&Measured, &Value)> = Vec::new();
    for score in point.scores.iter().filter(|score| score.asked == Asked::Final) {
        let extreme = |value: &Value| find(score.metric.name(), &value.name).is_some_and(|known| known.told == Told::Extreme);
        // The smallest and the largest of a sample say little that the table of all numbers does not.
        for value in score.score.values.iter().filter(|value| value.slice.is_empty() && !extreme(value)) {
            // Real games are the same beside each temperature of the model's.
            if !(is_real(value) && shown.iter().any(|(_, known)| *known == value)) {
                shown.push((score, value));
            }
        }
    }
    let rows = shown
        .into_iter()
        .map(|(score, value)| {
            let metric = score.metric.name();
            let masked = if score.score.protocol.masked { ", masked" } else { "" };
            vec![
                Cell::text(words::figure(metric, &value.name) + masked),
                score
                    .temperature()
                    .filter(|_| words::is_sampled(metric, &value.name))
                    .map_or_else(|| Cell::number("–".to_owned(), Some(-1.0)), |t| Cell::number(temperature(t), Some(t))),
                Cell::number(words::within(metric, value), Some(value.value)),
                Cell::number(words::of_how_many(metric, value.n), Some(value.n as f64)),
                Cell::text(words::method(&value.method)),
                Cell::text(words::checkpoint(&score.score.checkpoint)),
                Cell::code(score.score.fingerprint.get(..8).unwrap_or(&score.score.fingerprint).to_owned()),
            ]
        })
        .collect();
    let head = [
        ("Figure", false),
        ("T", true),
        ("Value", true),
        ("n", true),
        ("Interval", false),
        ("Checkpoint", false),
        ("Protocol", false),
    ];
    let of_one = |checkpoint: &str| format!("All are of one checkpoint: {checkpoint}.");
    Some(Table::of(&head, rows)?.told("Final figures", "metrics").once("Checkpoint", of_one))
}

/// Whether a value is of people's games.
fn is_real(value: &Value) -> bool {
    value.name.starts_with("real_")
}

fn device(results: &Results, point: &Point) -> Vec<(&'static str, String)> {
    let doubted = point.training.as_ref().and_then(|training| charts::doubt(results, training));
    let Some(device) = point.training.as_ref().and_then(|training| training.device.as_ref()) else { return Vec::new() };
    let rate = |flops: f64| format!("{}FLOP/s", si(flops));
    [
        Some(("device", device.device.clone())),
        Some(("threads", device.threads.to_string())),
        device.tokens_per_second.map(|speed| ("tokens a second", si(speed))),
        device.matmul_flops_per_second.map(|flops| ("matmul, measured", rate(flops))),
        device.mfu.map(|mfu| ("MFU", doubted.map_or_else(|| percent(mfu, 1), |_| "not told: the machine was busy".to_owned()))),
        device.peak_memory_bytes.map(|peak| ("peak memory", bytes(peak))),
    ]
    .into_iter()
    .flatten()
    .filter(|(_, value)| !value.is_empty())
    .collect()
}

fn gates(point: &Point) -> Option<Table> {
    if point.gates.iter().all(|gate| matches!(gate.state, State::Skipped | State::Pending)) {
        return None;
    }
    let rows = point
        .gates
        .iter()
        .map(|gate| {
            let (measured, wanted) = match (&gate.verdict, gate.stage.as_str(), &point.inspection) {
                (Some(verdict), ..) => (significant(verdict.measured, 4), verdict.wanted.clone()),
                (None, "inspect", Some(inspection)) => (
                    format!("{} of {} fail", thousands(inspection.failed), thousands(inspection.replayed)),
                    "none fails".to_owned(),
                ),
                _ => ("–".to_owned(), "–".to_owned()),
            };
            let passed = gate.verdict.as_ref().is_none_or(|verdict| verdict.passed);
            let (state, class) = match gate.state {
                State::Kept | State::Made if passed => ("passed".to_owned(), "agrees"),
                State::Kept | State::Made => ("not passed".to_owned(), "differs"),
                state @ (State::Pending | State::Skipped) => (state.name().to_owned(), "soft"),
                state => (
                    gate.error.as_ref().map_or_else(|| state.name().to_owned(), |error| format!("{}: {error}", state.name())),
                    "differs",
                ),
            };
            vec![
                Cell::text(gate_name(&gate.stage)),
                Cell::number(measured, None),
                Cell::text(wanted),
                Cell { text: state, sort: None, class },
            ]
        })
        .collect();
    let head = [("Gate", false), ("Measured", true), ("Wanted", false), ("State", false)];
    Some(Table::of(&head, rows)?.gathered("Gates", "gates summary"))
}

fn gate_name(stage: &str) -> &str {
    match stage {
        "inspect" => "Replay on a board",
        "initial_loss" => "Loss of the untrained model",
        "overfit" => "A few games by heart",
        other => other,
    }
}
