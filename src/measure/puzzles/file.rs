//! The file of puzzles: the columns of the public database, and one more with the game up to each.

use std::io::Cursor;

use anyhow::{Context as _, Result};
use polars::prelude::{CsvReadOptions, SerReader as _, StringChunked};
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, Position as _};

use crate::chess::vocabulary::{parse, to_move};
use crate::error::Fixable;

const COLUMNS: [&str; 4] = ["PuzzleId", "FEN", "Moves", "Rating"];
/// The moves from the start to the `FEN`, by either name.
const PREFIX: [&str; 2] = ["Prefix", "PrefixUci"];

/// A puzzle that can be shown to a model without a board.
#[derive(Clone, Debug)]
pub(super) struct Puzzle {
    pub(super) id: String,
    pub(super) rating: u32,
    /// The whole game, up to the last move of the solution.
    pub(super) moves: Vec<u16>,
    /// Plies before the opponent's move, which the solver answers.
    pub(super) begins: usize,
    /// Whether the last move mates.
    pub(super) mate: bool,
}

impl Puzzle {
    /// The plies before each of the solver's moves.
    pub(super) fn solvers(&self) -> impl Iterator<Item = usize> + use<> {
        (self.begins + 1..self.moves.len()).step_by(2)
    }
}

/// The rows of a file.
pub(super) struct Rows {
    /// Of [`COLUMNS`], and the prefix.
    columns: [StringChunked; 5],
}

impl Rows {
    pub(super) fn read(csv: &[u8]) -> Result<Self> {
        let head = csv.split(|&byte| byte == b'\n').next().unwrap_or_default();
        if let Some(missing) = missing_column(&String::from_utf8_lossy(head)) {
            return Err(Fixable::failed(format!("the file of puzzles has no column `{missing}`"))
                .hint("give it the columns of the public database of puzzles, and `Prefix`")
                .into());
        }
        // Every column is text here: ratings and moves are read row by row, so that a bad one is counted.
        let options = CsvReadOptions::default().with_has_header(true).with_infer_schema_length(Some(0));
        let frame = options.into_reader_with_file_handle(Cursor::new(csv)).finish().context("reading the file of puzzles")?;
        let prefix = PREFIX.into_iter().find(|name| frame.column(name).is_ok()).unwrap_or(PREFIX[0]);
        let [id, fen, moves, rating] = COLUMNS;
        let column = |name: &str| -> Result<StringChunked> { Ok(frame.column(name)?.str()?.clone()) };
        Ok(Self { columns: [column(id)?, column(fen)?, column(moves)?, column(rating)?, column(prefix)?] })
    }

    pub(super) fn len(&self) -> usize {
        self.columns[0].len()
    }

    /// A puzzle, or why it cannot be used.
    pub(super) fn puzzle(&self, row: usize) -> Result<Puzzle, &'static str> {
        let [id, fen, line, rating, prefix] = self.columns.each_ref().map(|column| column.get(row).unwrap_or_default().trim());
        if prefix.is_empty() {
            return Err("no_prefix");
        }
        let rating = rating.parse().map_err(|_| "no_rating")?;
        let wanted: Fen = fen.parse().map_err(|_| "bad_fen")?;
        let wanted: Chess = wanted.into_position(CastlingMode::Standard).map_err(|_| "bad_fen")?;
        let (mut board, mut moves) = (Chess::default(), Vec::new());
        play(prefix, &mut board, &mut moves).ok_or("prefix_unplayable")?;
        // Move counters do not matter, and a pawn that cannot be taken in passing does not either.
        if board != wanted {
            return Err("prefix_leads_elsewhere");
        }
        let begins = moves.len();
        play(line, &mut board, &mut moves).ok_or("moves_unplayable")?;
        // The opponent moves first and the solver last.
        if moves.len() == begins || !(moves.len() - begins).is_multiple_of(2) {
            return Err("moves_unplayable");
        }
        Ok(Puzzle { id: id.to_owned(), rating, moves, begins, mate: board.is_checkmate() })
    }
}

/// The first column that the head of a file lacks.
pub fn missing_column(head: &str) -> Option<&'static str> {
    let names: Vec<&str> = head.trim_start_matches('\u{feff}').trim_end().split(',').map(|name| name.trim_matches('"')).collect();
    let has = |name: &str| names.contains(&name);
    let plain = COLUMNS.into_iter().find(|name| !has(name));
    plain.or_else(|| (!PREFIX.into_iter().any(has)).then_some(PREFIX[0]))
}

/// Plays a line in UCI; none where it cannot be played.
fn play(line: &str, board: &mut Chess, moves: &mut Vec<u16>) -> Option<()> {
    for text in line.split_whitespace() {
        let token = parse(text)?;
        board.play_unchecked(to_move(token, board)?);
        moves.push(token);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_without_a_column_is_told_by_its_name() {
        assert_eq!(missing_column("PuzzleId,FEN,Moves,Rating,Themes,Prefix\r"), None);
        assert_eq!(missing_column("\u{feff}\"PuzzleId\",FEN,Moves,Rating,PrefixUci"), None);
        assert_eq!(missing_column("PuzzleId,FEN,Moves,Rating,Themes"), Some("Prefix"));
        assert_eq!(missing_column("PuzzleId,Fen,Moves,Rating,Prefix"), Some("FEN"));
        assert!(Rows::read(b"PuzzleId,FEN\na,b\n").is_err());
    }
}
