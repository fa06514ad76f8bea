//! `[corpus]`: months of the archive or files, which games are kept, how they are split.

use std::collections::BTreeMap;

use crate::corpus::config::{Source, Split, SplitBy};

use super::asked::Corpus;
use super::files::Files;
use super::keep::keep;
use super::kind::{Choice, Integer, List, SHARE, TEXT, Text};
use super::table::Section;

const MONTH: Text = Text::like("a month such as `2026-07`", is_month);
const SHA256: Text = Text::like("a SHA-256 of 64 hexadecimal digits", is_sha256);

const SPLIT_BY: Choice<SplitBy> = Choice(&[("draw", SplitBy::Draw), ("game-hash", SplitBy::GameHash)]);

pub(super) fn corpus(s: &mut Section, files: &Files) -> Option<Corpus> {
    let sources = sources(s, files);
    let moves = s.look("moves", &Integer::at_least(1_u64));
    let keep = s.section("keep", keep);
    let split = s.section("split", split);
    Some(Corpus { sources: sources?, moves, keep: keep?, split: split? })
}

fn sources(s: &mut Section, files: &Files) -> Option<Vec<Source>> {
    let pins = s.switch("sha256", BTreeMap::new(), pins);
    let months = s.look("months", &List(MONTH));
    let paths = s.peek("files", &List(TEXT));
    if s.node("months").is_some() && s.node("files").is_some() {
        s.refuse("files", &["months"], "`corpus` has both `months` and `files`", "keep one of them");
        return None;
    }
    let key = if s.node("files").is_some() { "files" } else { "months" };
    if s.node(key).is_none() {
        s.refuse(
            key,
            &[],
            "`[corpus]` has neither `months` nor `files`",
            "such as months = [\"2013-01\"], or files = [\"games.pgn.zst\"]",
        );
        return None;
    }
    if months.as_ref().is_some_and(Vec::is_empty) || paths.as_ref().is_some_and(Vec::is_empty) {
        s.refuse(key, &[], format!("`corpus.{key}` is empty"), "name at least one");
        return None;
    }
    if let Some(paths) = paths {
        return self::files(s, files, &paths);
    }
    let (months, pins) = (months?, pins?);
    if let Some(twice) = twice(&months) {
        s.refuse("months", &[], format!("`corpus.months` names `{twice}` twice"), "name each month once");
    }
    Some(months.into_iter().map(|month| Source::Month { sha256: pins.get(&month).cloned(), month }).collect())
}

fn pins(s: &mut Section) -> Option<BTreeMap<String, String>> {
    let months = s.keys();
    let mut pin = |month: String| {
        if !is_month(&month) {
            s.refuse(&month, &[], format!("`{month}` is no month"), "write it as in \"2026-07\"");
        }
        s.look(&month, &SHA256).map(|digest| (month, digest.to_ascii_lowercase()))
    };
    // Two steps, so that a problem does not keep the next month from being read.
    let pins: Vec<_> = months.into_iter().map(&mut pin).collect();
    pins.into_iter().collect()
}

/// Files enter by their content; their paths are recorded only so that the experiment can be asked again.
fn files(s: &Section, files: &Files, paths: &[String]) -> Option<Vec<Source>> {
    let list = s.node("files")?;
    let items = list.items()?;
    let (mut sources, mut whole) = (Vec::new(), Vec::new());
    for (path, item) in paths.iter().zip(&items) {
        let path = files.beside_place(path, &item.place);
        match files.source(&path) {
            Ok(source) => sources.push(source),
            Err(problem) => {
                let hint = "a path is relative to the file that names it; from --set, to where you are";
                s.report(super::problem::Problem::new(&item.place, s.name("files"), problem), Some(hint.to_owned()));
            }
        }
        whole.push(path.to_string_lossy().into_owned());
    }
    s.record("files", super::kind::Kind::toml(&List(TEXT), &whole));
    let digests: Vec<String> = sources.iter().map(|source| format!("{source:?}")).collect();
    if let Some(twice) = twice(&digests).and_then(|twice| digests.iter().position(|digest| digest == twice)) {
        s.refuse("files", &[], format!("`corpus.files` has the same file twice: `{}`", paths[twice]), "name each file once");
    }
    (sources.len() == paths.len()).then_some(sources)
}

fn split(s: &mut Section) -> Option<Split> {
    let validation = s.get("validation", &SHARE);
    let by = s.get("by", &SPLIT_BY);
    let seed = s.get("seed", &Integer::at_least(0_u64));
    Some(Split { validation: validation?, by: by?, seed: seed? })
}

fn twice(items: &[String]) -> Option<&String> {
    items.iter().enumerate().find(|(at, item)| items[..*at].contains(item)).map(|(_, item)| item)
}

fn is_month(text: &str) -> bool {
    let Some((year, month)) = text.split_once('-') else { return false };
    let digits = |text: &str, count| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    digits(year, 4) && digits(month, 2) && year >= "2013" && ("01"..="12").contains(&month)
}

fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
