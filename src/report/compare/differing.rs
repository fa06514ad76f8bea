//! What differs between the experiments, setting by setting, under the names of the file that asked.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::subject::{Subject, asked};

/// A setting that not all subjects have alike.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Setting {
    /// Such as `train.learning_rate.peak`.
    pub key: String,
    /// One a subject; none where it has no such setting. The seeds of several trainings are listed.
    pub values: Vec<Option<String>>,
}

/// The settings that differ; all of them where `all`.
pub(crate) fn settings(subjects: &[Subject], all: bool) -> Vec<Setting> {
    let flat: Vec<BTreeMap<String, String>> = subjects.iter().map(of_subject).collect();
    let keys: std::collections::BTreeSet<&String> = flat.iter().flat_map(BTreeMap::keys).collect();
    keys.into_iter()
        .map(|key| Setting { key: key.clone(), values: flat.iter().map(|settings| settings.get(key).cloned()).collect() })
        .filter(|setting| all || setting.values.iter().any(|value| *value != setting.values[0]))
        .collect()
}

fn of_subject(subject: &Subject) -> BTreeMap<String, String> {
    let mut settings = BTreeMap::new();
    flatten("", &asked(&subject.first().experiment), &mut settings);
    if subject.seeds() > 1 {
        let seed = |train: &crate::train::config::TrainConfig| train.seed.to_string();
        let seeds: Vec<String> = subject.members.iter().filter_map(|member| member.point.experiment.train().map(seed)).collect();
        settings.insert("train.seed".to_owned(), seeds.join(", "));
    }
    settings
}

/// `{"a": {"b": 1}}` as `a.b = 1`. A list of metrics is keyed by their names, and by the temperature where one samples.
fn flatten(path: &str, value: &Value, into: &mut BTreeMap<String, String>) {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| flatten(&below(name), value, into)),
        Value::Array(items) if path.starts_with("measure.") => {
            for item in items {
                match item {
                    Value::Object(metric) if metric.len() == 1 => {
                        let (name, with) = metric.iter().next().expect("it has one");
                        let at = with["temperature"].as_f64().map_or_else(String::new, |t| format!("@{t}"));
                        flatten(&below(&format!("{name}{at}")), with, into);
                    }
                    Value::String(name) => drop(into.insert(in_the_file(&below(name)), "yes".to_owned())),
                    other => drop(into.insert(in_the_file(path), text(other))),
                }
            }
        }
        Value::Null => (),
        other => drop(into.insert(in_the_file(path), text(other))),
    }
}

/// The place of a setting in an experiment's file, where that is another than in its resolved form.
fn in_the_file(path: &str) -> String {
    match path.strip_prefix("weights.") {
        Some(rest) => rest.to_owned(),
        None => path.replace("measure.last", "measure.final"),
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_stand_under_the_names_of_the_file() {
        let mut flat = BTreeMap::new();
        let value = json!({
            "model": { "width": 64 },
            "weights": { "train": { "learning_rate": { "peak": 0.001 }, "betas": [0.9, 0.95], "ema": null } },
            "measure": { "last": [{ "full_games": { "games": 5, "temperature": 0.6 } }, "loss"] },
        });
        flatten("", &value, &mut flat);
        let shown: Vec<String> = flat.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        assert_eq!(
            shown,
            [
                "measure.final.full_games@0.6.games = 5",
                "measure.final.full_games@0.6.temperature = 0.6",
                "measure.final.loss = yes",
                "model.width = 64",
                "train.betas = [0.9,0.95]",
                "train.learning_rate.peak = 0.001",
            ]
        );
    }
}
