//! What was read, printed as TOML that loads again, and where each value was set.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::source::Place;
use super::tree::dotted;

/// A value that was read.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    pub path: Vec<String>,
    pub toml: String,
    pub place: Place,
}

/// What `plan` prints beside the values of a resolved experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    Values,
    /// Also `# experiments/run1.toml:12`.
    Origins,
}

/// Where each value was set, by its key.
#[derive(Clone, Debug, Default)]
pub struct Origins(BTreeMap<String, Origin>);

#[derive(Clone, Debug)]
struct Origin {
    place: String,
    /// As [`Place::rank`].
    rank: usize,
}

impl Origins {
    pub(super) fn add(&mut self, leaves: &[Leaf]) {
        for leaf in leaves {
            let origin = || Origin { place: leaf.place.to_string(), rank: leaf.place.rank() };
            self.0.entry(dotted(&leaf.path)).or_insert_with(origin);
        }
    }

    /// Where the value of a key, such as `train.learning_rate.peak`, was set: `experiments/run1.toml:12`,
    /// `--set train.learning_rate.peak=1e-3` or `PHILIDOR_DEVICE`.
    ///
    /// A key within a value has the value's origin. So has the name by which a resolved experiment knows it
    /// (`train.length.steps`, `measure.final.legality.seed`). A table has the origin of that of its
    /// values which was set nearest to the user: by an override, else in the experiment, else in what it extends.
    pub fn of(&self, key: &str) -> Option<String> {
        let asked = match key.rsplit_once('.') {
            Some(("train.length", unit)) => format!("train.{unit}"),
            Some((section, "seed")) if section.starts_with("measure.") => "measure.seed".to_owned(),
            Some((_, "temperature")) if !self.0.contains_key(key) => format!("{key}s"),
            _ => key.to_owned(),
        };
        let mut name = asked.as_str();
        loop {
            if let Some(origin) = self.0.get(name) {
                return Some(origin.place.clone());
            }
            match name.rsplit_once('.') {
                Some((parent, _)) => name = parent,
                None => break,
            }
        }
        let inside = format!("{asked}.");
        let within = self.0.range(inside.clone()..).take_while(|(name, _)| name.starts_with(&inside));
        within.min_by_key(|(_, origin)| origin.rank).map(|(_, origin)| origin.place.clone())
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, origin)| (key.as_str(), origin.place.as_str()))
    }
}

/// A table to print: its own values first, then the tables in it, each in the order of reading.
#[derive(Default)]
struct Printed<'a> {
    values: Vec<(String, &'a Leaf)>,
    tables: Vec<(String, Printed<'a>)>,
}

impl<'a> Printed<'a> {
    fn add(&mut self, path: &[String], leaf: &'a Leaf) {
        match path {
            [key] => self.values.push((dotted(std::slice::from_ref(key)), leaf)),
            [head, rest @ ..] => {
                let head = dotted(std::slice::from_ref(head));
                let at = self.tables.iter().position(|(name, _)| *name == head).unwrap_or_else(|| {
                    self.tables.push((head, Printed::default()));
                    self.tables.len() - 1
                });
                self.tables[at].1.add(rest, leaf);
            }
            [] => (),
        }
    }

    fn write(&self, name: &str, show: Show, text: &mut String) {
        if !name.is_empty() && !self.values.is_empty() {
            let _ = write!(text, "\n[{name}]\n");
        }
        let lines: Vec<String> = self.values.iter().map(|(key, leaf)| format!("{key} = {}", leaf.toml)).collect();
        let width = lines.iter().map(|line| line.chars().count()).filter(|&width| width <= 60).max().unwrap_or(0);
        for (line, (_, leaf)) in lines.iter().zip(&self.values) {
            let _ = match show {
                Show::Values => writeln!(text, "{line}"),
                Show::Origins => writeln!(text, "{line:width$}  # {}", leaf.place),
            };
        }
        for (key, table) in &self.tables {
            table.write(&if name.is_empty() { key.clone() } else { format!("{name}.{key}") }, show, text);
        }
    }
}

pub(super) fn print(question: &str, leaves: &[Leaf], show: Show) -> String {
    let mut text = if question.is_empty() { String::new() } else { format!("# {question}\n\n") };
    let mut printed = Printed::default();
    for leaf in leaves {
        printed.add(&leaf.path, leaf);
    }
    printed.write("", show, &mut text);
    text
}
