//! What was measured on both sides, and by no protocol that they share: it is neither subtracted nor ranked.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use crate::measure::score::Protocol;

use super::line::Line;

/// A metric that two subjects have, each by a protocol of its own.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unlike {
    pub metric: String,
    /// The columns, counted from 0.
    pub subjects: [usize; 2],
    /// What differs between the two protocols that are nearest to each other.
    pub fields: Vec<Differs>,
}

/// A field of a protocol, and its two values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Differs {
    pub field: String,
    pub values: [Value; 2],
}

/// Every pair of the first subject and another that have a metric in common, and no protocol of it.
pub(crate) fn unlike(lines: &[Line], subjects: usize) -> Vec<Unlike> {
    let mut all = Vec::new();
    let metrics: BTreeSet<&str> = lines.iter().map(|line| line.metric).collect();
    for metric in metrics {
        let of = |subject: usize| -> Vec<&Protocol> {
            let mine = lines.iter().filter(|line| line.metric == metric && line.cells[subject].is_some());
            mine.fold(Vec::new(), |mut known, line| {
                if !known.contains(&line.protocol) {
                    known.push(line.protocol);
                }
                known
            })
        };
        let first = of(0);
        for other in 1..subjects {
            let second = of(other);
            let pairs = first.iter().flat_map(|a| second.iter().map(move |b| differing(a, b)));
            // None where a side has it not at all; an empty one where they share a protocol.
            let nearest = pairs.min_by_key(Vec::len);
            if let Some(fields) = nearest.filter(|fields| !fields.is_empty()) {
                all.push(Unlike { metric: metric.to_owned(), subjects: [0, other], fields });
            }
        }
    }
    all
}

fn differing(a: &Protocol, b: &Protocol) -> Vec<Differs> {
    let [a, b] = [a, b].map(|protocol| serde_json::to_value(protocol).expect("a protocol is plain JSON"));
    let (Value::Object(a), Value::Object(b)) = (a, b) else { return Vec::new() };
    let differs = |(field, value): (String, Value)| {
        let other = b.get(&field).cloned().unwrap_or_default();
        (other != value).then_some(Differs { field, values: [value, other] })
    };
    a.into_iter().filter_map(differs).collect()
}

impl Differs {
    /// `temperature: 1.0 and 0.6`; digests are cut short.
    pub(crate) fn words(&self) -> String {
        let word = |value: &Value| match value {
            Value::String(text) if text.len() == 64 => format!("{}…", &text[..12]),
            Value::String(text) => format!("“{text}”"),
            Value::Null => "none".to_owned(),
            other => other.to_string(),
        };
        format!("{}: {} and {}", self.field, word(&self.values[0]), word(&self.values[1]))
    }
}
