//! What belongs to this machine: built-in defaults, then `philidor.toml`, then `PHILIDOR_…`, then `--set machine.…`.

use std::path::Path;
use std::sync::Arc;

use crate::machine::Machine;

use super::kind::{Integer, NOT_NEGATIVE, TEXT, Text};
use super::problem::{Problem, nearest};
use super::source::{Place, Source};
use super::table::{self, Found, Section};
use super::tree::{self, Node, Table, Value};

pub(super) const FILE: &str = "philidor.toml";

/// Where machine settings go.
pub(super) const WHERE: &str =
    "a machine setting decides no result: put it in philidor.toml, in PHILIDOR_…, or in --set machine.…";

const SETTINGS: [&str; 13] = [
    "store",
    "runs",
    "data",
    "mirror",
    "device",
    "measure_device",
    "libtorch",
    "threads",
    "memory_mib",
    "stockfish",
    "checkpoint_minutes",
    "ranks",
    "mpirun",
];

/// Sections of an experiment, which have no place in `philidor.toml`.
const SCIENCE: [&str; 10] = ["extends", "name", "corpus", "model", "train", "gates", "measure", "published", "sweep", "arena"];

const DEVICE: Text = Text::like("`auto`, `cpu`, `cuda` or `cuda:1`", is_device);

const MEASURE_DEVICE: Text = Text::like("`none`, `cpu`, `cuda` or `cuda:1`", is_measure_device);

const MIRROR: Text = Text::like("an address such as `https://database.lichess.org/standard`, or `none`", is_mirror);

pub(super) fn is_setting(key: &str) -> bool {
    SETTINGS.contains(&key) || key == "machine"
}

/// The settings of this machine. Where one has a problem, it is recorded and its default goes on.
pub(super) fn machine(working_dir: &Path, environment: &[(String, String)], sets: Table, found: &Found) -> Machine {
    let mut settings = file(working_dir, found);
    settings.lay(variables(environment, found));
    settings.lay(sets);
    let place = Place::Whole(FILE.to_owned());
    table::read(&["machine"], &settings, &place, found, |s| Some(read(s))).unwrap_or_default()
}

fn read(s: &mut Section) -> Machine {
    let defaults = Machine::default();
    for section in SCIENCE {
        s.forbid(
            section,
            &format!("`{section}` belongs to an experiment, and {FILE} to the machine"),
            "what decides a result is set in the experiment",
        );
    }
    s.forbid("machine", "settings have no table of their own here", "write `device = \"cpu\"` at the top of the file");
    let mut path = |key: &str, default| s.look(key, &TEXT).map_or(default, Into::into);
    let machine = Machine {
        store: path("store", defaults.store),
        runs: path("runs", defaults.runs),
        data: path("data", defaults.data),
        stockfish: path("stockfish", defaults.stockfish),
        mirror: s.look("mirror", &MIRROR).unwrap_or(defaults.mirror),
        device: s.look("device", &DEVICE).unwrap_or(defaults.device),
        measure_device: s.look("measure_device", &MEASURE_DEVICE).filter(|device: &String| device != "none"),
        libtorch: s.look("libtorch", &TEXT).filter(|folder: &String| !folder.is_empty()).map(Into::into),
        threads: s.look("threads", &Integer::between(0, 4096)).unwrap_or(defaults.threads),
        memory_mib: s.look("memory_mib", &Integer::between(1_u64, 1 << 20)).unwrap_or(defaults.memory_mib),
        checkpoint_minutes: s.look("checkpoint_minutes", &NOT_NEGATIVE).unwrap_or(defaults.checkpoint_minutes),
        ranks: s.look("ranks", &Integer::between(1, 4096)).unwrap_or(defaults.ranks),
        mpirun: s.look("mpirun", &TEXT).unwrap_or(defaults.mpirun),
        files: defaults.files,
    };
    if machine.ranks > 1 && !cfg!(feature = "mpi") {
        let message = format!("`ranks` is {}, and this build trains with one process", machine.ranks);
        s.refuse("ranks", &[], message, "build it with MPI: cargo build --bins --features mpi (the README says what that needs)");
    }
    machine
}

fn file(working_dir: &Path, found: &Found) -> Table {
    let path = working_dir.join(FILE);
    let text = match fs_err::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Table::default(),
        Err(error) => {
            found.problems.borrow_mut().push(Problem::new(&Place::Whole(FILE.to_owned()), "", error.to_string()));
            return Table::default();
        }
    };
    tree::parse(&Arc::new(Source { name: FILE.to_owned(), path, text, depth: 0 })).unwrap_or_else(|problems| {
        found.problems.borrow_mut().extend(problems);
        Table::default()
    })
}

/// An empty variable is an unset one. One that is nearly a known one is a mistake; others are none of ours.
fn variables(environment: &[(String, String)], found: &Found) -> Table {
    let mut settings = Table::default();
    for (variable, value) in environment.iter().filter(|(_, value)| !value.is_empty()) {
        let Some(name) = variable.strip_prefix("PHILIDOR_") else { continue };
        let key = name.to_ascii_lowercase();
        let place = Place::Environment(variable.clone());
        if SETTINGS.contains(&key.as_str()) {
            settings.lay(Table::single(&[key], &place.clone(), Node { value: Value::Raw(value.clone()), place }));
        } else if let Some(meant) = nearest(&key, SETTINGS) {
            let problem = Problem::new(&place, "", format!("unknown variable `{variable}`"));
            let problem = problem.hint(format!("did you mean `PHILIDOR_{}`?", meant.to_ascii_uppercase()));
            found.problems.borrow_mut().push(problem);
        }
    }
    settings
}

fn is_mirror(text: &str) -> bool {
    let host = |text: &str| text.strip_prefix("https://").or(text.strip_prefix("http://")).is_some_and(|rest| !rest.is_empty());
    let plain = !text.contains(|c: char| c.is_whitespace() || "?#".contains(c));
    matches!(text, "" | "none") || (host(text) && plain)
}

/// Which device is the second one must be said: `auto` would take the first.
fn is_measure_device(text: &str) -> bool {
    text == "none" || (text != "auto" && is_device(text))
}

fn is_device(text: &str) -> bool {
    let index = |text: &str| text.strip_prefix("cuda:").is_some_and(|index| index.parse::<u8>().is_ok());
    matches!(text, "auto" | "cpu" | "cuda") || index(text)
}
