//! What evaluations keep item by item, as far as charts are drawn of it.

use std::path::Path;

use anyhow::{Context as _, Result};
use fs_err as fs;
use polars::prelude::{ParquetReader, SerReader as _};

/// A legal move after a beginning: how the model and the training games go on.
#[derive(Clone, Debug, PartialEq)]
pub struct NextMove {
    /// `start`, or the moves before in UCI.
    pub prefix: String,
    pub uci: String,
    /// Of the model, among the legal moves.
    pub probability: f64,
    /// Training games that go on so.
    pub games: u64,
}

/// A game that the model played against itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnGame {
    /// How it ended, such as `checkmate` or `illegal_empty_square`.
    pub end: String,
    /// Up to the illegal token, where there was one.
    pub plies: u32,
    /// In UCI, as they stand in the file.
    pub moves: String,
}

impl OwnGame {
    pub fn is_clean(&self) -> bool {
        !self.end.starts_with("illegal_")
    }
}

/// Reads `openings.parquet`.
///
/// # Errors
///
/// Where the file is missing, damaged, or another table.
pub(super) fn next_moves(path: &Path) -> Result<Vec<NextMove>> {
    const GAP: &str = "a table of moves has no gaps";
    let context = || format!("reading the moves `{}`", path.display());
    let frame = ParquetReader::new(fs::File::open(path)?.into_file()).finish().with_context(context)?;
    let words = |name: &str| -> Result<Vec<String>> {
        frame.column(name)?.str()?.iter().map(|word| word.map(str::to_owned)).collect::<Option<_>>().context(GAP)
    };
    let probabilities: Vec<f64> = frame.column("model_probability")?.f64()?.iter().collect::<Option<_>>().context(GAP)?;
    let games: Vec<u64> = frame.column("corpus_games")?.u64()?.iter().collect::<Option<_>>().context(GAP)?;
    let rows = words("prefix")?.into_iter().zip(words("move")?).zip(probabilities.into_iter().zip(games));
    Ok(rows.map(|((prefix, uci), (probability, games))| NextMove { prefix, uci, probability, games }).collect())
}

/// Reads `games.txt`: a line is how a game ended, a tab, its moves, and in brackets the token that was illegal.
pub(super) fn own_games(path: &Path) -> Vec<OwnGame> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let game = |line: &str| {
        let (end, moves) = line.split_once('\t')?;
        let plies = moves.split_whitespace().take_while(|word| !word.starts_with('[')).count() as u32;
        Some(OwnGame { end: end.to_owned(), plies, moves: moves.to_owned() })
    };
    text.lines().filter_map(game).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_illegal_token_is_no_ply_of_its_game() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("games.txt");
        fs::write(&path, "checkmate\tf2f3 e7e5 g2g4 d8h4\neos_non_terminal\t\nillegal_empty_square\te2e4 [e2e4]\ntorn")
            .expect("room");
        let read: Vec<_> = own_games(&path).into_iter().map(|game| (game.plies, game.is_clean())).collect();
        assert_eq!(read, [(4, true), (0, true), (1, false)]);
        assert!(own_games(&dir.path().join("none")).is_empty());
    }
}
