//! A month as a file, kept under `target/months` by what it was made of.

use std::fmt;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::game::Maker;
use super::{moves, pack};

/// Raised by hand whenever the bytes change, so that no month of an older generator is taken for a new one.
const VERSION: u32 = 1;
const GAMES_A_PIECE: u64 = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    Plain,
    OneFrame,
    /// As `pzstd` writes it: frames of 32 MiB of text, each announced.
    Frames,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Month {
    pub(crate) games: u64,
    pub(crate) seed: u64,
    pub(crate) packing: Packing,
    /// Of zstd; 19 is what the archive has, and takes half a second for each megabyte.
    pub(crate) level: i32,
    /// The text so many times over: a large file in little time. Farther apart than zstd looks back.
    pub(crate) repeat: u32,
}

impl Month {
    /// The file, made if it is not there.
    pub(crate) fn file(&self) -> Result<PathBuf> {
        let path = folder().join(self.to_string());
        if path.exists() {
            return Ok(path);
        }
        fs::create_dir_all(folder())?;
        let part = path.with_extension(format!("part{}", std::process::id()));
        self.write(&part).with_context(|| format!("writing `{}`", part.display()))?;
        fs::rename(&part, &path)?;
        Ok(path)
    }

    fn write(&self, path: &Path) -> Result<()> {
        if self.packing == Packing::Plain && self.repeat == 1 {
            let mut out = BufWriter::new(File::create(path)?);
            text(self.seed, self.games, &mut out)?;
            return Ok(out.into_inner()?.sync_all()?);
        }
        let plain = Self { packing: Packing::Plain, repeat: 1, ..*self }.file()?;
        let mut text: Box<dyn Read + Send> = Box::new(std::io::empty());
        for _ in 0..self.repeat {
            text = Box::new(text.chain(BufReader::new(File::open(&plain)?)));
        }
        let mut out = BufWriter::new(File::create(path)?);
        match self.packing {
            Packing::Plain => {
                std::io::copy(&mut text, &mut out)?;
                out.flush()?;
            }
            Packing::OneFrame => pack::one_frame(text, out, self.level)?,
            Packing::Frames => pack::frames(text, out, self.level, pack::FRAME_TEXT_BYTES, threads())?,
        }
        Ok(())
    }
}

/// Its name as a file.
impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "month-v{VERSION}-{}-games-seed-{}", self.games, self.seed)?;
        if self.repeat > 1 {
            write!(f, "-x{}", self.repeat)?;
        }
        match self.packing {
            Packing::Plain => f.write_str(".pgn"),
            Packing::OneFrame => write!(f, ".one-frame-{}.pgn.zst", self.level),
            Packing::Frames => write!(f, ".frames-{}.pgn.zst", self.level),
        }
    }
}

/// Writes the text of a month. On any number of threads, the same bytes.
pub(crate) fn text(seed: u64, games: u64, out: &mut impl Write) -> Result<()> {
    let maker = &Maker::new(seed, committed_games()?);
    let pieces: Vec<(u64, u64)> =
        (0..games).step_by(GAMES_A_PIECE as usize).map(|from| (from, (from + GAMES_A_PIECE).min(games))).collect();
    for round in pieces.chunks(threads()) {
        let texts: Vec<String> = std::thread::scope(|scope| {
            let workers: Vec<_> = round.iter().map(|&(from, to)| scope.spawn(move || piece(maker, from, to))).collect();
            workers.into_iter().map(|worker| worker.join().expect("writing a game does not panic")).collect()
        });
        for text in texts {
            out.write_all(text.as_bytes())?;
        }
    }
    Ok(())
}

fn piece(maker: &Maker, from: u64, to: u64) -> String {
    let mut text = String::with_capacity(2_500 * GAMES_A_PIECE as usize);
    for index in from..to {
        maker.write(index, &mut text);
    }
    text
}

/// The games of the engine that come with the project.
fn committed_games() -> Result<Vec<moves::Mined>> {
    let path = project().join("experiments/mined-2026-01.pgn.zst");
    let packed = File::open(&path).with_context(|| format!("opening `{}`", path.display()))?;
    moves::mined(&String::from_utf8(zstd::decode_all(packed)?)?)
}

/// Built by the crate or by the workspace of its benches, which lies in it.
fn project() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    if here.join("experiments").is_dir() { here } else { here.parent().unwrap_or(here) }
}

fn folder() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| project().join("target"), PathBuf::from).join("months")
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
