//! What varies between the settings of a sweep, and where each of them lies on it.

use std::collections::BTreeSet;

use crate::report::compare::Subject;
use crate::report::results::name_settings;
use crate::text::{si, significant};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Of the model, without the embedding.
    Parameters,
    /// That the training saw.
    Tokens,
    /// A setting, by the name that the sweep gives it.
    Setting(String),
}

pub(crate) struct Axis {
    pub(crate) kind: Kind,
    /// One a setting of the sweep, as it is written.
    pub(crate) texts: Vec<String>,
    /// One a setting; none where not all are numbers.
    pub(crate) numbers: Option<Vec<f64>>,
}

/// Settings that decide how large a model is, and how many tokens it sees.
const SIZE: [&str; 4] = ["layers", "width", "heads", "hidden"];
const LENGTH: [&str; 5] = ["steps", "epochs", "batch", "accumulate", "context"];

pub(super) fn axes(settings: &[Subject], tokens: &[Option<u64>]) -> Vec<Axis> {
    let parameters: Vec<u64> = settings.iter().map(|setting| setting.first().experiment.model.parameters()).collect();
    let size = Axis::counts(Kind::Parameters, &parameters);
    let length = tokens.iter().copied().collect::<Option<Vec<_>>>().map(|tokens| Axis::counts(Kind::Tokens, &tokens));
    let numbered: Vec<Axis> = [Some(size), length].into_iter().flatten().filter(Axis::varies).collect();
    let stands_for = |key: &str| {
        let last = key.rsplit('.').next().unwrap_or(key);
        let of = |kind: &Kind| numbered.iter().any(|axis| axis.kind == *kind);
        SIZE.contains(&last) && of(&Kind::Parameters) || LENGTH.contains(&last) && of(&Kind::Tokens) || last == "seed"
    };
    let named = named(settings).into_iter().filter(|axis| match &axis.kind {
        Kind::Setting(key) => !stands_for(key) && axis.varies(),
        _ => true,
    });
    let named: Vec<Axis> = named.collect();
    let mut kept: Vec<Axis> = Vec::new();
    for axis in numbered.into_iter().chain(named) {
        if !axis.follows_from(&kept) {
            kept.push(axis);
        }
    }
    kept
}

/// The settings that the points are named by.
fn named(settings: &[Subject]) -> Vec<Axis> {
    let titles: Vec<Vec<(String, String)>> = settings
        .iter()
        .map(|setting| {
            let parts = name_settings(setting.first().title()).into_iter();
            parts.filter_map(|part| part.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()))).collect()
        })
        .collect();
    let mut keys: Vec<&String> = Vec::new();
    for (key, _) in titles.iter().flatten() {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let of = |key: &&String| {
        let text = |title: &Vec<(String, String)>| {
            title.iter().find(|(known, _)| known == *key).map_or_else(|| "–".to_owned(), |(_, value)| value.clone())
        };
        Axis::setting(key, titles.iter().map(text).collect())
    };
    keys.iter().map(of).collect()
}

impl Axis {
    fn counts(kind: Kind, counts: &[u64]) -> Self {
        let numbers: Vec<f64> = counts.iter().map(|count| *count as f64).collect();
        Self { kind, texts: numbers.iter().map(|count| si(*count)).collect(), numbers: Some(numbers) }
    }

    fn setting(key: &str, texts: Vec<String>) -> Self {
        let number = |text: &String| text.replace('_', "").parse::<f64>().ok().filter(|number| number.is_finite());
        let numbers = texts.iter().map(number).collect();
        Self { kind: Kind::Setting(key.to_owned()), texts, numbers }
    }

    /// What the axis of a chart is called.
    pub(crate) fn label(&self) -> String {
        match &self.kind {
            Kind::Parameters => "parameters".to_owned(),
            Kind::Tokens => "training tokens".to_owned(),
            Kind::Setting(key) => key.replace('_', " "),
        }
    }

    /// Whether a sampling temperature varies: every value of it is another protocol.
    pub(crate) fn is_temperature(&self) -> bool {
        matches!(&self.kind, Kind::Setting(key) if key.ends_with("temperature") || key.ends_with("temperatures"))
    }

    fn varies(&self) -> bool {
        match (&self.kind, &self.numbers) {
            // A last step more or less is no other budget.
            (Kind::Tokens, Some(numbers)) => {
                let (low, high) = ends(numbers);
                low > 0.0 && high / low > 1.0 + super::WITHIN
            }
            _ => self.texts.iter().collect::<BTreeSet<_>>().len() > 1,
        }
    }

    /// Whether settings that are equal on `others` never differ on it.
    fn follows_from(&self, others: &[Self]) -> bool {
        let same = |a: usize, b: usize| others.iter().all(|other| other.texts[a] == other.texts[b]);
        let settings = 0..self.texts.len();
        !others.is_empty() && settings.clone().all(|a| settings.clone().all(|b| !same(a, b) || self.texts[a] == self.texts[b]))
    }

    /// Whether equal factors should be equally long.
    pub(crate) fn is_logarithmic(&self) -> bool {
        self.numbers.as_ref().is_some_and(|numbers| {
            let (low, high) = ends(numbers);
            low > 0.0 && (high / low > 8.0 || !matches!(self.kind, Kind::Setting(_)))
        })
    }

    /// The places of settings along it, smallest first; none where it is no axis of numbers.
    pub(crate) fn ascending(&self) -> Option<Vec<usize>> {
        let numbers = self.numbers.as_ref()?;
        let mut order: Vec<usize> = (0..numbers.len()).collect();
        order.sort_by(|a, b| numbers[*a].total_cmp(&numbers[*b]));
        Some(order)
    }
}

fn ends(numbers: &[f64]) -> (f64, f64) {
    numbers.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| (low.min(*at), high.max(*at)))
}

/// A place on an axis, as it is read.
pub(crate) fn written(number: f64) -> String {
    if number != 0.0 && number.abs() < 1e-2 {
        format!("{number:e}")
    } else if number < 1e3 {
        significant(number, 4)
    } else {
        si(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(key: &str, texts: &[&str]) -> Axis {
        Axis::setting(key, texts.iter().map(|text| (*text).to_owned()).collect())
    }

    #[test]
    fn what_goes_with_another_setting_is_no_axis_of_its_own() {
        let width = texts("width", &["32", "64", "32"]);
        assert!(texts("peak", &["3e-3", "1e-3", "3e-3"]).follows_from(std::slice::from_ref(&width)));
        assert!(!texts("peak", &["3e-3", "1e-3", "2e-3"]).follows_from(&[width]));
    }

    #[test]
    fn numbers_are_read_as_they_are_written_and_words_are_none() {
        assert_eq!(texts("peak", &["3e-3", "0.001"]).numbers, Some(vec![3e-3, 1e-3]));
        assert_eq!(texts("steps", &["1_000", "200"]).ascending(), Some(vec![1, 0]));
        assert!(texts("precision", &["bf16", "f32"]).numbers.is_none());
        assert!(texts("peak", &["1e-4", "1e-2"]).is_logarithmic() && !texts("dropout", &["0", "0.5"]).is_logarithmic());
        assert_eq!([3e-4, 0.5, 51_397_120.0].map(written), ["3e-4", "0.5", "51.4 M"]);
    }
}
