//! Mines a month: plays its games with an engine and writes them as the public archive packs its months.
//!
//! Each game has its own random stream and a freshly cleared engine, and games are written in order: the same settings
//! and engine give the same bytes, whatever the number of threads. The file appears whole or not at all.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde::Serialize;

use super::engine::Engine;
use super::entry::{Entries, Entry};
use super::frames::Packer;
use super::pgn;
use super::play::{End, Played, play};
use crate::error::Fixable;
use crate::progress::Progress;
use crate::random::stream;

pub use super::config::MineConfig;

/// How long an engine may take for one answer of a few thousand nodes, on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// What was mined. Games are counted as the tags of the file tell them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MineReport {
    pub games: u64,
    pub plies: u64,
    /// Bytes of the text, and of the file.
    pub text_bytes: u64,
    pub file_bytes: u64,
    /// Games by speed and by the `Termination` tag.
    pub speeds: BTreeMap<String, u64>,
    pub terminations: BTreeMap<String, u64>,
    /// Games by how they ended: by rule, resigned, draw agreed, flagged, abandoned.
    pub ends: BTreeMap<String, u64>,
    /// Games by the mean rating of their players, rounded down to 200.
    pub ratings: BTreeMap<u32, u64>,
}

/// Plays the games of `config` with `engine` on so many threads, each with an engine of its own, and writes `out`.
///
/// # Errors
///
/// Settings that cannot be mined, an engine that is another than the settings name or that fails, a file that cannot be
/// written, and the wish to stop. None of them leaves a file.
pub fn mine(config: &MineConfig, engine: &Path, threads: usize, out: &Path, progress: &Progress) -> Result<MineReport> {
    config.check()?;
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let part = tempfile::Builder::new()
        .prefix(".mine-")
        .suffix(".part")
        .permissions(std::fs::Permissions::from_mode(0o644))
        .tempfile_in(folder)
        .with_context(|| format!("cannot write into `{}`", folder.display()))?;
    let entries = Entries::new(config);
    let mut report = MineReport::default();
    let mut packer = Packer::new(BufWriter::new(&part), config.frames);

    let (next, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    thread::scope(|scope| -> Result<()> {
        let threads = threads.clamp(1, config.games.clamp(1, 1_024) as usize);
        let (send, receive) = sync_channel(2 * threads);
        for _ in 0..threads {
            let (send, entries, next, stop) = (send.clone(), &entries, &next, &stop);
            scope.spawn(move || {
                let mined = work(config, entries, engine, next, stop, &mut |game| send.send(Ok(game)).is_ok());
                if let Err(error) = mined {
                    // Where nobody listens any more, another error was told first.
                    let _ = send.send(Err(error));
                }
            });
        }
        drop(send);
        // Leaving early drops `receive`, which ends the workers at their next game.
        let mut early = BTreeMap::new();
        while let Ok(game) = receive.recv() {
            let game = game?;
            early.insert(game.index, game);
            while let Some(game) = early.remove(&report.games) {
                packer.push(game.text.as_bytes()).with_context(|| format!("cannot write `{}`", out.display()))?;
                report.count(&game);
                if report.games % 16 == 0 || report.games == config.games {
                    progress.done(report.games, config.games, "games");
                }
            }
            if progress.should_stop() {
                stop.store(true, Ordering::Relaxed);
                let message = format!("mining stopped after {} of {} games, and nothing was kept", report.games, config.games);
                return Err(Fixable::interrupted(message).hint("start it again: a month is mined in one go").into());
            }
        }
        Ok(())
    })?;

    let (mut writer, bytes) = packer.finish().with_context(|| format!("cannot write `{}`", out.display()))?;
    report.file_bytes = bytes;
    writer.flush().with_context(|| format!("cannot write `{}`", out.display()))?;
    drop(writer);
    part.as_file().sync_all().with_context(|| format!("cannot write `{}`", out.display()))?;
    part.persist(out).with_context(|| format!("cannot write `{}`", out.display()))?;
    Ok(report)
}

struct Mined {
    index: u64,
    text: String,
    entry: Entry,
    played: Played,
}

/// Plays games until none is left or nobody wants them.
fn work(
    config: &MineConfig,
    entries: &Entries,
    engine: &Path,
    next: &AtomicU64,
    stop: &AtomicBool,
    give: &mut dyn FnMut(Mined) -> bool,
) -> Result<(), Fixable> {
    let mut engine = start(config, engine)?;
    while !stop.load(Ordering::Relaxed) {
        let index = next.fetch_add(1, Ordering::Relaxed);
        if index >= config.games {
            break;
        }
        let mut rng = stream(config.seed, "game", index);
        let entry = entries.entry(index, &mut rng);
        let played = play(config, &entry, &mut engine, &mut rng)?;
        let text = pgn::write(&entry, &played);
        if !give(Mined { index, text, entry, played }) {
            break;
        }
    }
    Ok(())
}

fn start(config: &MineConfig, path: &Path) -> Result<Engine, Fixable> {
    let mut engine = Engine::start(path, PATIENCE)?;
    if engine.name() != config.engine {
        let (path, seen, wanted) = (path.display(), engine.name(), &config.engine);
        return Err(Fixable::failed(format!("the engine `{path}` is `{seen}`, and the month asks for `{wanted}`"))
            .hint("install that version, or set `engine` in the file: other games will come of it"));
    }
    let lines = config.levels.iter().map(|level| level.weights.len()).max().unwrap_or(1);
    engine.set("Threads", "1")?;
    engine.set("Hash", &config.hash_mib.to_string())?;
    engine.set("MultiPV", &lines.to_string())?;
    Ok(engine)
}

impl MineReport {
    fn count(&mut self, game: &Mined) {
        let Mined { text, entry, played, .. } = game;
        let end = match played.end {
            End::ByRule(_) => "by rule",
            End::Resigned(_) => "resigned",
            End::DrawAgreed => "draw agreed",
            End::Flagged(_) => "flagged",
            End::Abandoned(_) => "abandoned",
        };
        self.games += 1;
        self.plies += played.plies.len() as u64;
        self.text_bytes += text.len() as u64;
        *self.speeds.entry(entry.control.speed().to_string()).or_default() += 1;
        *self.terminations.entry(played.end.termination().to_owned()).or_default() += 1;
        *self.ends.entry(end.to_owned()).or_default() += 1;
        *self.ratings.entry(u32::midpoint(entry.players.white.rating, entry.players.black.rating) / 200 * 200).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::arena::config::tests::small;
    use crate::arena::engine::tests::{passed_over, script};
    use crate::error::{Exit, exit_of};
    use crate::progress::{Progress, silent};

    /// An engine that answers with two pawn moves of the next file for 16 plies, all of which can be played whatever
    /// was chosen before, and then moves the rooks to and fro; from a set-up position it moves knights.
    const TOY: &str = r#"
while read -r command rest; do
  case "$command" in
    uci) echo id name Toy 1
      for option in Threads Hash MultiPV; do echo option name $option type spin default 1 min 1 max 9; done
      echo uciok ;;
    isready) echo readyok ;;
    position) set -- ${rest#*moves}; plies=$#
      case $rest in fen*) start=odds;; *) start=usual;; esac ;;
    go)
      side=$((plies % 2)); file=$(echo a b c d e f g h | cut -d ' ' -f $((plies / 2 % 8 + 1)))
      if [ $start = odds ]; then
        case $((plies % 4)) in 0) one=g1f3;; 1) one=g8f6;; 2) one=f3g1;; 3) one=f6g8;; esac
        echo info depth 1 multipv 1 score cp 0 nodes 1 pv $one
      elif [ $plies -lt 16 ]; then
        if [ $side = 0 ]; then one=${file}2${file}3 two=${file}2${file}4; else one=${file}7${file}6 two=${file}7${file}5; fi
        echo info depth 1 multipv 1 score cp 10 nodes 1 pv $one
        echo info depth 1 multipv 2 score cp 5 nodes 1 pv $two
      else
        case $((plies % 4)) in 0) one=a1a2;; 1) one=a8a7;; 2) one=a2a1;; 3) one=a7a8;; esac
        echo info depth 1 multipv 1 score cp 0 nodes 1 pv $one
      fi
      echo bestmove $one ;;
    quit) exit ;;
  esac
done"#;

    fn mined(config: &MineConfig, engine: &Path, threads: usize) -> (MineReport, Vec<u8>) {
        let dir = tempfile::tempdir().expect("a folder");
        let out = dir.path().join("month.pgn.zst");
        let report = mine(config, engine, threads, &out, &silent()).expect("it is mined");
        let bytes = fs_err::read(&out).expect("the file is there");
        assert_eq!(fs_err::read_dir(dir.path()).expect("a folder").count(), 1, "nothing else is left");
        (report, bytes)
    }

    #[test]
    fn the_same_settings_give_the_same_bytes_whatever_the_number_of_threads() {
        let dir = tempfile::tempdir().expect("a folder");
        let engine = script(dir.path(), TOY);
        let (report, bytes) = mined(&small(), &engine, 1);
        assert_eq!((report.clone(), bytes.clone()), mined(&small(), &engine, 3));
        assert_eq!((report.games, report.file_bytes), (12, bytes.len() as u64));
        assert_ne!(bytes, mined(&MineConfig { seed: 8, ..small() }, &engine, 1).1);
        let text = String::from_utf8(zstd::decode_all(&bytes[..]).expect("whole frames")).expect("text");
        assert_eq!(text.len() as u64, report.text_bytes);
        assert_eq!(text.matches("[Event ").count(), 12);
        for part in ["Casual", "[FEN ", "Elo \"?\"", "\"Abandoned\"", "%eval", "%clk"] {
            assert!(text.contains(part), "no {part} in {text}");
        }
    }

    fn failure(config: &MineConfig, engine: &Path, progress: &Progress) -> (anyhow::Error, Vec<PathBuf>) {
        let dir = tempfile::tempdir().expect("a folder");
        let error = mine(config, engine, 2, &dir.path().join("month.pgn.zst"), progress).expect_err("it fails");
        let left = fs_err::read_dir(dir.path()).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
        (error, left)
    }

    #[test]
    fn a_failed_or_stopped_month_leaves_no_file() {
        let dir = tempfile::tempdir().expect("a folder");
        let engine = script(dir.path(), TOY);
        let other = MineConfig { engine: "Toy 2".to_owned(), ..small() };
        let (error, left) = failure(&other, &engine, &silent());
        assert!(error.to_string().contains("is `Toy 1`, and the month asks for `Toy 2`"), "{error}");
        assert!(left.is_empty());
        let stop = AtomicBool::new(true);
        let (error, left) = failure(&small(), &engine, &Progress::new(&|_| (), &stop));
        assert_eq!(exit_of(&error), Exit::Interrupted);
        assert!(left.is_empty());
    }

    #[test]
    fn an_engine_that_plays_an_impossible_move_is_named_with_the_position() {
        let dir = tempfile::tempdir().expect("a folder");
        let engine = script(dir.path(), &TOY.replace("echo bestmove $one", "echo bestmove e2e5"));
        let (error, left) = failure(&small(), &engine, &silent());
        assert!(error.to_string().contains("answered `e2e5` in `startpos moves`"), "{error}");
        assert!(left.is_empty());
    }

    #[test]
    fn stockfish_mines_the_same_bytes_twice() {
        let engine = Path::new("stockfish");
        let mut config = small();
        match Engine::start(engine, PATIENCE) {
            Ok(stockfish) => stockfish.name().clone_into(&mut config.engine),
            Err(error) => return passed_over(&error),
        }
        assert_eq!(mined(&config, engine, 1).1, mined(&config, engine, 2).1);
    }
}
