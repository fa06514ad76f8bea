//! Squares as a Parquet file: a row of each model, layer and square. No libtorch here.

use std::path::Path;

use anyhow::{Context as _, Result};
use fs_err::File;
use polars::prelude::{DataFrame, ParquetReader, SerReader as _};

use super::super::items::{Cells, Items};

/// The name of the table.
const NAME: &str = "probe";

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

/// The table, to be written.
pub fn items(squares: &[Square]) -> Items {
    let words = |of: fn(&Square) -> &str| Cells::Text(squares.iter().map(|square| of(square).to_owned()).collect());
    let numbers = |of: fn(&Square) -> u32| Cells::Few(squares.iter().map(of).collect());
    let columns = vec![
        ("frame", words(|square| &square.frame)),
        ("model", words(|square| &square.model)),
        ("layer", words(|square| &square.layer)),
        ("chosen", Cells::Flag(squares.iter().map(|square| square.chosen).collect())),
        ("square", words(|square| &square.square)),
        ("accuracy", Cells::Number(squares.iter().map(Square::accuracy).collect())),
        ("right", numbers(|square| square.right)),
        ("n", numbers(|square| square.n)),
    ];
    Items { name: NAME, columns }
}

/// Reads the table in a folder that its [`items`] were written to.
///
/// # Errors
///
/// Where the file is missing, damaged, or another table.
pub fn read(dir: &Path) -> Result<Vec<Square>> {
    let path = &dir.join(format!("{NAME}.parquet"));
    let context = || format!("reading the squares `{}`", path.display());
    let frame = ParquetReader::new(File::open(path)?.into_file()).finish().with_context(context)?;
    of(&frame).with_context(context)
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
