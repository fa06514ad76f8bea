//! An experiment as a user writes it, in a folder of its own.

mod keeping;
mod layering;
mod measuring;
mod problems;
mod resolving;
mod sweeps;

use fs_err as fs;
use tempfile::TempDir;

use super::{Experiment, Loaded, Problems, Request, load};
use crate::train::config::TrainConfig;

/// A base with every key, so that a test writes only what it is about.
const BASE: &str = r#"
[corpus]
months = ["2013-01"]
[corpus.keep]
exclude_speeds = ["Bullet"]
elo = [1800, 2600]
terminations = ["Normal"]
plies = [20, 300]
[corpus.split]
validation = 0.01
by = "draw"
seed = 1337
[model]
layers = 2
heads = 4
width = 64
hidden = 128
context = 64
[train]
steps = 1000
batch = 8
accumulate = 1
sampler = "windows"
packing = "stream"
learning_rate = { schedule = "cosine", peak = 6e-4, floor = 6e-5, warmup = 50 }
weight_decay = 0.1
betas = [0.9, 0.95]
clip = 1.0
precision = "f32"
seed = 1
validate = { every = 100, batches = 2 }
snapshots = { every = 200 }
[gates]
replay = { games = 10 }
initial_loss = { within = 0.3 }
[measure]
seed = 7
[measure.snapshots]
legality = { positions = 20, temperature = 1.0 }
[measure.final]
checkpoint = "best"
legality = { positions = 200, temperature = 1.0 }
full_games = { games = 10, temperatures = [1.0, 0.6] }
"#;

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().expect("a folder for the test"));
        folder.with("experiments/base.toml", BASE)
    }

    fn with(self, name: &str, text: &str) -> Self {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().expect("in a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
        self
    }

    /// Also writes `experiments/x.toml`, which is what [`Self::load`] loads.
    fn asking(self, text: &str) -> Self {
        self.with("experiments/x.toml", text)
    }

    fn request(&self, sets: &[&str], environment: &[(&str, &str)]) -> Request {
        Request {
            file: "experiments/x.toml".into(),
            sets: sets.iter().map(|&set| set.to_owned()).collect(),
            environment: environment.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect(),
            working_dir: self.0.path().to_owned(),
        }
    }

    fn load(&self, sets: &[&str]) -> Result<Loaded, Problems> {
        load(&self.request(sets, &[]))
    }

    fn loaded(&self, sets: &[&str]) -> Loaded {
        self.load(sets).unwrap_or_else(|problems| panic!("{problems}"))
    }

    /// The problems, without the folder of the test.
    fn problems(&self, sets: &[&str]) -> String {
        let problems = self.load(sets).expect_err("something is wrong").to_string();
        problems.replace(&self.0.path().display().to_string(), "HERE")
    }
}

fn train(e: &Experiment) -> &TrainConfig {
    e.train().expect("it trains")
}

fn asking(text: &str) -> Folder {
    Folder::new().asking(&format!("extends = \"base.toml\"\n{text}"))
}
