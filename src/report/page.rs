//! The page, and its Markdown twin: one value, filled once, rendered by two templates.

mod corpus;
mod many_stages;
mod parts;
mod point;
mod reproduce;
mod shared;
mod stages;
mod sweep;
pub(crate) mod table;

use anyhow::{Context as _, Result};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Value as Template, context};
use serde::Serialize;

use super::charts::{Colour, Section, escape, hex};
use super::results::Results;
use super::settings::{between, moment};
use super::{published, words};
use crate::text::plural;

use point::PointPage;
use reproduce::Reproduce;
pub(crate) use stages::work;
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

impl Drawn {
    /// Whether it is to be shared, and stands on no page.
    fn is_card(&self) -> bool {
        self.name.starts_with("card-")
    }
}

#[derive(Serialize)]
pub(crate) struct Page {
    name: String,
    question: String,
    facts: Vec<Fact>,
    /// RFC 3339.
    started: String,
    has_file: bool,
    tainted: Vec<String>,
    warnings: Vec<String>,
    sweep: Option<SweepPage>,
    overview: Vec<Figure>,
    timeline: Vec<Figure>,
    points: Vec<PointPage>,
    stages: Option<Table>,
    /// All stages in one line.
    total: String,
    measured: Option<Table>,
    reproduce: Reproduce,
    tables: Vec<&'static str>,
    rule: &'static str,
    terms: Vec<(&'static str, &'static str)>,
}

/// What is said of the run below its name.
#[derive(Serialize)]
struct Fact {
    label: &'static str,
    text: String,
    /// `time`, `code` for a name or an id, or nothing for a number that was measured.
    kind: &'static str,
}

#[derive(Serialize)]
pub(crate) struct Figure {
    name: &'static str,
    file: String,
    /// Where its numbers are, from the page.
    data: String,
    data_name: String,
    /// The table with its numbers; none where that is a file of another kind.
    table: &'static str,
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
        let mut page = Self {
            question: question.unwrap_or_else(|| name.clone()),
            name,
            facts: facts(results),
            started: results.run.started.clone(),
            has_file: results.has_file,
            tainted: words::tainted(results),
            warnings: words::warnings(results),
            sweep: sweep::page(results),
            overview: of_run(&|name| name != TIMELINE),
            timeline: of_run(&|name| name == TIMELINE),
            points: shared::first(
                (0..results.points.len()).map(|i| PointPage::new(results, i, drawn)).collect(),
                has_one_model(results),
            ),
            stages: if results.nodes.len() > MOST_NODES { many_stages::by_stage(results) } else { stages::stages(results) },
            total: stages::total(results),
            measured: stages::measured(results),
            reproduce: Reproduce::new(results),
            tables: tables.to_vec(),
            rule: published::RULE,
            terms: Vec::new(),
        };
        let mut text = String::new();
        gather(&serde_json::to_value(&page).unwrap_or_default(), &mut text);
        page.terms = words::used(&text).into_iter().map(|term| (term.name, term.meaning)).collect();
        page
    }

    /// The page; `live` is one that keeps itself up to date, and is served.
    pub(crate) fn html(&self, live: bool) -> Result<String> {
        render_html("page.html", include_str!("page/page.html"), self, live)
    }

    pub(crate) fn markdown(&self) -> Result<String> {
        render("page.md", include_str!("page/page.md"), &context! { page => Serde(self) })
    }
}

/// Whether all points measure the same weights.
fn has_one_model(results: &Results) -> bool {
    results.nodes.iter().filter(|outcome| ["train", "import"].contains(&outcome.node.stage.as_str())).count() == 1
}

/// All that a value says, without the names of its fields.
fn gather(value: &serde_json::Value, into: &mut String) {
    match value {
        serde_json::Value::String(text) => {
            into.push_str(text);
            into.push('\n');
        }
        serde_json::Value::Array(list) => list.iter().for_each(|value| gather(value, into)),
        serde_json::Value::Object(fields) => fields.values().for_each(|value| gather(value, into)),
        _ => (),
    }
}

/// What templates of pages are made of.
const PARTS: [(&str, &str); 8] = [
    ("head.html", include_str!("page/head.html")),
    ("macros.html", include_str!("page/macros.html")),
    ("sweep.html", include_str!("page/sweep.html")),
    ("style.css", include_str!("page/style.css")),
    ("compare.css", include_str!("compare/page.css")),
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
    // What users write is text in Markdown too, and neither a tag nor a link.
    environment.add_filter("plain", |text: String| {
        ["<", "[", "`", "*", "_"].iter().fold(text.replace('\\', "\\\\"), |text, sign| text.replace(sign, &format!("\\{sign}")))
    });
    // A bar would end the cell, and a line break the table.
    environment.add_filter("cell", |text: String| text.replace('|', "\\|").replace('\n', " "));
    environment.add_filter("tight", |text: String| tight(&text));
    // An interval stays on one line, and does not stand out as much as its value.
    environment.add_filter("sentence", |text: String| {
        let safe = escape(&tight(&text)).replace('[', "<span class=\"within\">[").replace(']', "]</span>");
        Template::from_safe_string(if safe.matches('[').count() == safe.matches(']').count() { safe } else { escape(&text) })
    });
    for (name, source) in PARTS {
        environment.add_template(name, source).with_context(|| format!("reading `{name}`"))?;
    }
    environment.add_template(name, source).with_context(|| format!("reading `{name}`"))?;
    let template = environment.get_template(name).with_context(|| format!("reading `{name}`"))?;
    template.render(context).with_context(|| format!("filling `{name}`"))
}

/// A number and its sign stay on one line.
fn tight(text: &str) -> String {
    let text = text.replace(" %", "\u{a0}%").replace("T = ", "T\u{a0}=\u{a0}").replace("n = ", "n\u{a0}=\u{a0}");
    text.replace(" M ", "\u{a0}M ").replace(" × ", "\u{a0}×\u{a0}")
}

impl Figure {
    /// A chart that stands on a page of its own kind, with all numbers in one file.
    pub(crate) fn alone(drawn: &Drawn, data: &str) -> Self {
        Self {
            name: drawn.name,
            file: drawn.file.clone(),
            data: data.to_owned(),
            data_name: data.to_owned(),
            table: "",
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
            table: drawn.table,
            title: drawn.title.clone(),
            alt: drawn.alt.clone(),
            wide: Template::from_safe_string(drawn.wide.clone()),
            narrow: Template::from_safe_string(drawn.narrow.clone()),
            same: drawn.same.map(|point| words::point_name(&results.points[point])),
            linked: drawn.linked,
        }
    }
}

fn facts(results: &Results) -> Vec<Fact> {
    let run = &results.run;
    let (device, threads) = results.machine();
    let threads = threads.map(|threads| plural("thread", threads)).unwrap_or_default();
    let took = run.finished.as_deref().and_then(|finished| between(&run.started, finished));
    let all = [
        ("run", run.id.clone(), "code"),
        ("started", if run.started.is_empty() { String::new() } else { moment(&run.started) }, "time"),
        ("took", took.unwrap_or_default(), ""),
        ("device", device, "code"),
        ("", threads, ""),
        ("machine", run.host.clone(), "code"),
    ];
    all.into_iter().filter(|(_, text, _)| !text.is_empty()).map(|(label, text, kind)| Fact { label, text, kind }).collect()
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
