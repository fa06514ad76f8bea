//! Squares as a Parquet file: a row of each model, layer and square. No libtorch here.

use std::path::Path;

use anyhow::{Context as _, Result};
use fs_err::File;
use polars::prelude::{Column, DataFrame, ParquetReader, ParquetWriter, PolarsResult, SerReader as _};

/// How often a probe told what stands on a square.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Square {
    /// `colours` or `to-move`: whose pieces are told apart.
    pub frame: String,
    /// `trained`, `random`, or `majority`, which is no model.
    pub model: String,
    /// `embedding`, `layer 1` …; empty for the majority.
    pub layer: String,
    /// Whether it is the layer of the figures without a slice.
    pub chosen: bool,
    /// `a1` to `h8`.
    pub square: String,
    /// Of `n` test positions.
    pub right: u32,
    pub n: u32,
}

impl Square {
    /// The share of test positions in which it was told rightly.
    pub fn accuracy(&self) -> f64 {
        f64::from(self.right) / f64::from(self.n.max(1))
    }
}

/// Writes the table.
pub fn write(squares: &[Square], path: &Path) -> Result<()> {
    let written = frame(squares).and_then(|mut frame| {
        // One thread: on any number of them, the same bytes.
        ParquetWriter::new(File::create(path)?).set_parallel(false).finish(&mut frame)
    });
    written.with_context(|| format!("writing the squares `{}`", path.display()))?;
    Ok(())
}

/// Reads a table that [`write()`] wrote.
///
/// # Errors
///
/// Where the file is missing, damaged, or another table.
pub fn read(path: &Path) -> Result<Vec<Square>> {
    let context = || format!("reading the squares `{}`", path.display());
    let frame = ParquetReader::new(File::open(path)?.into_file()).finish().with_context(context)?;
    of(&frame).with_context(context)
}

fn frame(squares: &[Square]) -> PolarsResult<DataFrame> {
    let words = |name: &str, of: fn(&Square) -> &str| Column::new(name.into(), squares.iter().map(of).collect::<Vec<_>>());
    let numbers = |name: &str, of: fn(&Square) -> u32| Column::new(name.into(), squares.iter().map(of).collect::<Vec<_>>());
    let columns = vec![
        words("frame", |square| &square.frame),
        words("model", |square| &square.model),
        words("layer", |square| &square.layer),
        Column::new("chosen".into(), squares.iter().map(|square| square.chosen).collect::<Vec<_>>()),
        words("square", |square| &square.square),
        Column::new("accuracy".into(), squares.iter().map(Square::accuracy).collect::<Vec<_>>()),
        numbers("right", |square| square.right),
        numbers("n", |square| square.n),
    ];
    DataFrame::new(squares.len(), columns)
}

fn of(frame: &DataFrame) -> Result<Vec<Square>> {
    const GAP: &str = "a table of squares has no gaps";
    let words = |name: &str| -> Result<Vec<String>> {
        frame.column(name)?.str()?.iter().map(|word| word.map(str::to_owned)).collect::<Option<_>>().context(GAP)
    };
    let numbers = |name: &str| -> Result<Vec<u32>> { frame.column(name)?.u32()?.iter().collect::<Option<_>>().context(GAP) };
    let chosen: Vec<bool> = frame.column("chosen")?.bool()?.iter().collect::<Option<_>>().context(GAP)?;
    let (frames, models, layers, names) = (words("frame")?, words("model")?, words("layer")?, words("square")?);
    let (right, n) = (numbers("right")?, numbers("n")?);
    let row = |at: usize| Square {
        frame: frames[at].clone(),
        model: models[at].clone(),
        layer: layers[at].clone(),
        chosen: chosen[at],
        square: names[at].clone(),
        right: right[at],
        n: n[at],
    };
    Ok((0..frame.height()).map(row).collect())
}
