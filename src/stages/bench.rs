//! A place for tests of stages: a store and a machine in a temporary folder, where nodes are made at once.

use std::collections::BTreeMap;
use std::path::PathBuf;

use shakmaty::san::SanPlus;
use shakmaty::{Chess, Position as _};

use super::fetch::{Archive, Fetch};
use crate::corpus::config::Source;
use crate::machine::Machine;
use crate::plan::{Artifact, Cx, Handle, Plan, Stage};
use crate::progress::silent;
use crate::random::{below, stream};
use crate::ranks::Alone;
use crate::store::{Key, Store};

pub(crate) struct Bench {
    home: tempfile::TempDir,
    pub(crate) machine: Machine,
    pub(crate) store: Store,
    plan: Plan,
}

impl Default for Bench {
    fn default() -> Self {
        let home = tempfile::tempdir().expect("a folder");
        let data = home.path().join("data");
        std::fs::create_dir(&data).expect("a folder");
        let store = Store::new(&home.path().join("store")).expect("a store");
        let machine = Machine { data, mirror: "none".into(), ..Machine::default() };
        Self { home, machine, store, plan: Plan::default() }
    }
}

impl Bench {
    /// Writes a file for the experiment to name, and returns its digest.
    pub(crate) fn file(&mut self, name: &str, bytes: &[u8]) -> String {
        let digest = blake3::hash(bytes).to_hex().to_string();
        let dir = self.home.path().join(&digest);
        std::fs::create_dir_all(&dir).expect("a folder");
        std::fs::write(dir.join(name), bytes).expect("written");
        self.machine.files.insert(digest.clone(), dir.join(name));
        digest
    }

    /// Makes an archive of a file `games.pgn`.
    pub(crate) fn archive(&mut self, bytes: &[u8]) -> Handle<Archive> {
        let blake3 = self.file("games.pgn", bytes);
        self.make(Fetch { source: Source::File { name: "games.pgn".into(), blake3 } })
    }

    /// Does the work of a stage, in the place where the store would keep it.
    pub(crate) fn make<S: Stage>(&mut self, stage: S) -> Handle<S::Output> {
        let (handle, result, _) = self.run(stage);
        result.expect("the work is done");
        handle
    }

    /// The error of a stage's work, and where it wrote.
    pub(crate) fn fail<S: Stage>(&mut self, stage: S) -> (anyhow::Error, PathBuf) {
        let (_, result, out) = self.run(stage);
        (result.expect_err("the work fails"), out)
    }

    pub(crate) fn open<T: Artifact>(&self, handle: Handle<T>) -> T {
        let stage = &self.plan.node(handle.key()).expect("made here").stage;
        T::open(&self.dir(stage, handle)).expect("a whole artifact")
    }

    pub(crate) fn dir<T>(&self, stage: &str, handle: Handle<T>) -> PathBuf {
        self.store.dir(stage, handle.key())
    }

    /// Every file of an artifact.
    pub(crate) fn bytes<T>(&self, stage: &str, handle: Handle<T>) -> BTreeMap<String, Vec<u8>> {
        let entries = std::fs::read_dir(self.dir(stage, handle)).expect("a folder");
        entries
            .map(|entry| entry.expect("a file").path())
            .map(|path| {
                let name = path.file_name().expect("it has a name").to_string_lossy().into_owned();
                (name, std::fs::read(path).expect("read"))
            })
            .collect()
    }

    fn run<S: Stage>(&mut self, stage: S) -> (Handle<S::Output>, anyhow::Result<()>, PathBuf) {
        // Through JSON, as a runner does it.
        let with = serde_json::to_value(&stage).expect("it serialises");
        let handle = self.plan.add(stage, &[]);
        let node = self.plan.node(handle.key()).expect("just added").clone();
        let input = |key: &Key| (*key, self.store.dir(&self.plan.node(*key).expect("made before").stage, *key));
        let inputs: Vec<(Key, PathBuf)> = node.reads.iter().map(input).collect();
        let out = self.store.dir(&node.stage, node.key);
        std::fs::create_dir_all(&out).expect("a folder");
        let cx =
            Cx { node: &node, inputs: &inputs, store: &self.store, machine: &self.machine, progress: silent(), ranks: &Alone };
        let result = serde_json::from_value::<S>(with).map_err(Into::into).and_then(|stage| stage.run(&cx, &out));
        (handle, result, out)
    }
}

/// Games of random legal moves, of up to forty plies.
pub(crate) fn random_games(games: u64, seed: u64) -> String {
    let mut text = String::new();
    for game in 0..games {
        let mut rng = stream(seed, "random games", game);
        let mut position = Chess::default();
        for _ in 0..10 + below(&mut rng, 30) {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            let m = moves[below(&mut rng, moves.len() as u64) as usize];
            text += &SanPlus::from_move_and_play_unchecked(&mut position, m).to_string();
            text.push(' ');
        }
        text += "*\n\n";
    }
    text
}
