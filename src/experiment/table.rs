//! Reads a table key by key: what is read is recorded, what does not fit is a problem, what was not asked for is unknown.
//!
//! Getters return nothing where they have recorded a problem, so a section reads to its end and all problems come
//! at once. What was read is also the resolved experiment and the origins: they cannot disagree with it.

use std::cell::RefCell;

use super::kind::Kind;
use super::machine::{self};
use super::problem::{Problem, nearest, one_of};
use super::resolved::Leaf;
use super::source::Place;
use super::tree::{Node, Table, dotted};

/// What reading leaves behind.
#[derive(Default)]
pub(super) struct Found {
    pub problems: RefCell<Vec<Problem>>,
    pub leaves: RefCell<Vec<Leaf>>,
}

/// A table that is being read.
pub(super) struct Section<'a> {
    path: Vec<String>,
    table: &'a Table,
    place: Place,
    known: Vec<String>,
    missing: Vec<String>,
    found: &'a Found,
}

/// Reads a whole tree.
pub(super) fn read<'a, T>(
    path: &[&str],
    table: &'a Table,
    place: &Place,
    found: &'a Found,
    read: impl FnOnce(&mut Section<'a>) -> Option<T>,
) -> Option<T> {
    let path = path.iter().map(|&key| key.to_owned()).collect();
    Section { path, table, place: place.clone(), known: Vec::new(), missing: Vec::new(), found }.within(read)
}

impl<'a> Section<'a> {
    fn within<T>(mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let value = read(&mut self);
        self.finish();
        value
    }

    /// A key that must be there.
    pub(super) fn get<K: Kind>(&mut self, key: &str, kind: &K) -> Option<K::Value> {
        let value = self.look(key, kind);
        if value.is_none() && self.table.get(key).is_none() {
            self.missing.push(key.to_owned());
        }
        value
    }

    /// A key that may be left out.
    pub(super) fn look<K: Kind>(&mut self, key: &str, kind: &K) -> Option<K::Value> {
        let value = self.peek(key, kind)?;
        self.record(key, kind.toml(&value));
        Some(value)
    }

    /// As [`Self::look`], for a value that is recorded in another form than it was read.
    pub(super) fn peek<K: Kind>(&mut self, key: &str, kind: &K) -> Option<K::Value> {
        self.known.push(key.to_owned());
        let node = self.table.get(key)?;
        match kind.read(node) {
            Ok(value) => Some(value),
            Err(misfit) => {
                let of_item =
                    if misfit.place.line() == node.place.line() && misfit.seen() == node.seen() { "" } else { " in it" };
                let wanted = kind.wanted();
                let message = format!("`{}` wants {wanted}, not {}{of_item}", self.name(key), misfit.seen());
                self.report(Problem::new(&misfit.place, self.name(key), message), kind.hint(&misfit));
                None
            }
        }
    }

    /// Records a value for the resolved experiment.
    pub(super) fn record(&self, key: &str, toml: String) {
        if let Some(node) = self.table.get(key) {
            let path = self.path_to(key);
            self.found.leaves.borrow_mut().push(Leaf { path, toml, place: node.place.clone() });
        }
    }

    /// A table that must be there.
    pub(super) fn section<T>(&mut self, key: &str, read: impl FnOnce(&mut Section<'a>) -> Option<T>) -> Option<T> {
        self.known.push(key.to_owned());
        let Some(node) = self.table.get(key) else {
            self.missing.push(key.to_owned());
            return None;
        };
        let Some(table) = node.table() else {
            let message = format!("`{}` wants a table, not {}", self.name(key), node.seen());
            self.report(Problem::new(&node.place, self.name(key), message), None);
            return None;
        };
        let section = Section {
            path: self.path_to(key),
            table,
            place: node.place.clone(),
            known: Vec::new(),
            missing: Vec::new(),
            found: self.found,
        };
        section.within(read)
    }

    /// A table that may be left out, or be `false` to turn an inherited one off: both mean `off`.
    pub(super) fn switch<T>(&mut self, key: &str, off: T, read: impl FnOnce(&mut Section<'a>) -> Option<T>) -> Option<T> {
        match self.table.get(key) {
            Some(node) if !node.is_false() => return self.section(key, read),
            Some(_) => self.record(key, "false".to_owned()),
            None => (),
        }
        self.known.push(key.to_owned());
        Some(off)
    }

    pub(super) fn keys(&self) -> Vec<String> {
        self.table.0.iter().map(|entry| entry.key.clone()).collect()
    }

    /// A key's value; a rule may name one deeper down, as `learning_rate.warmup`.
    pub(super) fn node(&self, key: &str) -> Option<&'a Node> {
        self.table.get(key).or_else(|| self.table.find(key.split('.')))
    }

    /// Reports what is wrong with a key's value, or with what it says together with `others`, where the nearest to the
    /// user's hand of them was set.
    pub(super) fn refuse(&self, key: &str, others: &[&str], message: impl Into<String>, hint: &str) {
        let mut message = message.into();
        let mut set: Vec<(&str, &Place)> =
            [&[key], others].concat().into_iter().filter_map(|key| Some((key, &self.node(key)?.place))).collect();
        set.sort_by_key(|(_, place)| place.rank());
        let place = set.first().map_or(&self.place, |(_, place)| place);
        for (other, elsewhere) in set.iter().skip(1).filter(|(_, other)| other.to_string() != place.to_string()) {
            message = format!("{message} (`{}` is set at {elsewhere})", self.name(other));
        }
        self.report(Problem::new(place, self.name(key), message), Some(hint.to_owned()).filter(|hint| !hint.is_empty()));
    }

    /// Reports a key that is understood, and not to stand here.
    pub(super) fn forbid(&mut self, key: &str, message: &str, hint: &str) {
        self.known.push(key.to_owned());
        if let Some(entry) = self.table.entry(key) {
            self.report(Problem::new(&entry.place, self.name(key), message), Some(hint.to_owned()));
        }
    }

    /// Passes over a key that has nothing to say where the one at `by` is set: it was inherited, and stays for others. One set
    /// as near to the user's hand, or nearer, would be a contradiction.
    pub(super) fn idle(&mut self, key: &str, by: &Place, why: &str) {
        self.known.push(key.to_owned());
        let Some(place) = self.table.get(key).filter(|node| !node.is_false()).map(Node::nearest) else { return };
        if place.rank() <= by.rank() {
            let name = self.name(key);
            let message = format!("`{name}` says nothing beside `model.weights`, which is set at {by}: {why}");
            self.report(Problem::new(place, name, message), Some("take one of the two out".to_owned()));
        }
    }

    pub(super) fn report(&self, problem: Problem, hint: Option<String>) {
        let problem = match hint {
            Some(hint) => problem.hint(hint),
            None => problem,
        };
        self.found.problems.borrow_mut().push(problem);
    }

    /// The key as `--set` would name it.
    pub(super) fn name(&self, key: &str) -> String {
        let inner: Vec<String> = key.split('.').map(str::to_owned).collect();
        // A key with dots is a path in a rule, and one name where such a key stands in the table.
        let inner = if self.table.get(key).is_some() { vec![key.to_owned()] } else { inner };
        dotted(&[self.path.clone(), inner].concat())
    }

    fn path_to(&self, key: &str) -> Vec<String> {
        [self.path.as_slice(), &[key.to_owned()]].concat()
    }

    fn finish(mut self) {
        for entry in &self.table.0 {
            if self.known.contains(&entry.key) {
                continue;
            }
            let known = || self.known.iter().map(String::as_str);
            let hint = if let Some(meant) = nearest(&entry.key, known()) {
                // A misspelt key is one problem, not two.
                self.missing.retain(|missing| missing != meant);
                format!("did you mean `{meant}`?")
            } else if machine::is_setting(&entry.key) {
                machine::WHERE.to_owned()
            } else {
                format!("wanted here: {}", one_of(known()))
            };
            let name = dotted(&self.path_to(&entry.key));
            let problem = Problem::new(&entry.place, name.clone(), format!("unknown key `{name}`"));
            self.report(problem, Some(hint));
        }
        for key in &self.missing {
            let place = if self.path.is_empty() { "the experiment".to_owned() } else { format!("`[{}]`", dotted(&self.path)) };
            let problem = Problem::new(&self.place, self.name(key), format!("{place} lacks `{key}`"));
            self.report(
                problem,
                Some(format!("set it, or extend `base.toml`, which explains every key; `{key}` is never guessed")),
            );
        }
    }
}
