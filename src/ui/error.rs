//! The last words: what went wrong, the causes, the hint, and how to tell us when it is a bug.

use crate::error::{Fixable, hint_of};
use crate::ui::paint::Paint;
use crate::ui::say::aside;

/// Prints an error that ends the program.
pub fn print(error: &anyhow::Error, paint: Paint) {
    aside(format!("{}: {error:#}", paint.red("error")));
    let known = error.chain().any(<dyn std::error::Error>::is::<Fixable>);
    match hint_of(error) {
        None if !known => aside("\nThis is nothing you did: please report it, with the command and what it printed."),
        found => hint(found.as_deref(), paint),
    }
}

/// Prints one next step, after a blank line.
pub fn hint(hint: Option<&str>, paint: Paint) {
    if let Some(hint) = hint {
        aside(format!("\n{}: {hint}", paint.bold("hint")));
    }
}
