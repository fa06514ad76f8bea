//! Where a value was written: a place in a file, an override, an environment variable.
//!
//! Every node of a tree carries its place, so that each problem can show its line and `--origin` its file.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// A file that was read, under the name that the user knows it by.
#[derive(Debug)]
pub(super) struct Source {
    pub name: String,
    pub path: PathBuf,
    pub text: String,
    /// How many files lie over it: 0 is the experiment itself.
    pub depth: usize,
}

#[derive(Clone, Debug)]
pub(super) enum Place {
    /// Bytes of a file.
    File { source: Arc<Source>, span: Range<usize> },
    /// An override, as it was typed: `train.seed=2`.
    Set(String),
    /// An environment variable, by name.
    Environment(String),
    /// A file that could not be read, or a whole one.
    Whole(String),
}

impl Place {
    /// The line, from 1; 0 where there is none.
    pub(super) fn line(&self) -> usize {
        match self {
            Self::File { source, span } => source.text.bytes().take(span.start).filter(|&byte| byte == b'\n').count() + 1,
            _ => 0,
        }
    }

    /// How near it is to the user's hand: overrides first, then the experiment, then what it extends.
    pub(super) fn rank(&self) -> usize {
        match self {
            Self::File { source, .. } => source.depth + 1,
            Self::Set(_) | Self::Environment(_) | Self::Whole(_) => 0,
        }
    }

    /// The line of the file and a caret under what is meant.
    pub(super) fn excerpt(&self) -> Option<String> {
        let Self::File { source, span } = self else { return None };
        let above = source.text.get(..span.start)?;
        let start = above.rfind('\n').map_or(0, |newline| newline + 1);
        let line = source.text[start..].lines().next().unwrap_or_default();
        let marked = source.text.get(span.clone()).and_then(|text| text.lines().next()).unwrap_or_default();
        let before = above[start..].chars().count();
        let carets = marked.chars().count().max(1);
        Some(format!("    {}\n    {}{}", line.replace('\t', " "), " ".repeat(before), "^".repeat(carets)))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { source, .. } => write!(f, "{}:{}", source.name, self.line()),
            Self::Set(text) => write!(f, "--set {text}"),
            Self::Environment(name) | Self::Whole(name) => f.write_str(name),
        }
    }
}
