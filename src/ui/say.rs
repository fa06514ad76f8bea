//! Lines to stdout and stderr, which another program may have closed: no print of ours ever panics.

use std::fmt::Display;
use std::io::Write as _;

use anyhow::{Context as _, Result};

/// One line to stdout, which is what was asked for: its loss is an error.
pub fn answer(text: impl Display) -> Result<()> {
    writeln!(std::io::stdout().lock(), "{text}").context("writing to stdout")
}

/// One line to stderr. Work must not end because nobody listens to how it goes, so a failure is passed over.
pub fn aside(text: impl Display) {
    writeln!(std::io::stderr().lock(), "{text}").ok();
}
