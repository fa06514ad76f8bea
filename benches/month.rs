//! Writes a made-up month of the archive:
//!
//!     cargo bench --manifest-path benches/Cargo.toml --bench month -- --games 120000 --packing frames --level 19 --out month.pgn.zst
//!
//! Without `--out` it is kept under `target/months`, and its path is printed.

#![expect(clippy::print_stdout, reason = "it answers on the command line")]

use std::path::PathBuf;

use anyhow::Result;
use archive::month::{Month, Packing};
use clap::{Parser, ValueEnum};

mod archive;

#[derive(Parser)]
struct Args {
    #[arg(long, default_value_t = 120_000)]
    games: u64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[arg(long, value_enum, default_value_t = Packed::Frames)]
    packing: Packed,
    /// Level of zstd; the archive has 19, which takes half a second for each megabyte
    #[arg(long, default_value_t = 19)]
    level: i32,
    /// The text so many times over
    #[arg(long, default_value_t = 1)]
    repeat: u32,
    #[arg(long)]
    out: Option<PathBuf>,
    /// Cargo passes it to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Packed {
    Plain,
    OneFrame,
    Frames,
}

fn main() -> Result<()> {
    let Args { games, seed, packing, level, repeat, out, .. } = Args::parse();
    let packing = match packing {
        Packed::Plain => Packing::Plain,
        Packed::OneFrame => Packing::OneFrame,
        Packed::Frames => Packing::Frames,
    };
    let kept = Month { games, seed, packing, level, repeat }.file()?;
    let path = match out {
        Some(out) => {
            std::fs::copy(&kept, &out)?;
            out
        }
        None => kept,
    };
    println!("{}", path.display());
    Ok(())
}
