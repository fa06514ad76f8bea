//! A laboratory: a folder with a small corpus and experiment of its own, and the programs run in it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use philidor::random;
use shakmaty::san::SanPlus;
use shakmaty::{Chess, Position};
use tempfile::TempDir;

pub(crate) struct Lab {
    dir: TempDir,
}

/// What a command printed, and how it ended.
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A question that a fraction of a second answers: everything real, and small.
pub(crate) const TINY: &str = r#"# Does a very small model learn anything from a few random games?
name = "tiny"

[corpus]
files = ["games.pgn"]
[corpus.keep]
exclude_speeds = ["UltraBullet", "Bullet"]
elo = [1000, 2600]
terminations = ["Normal"]
plies = [4, 300]
[corpus.split]
validation = 0.2
by = "draw"
seed = 1

[model]
layers = 2
heads = 2
width = 32
hidden = 64
context = 32

[train]
steps = 40
batch = 4
accumulate = 1
sampler = "windows"
packing = "stream"
learning_rate = { schedule = "cosine", peak = 3e-3, floor = 3e-4, warmup = 4 }
weight_decay = 0.1
betas = [0.9, 0.95]
clip = 1.0
precision = "f32"
seed = 7
validate = { every = 10, batches = 2 }
snapshots = { every = 20 }

[gates]
replay = { games = 10 }
initial_loss = { within = 0.3 }

[measure]
seed = 3
[measure.snapshots]
legality = { positions = 40, temperature = 1.0 }
[measure.final]
checkpoint = "best"
legality = { positions = 60, temperature = 1.0 }
agreement = { positions = 60 }
rules = { positions = 5 }
full_games = { games = 4, temperatures = [1.0] }
"#;

impl Lab {
    /// With `games.pgn`, 60 random games, and `tiny.toml`.
    pub(crate) fn new() -> Self {
        let lab = Self { dir: tempfile::tempdir().expect("a temporary folder") };
        lab.write("games.pgn", &random_games(60, 11));
        lab.write("tiny.toml", TINY);
        lab
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("the folder is ours");
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_philidor"));
        command.args(arguments).current_dir(self.dir.path());
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("PHILIDOR_")) {
            command.env_remove(name);
        }
        // No test reaches for the network: one that needs a mirror has its own.
        command.env("PHILIDOR_DEVICE", "cpu").env("PHILIDOR_THREADS", "1").env("PHILIDOR_MIRROR", "none");
        command
    }

    pub(crate) fn philidor(&self, arguments: &[&str]) -> Said {
        said(&self.command(arguments).output().expect("the program starts"))
    }

    /// Runs a command whose processes may each take so many KiB of address space.
    pub(crate) fn within(&self, kib: u64, arguments: &[&str]) -> Said {
        let command = self.command(arguments);
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("ulimit -v {kib}; exec \"$0\" \"$@\"")]).arg(command.get_program()).args(command.get_args());
        shell.current_dir(self.dir.path());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        said(&shell.output().expect("a shell is there"))
    }

    /// Starts a command, and leaves it running.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
    }

    /// The folders of a stage in the store whose names end so: `""` for finished ones, `part` for others.
    pub(crate) fn artifacts(&self, stage: &str, extension: &str) -> Vec<PathBuf> {
        let found = std::fs::read_dir(self.path("runs/store/v1").join(stage)).into_iter().flatten().flatten();
        let mut found: Vec<_> =
            found.map(|entry| entry.path()).filter(|path| path.extension().unwrap_or_default() == extension).collect();
        found.sort();
        found
    }

    pub(crate) fn only(&self, stage: &str) -> PathBuf {
        let found = self.artifacts(stage, "");
        assert_eq!(found.len(), 1, "one artifact of `{stage}`, not {found:?}");
        found[0].clone()
    }
}

impl Said {
    /// Fails the test, with all that was said, where the command ended otherwise.
    pub(crate) fn ended(self, code: i32) -> Self {
        assert_eq!(self.code, code, "\n--- stdout\n{}\n--- stderr\n{}", self.stdout, self.stderr);
        self
    }

    /// Exit code, stdout and stderr in one text, with what varies taken out.
    pub(crate) fn snapshot(&self, lab: &Lab) -> String {
        let folder = lab.path("").display().to_string();
        let clean = |text: &str| text.replace(folder.trim_end_matches('/'), "LAB");
        format!("exit {}\n--- stdout\n{}--- stderr\n{}", self.code, clean(&self.stdout), clean(&self.stderr))
    }
}

pub(crate) fn said(output: &Output) -> Said {
    Said {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Waits until `happened` says so, and gives up loudly after a minute.
pub(crate) fn wait_until(what: &str, mut happened: impl FnMut() -> bool) {
    let began = Instant::now();
    while !happened() {
        assert!(began.elapsed() < Duration::from_mins(1), "waited a minute for {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The processes whose parent is `parent`.
pub(crate) fn children(parent: u32) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").expect("a Linux machine").flatten();
    all.filter_map(|entry| entry.file_name().to_string_lossy().parse::<u32>().ok())
        .filter(|process| {
            let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
            // The name stands in brackets and may hold anything; the parent is the second field behind it.
            let parent_of =
                status.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(1)).and_then(|field| field.parse().ok());
            parent_of == Some(parent)
        })
        .collect()
}

/// Sends SIGKILL, SIGINT, … to a process.
pub(crate) fn signal(process: u32, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &process.to_string()]).status().expect("kill is there");
    assert!(sent.success(), "process {process} could be signalled");
}

/// Seeded random legal games as PGN, each of at most 80 plies, with the tags that filters read.
pub(crate) fn random_games(games: u64, seed: u64) -> String {
    let mut pgn = String::new();
    for index in 0..games {
        let mut rng = random::stream(seed, "test games", index);
        write!(
            pgn,
            "[Event \"Rated Blitz game\"]\n[Site \"https://example.org/{index:08}\"]\n[Date \"2026.01.01\"]\n[White \"w\"]\n[Black \"b\"]\n[Result \"*\"]\n\
             [WhiteElo \"1500\"]\n[BlackElo \"1600\"]\n[TimeControl \"300+0\"]\n[Termination \"Normal\"]\n\n"
        )
        .expect("a string takes text");
        let mut position = Chess::default();
        for ply in 0..80 {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            let choice = moves[random::below(&mut rng, moves.len() as u64) as usize];
            if ply % 2 == 0 {
                write!(pgn, "{}. ", ply / 2 + 1).expect("a string takes text");
            }
            write!(pgn, "{} ", SanPlus::from_move_and_play_unchecked(&mut position, choice)).expect("a string takes text");
        }
        pgn.push_str("*\n\n");
    }
    pgn
}

pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
