//! What came out item by item, beside the values: a Parquet file of its own.

use std::path::Path;

use anyhow::{Context as _, Result};
use fs_err::File;
use polars::prelude::{Column, DataFrame, ParquetWriter};

/// A table of items, by columns of equal length.
#[derive(Clone, Debug, PartialEq)]
pub struct Items {
    /// Of the file, without its ending.
    pub name: &'static str,
    pub columns: Vec<(&'static str, Cells)>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    Text(Vec<String>),
    Count(Vec<u64>),
    /// Counts that are known to be small.
    Few(Vec<u32>),
    Number(Vec<f64>),
    Flag(Vec<bool>),
}

impl Items {
    /// Writes the file into a folder; the same items make the same bytes.
    pub fn write(&self, dir: &Path) -> Result<()> {
        let path = dir.join(format!("{}.parquet", self.name));
        let column = |(name, cells): &(&str, Cells)| match cells {
            Cells::Text(cells) => Column::new((*name).into(), cells),
            Cells::Count(cells) => Column::new((*name).into(), cells),
            Cells::Few(cells) => Column::new((*name).into(), cells),
            Cells::Number(cells) => Column::new((*name).into(), cells),
            Cells::Flag(cells) => Column::new((*name).into(), cells),
        };
        let rows = self.columns.first().map_or(0, |(_, cells)| cells.len());
        let frame = DataFrame::new(rows, self.columns.iter().map(column).collect());
        let written = frame.and_then(|mut frame| {
            // One thread: on any number of them, the same bytes.
            ParquetWriter::new(File::create(&path)?).set_parallel(false).finish(&mut frame)
        });
        written.with_context(|| format!("writing the items `{}`", path.display()))?;
        Ok(())
    }
}

impl Cells {
    fn len(&self) -> usize {
        match self {
            Self::Text(cells) => cells.len(),
            Self::Count(cells) => cells.len(),
            Self::Few(cells) => cells.len(),
            Self::Number(cells) => cells.len(),
            Self::Flag(cells) => cells.len(),
        }
    }
}
