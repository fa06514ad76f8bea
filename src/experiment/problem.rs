//! What is wrong with what was asked: all of it at once, each with its line and one next step.

use std::fmt;

use crate::error::Fixable;

use super::source::Place;

/// One mistake, at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Such as `experiments/run1.toml:12`, `--set train.seed=x` or `PHILIDOR_THREADS`.
    pub place: String,
    /// The key concerned, as `--set` would name it.
    pub key: String,
    pub message: String,
    pub hint: Option<String>,
    /// The line of the file with a caret under what is meant.
    pub excerpt: Option<String>,
    order: (String, usize),
}

impl Problem {
    pub(super) fn new(place: &Place, key: impl Into<String>, message: impl Into<String>) -> Self {
        let shown = place.to_string();
        let file = shown.rsplit_once(':').map_or(shown.as_str(), |(file, _)| file).to_owned();
        Self {
            order: (file, place.line()),
            place: shown,
            key: key.into(),
            message: message.into(),
            hint: None,
            excerpt: place.excerpt(),
        }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// All problems of all files that were read, by file and line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// Sorts by file and line, and drops what several points of a sweep have in common.
    pub(super) fn new(mut problems: Vec<Problem>) -> Self {
        problems.sort_by(|a, b| a.order.cmp(&b.order));
        let mut each: Vec<Problem> = Vec::new();
        for problem in problems {
            if !each.contains(&problem) {
                each.push(problem);
            }
        }
        Self(each)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.0.iter()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Problem { place, message, hint, excerpt, .. } in &self.0 {
            writeln!(f, "{place}: {message}")?;
            if let Some(excerpt) = excerpt {
                writeln!(f, "{excerpt}")?;
            }
            if let Some(hint) = hint {
                writeln!(f, "  hint: {hint}")?;
            }
            writeln!(f)?;
        }
        match self.0.len() {
            1 => f.write_str("1 problem"),
            several => write!(f, "{several} problems"),
        }
    }
}

impl From<Problems> for Fixable {
    fn from(problems: Problems) -> Self {
        Self::usage(problems.to_string())
    }
}

// `Problems` is deliberately no `std::error::Error`: as an error it is a `Fixable`, which carries exit code 2.
impl From<Problems> for anyhow::Error {
    fn from(problems: Problems) -> Self {
        Fixable::from(problems).into()
    }
}

/// The known name that was probably meant.
pub(super) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (name.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|known| (strsim::damerau_levenshtein(name, known), known))
        .filter(|&(distance, _)| distance <= allowed)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, known)| known)
}

/// `` `a`, `b` or `c` ``.
pub(super) fn one_of<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => "nothing".to_owned(),
    }
}
