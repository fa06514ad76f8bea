//! The page, and its Markdown twin: one value, filled once, rendered by two templates.

use anyhow::{Context as _, Result};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Value as Template, context};
use serde::Serialize;

use super::charts::{Colour, Section, hex};
use super::published::{self, Verdict};
use super::results::{Asked, Outcome, Point, Results, State};
use super::settings::{between, moment, settings};
use super::words;
use crate::text::{bytes, duration, percent, percent_within, significant, temperature, thousands};

/// A chart, drawn.
pub(super) struct Drawn {
    pub name: &'static str,
    /// Of its files, without the ending.
    pub file: String,
    pub table: &'static str,
    pub section: Option<Section>,
    /// None for a chart of the whole run.
    pub point: Option<usize>,
    /// The earlier point that has the very same chart.
    pub same: Option<usize>,
    pub wide: String,
    pub narrow: String,
    pub title: String,
    pub alt: String,
}

#[derive(Serialize)]
pub(super) struct Page {
    name: String,
    question: String,
    facts: Vec<String>,
    warnings: Vec<String>,
    overview: Vec<Figure>,
    timeline: Vec<Figure>,
    points: Vec<PointPage>,
    stages: Table,
    provenance: Vec<(&'static str, String)>,
    tables: Vec<&'static str>,
    rule: &'static str,
    colours: Vec<(&'static str, String, String)>,
}

#[derive(Serialize)]
struct PointPage {
    anchor: String,
    name: String,
    summary: Vec<String>,
    tiles: Vec<Tile>,
    published: Option<Table>,
    figures: Option<Table>,
    measured: Vec<Figure>,
    trained: Vec<Figure>,
    corpus: Vec<Figure>,
    device: Vec<(&'static str, String)>,
    gates: Option<Table>,
    counts: Vec<(&'static str, String)>,
    settings: Vec<(&'static str, Vec<(&'static str, String)>)>,
}

/// A figure to be seen first.
#[derive(Serialize)]
struct Tile {
    label: &'static str,
    value: String,
    note: String,
}

#[derive(Serialize)]
struct Figure {
    name: &'static str,
    file: String,
    table: &'static str,
    title: String,
    alt: String,
    wide: Template,
    narrow: Template,
    same: Option<String>,
}

#[derive(Serialize)]
struct Table {
    head: Vec<Head>,
    rows: Vec<Vec<Cell>>,
}

#[derive(Serialize)]
struct Head {
    text: &'static str,
    number: bool,
}

#[derive(Serialize)]
struct Cell {
    text: String,
    /// What the column is sorted by, where that is not the text.
    sort: Option<f64>,
    /// A class of the style sheet.
    class: &'static str,
}

impl Page {
    pub(super) fn new(results: &Results, drawn: &[Drawn], tables: &[&'static str]) -> Self {
        let name = match (&results.run.name, results.points.first()) {
            (name, Some(point)) if name.is_empty() => point.experiment.name.clone(),
            (name, _) => name.clone(),
        };
        let question = results.points.first().map(|point| point.experiment.question.trim().to_owned()).filter(|text| !text.is_empty());
        let of_run = |name: &str| {
            let charts = drawn.iter().filter(|chart| chart.point.is_none() && chart.name == name);
            charts.map(|chart| Figure::new(chart, results)).collect()
        };
        Self {
            question: question.unwrap_or_else(|| name.clone()),
            name,
            facts: facts(results),
            warnings: words::warnings(results),
            overview: of_run("points"),
            timeline: of_run("timeline"),
            points: (0..results.points.len()).map(|i| PointPage::new(results, i, drawn)).collect(),
            stages: stages(results),
            provenance: provenance(results),
            tables: tables.to_vec(),
            rule: published::RULE,
            colours: Colour::ALL.map(|hue| (hue.name(), hex(hue.light()), hex(hue.dark()))).to_vec(),
        }
    }

    pub(super) fn html(&self) -> Result<String> {
        // Safe as they are: an escaped `/` would be no base64 any more.
        let fonts = [notosans::REGULAR_TTF, notosans::BOLD_TTF].map(|font| Template::from_safe_string(base64(font)));
        render("page.html", include_str!("page.html"), &context! { page => Serde(self), fonts => fonts.to_vec() })
    }

    pub(super) fn markdown(&self) -> Result<String> {
        render("page.md", include_str!("page.md"), &context! { page => Serde(self) })
    }
}

fn render(name: &'static str, source: &'static str, context: &Template) -> Result<String> {
    let mut environment = Environment::new();
    let tags_leave_no_lines = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(tags_leave_no_lines.context("setting up templates")?);
    environment.set_auto_escape_callback(|name| if name.ends_with("html") { AutoEscape::Html } else { AutoEscape::None });
    // A bar would end the cell, and a line break the table.
    environment.add_filter("cell", |text: String| text.replace('|', "\\|").replace('\n', " "));
    // A number and its sign stay on one line.
    environment.add_filter("tight", |text: String| {
        text.replace(" %", "\u{a0}%").replace("T = ", "T\u{a0}=\u{a0}").replace("n = ", "n\u{a0}=\u{a0}").replace(" M ", "\u{a0}M ")
    });
    environment.add_template(name, source).with_context(|| format!("reading `{name}`"))?;
    let template = environment.get_template(name).with_context(|| format!("reading `{name}`"))?;
    template.render(context).with_context(|| format!("filling `{name}`"))
}

impl Figure {
    fn new(drawn: &Drawn, results: &Results) -> Self {
        Self {
            name: drawn.name,
            file: drawn.file.clone(),
            table: drawn.table,
            title: drawn.title.clone(),
            alt: drawn.alt.clone(),
            wide: Template::from_safe_string(drawn.wide.clone()),
            narrow: Template::from_safe_string(drawn.narrow.clone()),
            same: drawn.same.map(|point| results.points[point].title().to_owned()),
        }
    }
}

impl PointPage {
    fn new(results: &Results, index: usize, drawn: &[Drawn]) -> Self {
        let point = &results.points[index];
        let section = |section| {
            let mine = drawn.iter().filter(|chart| chart.point == Some(index) && chart.section == Some(section));
            mine.map(|chart| Figure::new(chart, results)).collect()
        };
        Self {
            anchor: format!("point-{}", index + 1),
            name: point.title().to_owned(),
            summary: words::summary(results, point),
            tiles: tiles(point),
            published: compared(results, point),
            figures: figures(point),
            measured: section(Section::Measured),
            trained: section(Section::Trained),
            corpus: section(Section::Corpus),
            device: device(point),
            gates: gates(point),
            counts: counts(point),
            settings: settings(&point.experiment),
        }
    }
}

fn facts(results: &Results) -> Vec<String> {
    let run = &results.run;
    let mut facts = Vec::new();
    if !run.id.is_empty() {
        facts.push(format!("run {}", run.id));
    }
    if !run.started.is_empty() {
        let took = run.finished.as_deref().and_then(|finished| between(&run.started, finished));
        facts.push(moment(&run.started) + &took.map_or_else(String::new, |took| format!(", {took}")));
    }
    facts.extend([run.device.clone(), run.host.clone()].into_iter().filter(|fact| !fact.is_empty()));
    facts
}

fn tiles(point: &Point) -> Vec<Tile> {
    let metric = |metric: &'static str, name: &str, label: &'static str| {
        let score = point.finals(metric).into_iter().next()?;
        let value = score.value(name)?;
        let all = percent_within(value.value, Some(value.low), Some(value.high));
        let (shown, interval) = all.split_once(" [").unwrap_or((&all, ""));
        let interval = interval.trim_end_matches(']').replace(", ", " to ");
        let note = format!("{interval}; n = {}{}", thousands(value.n), words::at(score.temperature()).replace(" at ", ", "));
        Some(Tile { label, value: shown.to_owned(), note })
    };
    let loss = || {
        let training = point.training.as_ref()?;
        let best = training.best?;
        let value = format!("{:.3}", best.loss);
        Some(Tile { label: "Best validation loss", value, note: format!("nats per token, at step {}", thousands(best.step)) })
    };
    [
        metric("legality", "rate", "Legal moves"),
        metric("agreement", "top1", "First choice is the human move"),
        metric("full_games", "clean", "Full games without an illegal move"),
        loss(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn compared(results: &Results, point: &Point) -> Option<Table> {
    let rows: Vec<_> = published::compare(&results.run, point)
        .into_iter()
        .map(|line| {
            let (verdict, class) = match line.verdict {
                Verdict::Agrees => ("agrees".to_owned(), "agrees"),
                Verdict::Differs => ("differs".to_owned(), "differs"),
                Verdict::Inconclusive => ("inconclusive".to_owned(), "soft"),
                Verdict::NotComparable(why) => (format!("not comparable: {why}"), "soft"),
            };
            let count = |n: Option<u64>| n.map_or_else(|| Cell::number("–".to_owned(), None), Cell::count);
            vec![
                Cell::text(line.label),
                Cell::number(line.measured, None),
                count(line.n),
                Cell::number(line.published, None),
                count(line.published_n),
                Cell { text: verdict, sort: None, class },
            ]
        })
        .collect();
    let head = [("Figure", false), ("Here", true), ("n", true), ("Published", true), ("n", true), ("Verdict", false)];
    Table::of(&head, rows)
}

fn figures(point: &Point) -> Option<Table> {
    let rows = point
        .scores
        .iter()
        .filter(|score| score.asked == Asked::Final)
        .flat_map(|score| score.score.values.iter().map(move |value| (score, value)))
        .map(|(score, value)| {
            let metric = score.metric.name();
            let slice = if value.slice.is_empty() { String::new() } else { format!(" ({})", value.slice) };
            let masked = if score.score.protocol.masked { ", masked" } else { "" };
            vec![
                Cell::text(words::figure(metric, &value.name) + &slice + masked),
                score.temperature().map_or_else(|| Cell::number("–".to_owned(), Some(-1.0)), |t| Cell::number(temperature(t), Some(t))),
                Cell::number(words::within(metric, value), Some(value.value)),
                Cell::count(value.n),
                Cell::text(value.method.clone()),
                Cell::text(format!("{}, step {}", score.score.checkpoint.name, thousands(score.score.checkpoint.step))),
                Cell::code(score.score.fingerprint.get(..8).unwrap_or(&score.score.fingerprint).to_owned()),
            ]
        })
        .collect();
    let head =
        [("Figure", false), ("T", true), ("Value", true), ("n", true), ("Interval", false), ("Checkpoint", false), ("Protocol", false)];
    Table::of(&head, rows)
}

fn device(point: &Point) -> Vec<(&'static str, String)> {
    let Some(device) = point.training.as_ref().and_then(|training| training.device.as_ref()) else { return Vec::new() };
    let rate = |flops: f64| format!("{} FLOP/s", crate::text::si(flops));
    [
        Some(("device", device.device.clone())),
        Some(("threads", device.threads.to_string())),
        device.tokens_per_second.map(|speed| ("tokens a second", thousands(speed.round() as u64))),
        device.matmul_flops_per_second.map(|flops| ("matmul, measured", rate(flops))),
        device.mfu.map(|mfu| ("MFU", percent(mfu, 1))),
        device.peak_memory_bytes.map(|peak| ("peak memory", bytes(peak))),
    ]
    .into_iter()
    .flatten()
    .filter(|(_, value)| !value.is_empty())
    .collect()
}

fn gates(point: &Point) -> Option<Table> {
    let rows = point
        .gates
        .iter()
        .map(|gate| {
            let (measured, wanted) = match (&gate.verdict, gate.stage.as_str(), point.inspection) {
                (Some(verdict), ..) => (significant(verdict.measured, 4), verdict.wanted.clone()),
                (None, "inspect", Some(inspection)) => {
                    (format!("{} of {} fail", thousands(inspection.failed), thousands(inspection.replayed)), "none fails".to_owned())
                }
                _ => ("–".to_owned(), "–".to_owned()),
            };
            let passed = gate.verdict.as_ref().is_none_or(|verdict| verdict.passed);
            let (state, class) = match gate.state {
                State::Kept | State::Made if passed => ("passed".to_owned(), "agrees"),
                State::Kept | State::Made => ("not passed".to_owned(), "differs"),
                State::Pending => ("pending".to_owned(), "soft"),
                state => (gate.error.as_ref().map_or_else(|| state.name().to_owned(), |error| format!("{}: {error}", state.name())), "differs"),
            };
            vec![
                Cell::text(gate_name(&gate.stage)),
                Cell::number(measured, None),
                Cell::text(wanted),
                Cell { text: state, sort: None, class },
            ]
        })
        .collect();
    Table::of(&[("Gate", false), ("Measured", true), ("Wanted", false), ("State", false)], rows)
}

fn gate_name(stage: &str) -> &str {
    match stage {
        "inspect" => "Replay on a board",
        "initial_loss" => "Loss of the untrained model",
        "overfit" => "A few games by heart",
        other => other,
    }
}

fn counts(point: &Point) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    if let Some(encoded) = point.encoded {
        let side = |games: u64, tokens: u64| format!("{} tokens in {} games", thousands(tokens), thousands(games));
        rows.push(("training", side(encoded.train_games, encoded.train_tokens)));
        rows.push(("validation", side(encoded.validation_games, encoded.validation_tokens)));
    }
    if let Some(inspection) = point.inspection.filter(|inspection| inspection.distinct_validation_games > 0) {
        let share = inspection.overlap_games as f64 / inspection.distinct_validation_games as f64;
        rows.push((
            "validation games also in training",
            format!("{} of {} ({})", thousands(inspection.overlap_games), thousands(inspection.distinct_validation_games), percent(share, 3)),
        ));
    }
    if let Some(corpus) = point.corpus() {
        let ends = corpus.ends;
        let all = [ends.checkmate, ends.stalemate, ends.other_by_rules, ends.not_by_rules];
        let total: u64 = all.iter().sum();
        if total > 0 {
            let share = |games: u64| percent(games as f64 / total as f64, 1);
            let names = ["mate", "stalemate", "other rules", "not on the board"];
            let ends: Vec<_> = names.iter().zip(all).map(|(name, games)| format!("{name} {}", share(games))).collect();
            rows.push(("kept games ended by", ends.join(", ")));
        }
    }
    rows
}

fn stages(results: &Results) -> Table {
    let row = |outcome: &Outcome| {
        let made_by = outcome.made_by.as_ref();
        let class = match outcome.state {
            State::Failed | State::Refused => "differs",
            State::Made => "",
            _ => "soft",
        };
        let state = match &outcome.error {
            Some(error) => format!("{}: {error}", outcome.state.name()),
            None => outcome.state.name().to_owned(),
        };
        let seconds = outcome.seconds.filter(|_| outcome.state != State::Kept).or(made_by.map(|made_by| made_by.seconds));
        let device = match made_by {
            Some(made_by) => [made_by.device.as_str(), made_by.host.as_str()].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>(),
            None => Vec::new(),
        };
        let mut cells = vec![
            Cell::text(outcome.node.label.clone()),
            Cell { text: state, sort: None, class },
            Cell::number(seconds.map_or_else(|| "–".to_owned(), duration), Some(seconds.unwrap_or(-1.0))),
            Cell::number(outcome.bytes.map_or_else(|| "–".to_owned(), bytes), Some(outcome.bytes.map_or(-1.0, |bytes| bytes as f64))),
            Cell::text(device.join(", ")),
            Cell::text(made_by.map_or_else(String::new, |made_by| moment(&made_by.at))),
            Cell::code(made_by.map_or_else(String::new, |made_by| made_by.git.clone())),
            Cell::code(outcome.node.key.to_string()),
        ];
        if results.points.len() > 1 {
            cells.insert(1, Cell::text(outcome.node.points.join("; ")));
        }
        cells
    };
    let mut head = vec![
        ("Node", false),
        ("State", false),
        ("Time to make", true),
        ("Size", true),
        ("Made on", false),
        ("Made at", false),
        ("Git", false),
        ("Key", false),
    ];
    if results.points.len() > 1 {
        head.insert(1, ("Points", false));
    }
    let rows = results.nodes.iter().map(row).collect();
    Table::of(&head, rows).unwrap_or(Table { head: Vec::new(), rows: Vec::new() })
}

fn provenance(results: &Results) -> Vec<(&'static str, String)> {
    let run = &results.run;
    let command = match &run.command {
        serde_json::Value::String(line) => line.clone(),
        serde_json::Value::Array(words) => words.iter().filter_map(|word| word.as_str()).collect::<Vec<_>>().join(" "),
        _ => String::new(),
    };
    let key = |stage: &str| results.nodes.iter().find(|outcome| outcome.node.stage == stage).map(|outcome| outcome.node.key.full());
    let all = [
        ("command", command),
        ("run", run.id.clone()),
        ("started", run.started.clone()),
        ("finished", run.finished.clone().unwrap_or_default()),
        ("outcome", run.outcome.clone().unwrap_or_default()),
        ("philidor", run.philidor.clone()),
        ("git", run.git.clone()),
        ("host", run.host.clone()),
        ("device", run.device.clone()),
        ("threads", run.threads.map_or_else(String::new, |threads| threads.to_string())),
        ("libtorch", run.libtorch.clone()),
        ("tokens", key("encode").unwrap_or_default()),
        ("weights", if results.points.len() == 1 { key("train").unwrap_or_default() } else { String::new() }),
    ];
    all.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

impl Table {
    fn of(head: &[(&'static str, bool)], rows: Vec<Vec<Cell>>) -> Option<Self> {
        let head = head.iter().map(|&(text, number)| Head { text, number }).collect();
        (!rows.is_empty()).then_some(Self { head, rows })
    }
}

impl Cell {
    fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), sort: None, class: "" }
    }

    fn number(text: String, sort: Option<f64>) -> Self {
        Self { text, sort: sort.filter(|value| value.is_finite()), class: "number" }
    }

    fn count(n: u64) -> Self {
        Self::number(thousands(n), Some(n as f64))
    }

    fn code(text: String) -> Self {
        Self { text, sort: None, class: "code" }
    }
}

/// RFC 4648, with padding.
fn base64(bytes: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for sign in 0..4 {
            let shown = sign <= chunk.len();
            text.push(if shown { char::from(SIGNS[(word >> (18 - 6 * sign)) as usize & 63]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_gives_the_vectors_of_its_standard() {
        let encoded = ["", "f", "fo", "foo", "foob", "fooba", "foobar"].map(|text| base64(text.as_bytes()));
        assert_eq!(encoded, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]);
    }
}
