//! What models are measured on.

use anyhow::{Context as _, Result};

use crate::data::tokens::TokenFile;

use super::positions::ValidationGames;

/// The games and files that metrics ask for.
pub struct Material<'a> {
    pub games: ValidationGames<'a>,
    /// The validation games with their special tokens, back to back.
    pub validation: &'a [u16],
    training: Option<&'a TokenFile>,
    puzzles: Option<&'a [u8]>,
}

impl<'a> Material<'a> {
    /// Games without their special tokens, which is what most metrics want.
    pub fn of(games: ValidationGames<'a>) -> Self {
        Self { games, validation: &[], training: None, puzzles: None }
    }

    /// Both sides of the split.
    pub fn split(validation: &'a TokenFile, training: &'a TokenFile) -> Self {
        let games = ValidationGames::of(validation);
        Self { validation: validation.tokens(), training: Some(training), ..Self::of(games) }
    }

    /// The same, and the content of a file of puzzles.
    #[must_use]
    pub fn with_puzzles(self, puzzles: &'a [u8]) -> Self {
        Self { puzzles: Some(puzzles), ..self }
    }

    /// The games that the model was trained on.
    pub(super) fn training(&self) -> Result<&'a TokenFile> {
        self.training.context("no training games are at hand")
    }

    pub(super) fn puzzles(&self) -> Result<&'a [u8]> {
        self.puzzles.context("no puzzles are at hand")
    }
}
