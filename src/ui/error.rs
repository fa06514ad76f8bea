//! The last words: what went wrong, the causes, the hint, and how to tell us when it is a bug.

#![expect(clippy::print_stderr, reason = "this is where errors are printed")]

use crate::error::Fixable;
use crate::ui::paint::Paint;

/// Prints an error that ends the program.
pub fn print(error: &anyhow::Error, paint: Paint) {
    eprintln!("{}: {error:#}", paint.red("error"));
    match error.chain().find_map(|cause| cause.downcast_ref::<Fixable>()) {
        Some(fixable) => hint(fixable.hint.as_deref(), paint),
        None => eprintln!("\nThis is nothing you did: please report it, with the command and what it printed."),
    }
}

/// Prints one next step, after a blank line.
pub fn hint(hint: Option<&str>, paint: Paint) {
    if let Some(hint) = hint {
        eprintln!("\n{}: {hint}", paint.bold("hint"));
    }
}
