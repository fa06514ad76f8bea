//! From a file, overrides and the environment to checked points, or to everything that is wrong with them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::machine::Machine;

use super::asked::{Experiment, Weights};
use super::files::Files;
use super::kind::Text;
use super::problem::{Problem, Problems};
use super::resolved::{self, Leaf, Origins, Show};
use super::source::Place;
use super::sweep::{self, Axis};
use super::table::{self, Found, Section};
use super::tree::{Node, Table, Value};
// Braces: the module alone, and not the function of the same name.
use super::machine::{self};
use super::{corpus, gates, layers, measure, model, overrides, published, train};

/// What was asked on the command line.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The experiment's file, relative to the working folder.
    pub file: PathBuf,
    /// Overrides as typed: `train.seed=2`, `machine.device=cpu`.
    pub sets: Vec<String>,
    /// The environment, of which `PHILIDOR_…` is read.
    pub environment: Vec<(String, String)>,
    /// Where `philidor.toml` lies and relative paths begin.
    pub working_dir: PathBuf,
}

/// An experiment, resolved.
#[derive(Debug)]
pub struct Loaded {
    /// One, or the points of the sweep in order.
    pub points: Vec<Experiment>,
    /// What the sweep varies; empty without one.
    pub axes: Vec<Axis>,
    pub machine: Machine,
    pub origins: Origins,
    /// Where the corpus files lie, by the BLAKE3 of their content, which is all that a key knows of them.
    pub files: BTreeMap<String, PathBuf>,
    leaves: Vec<Vec<Leaf>>,
}

impl Loaded {
    /// The experiment's name, which names the folder of its runs.
    pub fn name(&self) -> &str {
        &self.points[0].name
    }

    /// A point as TOML that loads again to an equal experiment, where it is one of its own.
    pub fn resolved(&self, point: usize, show: Show) -> String {
        resolved::print(&self.points[point].question, &self.leaves[point], show)
    }

    /// All points, one after another; each of several under its name.
    pub fn all_resolved(&self, show: Show) -> String {
        let one = self.points.len() == 1;
        let texts = self.points.iter().enumerate().map(|(index, point)| {
            let text = self.resolved(index, show);
            if one { text } else { format!("# --- {} ---\n{text}\n", point.point) }
        });
        texts.collect()
    }
}

const NAME: Text = Text::like("a folder's name of letters, digits, `-`, `_` and `.`, other than `store`", is_name);

/// Loads an experiment and the machine's settings.
///
/// # Errors
///
/// All problems of all files, overrides and variables at once.
pub fn load(request: &Request) -> Result<Loaded, Problems> {
    let Request { file, sets, environment, working_dir } = request;
    let mut problems = Vec::new();
    let overrides = overrides::parse(sets, &mut problems);
    let found = Found::default();
    let machine = machine::machine(working_dir, environment, overrides.machine, &found);
    let mut origins = Origins::default();
    let before = problems.len();
    origins.add(&found.leaves.take());

    let Some(layers::Layers { mut table, source }) = layers::read(file, working_dir, &mut problems) else {
        problems.extend(found.problems.take());
        return Err(Problems::new(problems));
    };
    // The rest of a file that is no TOML would only lack what cannot be read.
    let readable = problems.len() == before;
    let mut over = overrides.science;
    over.explode_sweep();
    table.lay(over);
    let whole = Place::Whole(source.name.clone());
    if table.get("name").is_none() {
        let stem = source.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let stem = Node { value: Value::Text(stem), place: whole.clone() };
        table.lay(Table::single(&["name".to_owned()], &whole, stem));
    }
    let question = layers::question(&source.text);
    let files = Files::new(working_dir, &machine.store);
    let (swept, axes) = sweep::points(table, &mut problems);
    let (mut points, mut leaves) = (Vec::new(), Vec::new());
    if readable {
        for point in &swept {
            let experiment = table::read(&[], &point.table, &whole, &found, |s| experiment(s, &question, &files));
            points.extend(experiment.map(|e| Experiment { point: point.name.clone().unwrap_or_else(|| e.name.clone()), ..e }));
            let read = found.leaves.take();
            origins.add(&read);
            leaves.push(read);
        }
    }
    problems.extend(found.problems.take());
    if problems.is_empty() {
        problems.extend(repeated(&points, &whole));
    }
    if !problems.is_empty() {
        return Err(Problems::new(problems));
    }
    assert_eq!(points.len(), swept.len(), "a point that cannot be read has a problem");
    Ok(Loaded { points, axes, machine, origins, files: files.paths(), leaves })
}

/// Points that come to the same experiment, however they were written: they would pass for two measurements of one thing.
fn repeated(points: &[Experiment], whole: &Place) -> Vec<Problem> {
    let asked = |point: &Experiment| {
        let nameless = Experiment { point: String::new(), ..point.clone() };
        serde_json::to_value(nameless).expect("an experiment is plain JSON")
    };
    let all: Vec<_> = points.iter().map(asked).collect();
    let same = |at: usize| all[..at].iter().position(|known| *known == all[at]);
    let problem = |(at, same): (usize, usize)| {
        let message = format!("two points are the same experiment: {} and {}", points[same].point, points[at].point);
        Problem::new(whole, "sweep", message).hint("what a point leaves out is as in the file: name each combination once")
    };
    (0..points.len()).filter_map(|at| Some((at, same(at)?))).map(problem).collect()
}

/// Loads the machine's settings alone, for a command without an experiment.
///
/// # Errors
///
/// All problems of `philidor.toml`, of the variables, and of overrides that are not of the machine.
pub fn machine(working_dir: &Path, environment: &[(String, String)], sets: &[String]) -> Result<Machine, Problems> {
    let mut problems = Vec::new();
    let overrides = overrides::parse(sets, &mut problems);
    for entry in &overrides.science.0 {
        let problem =
            Problem::new(&entry.place, entry.key.clone(), format!("no experiment is loaded for `{}` to change", entry.key));
        problems.push(problem.hint("here --set takes machine settings only, such as machine.device=cpu"));
    }
    let found = Found::default();
    let machine = machine::machine(working_dir, environment, overrides.machine, &found);
    problems.extend(found.problems.take());
    if problems.is_empty() { Ok(machine) } else { Err(Problems::new(problems)) }
}

fn experiment(s: &mut Section, question: &str, files: &Files) -> Option<Experiment> {
    let name = s.get("name", &NAME);
    let corpus = s.section("corpus", |s| corpus::corpus(s, files));
    let imported = s.node("model.weights").map(|node| &node.place);
    let model = s.section("model", |s| model::model(s, files, imported));
    let train = match imported {
        None => s.section("train", train::train),
        Some(place) => {
            s.idle("train", place, "nothing is trained");
            None
        }
    };
    let gates = s.switch("gates", gates::NONE, |s| gates::gates(s, imported));
    let measure = s.section("measure", |s| measure::measure(s, files, train.as_ref(), imported));
    let published = s.switch("published", BTreeMap::new(), published::published);
    s.forbid("arena", "`arena` is not built yet", "take it out; the rest of the experiment runs without it");
    s.forbid("machine", "an experiment sets nothing of the machine", machine::WHERE);
    let (model, weights) = model?;
    Some(Experiment {
        name: name?,
        question: question.to_owned(),
        point: String::new(),
        corpus: corpus?,
        model,
        weights: weights.or(train.map(Weights::Train))?,
        gates: gates?,
        measure: measure?,
        published: published?,
    })
}

fn is_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    // `runs/store` is the store.
    !text.is_empty() && text.chars().all(plain) && !text.starts_with('.') && text != "store"
}
