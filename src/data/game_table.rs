//! The table of kept games: what is told of each beside its moves, in the order of the tokens, as a Parquet file.
//!
//! It is written group by group, so that memory does not grow with the games, and read column by column. It holds no
//! names: figures are sliced by ratings, time and results, never by persons, and whoever needs one finds the game by
//! its id.

use std::borrow::Cow;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use fs_err::File;
use polars::io::parquet::write::BatchedWriter;
use polars::prelude::{Column, DataFrame, ParquetReader, ParquetWriter, PolarsResult, SerReader as _};

use crate::chess::replay::Ending;
use crate::corpus::clock::Speed;
use crate::corpus::rows::{Facts, Row, RowBatch};
use crate::error::Fixable;

/// Games that are written at once. With four times as many, memory at the peak was 14 MB higher.
const GROUP_ROWS: usize = 1 << 16;

/// Writes the table, game by game.
pub struct GameTableWriter {
    pending: RowBatch,
    group_rows: usize,
    parquet: BatchedWriter<BufWriter<File>>,
    path: PathBuf,
}

impl GameTableWriter {
    pub fn create(path: &Path) -> Result<Self> {
        Self::with_groups(path, GROUP_ROWS)
    }

    fn with_groups(path: &Path, group_rows: usize) -> Result<Self> {
        let file = BufWriter::with_capacity(1 << 18, File::create(path)?);
        let begin = || {
            let no_games = columns(&RowBatch::default())?;
            // One thread: a group is a few milliseconds, and the others have games to read.
            ParquetWriter::new(file).set_parallel(false).batched(no_games.schema())
        };
        let parquet = begin().with_context(|| format!("beginning the table `{}`", path.display()))?;
        Ok(Self { pending: RowBatch::default(), group_rows, parquet, path: path.to_owned() })
    }

    /// Appends a game.
    pub fn push(&mut self, row: &Row) -> Result<()> {
        self.pending.append(row);
        if self.pending.len() == self.group_rows { self.write() } else { Ok(()) }
    }

    /// Writes what is left; without it the file is no table.
    pub fn finish(mut self) -> Result<()> {
        self.write()?;
        self.parquet.finish().with_context(|| format!("ending the table `{}`", self.path.display()))?;
        Ok(())
    }

    fn write(&mut self) -> Result<()> {
        let written = columns(&self.pending).and_then(|columns| self.parquet.write_batch(&columns));
        self.pending.clear();
        written.with_context(|| format!("writing the table `{}`", self.path.display()))
    }
}

/// A table of games in a file.
pub struct GameTable {
    path: PathBuf,
    games: usize,
}

impl GameTable {
    /// Looks at the file's end, which tells columns and games.
    ///
    /// # Errors
    ///
    /// Where the file is missing, damaged, or another table.
    pub fn open(path: &Path) -> Result<Self> {
        let mut reader = reader(path)?;
        let context = || format!("opening the table `{}`", path.display());
        let games = reader.num_rows().with_context(context)?;
        let seen: Vec<String> = reader.schema().with_context(context)?.iter_names().map(ToString::to_string).collect();
        let no_games = columns(&RowBatch::default()).with_context(context)?;
        let wanted: Vec<String> = no_games.schema().iter_names().map(ToString::to_string).collect();
        if seen != wanted {
            let (seen, wanted) = (seen.join(", "), wanted.join(", "));
            return Err(Fixable::failed(format!("`{}` is no table of games: it has the columns {seen}", path.display()))
                .hint(format!("make it again, with --force and the name of its stage; wanted are {wanted}"))
                .into());
        }
        Ok(Self { path: path.to_owned(), games })
    }

    pub fn games(&self) -> usize {
        self.games
    }

    /// The named columns of all games, in the order of the games.
    ///
    /// # Errors
    ///
    /// Where there is no such column, or the file is damaged.
    pub fn read(&self, columns: &[&str]) -> Result<DataFrame> {
        let names = columns.iter().map(|&name| name.to_owned()).collect();
        let read = reader(&self.path)?.with_columns(Some(names)).finish();
        let context = || format!("reading `{}` of the table `{}`", columns.join("`, `"), self.path.display());
        // A file keeps its own order.
        read.and_then(|read| read.select(columns)).with_context(context)
    }
}

/// How strong the players of a game were, and how much time they had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strength {
    /// White's and Black's.
    pub elo: [Option<u32>; 2],
    pub speed: Option<Speed>,
}

impl GameTable {
    /// The strength of some games, by their numbers in the table.
    ///
    /// # Errors
    ///
    /// Where the file is damaged, or has no such game.
    pub fn strengths(&self, games: &[usize]) -> Result<Vec<Strength>> {
        let frame = self.read(&["white_elo", "black_elo", "speed"])?;
        let [white, black] = ["white_elo", "black_elo"].map(|name| frame.column(name).and_then(|column| column.u32()));
        let (white, black, speed) = (white?, black?, frame.column("speed")?.str()?);
        let strength = |&game: &usize| {
            ensure!(game < self.games, "the table `{}` has no game {game}, but {}", self.path.display(), self.games);
            let speed = Speed::ALL.into_iter().find(|known| speed.get(game) == Some(known.name()));
            Ok(Strength { elo: [white.get(game), black.get(game)], speed })
        };
        games.iter().map(strength).collect()
    }
}

fn reader(path: &Path) -> Result<ParquetReader<std::fs::File>> {
    Ok(ParquetReader::new(File::open(path)?.into_file()))
}

/// Games as columns: null where a game does not tell. Times are in seconds, rounded from thousandths.
fn columns(games: &RowBatch) -> PolarsResult<DataFrame> {
    let facts = || games.iter().map(|row| row.facts);
    let number = |name: &str, of: fn(Facts) -> Option<u32>| Column::new(name.into(), facts().map(of).collect::<Vec<_>>());
    let word = |name: &str, of: fn(Facts) -> &'static str| Column::new(name.into(), facts().map(of).collect::<Vec<_>>());
    let text = |name: &str, of: for<'a> fn(Row<'a>) -> Option<&'a [u8]>| {
        let text: Vec<Option<Cow<str>>> = games.iter().map(|row| of(row).map(String::from_utf8_lossy)).collect();
        Column::new(name.into(), text)
    };
    let dates: Vec<Option<String>> = facts().map(|facts| facts.date.map(|date| date.to_string())).collect();
    let columns = vec![
        number("white_elo", |facts| facts.white_elo),
        number("black_elo", |facts| facts.black_elo),
        word("speed", |facts| facts.speed.map_or("unknown", Speed::name)),
        number("base_seconds", |facts| Some(seconds(facts.time_control?.base_ms))),
        number("increment_seconds", |facts| Some(seconds(facts.time_control?.increment_ms))),
        word("result", |facts| facts.result),
        text("termination", |row| row.termination),
        // As text, which sorts as dates do: Polars' own dates would bring its library of time zones and calendars along.
        Column::new("date".into(), dates),
        number("plies", |facts| Some(facts.plies)),
        word("ended_by_rules", |facts| facts.ending.map_or("none", ending)),
        text("game_id", |row| row.game_id),
    ];
    DataFrame::new(games.len(), columns)
}

fn seconds(thousandths: u32) -> u32 {
    thousandths / 1000 + u32::from(thousandths % 1000 >= 500)
}

fn ending(ending: Ending) -> &'static str {
    match ending {
        Ending::Checkmate => "checkmate",
        Ending::Stalemate => "stalemate",
        Ending::InsufficientMaterial => "insufficient_material",
        Ending::FivefoldRepetition => "fivefold_repetition",
        Ending::SeventyFiveMoves => "seventy_five_moves",
    }
}

#[cfg(test)]
mod tests {
    use polars::prelude::PlSmallStr;

    use super::*;
    use crate::corpus::clock::TimeControl;
    use crate::corpus::date::Date;

    const IDS: [&[u8]; 3] = [b"cWWlPBrs", b"b", b"\xff!"];

    /// Games of which the first tells everything and the second nothing.
    fn games(count: usize) -> RowBatch {
        let full = Facts {
            white_elo: Some(1500),
            black_elo: Some(2600),
            speed: Some(Speed::Blitz),
            time_control: Some(TimeControl { base_ms: 180_500, increment_ms: 2_499 }),
            result: "1/2-1/2",
            date: Date::of_iso("2013-01-31"),
            plies: 70_000,
            ending: Some(Ending::Stalemate),
            players: [Some(1), Some(2)],
        };
        let bare = Facts {
            white_elo: None,
            black_elo: None,
            speed: None,
            time_control: None,
            result: "*",
            date: None,
            plies: 0,
            ending: None,
            players: [None; 2],
        };
        let mut batch = RowBatch::default();
        for game in 0..count {
            batch.append(&match game % 2 {
                0 => Row { facts: full, termination: Some(b"Normal"), game_id: Some(IDS[game % 3]) },
                _ => Row { facts: bare, termination: None, game_id: None },
            });
        }
        batch
    }

    fn written(games: &RowBatch, group_rows: usize) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("games.parquet");
        let mut writer = GameTableWriter::with_groups(&path, group_rows).expect("a table");
        games.iter().for_each(|row| writer.push(&row).expect("written"));
        writer.finish().expect("a table");
        (dir, path)
    }

    #[test]
    fn every_game_comes_back_in_order_from_one_group_or_several() {
        for (count, groups) in [(0, 4), (1, 4), (4, 4), (11, 4), (11, 64)] {
            let games = games(count);
            let (_dir, path) = written(&games, groups);
            let table = GameTable::open(&path).expect("a table");
            assert_eq!(table.games(), count);
            let wanted = columns(&games).expect("columns");
            let names: Vec<&str> = wanted.get_column_names().into_iter().map(PlSmallStr::as_str).collect();
            assert!(table.read(&names).expect("columns").equals_missing(&wanted), "{count} games in groups of {groups}");
            let two = table.read(&["plies", "date"]).expect("two columns");
            assert!(two.equals_missing(&wanted.select(["plies", "date"]).expect("two columns")));
        }
    }

    #[test]
    fn a_table_reads_as_it_says() {
        let (_dir, path) = written(&games(3), 64);
        let no_games = columns(&RowBatch::default()).expect("columns");
        let names: Vec<&str> = no_games.get_column_names().into_iter().map(PlSmallStr::as_str).collect();
        let read = GameTable::open(&path).expect("a table").read(&names).expect("columns");
        let cells = read.columns().iter().map(|column| {
            let cell = |row| column.get(row).expect("a cell").to_string();
            format!("{} {}: {}, {}, {}", column.name(), column.dtype(), cell(0), cell(1), cell(2))
        });
        insta::assert_snapshot!(cells.collect::<Vec<_>>().join("\n"), @r#"
        white_elo u32: 1500, null, 1500
        black_elo u32: 2600, null, 2600
        speed str: "blitz", "unknown", "blitz"
        base_seconds u32: 181, null, 181
        increment_seconds u32: 2, null, 2
        result str: "1/2-1/2", "*", "1/2-1/2"
        termination str: "Normal", null, "Normal"
        date str: "2013-01-31", null, "2013-01-31"
        plies u32: 70000, 0, 70000
        ended_by_rules str: "stalemate", "none", "stalemate"
        game_id str: "cWWlPBrs", null, "�!"
        "#);
    }

    #[test]
    fn the_strength_of_some_games_is_told_in_the_order_asked_for() {
        let (_dir, path) = written(&games(7), 4);
        let table = GameTable::open(&path).expect("a table");
        let full = Strength { elo: [Some(1500), Some(2600)], speed: Some(Speed::Blitz) };
        let bare = Strength { elo: [None; 2], speed: None };
        assert_eq!(table.strengths(&[6, 1, 0]).expect("they are there"), [full, bare, full]);
        let error = table.strengths(&[7]).expect_err("one too many").to_string();
        assert!(error.ends_with("has no game 7, but 7"), "{error}");
    }

    #[test]
    fn equal_games_are_equal_bytes() {
        let games = games(1000);
        let bytes = [(); 2].map(|()| std::fs::read(written(&games, 256).1).expect("a file"));
        assert!(bytes[0] == bytes[1]);
    }

    #[test]
    fn another_file_is_refused_and_so_is_an_unknown_column() {
        let (dir, path) = written(&games(3), 64);
        let table = GameTable::open(&path).expect("a table");
        assert!(table.read(&["elo"]).is_err());
        let cut = std::fs::read(&path).expect("a file");
        std::fs::write(&path, &cut[..cut.len() - 1]).expect("written");
        assert!(GameTable::open(&path).is_err());
        let other = dir.path().join("other.parquet");
        let mut frame = polars::df!("plies" => [1_u32]).expect("a frame");
        ParquetWriter::new(std::fs::File::create(&other).expect("a file")).finish(&mut frame).expect("written");
        let error = GameTable::open(&other).err().expect("refused").to_string();
        assert!(error.ends_with("is no table of games: it has the columns plies"), "{error}");
    }
}
