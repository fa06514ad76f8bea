//! Walks every number on a page and looks for it in the tables beside it, at the digits that are shown.
//!
//! A value with its interval, and with its n where that follows, must be one row of a table; so must a row of a table on
//! the page that names one. What is no measured number is told by its markup: code, times, names, definitions, settings
//! (which have a table of their own, and must be in it as they are written).

mod page;
mod sheets;
mod shown;

use super::{folder, run};
use crate::measure::metric::Metric;
use crate::report::fixture::{Fixture, Wish, experiment};
use crate::report::results::Results;
use crate::report::{Page, draw, tables};

use page::{Block, blocks};
use sheets::Sheets;
use shown::{Phrase, phrases};

/// Tables of single numbers, where those of sentences must be.
const SINGLE: [&str; 6] = ["differences", "summary", "failures", "sources", "sides", "published"];
/// Tables of estimates.
const ESTIMATES: [&str; 8] = ["sweep", "differences", "metrics", "summary", "failures", "survival", "overlap", "published"];

/// What is shown and stands in no table, each with the words around it.
fn strangers(html: &str, sheets: &Sheets) -> (usize, Vec<String>) {
    let (mut walked, mut strange) = (0, Vec::new());
    for block in blocks(html) {
        let missing: Vec<String> = match &block {
            Block::Setting(text) => {
                walked += usize::from(text.contains(|sign: char| sign.is_ascii_digit()));
                if sheets.has_text("settings", text) { Vec::new() } else { vec![text.clone()] }
            }
            Block::Text(text) => {
                let phrases = phrases(text);
                walked += phrases.iter().map(|phrase| phrase.numbers.len()).sum::<usize>();
                phrases.into_iter().filter(|phrase| !is_told(phrase, sheets)).map(|phrase| phrase.text).collect()
            }
            Block::Row { tables, gathered, cells } => {
                let all: Vec<Phrase> = cells.iter().flat_map(|cell| phrases(cell)).collect();
                walked += all.iter().map(|phrase| phrase.numbers.len()).sum::<usize>();
                let one = |phrases: &[Phrase]| {
                    let numbers: Vec<_> = phrases.iter().flat_map(|phrase| &phrase.numbers).cloned().collect();
                    tables.iter().any(|table| sheets.has_row(table, &numbers))
                };
                if one(&all) {
                    Vec::new()
                } else if *gathered {
                    all.into_iter().filter(|phrase| !one(std::slice::from_ref(phrase))).map(|phrase| phrase.text).collect()
                } else {
                    vec![cells.join(" | ")]
                }
            }
            Block::Chart(tables, text) => {
                let estimates: Vec<_> = phrases(text).into_iter().filter(|phrase| phrase.is_estimate).collect();
                walked += estimates.len();
                let tables = || tables.iter().map(String::as_str).chain(["metrics", "failures", "overlap"]);
                let known = |phrase: &Phrase| tables().any(|table| sheets.has_row(table, &phrase.numbers));
                estimates.into_iter().filter(|phrase| !known(phrase)).map(|phrase| phrase.text).collect()
            }
        };
        strange.extend(missing.into_iter().map(|what| format!("`{what}` in {block:?}")));
    }
    (walked, strange)
}

fn is_told(phrase: &Phrase, sheets: &Sheets) -> bool {
    if phrase.is_estimate {
        return ESTIMATES.iter().any(|table| sheets.has_row(table, &phrase.numbers));
    }
    let number = std::slice::from_ref(&phrase.numbers[0]);
    SINGLE.iter().any(|table| sheets.has_row(table, number))
        // Of estimates, what names them: temperature, step, part of the sample, method.
        || !phrase.numbers[0].is_share && ["temperature", "step", "tokens", "n"].iter().any(|column| sheets.has_in("metrics", column, number))
        || ["slice", "method", "metric"].iter().any(|column| sheets.has_in("metrics", column, number))
}

fn page_of(points: &[crate::experiment::Experiment]) -> (String, Sheets) {
    let dir = folder();
    let Fixture { run_dir, store } = run(dir.path(), points, &Wish::default());
    let results = Results::load(&run_dir, &store).expect("a run");
    let names = tables::write(&results, dir.path()).expect("tables");
    let html = Page::new(&results, &draw(&results), &names).html(false).expect("a page");
    (html, Sheets::read(dir.path(), &names))
}

fn quickstart_like() -> crate::experiment::Experiment {
    let mut point = experiment(160);
    point.published.clear();
    point.measure.last.push(Metric::Dense { games: 60, temperature: 0.6, seed: 7 });
    point
}

#[test]
fn every_number_on_the_page_is_in_a_table_with_the_same_value() {
    for point in [experiment(160), quickstart_like()] {
        let (html, sheets) = page_of(&[point]);
        let (walked, strange) = strangers(&html, &sheets);
        assert!(walked > 1_000, "{walked} numbers are not all of them");
        assert!(strange.is_empty(), "{} of {walked}: {strange:#?}", strange.len());
    }
}

#[test]
fn so_is_every_number_on_the_page_of_a_sweep() {
    let (html, sheets) = page_of(&super::sweeps::sizes());
    let (walked, strange) = strangers(&html, &sheets);
    assert!(walked > 1_000, "{walked} numbers are not all of them");
    assert!(strange.is_empty(), "{} of {walked}: {strange:#?}", strange.len());
}

/// The page of a real run, for who changed what it says: `PHILIDOR_WALK_REPORT` names the run's folder.
#[test]
fn so_is_every_number_of_a_run_that_is_named() {
    let Some(run_dir) = std::env::var_os("PHILIDOR_WALK_REPORT").map(std::path::PathBuf::from) else { return };
    let tables = run_dir.join("tables");
    let there = |name: &&str| tables.join(format!("{name}.csv")).exists();
    let names: Vec<&str> = tables::TABLES.iter().map(|table| table.name).filter(there).collect();
    let (walked, strange) = strangers(&super::read(&run_dir.join("report.html")), &Sheets::read(&tables, &names));
    assert!(strange.is_empty(), "{} of {walked}: {strange:#?}", strange.len());
}

#[test]
fn a_wrong_number_anywhere_is_found() {
    let (html, sheets) = page_of(&[experiment(160)]);
    let (_, strange) = strangers(&html, &sheets);
    assert!(strange.is_empty(), "{strange:#?}");
    let wrong = |from: &str, to: &str| {
        assert!(html.contains(from), "the page does not say {from}");
        let (_, strange) = strangers(&html.replace(from, to), &sheets);
        assert!(!strange.is_empty(), "{to} in the place of {from} is not found");
    };
    wrong("saw 7.86\u{a0}M tokens", "saw 7.87\u{a0}M tokens");
    wrong("of 20,000 sampled moves", "of 20,001 sampled moves");
    wrong("games read were kept (12.36\u{a0}%)", "games read were kept (12.37\u{a0}%)");
    wrong("they have 71.6 plies", "they have 71.7 plies");
    wrong(">7.71<", ">7.72<");
    // A bound of another figure is no bound of this one.
    let lead = html.split("class=\"lead\">").nth(1).and_then(|rest| rest.split("</p>").next()).expect("a lead");
    let bound = lead.split(['[', ',']).nth(1).expect("an interval").to_owned();
    wrong(lead, &lead.replacen(&format!("[{bound}"), "[51.42", 1));
}
