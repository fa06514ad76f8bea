//! PGN text to games of tokens: the games of a file in its order, whoever read them.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::config::Keep;
use super::games::{Batch, Depth, Reader, Spent, Verdict};
use super::packed::Packed;
use super::report::ParseReport;
use super::rows::Row;
use super::seen::Seen;
use super::threads::{Asked, Piece, Shared, read};
use crate::error::Fixable;
use crate::progress::Progress;

/// No game is longer: what goes on beyond is something else.
const GAME_BYTES_MAX: usize = 16 << 20;
/// Text between two borders is looked at when so many pieces have come together.
const CARRY_PIECES: usize = 4;

/// How a file is to be read; nothing here decides what is found.
#[derive(Clone, Copy, Debug)]
pub struct Means {
    /// Threads that unpack and read; at least 1.
    pub threads: usize,
    /// What unpacking may remember, in bytes, over all threads.
    pub memory_bytes: u64,
    pub depth: Depth,
    /// Text that is unpacked at a time, in bytes: with more it falls out of the processor's cache, with less
    /// the threads meet too often.
    pub piece_bytes: usize,
}

impl Means {
    /// Reads everything, with so many threads and so much memory.
    pub fn new(threads: usize, memory_bytes: u64) -> Self {
        Self { threads, memory_bytes, depth: Depth::Replay, piece_bytes: 256 << 10 }
    }
}

/// What reading took. It differs from run to run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    pub wall: Duration,
    /// Over all threads.
    pub unpack: Duration,
    pub scan: Duration,
    pub replay: Duration,
    pub text_bytes: u64,
}

/// Reads the games of a file and hands the kept ones to `kept`, in order: their moves, and what is told of them beside.
///
/// It stops at the end of the game with which `moves` plies are reached.
///
/// # Errors
///
/// Where the file is damaged, holds no games, or none that is kept; and where the user wants to stop.
pub fn parse(
    file: &Packed,
    keep: &Keep,
    moves: Option<u64>,
    means: Means,
    progress: Progress,
    kept: &mut dyn FnMut(&[u16], &Row) -> Result<()>,
) -> Result<(ParseReport, Measured)> {
    let begun = Instant::now();
    let Means { threads, memory_bytes, depth, piece_bytes } = means;
    let asked = Asked { keep, depth, threads: threads.max(1), memory_bytes, piece_bytes };
    // Whoever wants only the beginning may have it of a file that was cut short.
    read(file, &asked, moves.is_none(), |shared| {
        let mut games = Games {
            file,
            reader: Reader::new(keep, means.depth),
            carry: Carry::default(),
            look_at: CARRY_PIECES * piece_bytes,
            seen: Seen::new(keep),
            report: ParseReport::default(),
            measured: Measured::default(),
            prose: Vec::new(),
            moves,
            told: 0,
            kept,
        };
        games.take(shared, progress)?;
        games.measured.wall = begun.elapsed();
        games.measured.unpack = shared.unpacked();
        if means.depth == Depth::Replay {
            games.any_kept()?;
        }
        Ok((games.report, games.measured))
    })
}

/// Takes the games in order.
struct Games<'a> {
    file: &'a Packed,
    /// For what lies across two frames.
    reader: Reader<'a>,
    carry: Carry,
    /// The shortest carry that is looked at before it ends.
    look_at: usize,
    /// For the rules that ask what was kept before.
    seen: Seen,
    report: ParseReport,
    measured: Measured,
    /// The beginning of the first text that is no game.
    prose: Vec<u8>,
    moves: Option<u64>,
    /// Bytes of the file at the last word of progress.
    told: u64,
    kept: &'a mut dyn FnMut(&[u16], &Row) -> Result<()>,
}

/// Text since the last border.
#[derive(Default)]
struct Carry {
    text: Vec<u8>,
    /// It is looked at again when it is so long: twice as long each time, so that the time stays linear.
    look_at: usize,
}

impl Games<'_> {
    fn take(&mut self, shared: &Shared, progress: Progress) -> Result<()> {
        while !self.reached() {
            self.tell(shared.used(), progress)?;
            match shared.take() {
                Some(Piece::Games(batch)) => {
                    self.games(&batch)?;
                    shared.recycle(batch);
                }
                Some(Piece::Text(text)) => {
                    self.carry.text.extend_from_slice(&text);
                    if self.carry.text.len() >= self.carry.look_at.max(self.look_at) {
                        self.carried(false, shared)?;
                    }
                }
                Some(Piece::Border) => self.carried(true, shared)?,
                Some(Piece::Failed(error)) => {
                    // The games before it count, for whoever wants only the beginning.
                    self.carried(false, shared)?;
                    if !self.reached() {
                        return Err(error);
                    }
                }
                None => {
                    self.carried(true, shared)?;
                    break;
                }
            }
        }
        progress.done(shared.used(), self.file.size(), "bytes");
        Ok(())
    }

    /// Whether the moves are reached.
    fn reached(&self) -> bool {
        self.moves.is_some_and(|moves| self.report.plies >= moves)
    }

    fn tell(&mut self, used: u64, progress: Progress) -> Result<()> {
        if used >= self.told + (self.file.size() / 1000).max(256 << 10) {
            self.told = used;
            progress.done(used, self.file.size(), "bytes");
        }
        if progress.should_stop() {
            let (read, name) = (self.report.read, self.file.name());
            return Err(Fixable::interrupted(format!("stopped after {read} games of `{name}`")).into());
        }
        Ok(())
    }

    /// Reads the games of the carried text; `whole` tells that it ends at a border, or with the file.
    fn carried(&mut self, whole: bool, shared: &Shared) -> Result<()> {
        let mut batch = shared.batch();
        let used = self.reader.read(&self.carry.text, whole, &mut batch);
        self.games(&batch)?;
        shared.recycle(batch);
        if whole {
            self.carry.text.clear();
        } else {
            self.carry.text.drain(..used);
            if self.carry.text.len() > GAME_BYTES_MAX {
                return Err(endless(self.file.name()).into());
            }
        }
        self.carry.look_at = (2 * self.carry.text.len()).min(GAME_BYTES_MAX + 1);
        Ok(())
    }

    /// Takes the games of a batch, up to the one that reaches the moves.
    fn games(&mut self, batch: &Batch) -> Result<()> {
        let Spent { scan, replay, text_bytes } = batch.spent;
        self.measured.scan += scan;
        self.measured.replay += replay;
        self.measured.text_bytes += text_bytes;
        if self.prose.is_empty() {
            self.prose.clone_from(&batch.prose);
        }
        let (mut start, mut rows) = (0, batch.rows.iter());
        for &verdict in &batch.verdicts {
            match verdict {
                _ if self.reached() => break,
                Verdict::NoGame => (),
                Verdict::Rejected(reason) => self.report.reject(reason),
                Verdict::Kept => {
                    let row = rows.next().expect("each kept game has its row");
                    let moves = &batch.tokens[start..start + row.facts.plies as usize];
                    start += moves.len();
                    if let Some(reason) = self.seen.rejects(&row) {
                        self.report.reject(reason);
                    } else {
                        self.report.keep(row.facts.plies, row.facts.ending);
                        (self.kept)(moves, &row)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn any_kept(&self) -> Result<()> {
        let (report, name) = (&self.report, self.file.name());
        if report.read == 0 {
            return Err(no_games(name, &self.prose).into());
        }
        if report.kept == 0 {
            return Err(Fixable::failed(format!("`{name}` holds no game to keep: {} read, {}", report.read, report.reasons()))
                .hint("widen corpus.keep, or take another source")
                .into());
        }
        Ok(())
    }
}

fn endless(name: &str) -> Fixable {
    let most = GAME_BYTES_MAX >> 20;
    Fixable::failed(format!("`{name}` holds no games: one text of more than {most} MiB was seen"))
        .hint("a PGN file was wanted, with a line of tags before each game")
}

/// Says what stands in a file without games, by the beginning of its text.
fn no_games(name: &str, first: &[u8]) -> Fixable {
    let seen = if first.is_empty() { "it is empty".to_owned() } else { format!("it begins with {}", shown(first)) };
    Fixable::failed(format!("`{name}` holds no games: {seen}"))
        .hint("a PGN file was wanted, plain or packed with zstd, gzip or bzip2")
}

/// The first line as text, or the first bytes in hexadecimal where they are none.
fn shown(first: &[u8]) -> String {
    let text = first.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    // The last character may have been cut.
    let readable = text.len() + 3 >= first.len() && !text.contains(|c: char| c.is_control() && !c.is_whitespace());
    if readable && let Some(line) = text.lines().next() {
        return format!("`{line}`");
    }
    let bytes: Vec<String> = first.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("the bytes `{}`", bytes.join(" "))
}
