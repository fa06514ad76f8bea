//! A UCI engine in a process of its own: started, asked with patience, and killed when dropped.
//!
//! Whatever an engine does wrong (it is missing, crashes, stalls, answers what is no answer) is a [`Fixable`] that names
//! the engine, what it was sent last and what it was seen to say.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::Fixable;

use super::uci;
pub use super::uci::{Limit, Line, Score};

pub use shakmaty::uci::UciMove;

/// Lines kept for the message of a failure, and characters of each.
const SEEN: usize = 3;
const SHOWN: usize = 200;

/// Bounds on what an engine that talks without end can make us hold: lines not yet read, and bytes of a line.
const UNREAD: usize = 1_024;
const LINE_BYTES: u64 = 1 << 16;

pub struct Engine {
    path: PathBuf,
    /// As the engine gives it in the handshake, such as `Stockfish 15.1`.
    name: String,
    options: Vec<String>,
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
    /// How long an answer may take, beyond the time a search was given.
    patience: Duration,
    sent: String,
    seen: VecDeque<String>,
}

/// The answer to a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// The engine's `bestmove`.
    pub best: UciMove,
    /// The last line told for each rank, the best first; the first begins with `best` unless the engine told none.
    pub lines: Vec<Line>,
}

impl Engine {
    /// Starts the program and waits for the end of the handshake. A bare name that is not found on the search path is
    /// looked up in `/usr/games`, where Debian keeps its engines.
    pub fn start(path: &Path, patience: Duration) -> Result<Self, Fixable> {
        let mut child = spawn(path)?;
        let stdin = child.stdin.take().expect("stdin was asked to be a pipe");
        let stdout = child.stdout.take().expect("stdout was asked to be a pipe");
        let (told, lines) = sync_channel(UNREAD);
        // The thread ends with the engine's output, at the latest when the engine is killed.
        thread::spawn(move || {
            let mut reader = BufReader::new(stdout);
            let mut bytes = Vec::new();
            while reader.by_ref().take(LINE_BYTES).read_until(b'\n', &mut bytes).is_ok_and(|count| count > 0) {
                if told.send(String::from_utf8_lossy(&bytes).trim_end().to_owned()).is_err() {
                    break;
                }
                bytes.clear();
            }
        });
        let (path, name) = (path.to_owned(), String::new());
        let (options, sent, seen) = (Vec::new(), String::new(), VecDeque::new());
        let mut engine = Self { path, name, options, child, stdin, lines, patience, sent, seen };
        engine.shake_hands()?;
        Ok(engine)
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets an option that the engine offered in the handshake.
    pub fn set(&mut self, option: &str, value: &str) -> Result<(), Fixable> {
        if !self.options.iter().any(|offered| offered.eq_ignore_ascii_case(option)) {
            let message = format!("the engine `{}` offers no option `{option}`", self.path.display());
            return Err(Fixable::failed(message).hint("choose an engine that has it, such as Stockfish"));
        }
        self.send(&format!("setoption name {option} value {value}"))
    }

    /// Forgets what earlier games left in the engine, and waits until it has.
    pub fn new_game(&mut self) -> Result<(), Fixable> {
        self.send("ucinewgame")?;
        self.send("isready")?;
        self.wait(self.patience, |line| (line == "readyok").then_some(()))
    }

    /// Searches a position, given as UCI gives it: `startpos moves e2e4` or `fen … moves …`.
    pub fn search(&mut self, position: &str, limit: Limit) -> Result<Search, Fixable> {
        self.send(&format!("position {position}"))?;
        self.send(&limit.command())?;
        let thinking = match limit {
            Limit::Nodes(_) => Duration::ZERO,
            Limit::Movetime(milliseconds) => Duration::from_millis(milliseconds),
        };
        let mut lines: Vec<Line> = Vec::new();
        let answer = self.wait(self.patience.saturating_add(thinking), |line| {
            if let Some(line) = uci::info(line) {
                match lines.iter_mut().find(|known| known.rank == line.rank) {
                    Some(known) => *known = line,
                    None => lines.push(line),
                }
            }
            line.strip_prefix("bestmove ").map(str::to_owned)
        })?;
        let word = answer.split_ascii_whitespace().next().unwrap_or_default();
        let best = word.parse().map_err(|_| self.wrong(&format!("answered with `{word}`, which is no move")))?;
        lines.sort_by_key(|line| line.rank);
        // An engine cut off in mid-iteration may settle on another move than its last first line.
        if let Some(at) = lines.iter().position(|line| line.first == best) {
            lines[..=at].rotate_right(1);
        }
        Ok(Search { best, lines })
    }

    fn shake_hands(&mut self) -> Result<(), Fixable> {
        self.send("uci")?;
        let (mut name, mut options) = (String::new(), Vec::new());
        self.wait(self.patience, |line| {
            if let Some(told) = line.strip_prefix("id name ") {
                told.clone_into(&mut name);
            } else if let Some((option, _)) = line.strip_prefix("option name ").and_then(|told| told.split_once(" type ")) {
                options.push(option.to_owned());
            }
            (line == "uciok").then_some(())
        })?;
        (self.name, self.options) = (name, options);
        Ok(())
    }

    fn send(&mut self, command: &str) -> Result<(), Fixable> {
        command.clone_into(&mut self.sent);
        // One write for the whole line, so that nothing reaches an engine in halves.
        self.stdin.write_all(format!("{command}\n").as_bytes()).map_err(|_| self.ended())
    }

    /// Reads lines until `answer` finds what it waits for.
    fn wait<T>(&mut self, patience: Duration, mut answer: impl FnMut(&str) -> Option<T>) -> Result<T, Fixable> {
        let deadline = Instant::now() + patience;
        loop {
            // An engine may also talk without end, and never let the wait for its next line run out.
            let rest = deadline.saturating_duration_since(Instant::now());
            let line = match self.lines.recv_timeout(rest) {
                Ok(line) if !rest.is_zero() => line,
                Ok(_) | Err(RecvTimeoutError::Timeout) => return Err(self.wrong(&format!("gave no answer within {patience:?}"))),
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
            };
            let found = answer(&line);
            self.remember(&line);
            if let Some(found) = found {
                return Ok(found);
            }
        }
    }

    fn remember(&mut self, line: &str) {
        if self.seen.len() == SEEN {
            self.seen.pop_front();
        }
        self.seen.push_back(line.chars().take(SHOWN).collect());
    }

    fn ended(&mut self) -> Fixable {
        // Its pipes are closed, so the process is ending: killing makes the wait short where it only closed them.
        let status = match self.child.try_wait() {
            Ok(Some(status)) => Some(status),
            _ => self.child.kill().and_then(|()| self.child.wait()).ok(),
        };
        let how = status.map_or_else(|| "ended".to_owned(), |status| format!("ended with {status}"));
        // What it had still said is the best clue to why.
        while let Ok(line) = self.lines.try_recv() {
            self.remember(&line);
        }
        self.wrong(&how)
    }

    fn wrong(&self, what: &str) -> Fixable {
        let seen = match self.seen.len() {
            0 => "nothing was seen from it".to_owned(),
            _ => format!("last seen from it: `{}`", self.seen.iter().map(String::as_str).collect::<Vec<_>>().join("` `")),
        };
        let message = format!("the engine `{}` {what} after it was sent `{}`; {seen}", self.path.display(), self.sent);
        Fixable::failed(message).hint("start it by hand, type the same, and see whether it speaks UCI")
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // Neither can fail in a way that matters here: the process may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(path: &Path) -> Result<Child, Fixable> {
    let start = |path: &Path| Command::new(path).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let bare = path.components().count() == 1;
    let started = match start(path) {
        Err(error) if bare && error.kind() == ErrorKind::NotFound => start(&Path::new("/usr/games").join(path)),
        started => started,
    };
    started.map_err(|error| {
        let place = if bare { ", on the search path or in `/usr/games`" } else { "" };
        Fixable::failed(format!("cannot start the engine `{}`{place}: {error}", path.display()))
            .hint("install it (on Debian: `apt install stockfish`), or set `stockfish` in philidor.toml to its path")
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Writes a shell script to be run as an engine. Another process writes the file, since a descriptor that is open
    /// for writing here could be inherited by a process started meanwhile, and running the script would then fail.
    pub(crate) fn script(dir: &Path, body: &str) -> PathBuf {
        let path = dir.join("engine");
        let mut shell = Command::new("sh")
            .args(["-c", "cat > \"$0\" && chmod +x \"$0\""])
            .arg(&path)
            .stdin(Stdio::piped())
            .spawn()
            .expect("a shell starts");
        let mut stdin = shell.stdin.take().expect("a pipe");
        stdin.write_all(format!("#!/bin/sh\n{body}\n").as_bytes()).expect("the shell reads");
        drop(stdin);
        assert!(shell.wait().expect("the shell ends").success());
        path
    }

    const LONG: Duration = Duration::from_secs(30);
    const SHORT: Duration = Duration::from_millis(100);
    const HANDSHAKE: &str = "read line; echo 'id name Toy 1'; echo 'option name Hash type spin default 1'; echo uciok";

    #[expect(clippy::print_stderr, reason = "says why a test did not look")]
    pub(crate) fn passed_over(why: &Fixable) {
        eprintln!("passed over: {why}");
    }

    fn failure<T>(result: Result<T, Fixable>) -> String {
        result.err().expect("the engine fails").message
    }

    #[test]
    fn a_search_gives_the_last_line_of_each_rank_with_the_best_move_first() {
        let dir = tempfile::tempdir().expect("a folder");
        let body = format!(
            "{HANDSHAKE}; read line; read line; echo info score cp 9 pv a2a3; echo info multipv 2 score cp 7 pv b2b3; \
             echo info multipv 1 score cp 5 pv c2c3; echo bestmove b2b3 ponder a7a6; read line"
        );
        let mut engine = Engine::start(&script(dir.path(), &body), LONG).expect("it starts");
        assert_eq!(engine.name(), "Toy 1");
        let search = engine.search("startpos", Limit::Nodes(1)).expect("it answers");
        let firsts: Vec<String> = search.lines.iter().map(|line| line.first.to_string()).collect();
        assert_eq!(firsts, ["b2b3", "c2c3"]);
        assert_eq!(search.best.to_string(), "b2b3");
    }

    #[test]
    fn an_engine_that_crashes_is_named_with_what_it_was_sent_and_what_it_said() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = script(dir.path(), &format!("{HANDSHAKE}; read line; read line; echo 'info string on fire'; exit 7"));
        let mut engine = Engine::start(&path, LONG).expect("it starts");
        let message = failure(engine.search("startpos", Limit::Nodes(5)));
        for part in [&*path.to_string_lossy(), "exit status: 7", "`go nodes 5`", "`info string on fire`"] {
            assert!(message.contains(part), "{part} in {message}");
        }
    }

    #[test]
    fn an_engine_that_stalls_is_given_up() {
        let dir = tempfile::tempdir().expect("a folder");
        let message = failure(Engine::start(&script(dir.path(), "read line; read forever"), SHORT));
        assert!(message.contains("gave no answer within 100ms after it was sent `uci`; nothing was seen"), "{message}");
    }

    #[test]
    fn an_engine_that_talks_without_end_is_given_up_too() {
        let dir = tempfile::tempdir().expect("a folder");
        let message = failure(Engine::start(&script(dir.path(), "while :; do echo tea; done"), SHORT));
        assert!(message.contains("gave no answer within 100ms") && message.ends_with("`tea` `tea` `tea`"), "{message}");
    }

    #[test]
    fn an_answer_that_is_no_move_is_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let body = format!("{HANDSHAKE}; read line; read line; echo bestmove castles; read line");
        let mut engine = Engine::start(&script(dir.path(), &body), LONG).expect("it starts");
        let message = failure(engine.search("startpos", Limit::Nodes(5)));
        assert!(message.contains("answered with `castles`, which is no move"), "{message}");
    }

    #[test]
    fn an_option_that_was_not_offered_and_a_program_that_is_absent_are_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut engine = Engine::start(&script(dir.path(), &format!("{HANDSHAKE}; read line")), LONG).expect("it starts");
        assert_eq!(engine.set("hash", "16"), Ok(()));
        assert!(failure(engine.set("MultiPV", "3")).contains("offers no option `MultiPV`"));
        let absent = failure(Engine::start(&dir.path().join("absent"), LONG));
        assert!(absent.contains("cannot start the engine"), "{absent}");
    }

    #[test]
    fn a_dropped_engine_is_killed() {
        let dir = tempfile::tempdir().expect("a folder");
        let engine = Engine::start(&script(dir.path(), &format!("{HANDSHAKE}; read line; read line")), LONG).expect("it starts");
        let process = PathBuf::from(format!("/proc/{}", engine.child.id()));
        drop(engine);
        assert!(!process.exists());
    }

    #[test]
    fn stockfish_searches_three_lines_the_same_way_twice() {
        let mut twice = Vec::new();
        for _ in 0..2 {
            let mut engine = match Engine::start(Path::new("stockfish"), LONG) {
                Ok(engine) => engine,
                Err(error) => return passed_over(&error),
            };
            engine.set("MultiPV", "3").expect("Stockfish has it");
            engine.new_game().expect("it gets ready");
            let search = engine.search("startpos moves e2e4", Limit::Nodes(500)).expect("it answers");
            assert_eq!(search.lines.len(), 3);
            assert_eq!(search.lines[0].first, search.best);
            twice.push(search);
        }
        assert_eq!(twice[0], twice[1]);
    }
}
