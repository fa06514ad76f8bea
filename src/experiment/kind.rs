//! The types a key can want: how a value is read, what is said when it does not fit, and how it is printed.
//!
//! Text of an override is read by the type of its key, so each kind knows both forms.

use std::fmt::Display;

use super::problem::{nearest, one_of};
use super::raw;
use super::tree::{Node, Value};

pub(super) trait Kind {
    type Value;

    /// What is wanted, to go after "wants".
    fn wanted(&self) -> String;

    /// # Errors
    ///
    /// The node that does not fit, which may be an item of a list.
    fn read<'a>(&self, node: &'a Node) -> Result<Self::Value, Misfit<'a>>;

    /// The value as TOML.
    fn toml(&self, value: &Self::Value) -> String;

    fn hint(&self, _node: &Node) -> Option<String> {
        None
    }
}

/// What did not fit: an item of an override's list is made on the way, an item of a file's is borrowed.
pub(super) type Misfit<'a> = std::borrow::Cow<'a, Node>;

fn misfit<T>(node: &Node) -> Result<T, Misfit<'_>> {
    Err(Misfit::Borrowed(node))
}

/// An integer of at least `low` and at most `high`.
pub(super) struct Integer<T> {
    low: T,
    high: Option<T>,
}

impl<T> Integer<T> {
    pub(super) fn at_least(low: T) -> Self {
        Self { low, high: None }
    }

    pub(super) fn between(low: T, high: T) -> Self {
        Self { low, high: Some(high) }
    }
}

impl<T: TryFrom<i64> + PartialOrd + Display> Kind for Integer<T> {
    type Value = T;

    fn wanted(&self) -> String {
        match &self.high {
            Some(high) => format!("an integer from {} to {high}", self.low),
            None => format!("an integer of at least {}", self.low),
        }
    }

    fn read<'a>(&self, node: &'a Node) -> Result<T, Misfit<'a>> {
        let integer = match &node.value {
            Value::Integer(integer) => Some(*integer),
            Value::Raw(text) => text.replace('_', "").parse().ok(),
            _ => None,
        };
        let integer = integer.and_then(|integer| T::try_from(integer).ok());
        match integer.filter(|integer| *integer >= self.low && self.high.as_ref().is_none_or(|high| integer <= high)) {
            Some(integer) => Ok(integer),
            None => misfit(node),
        }
    }

    fn toml(&self, value: &T) -> String {
        value.to_string()
    }
}

/// A finite number; an integer will do.
pub(super) struct Float {
    fits: fn(f64) -> bool,
    range: &'static str,
}

pub(super) const ANY: Float = Float { fits: |_| true, range: "" };
pub(super) const POSITIVE: Float = Float { fits: |x| x > 0.0, range: " above 0" };
pub(super) const NOT_NEGATIVE: Float = Float { fits: |x| x >= 0.0, range: " of at least 0" };
pub(super) const SHARE: Float = Float { fits: |x| x > 0.0 && x < 1.0, range: " above 0 and below 1" };
pub(super) const DECAY: Float = Float { fits: |x| (0.0..1.0).contains(&x), range: " of at least 0 and below 1" };

impl Kind for Float {
    type Value = f64;

    fn wanted(&self) -> String {
        format!("a number{}", self.range)
    }

    fn read<'a>(&self, node: &'a Node) -> Result<f64, Misfit<'a>> {
        let number = match &node.value {
            Value::Float(float) => Some(*float),
            Value::Integer(integer) => Some(*integer as f64),
            Value::Raw(text) => text.replace('_', "").parse().ok(),
            _ => None,
        };
        match number.filter(|number| number.is_finite() && (self.fits)(*number)) {
            Some(number) => Ok(number),
            None => misfit(node),
        }
    }

    fn toml(&self, value: &f64) -> String {
        format!("{value:?}")
    }
}

/// A string that is not empty, and is what it says.
pub(super) struct Text {
    what: &'static str,
    fits: fn(&str) -> bool,
}

pub(super) const TEXT: Text = Text { what: "a string", fits: |text| !text.trim().is_empty() };

impl Text {
    pub(super) const fn like(what: &'static str, fits: fn(&str) -> bool) -> Self {
        Self { what, fits }
    }
}

impl Kind for Text {
    type Value = String;

    fn wanted(&self) -> String {
        self.what.to_owned()
    }

    fn read<'a>(&self, node: &'a Node) -> Result<String, Misfit<'a>> {
        let text = match &node.value {
            Value::Text(text) => Some(text.as_str()),
            Value::Raw(text) => Some(raw::unquoted(text)),
            _ => None,
        };
        match text.filter(|text| (self.fits)(text)) {
            Some(text) => Ok(text.to_owned()),
            None => misfit(node),
        }
    }

    fn toml(&self, value: &String) -> String {
        toml::Value::String(value.clone()).to_string()
    }
}

/// One of a few names.
pub(super) struct Choice<T: 'static>(pub &'static [(&'static str, T)]);

impl<T: Copy + PartialEq> Kind for Choice<T> {
    type Value = T;

    fn wanted(&self) -> String {
        one_of(self.0.iter().map(|(name, _)| *name))
    }

    fn read<'a>(&self, node: &'a Node) -> Result<T, Misfit<'a>> {
        let chosen = TEXT.read(node)?;
        match self.0.iter().find(|(name, _)| *name == chosen) {
            Some((_, value)) => Ok(*value),
            None => misfit(node),
        }
    }

    fn toml(&self, value: &T) -> String {
        let name = self.0.iter().find(|(_, known)| known == value).map_or("", |(name, _)| name);
        format!("\"{name}\"")
    }

    fn hint(&self, node: &Node) -> Option<String> {
        let seen = TEXT.read(node).ok()?;
        nearest(&seen, self.0.iter().map(|(name, _)| *name)).map(|name| format!("did you mean `{name}`?"))
    }
}

/// A list, each item of a kind.
pub(super) struct List<K>(pub K);

impl<K: Kind> Kind for List<K> {
    type Value = Vec<K::Value>;

    fn wanted(&self) -> String {
        format!("a list, each item {}", self.0.wanted())
    }

    fn read<'a>(&self, node: &'a Node) -> Result<Self::Value, Misfit<'a>> {
        let Some(items) = node.items() else { return misfit(node) };
        items.iter().map(|item| self.0.read(item).map_err(|item| Misfit::Owned(item.into_owned()))).collect()
    }

    fn toml(&self, value: &Self::Value) -> String {
        format!("[{}]", value.iter().map(|item| self.0.toml(item)).collect::<Vec<_>>().join(", "))
    }
}

/// A list of exactly two.
pub(super) struct Pair<K>(pub K);

impl<K: Kind> Kind for Pair<K> {
    type Value = [K::Value; 2];

    fn wanted(&self) -> String {
        format!("a list of two, each {}", self.0.wanted())
    }

    fn read<'a>(&self, node: &'a Node) -> Result<Self::Value, Misfit<'a>> {
        let Some(items) = node.items() else { return misfit(node) };
        let read = |item| self.0.read(item).map_err(|item: Misfit| Misfit::Owned(item.into_owned()));
        match items.as_slice() {
            [first, second] => Ok([read(first)?, read(second)?]),
            _ => misfit(node),
        }
    }

    fn toml(&self, [first, second]: &Self::Value) -> String {
        format!("[{}, {}]", self.0.toml(first), self.0.toml(second))
    }
}

/// `true`; what else the key may be is `false`, which leaves it out.
pub(super) struct Yes;

impl Kind for Yes {
    type Value = ();

    fn wanted(&self) -> String {
        "`true` or `false`".to_owned()
    }

    fn read<'a>(&self, node: &'a Node) -> Result<(), Misfit<'a>> {
        match &node.value {
            Value::Bool(true) => Ok(()),
            Value::Raw(text) if text == "true" => Ok(()),
            _ => misfit(node),
        }
    }

    fn toml(&self, (): &()) -> String {
        "true".to_owned()
    }
}
