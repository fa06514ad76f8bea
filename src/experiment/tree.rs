//! TOML as it was written, each value with its place, in the order of the file. Tables merge; all else replaces.

use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::problem::Problem;
use super::raw;
use super::source::{Place, Source};

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub value: Value,
    pub place: Place,
}

#[derive(Clone, Debug)]
pub(super) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Bool(bool),
    List(Vec<Node>),
    Table(Table),
    /// Text of an override, to be read by the type of the key it sets.
    Raw(String),
    /// What no key wants: a date, an integer beyond 64 bits.
    Other(String),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Table(pub Vec<Entry>);

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub key: String,
    /// Where the key stands, which for a table is its head.
    pub place: Place,
    pub node: Node,
}

/// Keys of which only one can be meant: setting one in a stronger layer unsets the other.
const ALTERNATIVES: [(&str, &str, &str); 2] = [("train", "steps", "epochs"), ("corpus", "months", "files")];

/// Reads a file's text.
///
/// # Errors
///
/// Everything that is not TOML, each with its place.
pub(super) fn parse(source: &Arc<Source>) -> Result<Table, Vec<Problem>> {
    let (table, errors) = DeTable::parse_recoverable(&source.text);
    if errors.is_empty() {
        return Ok(convert_table(table.get_ref(), source));
    }
    let problem = |error: &toml::de::Error| {
        let place = Place::File { source: source.clone(), span: error.span().unwrap_or(0..0) };
        Problem::new(&place, "", format!("not TOML: {}", error.message().replace('\n', ", ")))
    };
    Err(errors.iter().map(problem).collect())
}

fn convert_table(table: &DeTable, source: &Arc<Source>) -> Table {
    let entry = |(key, value): (&Spanned<_>, &Spanned<DeValue>)| {
        let key_text: &std::borrow::Cow<str> = key.get_ref();
        let place = Place::File { source: source.clone(), span: key.span() };
        let mut node = convert(value, source);
        if matches!(node.value, Value::Table(_)) {
            node.place = place.clone();
        }
        Entry { key: key_text.to_string(), place, node }
    };
    Table(table.iter().map(entry).collect())
}

fn convert(value: &Spanned<DeValue>, source: &Arc<Source>) -> Node {
    let converted = match value.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(integer) => match i64::from_str_radix(integer.as_str(), integer.radix()) {
            Ok(integer) => Value::Integer(integer),
            Err(_) => Value::Other(integer.to_string()),
        },
        DeValue::Float(float) => match float.as_str().parse() {
            Ok(float) => Value::Float(float),
            Err(_) => Value::Other(float.to_string()),
        },
        DeValue::Boolean(truth) => Value::Bool(*truth),
        DeValue::Datetime(date) => Value::Other(date.to_string()),
        DeValue::Array(items) => Value::List(items.iter().map(|item| convert(item, source)).collect()),
        DeValue::Table(table) => Value::Table(convert_table(table, source)),
    };
    Node { value: converted, place: Place::File { source: source.clone(), span: value.span() } }
}

impl Table {
    /// A table with one value, however deep; `place` is that of the keys.
    pub(super) fn single(path: &[String], place: &Place, node: Node) -> Self {
        let (key, rest) = path.split_first().expect("a path names at least one key");
        let node = match rest {
            [] => node,
            _ => Node { value: Value::Table(Self::single(rest, place, node)), place: place.clone() },
        };
        Self(vec![Entry { key: key.clone(), place: place.clone(), node }])
    }

    pub(super) fn entry(&self, key: &str) -> Option<&Entry> {
        self.0.iter().find(|entry| entry.key == key)
    }

    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.node)
    }

    pub(super) fn find<'p>(&self, path: impl IntoIterator<Item = &'p str>) -> Option<&Node> {
        let mut path = path.into_iter();
        path.next().and_then(|first| path.try_fold(self.get(first)?, |node, key| node.table()?.get(key)))
    }

    pub(super) fn remove(&mut self, key: &str) -> Option<Entry> {
        let at = self.0.iter().position(|entry| entry.key == key)?;
        Some(self.0.remove(at))
    }

    /// Lays a stronger layer over this one.
    pub(super) fn lay(&mut self, over: Self) {
        for (section, one, other) in ALTERNATIVES {
            let sets = |key| over.find([section, key]).is_some();
            let unset = match (sets(one), sets(other)) {
                (true, false) => other,
                (false, true) => one,
                _ => continue,
            };
            let under = self.0.iter_mut().find(|entry| entry.key == section);
            if let Some(Value::Table(under)) = under.map(|entry| &mut entry.node.value) {
                under.remove(unset);
            }
        }
        self.merge(over);
    }

    /// Makes `"model.width"` in a sweep the path that it means, so that layers of a sweep merge like any other.
    pub(super) fn explode_sweep(&mut self) {
        let sweep = self.0.iter_mut().find(|entry| entry.key == "sweep");
        let Some(Value::Table(sweep)) = sweep.map(|entry| &mut entry.node.value) else { return };
        for axes in sweep.0.iter_mut().filter(|entry| entry.key == "grid" || entry.key == "zip") {
            let Value::Table(axes) = &mut axes.node.value else { continue };
            for entry in std::mem::take(axes).0 {
                axes.merge(Self::single(&raw::path(&entry.key), &entry.place, entry.node));
            }
        }
    }

    fn merge(&mut self, over: Self) {
        for entry in over.0 {
            let Some(under) = self.0.iter_mut().find(|under| under.key == entry.key) else {
                self.0.push(entry);
                continue;
            };
            match (&mut under.node.value, entry.node.value) {
                (Value::Table(under), Value::Table(over)) => under.merge(over),
                (_, value) => under.node.value = value,
            }
            under.node.place = entry.node.place;
            under.place = entry.place;
        }
    }
}

impl Node {
    pub(super) fn table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// Where that of its values was set which is nearest to the user's hand.
    pub(super) fn nearest(&self) -> &Place {
        let inner = self.table().into_iter().flat_map(|table| &table.0).map(|entry| entry.node.nearest());
        inner.min_by_key(|place| place.rank()).unwrap_or(&self.place)
    }

    /// The items of a list, whether written in a file or in an override.
    pub(super) fn items(&self) -> Option<Vec<Self>> {
        match &self.value {
            Value::List(items) => Some(items.clone()),
            Value::Raw(text) => {
                let items = raw::list(text)?;
                Some(items.into_iter().map(|item| raw::node(item, &self.place)).collect())
            }
            _ => None,
        }
    }

    pub(super) fn is_false(&self) -> bool {
        match &self.value {
            Value::Bool(truth) => !truth,
            Value::Raw(text) => text == "false",
            _ => false,
        }
    }

    /// The value for people, such as in the name of a point; equal values have equal labels.
    pub(super) fn label(&self) -> String {
        let raw = |text: &str| match text.replace('_', "").parse::<f64>() {
            Ok(number) => label_of(number),
            Err(_) => raw::unquoted(text).to_owned(),
        };
        if let Some(items) = self.items() {
            return items.iter().map(Self::label).collect::<Vec<_>>().join(",");
        }
        match &self.value {
            Value::Text(text) | Value::Other(text) => text.clone(),
            Value::Integer(integer) => integer.to_string(),
            Value::Float(float) => label_of(*float),
            Value::Bool(truth) => truth.to_string(),
            Value::Raw(text) => raw(text),
            Value::Table(table) => {
                table.0.iter().map(|entry| format!("{}:{}", entry.key, entry.node.label())).collect::<Vec<_>>().join(",")
            }
            Value::List(_) => unreachable!("a list has items"),
        }
    }

    /// What was seen where something else was wanted.
    pub(super) fn seen(&self) -> String {
        match &self.value {
            Value::Text(text) => format!("the string `{}`", toml::Value::String(text.clone())),
            Value::Integer(integer) => format!("`{integer}`"),
            Value::Float(float) => format!("`{float:?}`"),
            Value::Bool(truth) => format!("`{truth}`"),
            Value::List(_) => "a list".to_owned(),
            Value::Table(_) => "a table".to_owned(),
            Value::Raw(text) | Value::Other(text) => format!("`{text}`"),
        }
    }
}

fn label_of(number: f64) -> String {
    match number.abs() {
        size if size > 0.0 && size < 1e-3 => format!("{number:e}"),
        _ => number.to_string(),
    }
}

/// A path as `--set` takes it: segments that are no bare keys in quotes.
pub(super) fn dotted(path: &[String]) -> String {
    let bare = |key: &str| !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let segment = |key: &String| if bare(key) { key.clone() } else { toml::Value::String(key.clone()).to_string() };
    path.iter().map(segment).collect::<Vec<_>>().join(".")
}
