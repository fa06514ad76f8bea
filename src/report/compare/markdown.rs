//! For a page that others write, such as an issue.

use super::comparison::Comparison;
use super::document::{Part, Source, document};
use super::table::Texts;

pub fn markdown(comparison: &Comparison) -> String {
    document(comparison).iter().map(part).collect()
}

fn part(part: &Part) -> String {
    match part {
        Part::Heading(text) => format!("## {text}\n\n"),
        Part::Prose(text) => format!("{text}\n\n"),
        Part::List(items) => listed(items.iter().cloned()),
        Part::Table(texts) | Part::Figures { flat: Some(texts), .. } => piped(texts) + "\n",
        Part::Figures { flat: None, turned } => piped(&long(turned)) + "\n",
        Part::Sources(sources) => listed(sources.iter().map(source)),
        Part::Pairs(pairs) => listed(pairs.iter().map(|(name, value)| format!("**{name}**: {value}"))),
    }
}

fn source(source: &Source) -> String {
    let command = if source.command.is_empty() { String::new() } else { format!("; made by `{}`", source.command) };
    let report = source.report.as_ref().map_or_else(String::new, |report| format!("; [report]({})", report.replace(' ', "%20")));
    format!("**{}**: {}{command}{report}", source.label, source.facts.join("; "))
}

fn listed(items: impl Iterator<Item = String>) -> String {
    items.map(|item| "- ".to_owned() + &item + "\n").collect::<String>() + "\n"
}

/// All blocks as one table, each figure named in its first row.
fn long(blocks: &[(String, Texts)]) -> Texts {
    let head = blocks.first().map(|(_, texts)| texts.head.clone()).unwrap_or_default();
    let rows = blocks.iter().flat_map(|(title, texts)| {
        let named = |(at, row): (usize, &Vec<String>)| {
            let title = if at == 0 { title.clone() } else { String::new() };
            std::iter::once(title).chain(row.iter().cloned()).collect()
        };
        texts.rows.iter().enumerate().map(named)
    });
    Texts { rows: rows.collect(), head: std::iter::once("figure".to_owned()).chain(head).collect() }
}

fn piped(texts: &Texts) -> String {
    let line =
        |cells: &[String]| format!("| {} |\n", cells.iter().map(|cell| cell.replace('|', "\\|")).collect::<Vec<_>>().join(" | "));
    let rule = format!("|{}\n", " --- |".repeat(texts.head.len()));
    line(&texts.head) + &rule + &texts.rows.iter().map(|row| line(row)).collect::<String>()
}
