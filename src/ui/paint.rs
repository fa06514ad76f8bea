//! Colour, where it is wanted. Everything reads without it.

use std::io::IsTerminal as _;

use crate::cli::Color;

/// Paints text for stderr, or leaves it alone.
#[derive(Clone, Copy)]
pub struct Paint {
    on: bool,
}

impl Paint {
    pub fn new(color: Color) -> Self {
        let on = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty()),
        };
        Self { on }
    }

    /// No colour at all, for files.
    pub fn none() -> Self {
        Self { on: false }
    }

    /// The same choice, for what goes to stdout.
    pub fn for_stdout(color: Color) -> Self {
        match color {
            Color::Auto => Self { on: Self::new(color).on && std::io::stdout().is_terminal() },
            _ => Self::new(color),
        }
    }

    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub fn red(self, text: &str) -> String {
        self.paint("31", text)
    }

    pub fn green(self, text: &str) -> String {
        self.paint("32", text)
    }

    pub fn yellow(self, text: &str) -> String {
        self.paint("33", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}
