//! An archive to games: the kept ones as moves in the vocabulary, the rejected ones counted by reason.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use fs_err as fs;
use serde::{Deserialize, Serialize};

use crate::corpus::config::Keep;
use crate::corpus::packed::Packed;
use crate::corpus::pgn::{Means, Measured, parse};
use crate::corpus::report::ParseReport;
use crate::data::game_table::{GameTable, GameTableWriter};
use crate::data::tokens::{Framing, TokenFile, TokenWriter};
use crate::memory;
use crate::plan::{Artifact, Cost, Cx, Handle, Stage};
use crate::progress::Progress;

use super::fetch::Archive;

#[derive(Serialize, Deserialize)]
pub struct Parse {
    pub archive: Handle<Archive>,
    pub keep: Keep,
    /// Stop at the end of the game that reaches so many moves.
    pub moves: Option<u64>,
    /// Of which source, where there are several: for people, since the key has it in `archive`.
    #[serde(skip)]
    pub source: String,
}

/// The kept games of one source, in its order.
pub struct Games {
    pub moves: TokenFile,
    pub table: GameTable,
    pub report: ParseReport,
}

impl Stage for Parse {
    const NAME: &'static str = "parse";
    // 1: moves of kept games back to back, their ends, and the account of the rest.
    // 2: and the table of kept games; a game whose `Variant` is no chess is rejected.
    const VERSION: u32 = 2;
    type Output = Games;

    fn run(&self, cx: &Cx, out: &Path) -> Result<()> {
        let archive = cx.open(self.archive)?;
        let file = Packed::open(&archive.path, &archive.name)?;
        let mut games = TokenWriter::create(&out.join("moves.u16"), &out.join("ends.u64"), Framing::Bare)?;
        let mut table = GameTableWriter::create(&out.join("games.parquet"))?;
        let means = Means::new(cx.machine.threads(), cx.machine.memory_mib << 20);
        memory::reset_peak();
        let (report, measured) = parse(&file, &self.keep, self.moves, means, cx.progress, &mut |moves, row| {
            games.push(moves)?;
            table.push(row)
        })?;
        tell(&report, &measured, cx.progress);
        games.finish()?;
        table.finish()?;
        Ok(fs::write(out.join("report.json"), serde_json::to_vec(&report)?)?)
    }

    fn cost(&self) -> Cost {
        Cost { disk_bytes: self.moves.map_or(0, |moves| 2 * moves), ..Cost::default() }
    }

    fn detail(&self) -> String {
        self.source.clone()
    }
}

/// Tells how quickly each step went: the whole by the clock, the steps by the time that all threads took together.
fn tell(report: &ParseReport, measured: &Measured, progress: Progress) {
    let Measured { wall, unpack, scan, replay, text_bytes } = *measured;
    let tell = |step: &str, amount: u64, took: Duration, unit: &str| {
        if !took.is_zero() {
            progress.measured(step, amount as f64 / took.as_secs_f64(), unit);
        }
    };
    tell("read", report.read, wall, "games/s");
    tell("read text", text_bytes, wall, "bytes/s");
    tell("unpack, a thread", text_bytes, unpack, "bytes/s");
    tell("scan, a thread", report.read, scan, "games/s");
    tell("replay, a thread", report.plies, replay, "plies/s");
    if let Some(bytes) = memory::peak_bytes() {
        progress.measured("peak memory", bytes as f64, "bytes");
    }
}

impl Artifact for Games {
    fn open(dir: &Path) -> Result<Self> {
        let path = dir.join("report.json");
        let report = serde_json::from_slice(&fs::read(&path)?).with_context(|| format!("reading `{}`", path.display()))?;
        let moves = TokenFile::open(&dir.join("moves.u16"), &dir.join("ends.u64"), Framing::Bare)?;
        Ok(Self { moves, table: GameTable::open(&dir.join("games.parquet"))?, report })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Exit, exit_of};
    use crate::export::games::games;
    use crate::stages::bench::Bench;

    #[test]
    fn kept_games_and_the_account_come_back_the_same_each_time() {
        let text = b"1. e4 e5 *\n\n1. e5 *\n\n1. d4 1-0\n";
        let made = [(); 2].map(|()| {
            let mut bench = Bench::default();
            let archive = bench.archive(text);
            let parsed = bench.make(Parse { archive, keep: Keep::default(), moves: None, source: String::new() });
            let opened = bench.open(parsed);
            let mut lines = Vec::new();
            games(&opened.moves, &mut lines).expect("written");
            assert_eq!(lines, b"e2e4 e7e5\nd2d4\n");
            assert_eq!(opened.table.games(), 2);
            assert_eq!((opened.report.read, opened.report.reasons().as_str()), (3, "invalid_san 1"));
            bench.bytes("parse", parsed)
        });
        assert_eq!(made[0], made[1]);
    }

    #[test]
    fn a_file_without_games_fails_and_names_the_file() {
        let mut bench = Bench::default();
        let archive = bench.archive(b"\x7fELF");
        let (error, _) = bench.fail(Parse { archive, keep: Keep::default(), moves: None, source: String::new() });
        assert_eq!(exit_of(&error), Exit::Failed);
        assert_eq!(error.to_string(), "`games.pgn` holds no games: it begins with the bytes `7f 45 4c 46`");
    }
}
