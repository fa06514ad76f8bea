//! The files of an experiment: itself, and what it extends. The strongest layer is the experiment.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::kind::{Kind, TEXT};
use super::problem::Problem;
use super::source::{Place, Source};
use super::tree::{self, Table};

/// An experiment's file over all that it extends.
pub(super) struct Layers {
    pub table: Table,
    pub source: Arc<Source>,
}

/// Reads a file and what it extends. Problems of all files are collected; a file with one counts as empty.
pub(super) fn read(file: &Path, working_dir: &Path, problems: &mut Vec<Problem>) -> Option<Layers> {
    let name = file.display().to_string();
    if name.ends_with(".mine.toml") {
        let problem = Problem::new(&Place::Whole(name.clone()), "", "this file says which games to mine, and is no experiment");
        problems.push(problem.hint(format!("philidor mine {name}")));
        return None;
    }
    let source = match open(file, working_dir, 0) {
        Ok(source) => source,
        Err(message) => {
            let problem = Problem::new(&Place::Whole(name), "", message);
            problems.push(match suggestion(file, working_dir) {
                Some(meant) => problem.hint(format!("did you mean `{}`?", meant.display())),
                None => problem.hint("name an experiment's file, such as experiments/quickstart.toml"),
            });
            return None;
        }
    };
    let mut chain = vec![source.clone()];
    let table = layer(&mut chain, working_dir, problems);
    Some(Layers { table, source })
}

/// The last file of the chain, laid over what it extends.
fn layer(chain: &mut Vec<Arc<Source>>, working_dir: &Path, problems: &mut Vec<Problem>) -> Table {
    let source = chain.last().expect("the chain begins with the experiment").clone();
    let mut table = tree::parse(&source).unwrap_or_else(|found| {
        problems.extend(found);
        Table::default()
    });
    table.explode_sweep();
    let Some(entry) = table.remove("extends") else { return table };
    let Ok(base) = TEXT.read(&entry.node) else {
        let message = format!("`extends` wants a string, not {}", entry.node.seen());
        problems.push(Problem::new(&entry.node.place, "extends", message).hint("such as extends = \"base.toml\""));
        return table;
    };
    let file = Path::new(&source.name).parent().unwrap_or(Path::new("")).join(base);
    let base = match open(&tidy(&file), working_dir, chain.len()) {
        Ok(base) => base,
        Err(message) => {
            let problem = Problem::new(&entry.node.place, "extends", message);
            problems.push(problem.hint("a path is relative to the file that extends it"));
            return table;
        }
    };
    if chain.iter().any(|above| above.path == base.path) {
        let names: Vec<&str> = chain.iter().chain([&base]).map(|source| source.name.as_str()).collect();
        let problem = Problem::new(&entry.node.place, "extends", format!("these extend each other: {}", names.join(" -> ")));
        problems.push(problem.hint("take one `extends` out"));
        return table;
    }
    chain.push(base);
    let mut under = layer(chain, working_dir, problems);
    // What is extended is another experiment: its name is its own.
    under.remove("name");
    under.lay(table);
    under
}

fn open(file: &Path, working_dir: &Path, depth: usize) -> Result<Arc<Source>, String> {
    let path = tidy(&working_dir.join(file));
    match fs_err::read_to_string(&path) {
        Ok(text) => Ok(Arc::new(Source { name: file.display().to_string(), path, text, depth })),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(format!("no such file: looked at `{}`", path.display()))
        }
        Err(error) => Err(error.to_string()),
    }
}

/// An experiment's name, given for its file.
fn suggestion(file: &Path, working_dir: &Path) -> Option<PathBuf> {
    let meant = Path::new("experiments").join(file.file_name()?).with_extension("toml");
    working_dir.join(&meant).exists().then_some(meant)
}

/// Without `.` and `..`, so that one file has one path.
fn tidy(path: &Path) -> PathBuf {
    let mut tidied = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => (),
            Component::ParentDir if matches!(tidied.components().next_back(), Some(Component::Normal(_))) => {
                tidied.pop();
            }
            part => tidied.push(part),
        }
    }
    tidied
}

/// What a file asks: the first paragraph of the comment it begins with.
pub(super) fn question(text: &str) -> String {
    let comment = text.lines().map(str::trim).skip_while(|line| line.is_empty()).map_while(|line| line.strip_prefix('#'));
    let paragraph = comment.map(str::trim).skip_while(|line| line.is_empty()).take_while(|line| !line.is_empty());
    paragraph.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}
