//! What differs between the experiments, setting by setting, under the names of the file that asked.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use super::subject::{Subject, asked};

/// What was asked otherwise of one than of another.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Settings {
    /// Those that somebody set; all that there are, where that is wanted.
    pub shown: Vec<Setting>,
    /// How many more differ because those do.
    pub following: usize,
}

/// A setting that not all subjects have alike.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Setting {
    /// Such as `train.learning_rate.peak`.
    pub key: String,
    /// One a subject; none where it has no such setting. The seeds of several trainings are listed.
    pub values: Vec<Option<String>>,
}

type Flat = BTreeMap<String, String>;

/// The settings that differ; all of them where `all`.
pub(crate) fn settings(subjects: &[Subject], all: bool) -> Settings {
    of_all(&subjects.iter().map(of_subject).collect::<Vec<_>>(), all)
}

fn of_all(flat: &[Flat], all: bool) -> Settings {
    let keys: BTreeSet<&String> = flat.iter().flat_map(BTreeMap::keys).collect();
    let every = keys
        .into_iter()
        .map(|key| Setting { key: key.clone(), values: flat.iter().map(|settings| settings.get(key).cloned()).collect() });
    if all {
        return Settings { shown: every.collect(), following: 0 };
    }
    let mut settings = Settings::default();
    for setting in every.filter(|setting| setting.values.iter().any(|value| *value != setting.values[0])) {
        let set = set_by(setting, flat);
        if settings.shown.contains(&set) {
            settings.following += 1;
        } else {
            settings.shown.push(set);
        }
    }
    settings
}

/// The setting that makes this one differ: what not all have, such as a metric or a gate, brings all its settings, and one seed of
/// all measurements that of each.
fn set_by(setting: Setting, flat: &[Flat]) -> Setting {
    if let Some(group) = group_of(&setting.key) {
        let below = format!("{group}.");
        let asks = |settings: &Flat| {
            let mut its = settings.iter().filter(|(key, _)| key.starts_with(&below)).peekable();
            its.peek()?;
            let many = its.find_map(|(key, value)| {
                let unit = key.rsplit('.').next().filter(|unit| ["positions", "games", "puzzles"].contains(unit))?;
                Some(format!("{value} {unit}"))
            });
            Some(many.unwrap_or_else(|| "yes".to_owned()))
        };
        let values: Vec<Option<String>> = flat.iter().map(asks).collect();
        if values.iter().any(Option::is_none) {
            return Setting { key: group.to_owned(), values };
        }
        if group.starts_with("measure.") && setting.key.rsplit('.').next() == Some("seed") {
            return Setting { key: "measure.seed".to_owned(), ..setting };
        }
    }
    setting
}

/// `measure.final.legality@1` of `measure.final.legality@1.seed`: the last part is the setting.
fn group_of(key: &str) -> Option<&str> {
    let (group, _) = key.rsplit_once('.')?;
    let of = ["measure.final.", "measure.snapshots.", "gates.", "train.ema", "train.spikes"];
    of.iter().any(|place| group.starts_with(place)).then_some(group)
}

fn of_subject(subject: &Subject) -> Flat {
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
fn flatten(path: &str, value: &Value, into: &mut Flat) {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| flatten(&below(name), value, into)),
        Value::Array(items) if ["measure.last", "measure.snapshots"].contains(&path) => {
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
        Value::String(text) if text.is_empty() => "none".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.iter().all(Value::is_string) => items.iter().map(text).collect::<Vec<_>>().join(", "),
        Value::Array(items) if items.iter().all(Value::is_object) => items.iter().map(source).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// A source of games: its name, and the beginning of its digest.
fn source(source: &Value) -> String {
    let fields = || source.as_object().into_iter().flat_map(serde_json::Map::values);
    let word = |name: &str| fields().find_map(|of| of[name].as_str());
    match (word("name").or(word("month")), word("blake3").or(word("sha256"))) {
        (Some(name), Some(digest)) => format!("{name} ({})", digest.get(..8).unwrap_or(digest)),
        (Some(name), None) => name.to_owned(),
        _ => source.to_string(),
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
    #[test]
    fn what_follows_from_another_setting_is_counted_and_not_listed() {
        let flat =
            |settings: &[(&str, &str)]| settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let one: Flat = flat(&[
            ("measure.final.full-games@0.2.games", "200"),
            ("measure.final.full-games@0.2.seed", "1"),
            ("measure.final.full-games@0.2.temperature", "0.2"),
            ("measure.final.agreement.positions", "100"),
            ("measure.final.agreement.seed", "1"),
            ("measure.final.mass.seed", "1"),
            ("model.width", "64"),
        ]);
        let other: Flat = flat(&[
            ("measure.final.agreement.positions", "200"),
            ("measure.final.agreement.seed", "2"),
            ("measure.final.mass.seed", "2"),
            ("model.width", "64"),
        ]);
        let settings = of_all(&[one.clone(), other.clone()], false);
        let shown: Vec<String> = settings
            .shown
            .iter()
            .map(|setting| {
                let values = setting.values.iter().map(|value| value.clone().unwrap_or_else(|| "–".to_owned()));
                format!("{}: {}", setting.key, values.collect::<Vec<_>>().join(" | "))
            })
            .collect();
        assert_eq!(
            shown,
            [
                "measure.final.agreement.positions: 100 | 200",
                "measure.seed: 1 | 2",
                "measure.final.full-games@0.2: 200 games | –",
            ]
        );
        assert_eq!(settings.following, 3);
        assert_eq!(of_all(&[one, other], true).shown.len(), 7);
    }
}
