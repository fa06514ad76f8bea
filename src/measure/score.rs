//! What an evaluation leaves: values with their intervals, and the protocol that made them. No libtorch here.
//!
//! A [`Value`] has no fields to leave out: its sample size, interval and method stand beside the number, in
//! memory and on disk. Two scores are comparable where their protocols have one fingerprint.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::stats::cluster::{self, Cluster};
use crate::stats::{Estimate, mean, survival, wilson};
use crate::text::thousands;

/// One metric of one checkpoint, as in `score.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Score {
    pub metric: String,
    /// Of the metric, raised when it would measure something else.
    pub version: u32,
    pub checkpoint: MeasuredCheckpoint,
    pub protocol: Protocol,
    pub fingerprint: String,
    pub values: Vec<Value>,
    /// How often what happened, such as the kinds of illegal tokens.
    pub counts: BTreeMap<String, u64>,
}

/// The weights that were measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasuredCheckpoint {
    /// As asked for: `best`, `last` or `step-00000500`; or `imported`, at step 0.
    pub name: String,
    pub step: u64,
    /// Training tokens seen by then.
    pub tokens: u64,
}

/// A number that says how sure it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Value {
    /// Within its metric, such as `castling.legal`.
    pub name: String,
    /// The part of the sample it is about; empty for all of it.
    pub slice: String,
    pub value: f64,
    /// The observations behind it, at least one.
    pub n: u64,
    /// The bounds of the interval that `method` names.
    pub low: f64,
    pub high: f64,
    pub method: String,
}

/// What decides a number besides the weights: nothing that varies between runs of one protocol is here, such
/// as the checkpoint, the device, threads, the size of batches, or how many positions were drawn (the first
/// thousand of two thousand positions are the thousand).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Protocol {
    pub metric: String,
    pub version: u32,
    /// BLAKE3 of what it was measured on, in hexadecimal: the validation tokens, or what else a metric compares with.
    pub data: String,
    /// How positions or games are drawn, in words.
    pub positions: String,
    /// Of sampling; none where the metric does not sample.
    pub temperature: Option<f64>,
    /// Whether illegal moves were masked away. Such a number says nothing about what was learned.
    pub masked: bool,
    /// Most tokens the model is shown.
    pub context: u32,
    /// Of the forward pass.
    pub precision: String,
    pub seed: u64,
}

impl Protocol {
    /// Sixteen hexadecimal digits of BLAKE3 over the fields in sorted order: equal for equal protocols only.
    pub fn fingerprint(&self) -> String {
        let json = serde_json::to_value(self).expect("a protocol is plain JSON");
        // Sorted here, whatever order serde_json keeps; every field is a scalar, so one level is all.
        let fields: BTreeMap<_, _> = json.as_object().into_iter().flatten().collect();
        let canonical = serde_json::to_vec(&fields).expect("a protocol is plain JSON");
        blake3::hash(&canonical).to_hex()[..16].to_owned()
    }
}

impl Value {
    /// A share of `total` with its Wilson interval; none where nothing was observed.
    pub fn share(name: &str, successes: u64, total: u64) -> Option<Self> {
        wilson::share(successes, total).map(|estimate| Self::of(name, estimate, wilson::METHOD))
    }

    /// A mean with Student's interval within `support`; none for an empty sample.
    pub fn mean(name: &str, sample: &[f64], support: &RangeInclusive<f64>) -> Option<Self> {
        mean::mean(sample, support).map(|estimate| Self::of(name, estimate, mean::METHOD))
    }

    /// The smallest of a sample. What it was drawn from reaches at least so low: the bounds are certain.
    pub fn smallest(name: &str, sample: &[f64], support: &RangeInclusive<f64>) -> Option<Self> {
        let value = sample.iter().copied().reduce(f64::min)?;
        let estimate = Estimate { value, low: *support.start(), high: value, n: sample.len() as u64 };
        Some(Self::of(name, estimate, "smallest seen"))
    }

    /// The largest of a sample, likewise.
    pub fn largest(name: &str, sample: &[f64], support: &RangeInclusive<f64>) -> Option<Self> {
        let value = sample.iter().copied().reduce(f64::max)?;
        let estimate = Estimate { value, low: value, high: *support.end(), n: sample.len() as u64 };
        Some(Self::of(name, estimate, "largest seen"))
    }

    /// A share of items that come in clusters; none where nothing was observed.
    pub fn clustered_share(name: &str, clusters: &[Cluster]) -> Option<Self> {
        cluster::share(clusters).map(|estimate| Self::of(name, estimate, cluster::METHOD))
    }

    /// A mean over items that come in clusters, within `support`; none for an empty sample.
    pub fn clustered_mean(name: &str, clusters: &[Cluster], support: &RangeInclusive<f64>) -> Option<Self> {
        cluster::mean(clusters, support).map(|estimate| Self::of(name, estimate, cluster::METHOD))
    }

    /// The same value, as that of a part of the sample.
    #[must_use]
    pub fn in_slice(self, slice: &str) -> Self {
        Self { slice: slice.to_owned(), ..self }
    }

    /// An estimate, and how its interval was made.
    pub(super) fn of(name: &str, estimate: Estimate, method: &str) -> Self {
        let Estimate { value, low, high, n } = estimate;
        Self { name: name.to_owned(), slice: String::new(), value, n, low, high, method: method.to_owned() }
    }
}

impl fmt::Display for Value {
    /// `rate 97.86 % [97.65, 98.05], n = 20,000`; shares as percentages, with their slice in brackets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, slice, value, n, low, high, method } = self;
        let is_share = [wilson::METHOD, cluster::METHOD, survival::METHOD].contains(&method.as_str());
        let (scale, unit) = if is_share { (100.0, " %") } else { (1.0, "") };
        // A mean of probabilities has no unit, and nothing before its point.
        let decimals = if !is_share && high.abs() <= 1.0 { 4 } else { 2 };
        let slice = if slice.is_empty() { String::new() } else { format!(" ({slice})") };
        write!(
            f,
            "{name}{slice} {:.decimals$}{unit} [{:.decimals$}, {:.decimals$}], n = {}",
            value * scale,
            low * scale,
            high * scale,
            thousands(*n)
        )
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value as Json, json};

    use super::*;

    fn protocol() -> Protocol {
        Protocol {
            metric: "legality".into(),
            version: 1,
            data: "9f2c".into(),
            positions: "random".into(),
            temperature: Some(1.0),
            masked: false,
            context: 256,
            precision: "f32".into(),
            seed: 7,
        }
    }

    #[test]
    fn changing_any_field_of_a_protocol_changes_its_fingerprint() {
        let base = serde_json::to_value(protocol()).expect("plain JSON");
        let mut prints = BTreeSet::from([protocol().fingerprint()]);
        let fields = base.as_object().expect("an object");
        for (name, value) in fields {
            let mut changed = fields.clone();
            let other = match value {
                Json::String(text) => json!(format!("{text}x")),
                Json::Bool(yes) => json!(!yes),
                Json::Number(number) if number.is_u64() => json!(number.as_u64().expect("asked above") + 1),
                Json::Number(_) => json!(0.5),
                other => panic!("`{name}` is {other}"),
            };
            changed.insert(name.clone(), other);
            let changed: Protocol = serde_json::from_value(changed.into()).expect("the same types");
            assert!(prints.insert(changed.fingerprint()), "`{name}` is not in the fingerprint");
        }
        assert!(prints.insert(Protocol { temperature: None, ..protocol() }.fingerprint()));
        assert_eq!(prints.len(), fields.len() + 2);
    }

    #[test]
    fn the_order_of_fields_does_not_matter_and_the_fingerprint_is_pinned() {
        let backwards = r#"{"seed":7,"precision":"f32","context":256,"masked":false,"temperature":1,"positions":"random","data":"9f2c","version":1,"metric":"legality"}"#;
        let backwards: Protocol = serde_json::from_str(backwards).expect("a protocol");
        assert_eq!(backwards.fingerprint(), protocol().fingerprint());
        assert_eq!(protocol().fingerprint(), "9582b1b1693a800f");
    }

    #[test]
    fn a_value_without_its_sample_size_interval_or_method_is_refused() {
        let whole = serde_json::to_value(Value::share("rate", 3, 4).expect("a sample")).expect("plain JSON");
        for name in ["n", "low", "high", "method", "value", "name", "slice"] {
            let mut fields = whole.as_object().expect("an object").clone();
            fields.remove(name).expect("the field is there");
            assert!(serde_json::from_value::<Value>(fields.into()).is_err(), "without `{name}`");
        }
        assert!(serde_json::from_value::<Value>(whole).is_ok());
    }

    #[test]
    fn an_empty_sample_has_no_value() {
        let unit = 0.0..=1.0;
        assert_eq!(Value::share("rate", 0, 0), None);
        assert_eq!(Value::mean("mass", &[], &unit), None);
        assert_eq!(Value::smallest("mass_min", &[], &unit), None);
        assert_eq!(Value::largest("mass_max", &[], &unit), None);
    }

    #[test]
    fn an_extreme_is_bounded_on_the_side_that_is_certain() {
        let sample = [0.5, 0.25, 0.75];
        let smallest = Value::smallest("mass_min", &sample, &(0.0..=1.0)).expect("a sample");
        assert_eq!((smallest.low, smallest.value, smallest.high, smallest.n), (0.0, 0.25, 0.25, 3));
        let largest = Value::largest("mass_max", &sample, &(0.0..=1.0)).expect("a sample");
        assert_eq!((largest.low, largest.value, largest.high, largest.n), (0.75, 0.75, 1.0, 3));
    }
}
