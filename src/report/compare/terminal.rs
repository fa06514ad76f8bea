//! In columns, as wide as the terminal: a table that is wider is turned, and prose is broken.

use super::comparison::Comparison;
use super::document::{Part, Source, document};
use super::table::{NOTHING, Texts};

/// `width` is in columns.
pub fn terminal(comparison: &Comparison, width: usize) -> String {
    let parts = document(comparison);
    parts.iter().map(|shown| part(shown, width)).collect::<Vec<_>>().join("\n")
}

fn part(part: &Part, width: usize) -> String {
    match part {
        Part::Heading(text) | Part::Prose(text) => broken(text, width, ["", ""]),
        Part::List(items) => items.iter().map(|item| broken(item, width, ["- ", "  "])).collect(),
        Part::Table(texts) => aligned(texts, width).unwrap_or_else(|| blocks(texts, width)),
        Part::Figures { flat, turned } => {
            let wide = flat.as_ref().and_then(|texts| aligned(texts, width));
            wide.unwrap_or_else(|| figures(turned, width))
        }
        Part::Sources(sources) => sources.iter().map(|source| broken(&line_of(source), width, ["  ", "      "])).collect(),
        Part::Pairs(pairs) => {
            let all = pairs.iter().map(|(name, value)| broken(&format!("{name}  {value}"), width, ["  ", "      "]));
            all.collect()
        }
    }
}

fn line_of(source: &Source) -> String {
    let command = if source.command.is_empty() { String::new() } else { format!("; made by `{}`", source.command) };
    let report = source.report.as_ref().map_or_else(String::new, |report| format!("; report {report}"));
    format!("{}  {}{command}{report}", source.label, source.facts.join("; "))
}

/// Blanks at which no line is broken: `6 × 192` is one word.
const GLUED: &str = "\u{a0}×\u{a0}";

/// None where a row would be wider than that.
fn aligned(texts: &Texts, width: usize) -> Option<String> {
    let widths = widths(&std::iter::once(&texts.head).chain(&texts.rows));
    let all = std::iter::once(&texts.head).chain(&texts.rows);
    (whole(&widths) <= width).then(|| all.map(|row| line(row, &widths, "  ")).collect())
}

fn widths<'r>(rows: &(impl Iterator<Item = &'r Vec<String>> + Clone)) -> Vec<usize> {
    let columns = rows.clone().map(Vec::len).max().unwrap_or(0);
    let wide = |column: usize| rows.clone().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    (0..columns).map(|column| wide(column).unwrap_or(0)).collect()
}

fn line(row: &[String], widths: &[usize], indent: &str) -> String {
    let cells: Vec<String> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
    format!("{indent}{}\n", cells.join("  ").trim_end())
}

/// A block a row: its first cell, and below it what each other column says.
fn blocks(texts: &Texts, width: usize) -> String {
    let block = |row: &Vec<String>| {
        let cells = texts.head.iter().zip(row).skip(1).filter(|(_, cell)| *cell != NOTHING);
        let rest: String = cells.map(|(head, cell)| broken(&format!("{head}: {cell}"), width, ["    ", "      "])).collect();
        broken(&row[0], width, ["  ", "    "]) + &rest
    };
    texts.rows.iter().map(block).collect()
}

/// Figures whose rows are models, all in the same columns.
fn figures(turned: &[(String, Texts)], width: usize) -> String {
    let Some((_, first)) = turned.first() else { return String::new() };
    // The head of the tests is long, and is told again in words: it may be cut short.
    let head: Vec<String> = first.head.iter().map(|head| head.replace("McNemar p (first:other)", "McNemar p")).collect();
    let rows = || std::iter::once(&head).chain(turned.iter().flat_map(|(_, texts)| &texts.rows));
    let widths = widths(&rows());
    if whole(&widths) > width {
        let titled =
            |(title, texts): &(String, Texts)| broken(title, width, ["  ", "    "]) + &indented(&blocks(texts, width - 2));
        return turned.iter().map(titled).collect();
    }
    let block = |(title, texts): &(String, Texts)| {
        let rows: String = texts.rows.iter().map(|row| line(row, &widths, "  ")).collect();
        broken(title, width, ["", "  "]) + &rows
    };
    line(&head, &widths, "  ") + &turned.iter().map(block).collect::<String>()
}

/// Of a row with its indent, and two blanks between columns.
fn whole(widths: &[usize]) -> usize {
    widths.iter().map(|column| column + 2).sum()
}

fn indented(text: &str) -> String {
    text.lines().map(|line| "  ".to_owned() + line + "\n").collect()
}

/// Prose in lines of so many columns, with what the first line and the others begin with. Only a longer word is not broken.
fn broken(text: &str, width: usize, [first, other]: [&str; 2]) -> String {
    let (mut out, mut line) = (String::new(), first.to_owned());
    let mut is_empty = true;
    for word in text.replace(" × ", GLUED).split(' ') {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > width {
            out.push_str(line.trim_end());
            out.push('\n');
            other.clone_into(&mut line);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    (out + line.trim_end() + "\n").replace(GLUED, " × ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_broken_at_blanks_and_goes_on_under_itself() {
        assert_eq!(broken("one two three", 9, ["- ", "  "]), "- one two\n  three\n");
        assert_eq!(broken("immeasurable", 4, ["", ""]), "immeasurable\n");
    }

    #[test]
    fn a_table_that_is_too_wide_becomes_blocks() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let texts = Texts { head: row(["setting", "a", "b"]), rows: vec![row(["model.width", "64", NOTHING])] };
        assert_eq!(aligned(&texts, 30).expect("it fits"), "  setting      a   b\n  model.width  64  –\n");
        assert_eq!(aligned(&texts, 18), None);
        assert_eq!(blocks(&texts, 18), "  model.width\n    a: 64\n");
    }
}
