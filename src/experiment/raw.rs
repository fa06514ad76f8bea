//! The text of an override, taken apart without knowing the type it is meant for.
//!
//! Lists and inline tables are split; what stands in them stays text until the key that it sets reads it. So
//! `1e-6`, `2`, `"2"`, `bf16`, `[0.6, 1.0]`, `[Bullet, Blitz]` and `{ peak = 1e-3 }` all mean what the key wants.

use super::source::Place;
use super::tree::{Entry, Node, Table, Value};

/// An override's text as a node: a table where it is one, else raw.
pub(super) fn node(text: &str, place: &Place) -> Node {
    let value = match table(text) {
        Some(fields) => {
            let entry = |(key, value): (&str, &str)| Entry {
                key: unquoted(key).to_owned(),
                place: place.clone(),
                node: node(value, place),
            };
            Value::Table(Table(fields.into_iter().map(entry).collect()))
        }
        None => Value::Raw(text.trim().to_owned()),
    };
    Node { value, place: place.clone() }
}

/// The items of `[a, b]`.
pub(super) fn list(text: &str) -> Option<Vec<&str>> {
    Some(split(text.trim().strip_prefix('[')?.strip_suffix(']')?, ','))
}

/// The fields of `{ a = 1, b = 2 }`.
fn table(text: &str) -> Option<Vec<(&str, &str)>> {
    let fields = split(text.trim().strip_prefix('{')?.strip_suffix('}')?, ',');
    fields.into_iter().map(|field| field.split_once('=').map(|(key, value)| (key.trim(), value.trim()))).collect()
}

/// The segments of `published."legality.rate".value`.
pub(super) fn path(text: &str) -> Vec<String> {
    split(text, '.').into_iter().map(|segment| unquoted(segment).to_owned()).collect()
}

pub(super) fn unquoted(text: &str) -> &str {
    let text = text.trim();
    let within = |quote| text.strip_prefix(quote).and_then(|rest: &str| rest.strip_suffix(quote));
    within('"').or_else(|| within('\'')).unwrap_or(text)
}

/// Splits where no quote or bracket is open; what follows the last separator may be empty and is then dropped.
fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut pieces, mut start, mut depth, mut quote) = (Vec::new(), 0, 0, None);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth -= 1,
            (None, _) if c == separator && depth == 0 => {
                pieces.push(text[start..at].trim());
                start = at + 1;
            }
            (Some(_) | None, _) => (),
        }
    }
    let last = text[start..].trim();
    if !last.is_empty() {
        pieces.push(last);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_and_quotes_hold_their_separators() {
        assert_eq!(list("[ \"a,b\", {x = 1, y = 2}, [1,2], ]"), Some(vec!["\"a,b\"", "{x = 1, y = 2}", "[1,2]"]));
        assert_eq!(list("[]"), Some(vec![]));
        assert_eq!(list("1,2"), None);
        assert_eq!(path("published.\"legality.rate\".value"), ["published", "legality.rate", "value"]);
        assert_eq!(table("{ peak = 1e-3 }"), Some(vec![("peak", "1e-3")]));
    }
}
