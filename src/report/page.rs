//! The page, and its Markdown twin: one value, filled once, rendered by two templates.

mod corpus;
mod many_stages;
mod parts;
mod point;
mod shared;
mod stages;
mod sweep;
pub(crate) mod table;

use anyhow::{Context as _, Result};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Value as Template, context};
use serde::Serialize;

use super::charts::{Colour, Section, hex};
use super::results::Results;
use super::settings::{between, moment};
use super::{published, words};
use crate::text::plural;

use point::PointPage;
use sweep::SweepPage;
use table::Table;

/// More nodes than these are told stage by stage.
const MOST_NODES: usize = 400;

/// The chart of what was done; those of what came out stand above.
const TIMELINE: &str = "timeline";

/// A chart, drawn.
pub(crate) struct Drawn {
    pub(crate) name: &'static str,
    /// Of its files, without the ending.
    pub(crate) file: String,
    pub(crate) table: &'static str,
    pub(crate) section: Option<Section>,
    /// None for a chart of the whole run.
    pub(crate) point: Option<usize>,
    /// The earlier point that has the very same chart.
    pub(crate) same: Option<usize>,
    pub(crate) wide: String,
    pub(crate) narrow: String,
    /// It is left out of the page, which leads to its file.
    pub(crate) linked: bool,
    pub(crate) title: String,
    pub(crate) alt: String,
}

#[derive(Serialize)]
pub(crate) struct Page {
    name: String,
    question: String,
    facts: Vec<String>,
    has_file: bool,
    tainted: Vec<String>,
    warnings: Vec<String>,
    sweep: Option<SweepPage>,
    overview: Vec<Figure>,
    timeline: Vec<Figure>,
    points: Vec<PointPage>,
    stages: Option<Table>,
    measured: Option<Table>,
    provenance: Vec<(&'static str, String)>,
    tables: Vec<&'static str>,
    rule: &'static str,
    terms: [(&'static str, &'static str); 9],
}

#[derive(Serialize)]
pub(crate) struct Figure {
    name: &'static str,
    file: String,
    /// Where its numbers are, from the page.
    data: String,
    data_name: String,
    title: String,
    alt: String,
    wide: Template,
    narrow: Template,
    same: Option<String>,
    linked: bool,
}

impl Page {
    pub(crate) fn new(results: &Results, drawn: &[Drawn], tables: &[&'static str]) -> Self {
        let name = match (&results.run.name, results.points.first()) {
            (name, Some(point)) if name.is_empty() => point.experiment.name.clone(),
            (name, _) => name.clone(),
        };
        let question =
            results.points.first().map(|point| point.experiment.question.trim().to_owned()).filter(|text| !text.is_empty());
        let of_run = |wanted: &dyn Fn(&str) -> bool| {
            let charts = drawn.iter().filter(|chart| chart.point.is_none() && wanted(chart.name));
            charts.map(|chart| Figure::new(chart, results)).collect()
        };
        Self {
            question: question.unwrap_or_else(|| name.clone()),
            name,
            facts: facts(results),
            has_file: results.has_file,
            tainted: words::tainted(results),
            warnings: words::warnings(results),
            sweep: sweep::page(results),
            overview: of_run(&|name| name != TIMELINE),
            timeline: of_run(&|name| name == TIMELINE),
            points: shared::first((0..results.points.len()).map(|i| PointPage::new(results, i, drawn)).collect()),
            stages: if results.nodes.len() > MOST_NODES { many_stages::by_stage(results) } else { stages::stages(results) },
            measured: stages::measured(results),
            provenance: provenance(results),
            tables: tables.to_vec(),
            rule: published::RULE,
            terms: words::TERMS,
        }
    }

    /// The page; `live` is one that keeps itself up to date, and is served.
    pub(crate) fn html(&self, live: bool) -> Result<String> {
        render_html("page.html", include_str!("page/page.html"), self, live)
    }

    pub(crate) fn markdown(&self) -> Result<String> {
        render("page.md", include_str!("page/page.md"), &context! { page => Serde(self) })
    }
}

/// What templates of pages are made of.
const PARTS: [(&str, &str); 7] = [
    ("head.html", include_str!("page/head.html")),
    ("macros.html", include_str!("page/macros.html")),
    ("sweep.html", include_str!("page/sweep.html")),
    ("style.css", include_str!("page/style.css")),
    ("sort.js", include_str!("page/sort.js")),
    ("unfold.js", include_str!("page/unfold.js")),
    ("live.js", include_str!("page/live.js")),
];

/// Fills the template of a page with a value, which it knows as `page`.
pub(crate) fn render_html(name: &'static str, source: &'static str, page: &impl Serialize, live: bool) -> Result<String> {
    // Safe as they are: an escaped `/` would be no base64 any more.
    let fonts = [notosans::REGULAR_TTF, notosans::BOLD_TTF].map(|font| Template::from_safe_string(base64(font)));
    let colours = Colour::ALL.map(|hue| (hue.name(), hex(hue.light()), hex(hue.dark())));
    render(name, source, &context! { page => Serde(page), fonts => fonts.to_vec(), colours => colours.to_vec(), live => live })
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
        text.replace(" %", "\u{a0}%")
            .replace("T = ", "T\u{a0}=\u{a0}")
            .replace("n = ", "n\u{a0}=\u{a0}")
            .replace(" M ", "\u{a0}M ")
            .replace(" × ", "\u{a0}×\u{a0}")
    });
    for (name, source) in PARTS {
        environment.add_template(name, source).with_context(|| format!("reading `{name}`"))?;
    }
    environment.add_template(name, source).with_context(|| format!("reading `{name}`"))?;
    let template = environment.get_template(name).with_context(|| format!("reading `{name}`"))?;
    template.render(context).with_context(|| format!("filling `{name}`"))
}

impl Figure {
    /// A chart that stands on a page of its own kind, with all numbers in one file.
    pub(crate) fn alone(drawn: &Drawn, data: &str) -> Self {
        Self {
            name: drawn.name,
            file: drawn.file.clone(),
            data: data.to_owned(),
            data_name: data.to_owned(),
            title: drawn.title.clone(),
            alt: drawn.alt.clone(),
            wide: Template::from_safe_string(drawn.wide.clone()),
            narrow: Template::from_safe_string(drawn.narrow.clone()),
            same: None,
            linked: false,
        }
    }

    fn new(drawn: &Drawn, results: &Results) -> Self {
        Self {
            name: drawn.name,
            file: drawn.file.clone(),
            data: format!("tables/{}.csv", drawn.table),
            data_name: format!("{}.csv", drawn.table),
            title: drawn.title.clone(),
            alt: drawn.alt.clone(),
            wide: Template::from_safe_string(drawn.wide.clone()),
            narrow: Template::from_safe_string(drawn.narrow.clone()),
            same: drawn.same.map(|point| words::point_name(&results.points[point])),
            linked: drawn.linked,
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
    let (device, threads) = results.machine();
    let threads = threads.map(|threads| plural("thread", threads)).unwrap_or_default();
    let on = [device, threads].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
    facts.extend([on, run.host.clone()].into_iter().filter(|fact| !fact.is_empty()));
    facts
}

fn provenance(results: &Results) -> Vec<(&'static str, String)> {
    let run = &results.run;
    let command = match &run.command {
        serde_json::Value::String(line) => line.clone(),
        serde_json::Value::Array(words) => words.iter().filter_map(|word| word.as_str()).collect::<Vec<_>>().join(" "),
        _ => String::new(),
    };
    let key = |stage: &str| {
        let made = results.nodes.iter().rfind(|outcome| outcome.node.stage == stage && outcome.made_by.is_some());
        made.map(|outcome| outcome.node.key.full())
    };
    let (device, threads) = results.machine();
    let mut corpus: Vec<String> = Vec::new();
    for source in results.points.iter().flat_map(|point| &point.sources) {
        let digest = source.digest.as_ref().map_or_else(String::new, |digest| format!(" ({digest})"));
        let line = source.name.clone() + &digest;
        if !corpus.contains(&line) {
            corpus.push(line);
        }
    }
    let all = [
        ("command", command),
        ("run", run.id.clone()),
        ("started", run.started.clone()),
        ("finished", run.finished.clone().unwrap_or_default()),
        ("outcome", run.outcome.clone().unwrap_or_default()),
        ("philidor", run.philidor.clone()),
        ("git", run.git.clone()),
        ("host", run.host.clone()),
        ("device", device),
        ("threads", threads.map_or_else(String::new, |threads| threads.to_string())),
        ("libtorch", run.libtorch.clone()),
        ("corpus", corpus.join("; ")),
        ("tokens", key("encode").unwrap_or_default()),
        (
            "weights",
            if results.points.len() == 1 { key("train").or_else(|| key("import")).unwrap_or_default() } else { String::new() },
        ),
    ];
    all.into_iter().filter(|(_, value)| !value.is_empty()).collect()
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
