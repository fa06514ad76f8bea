//! Published figures beside what was measured here, each with a verdict by a rule that is written on the page.

use super::results::{Point, Run};
use super::words;
use crate::experiment::Published;
use crate::measure::score::Value;
use crate::stats::wilson;
use crate::text::{number_within, percent, percent_within, significant, temperature, thousands};

pub(crate) const RULE: &str = "Agrees: the 95 % intervals overlap. Differs: they do not. Inconclusive: they overlap, but the one measured here \
     is more than four times as wide as the published one. A published share without an interval gets Wilson's from its n (a mean of probabilities too, of which it is \
     the widest); anything else without one is taken as exact. Sampled figures are compared at T = 1.0 unless the name says otherwise, and counts must be equal. There is no verdict \
     where there is no interval, or where the experiment was changed on the command line.";

/// Ours may be so many times as wide as theirs before an overlap says nothing.
const WIDEST: f64 = 4.0;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    Agrees,
    Differs,
    Inconclusive,
    NotComparable(String),
    NotMeasured,
}

/// A line of the table.
pub(crate) struct Compared {
    pub(crate) label: String,
    /// In the experiment, with its temperature.
    pub(crate) name: String,
    /// What was measured, and its interval where it has one.
    pub(crate) here: Option<[Option<f64>; 3]>,
    pub(crate) there: Published,
    pub(crate) measured: String,
    pub(crate) n: Option<u64>,
    pub(crate) published: String,
    pub(crate) published_n: Option<u64>,
    pub(crate) verdict: Verdict,
}

/// What was measured here under a published name.
enum Here {
    Estimated {
        value: Value,
        share: bool,
        temperature: Option<f64>,
    },
    Counted(u64),
    /// A number without an interval, such as the loss of one training.
    Single(f64),
}

impl Here {
    /// The value, and its bounds where it has any.
    fn numbers(&self) -> [Option<f64>; 3] {
        match self {
            Self::Estimated { value, .. } => [Some(value.value), Some(value.low), Some(value.high)],
            Self::Counted(count) => [Some(*count as f64), None, None],
            Self::Single(value) => [Some(*value), None, None],
        }
    }
}

impl Verdict {
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Agrees => "agrees".to_owned(),
            Self::Differs => "differs".to_owned(),
            Self::Inconclusive => "inconclusive".to_owned(),
            Self::NotComparable(why) => format!("not comparable: {why}"),
            Self::NotMeasured => "not measured here".to_owned(),
        }
    }
}

pub(crate) fn compare(run: &Run, point: &Point) -> Vec<Compared> {
    let changed = changed(run);
    point.experiment.published.iter().map(|(name, published)| one(name, published, point, &changed)).collect()
}

fn one(name: &str, published: &Published, point: &Point, changed: &[String]) -> Compared {
    let (base, wanted) = split(name);
    let here = here(point, base, wanted);
    let (metric, value_name) = base.split_once('.').unwrap_or((base, ""));
    let share =
        matches!(&here, Some(Here::Estimated { share: true, .. })) || here.is_none() && (0.0..=1.0).contains(&published.value);
    let verdict = match &here {
        None => Verdict::NotMeasured,
        Some(_) if !changed.is_empty() => Verdict::NotComparable(format!("changed by --set {}", changed.join(", "))),
        Some(Here::Single(_)) => Verdict::NotComparable("one training, no interval".to_owned()),
        Some(Here::Counted(count)) if (*count as f64 - published.value).abs() < 0.5 => Verdict::Agrees,
        Some(Here::Counted(_)) => Verdict::Differs,
        Some(Here::Estimated { temperature: Some(seen), .. }) if (seen - wanted).abs() > 1e-9 => {
            Verdict::NotComparable(format!("published at T = {}, measured at T = {}", temperature(wanted), temperature(*seen)))
        }
        Some(Here::Estimated { value, share, .. }) => judge(value, published, *share),
    };
    let sampled =
        if words::is_sampled(metric, value_name) { words::at(Some(wanted)).replace(" at ", ", ") } else { String::new() };
    Compared {
        name: name.to_owned(),
        here: here.as_ref().map(Here::numbers),
        there: *published,
        label: words::figure(metric, value_name) + &sampled,
        measured: match &here {
            None => "–".to_owned(),
            Some(Here::Estimated { value, .. }) => words::within(metric, value),
            Some(Here::Counted(count)) => thousands(*count),
            Some(Here::Single(value)) => significant(*value, 5),
        },
        n: match &here {
            Some(Here::Estimated { value, .. }) => Some(value.n),
            _ => None,
        },
        published: match (share, &here) {
            (_, Some(Here::Counted(_))) => thousands(published.value as u64),
            (_, Some(Here::Single(_))) => significant(published.value, 5),
            (true, _) if published.low.is_none() => percent(published.value, 2),
            (true, _) => percent_within(published.value, published.low, published.high),
            (false, _) => number_within(published.value, published.low, published.high),
        },
        published_n: published.n,
        verdict,
    }
}

/// `full_games.clean@0.6` is a figure and a temperature; 1.0 where it is left out.
fn split(name: &str) -> (&str, f64) {
    let (base, temperature) = name.split_once('@').unwrap_or((name, "1.0"));
    (base, temperature.trim_start_matches("T=").parse().unwrap_or(1.0))
}

fn here(point: &Point, name: &str, temperature: f64) -> Option<Here> {
    let (group, rest) = name.split_once('.')?;
    let corpus = point.corpus();
    let training = point.training.as_ref();
    Some(match (group, rest) {
        ("loss", "train") => Here::Single(training?.final_loss()?),
        ("loss", "validation") => Here::Single(training?.validation.last()?.loss),
        ("model", "parameters") => Here::Counted(point.experiment.model.parameters()),
        ("model", "flops_per_token") => Here::Counted(point.experiment.model.flops_per_token()),
        ("tokens", "train") => Here::Counted(point.encoded?.train_tokens),
        ("tokens", "validation") => Here::Counted(point.encoded?.validation_tokens),
        ("corpus", "read") => Here::Counted(corpus?.read),
        ("corpus", "kept") => Here::Counted(corpus?.kept),
        ("corpus", reason) => Here::Counted(corpus?.rejected.iter().find(|(name, _)| name == reason)?.1),
        (metric, value) => {
            let scores = point.finals(metric);
            let near =
                |score: &&&super::results::Measured| score.temperature().is_none_or(|seen| (seen - temperature).abs() < 1e-9);
            let score = scores.iter().find(near).or(scores.first())?;
            let value = score.value(value)?.clone();
            let share = words::is_share(metric, &value.name);
            let temperature = score.temperature().filter(|_| words::is_sampled(metric, &value.name));
            Here::Estimated { value, share, temperature }
        }
    })
}

fn judge(ours: &Value, published: &Published, share: bool) -> Verdict {
    let (low, high) = match (published.low, published.high, published.n) {
        (Some(low), Some(high), _) => (low, high),
        (_, _, Some(n)) if share && (0.0..=1.0).contains(&published.value) => {
            let successes = (published.value * n as f64).round() as u64;
            wilson::share(successes, n).map_or((published.value, published.value), |estimate| (estimate.low, estimate.high))
        }
        _ => (published.value, published.value),
    };
    if ours.low > high || ours.high < low {
        return Verdict::Differs;
    }
    if high > low && ours.high - ours.low > WIDEST * (high - low) { Verdict::Inconclusive } else { Verdict::Agrees }
}

/// The settings of the experiment that the command line changed: it is no longer the one that was published.
pub(crate) fn changed(run: &Run) -> Vec<String> {
    set_by(run).into_iter().filter(|setting| is_science(setting)).collect()
}

/// The settings of the command line that decide no result.
pub(crate) fn of_machine(run: &Run) -> Vec<String> {
    set_by(run).into_iter().filter(|setting| !is_science(setting)).collect()
}

fn is_science(setting: &str) -> bool {
    // A whole table may be set too: `model={width = 64}`.
    let table = setting.split(['.', '=', '[', ' ']).next().unwrap_or_default();
    ["corpus", "model", "train", "gates", "measure", "arena", "sweep", "seed"].contains(&table)
}

/// The published figure of a name at a temperature, as it is written beside what was measured.
pub(crate) fn shown(point: &Point, name: &str, temperature: Option<f64>) -> Option<String> {
    let fits = |known: &&String| {
        let (base, wanted) = split(known);
        base == name && temperature.is_none_or(|seen| (seen - wanted).abs() < 1e-9)
    };
    let name = point.experiment.published.keys().find(fits)?;
    Some(one(name, &point.experiment.published[name], point, &[]).published)
}

/// All settings that the command line made, as they were written.
fn set_by(run: &Run) -> Vec<String> {
    let words: Vec<String> = match &run.command {
        serde_json::Value::String(line) => words_of(line),
        serde_json::Value::Array(words) => words.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect(),
        _ => Vec::new(),
    };
    let settings = words.iter().enumerate().filter_map(|(i, word)| {
        let before = i.checked_sub(1).map(|i| words[i].as_str());
        match word.strip_prefix("--set=").or_else(|| word.strip_prefix("-S")) {
            Some(setting) if !setting.is_empty() => Some(setting),
            _ if matches!(before, Some("--set" | "-S")) => Some(word.as_str()),
            _ => None,
        }
    });
    settings.map(str::to_owned).collect()
}

/// A command line in words, as a shell splits it: blanks within quotes belong to the word.
fn words_of(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            (_, Some(open)) if letter == open => quote = None,
            ('\'' | '"', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            ('\\', None) => word.get_or_insert_default().extend(letters.next()),
            (_, None) if letter.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(successes: u64, n: u64, published: Published) -> Verdict {
        judge(&Value::share("rate", successes, n).expect("a sample"), &published, true)
    }

    #[test]
    fn verdicts_follow_the_rule_that_is_written_on_the_page() {
        let exact = Published { value: 0.9786, low: None, high: None, n: None };
        let with_interval = Published { low: Some(0.9765), high: Some(0.9805), ..exact };
        let with_n = Published { n: Some(20_000), ..exact };
        for published in [exact, with_interval, with_n] {
            assert_eq!(judged(19_570, 20_000, published), Verdict::Agrees);
            assert_eq!(judged(19_000, 20_000, published), Verdict::Differs);
        }
        // A hundred positions overlap with nearly everything.
        assert_eq!(judged(98, 100, with_interval), Verdict::Inconclusive);
        assert_eq!(judged(98, 100, with_n), Verdict::Inconclusive);
    }

    #[test]
    fn settings_of_the_command_line_are_found_however_they_are_written() {
        let changed_by = |command: serde_json::Value| changed(&Run { command, ..Run::default() });
        assert_eq!(
            changed_by("philidor run run1.toml -S train.steps=10 --set=model.width=64".into()),
            ["train.steps=10", "model.width=64"]
        );
        assert_eq!(
            changed_by(serde_json::json!(["philidor", "run", "x.toml", "--set", "device=cpu", "--set", "corpus.moves=5"])),
            ["corpus.moves=5"]
        );
        assert_eq!(
            changed_by(serde_json::json!(["philidor", "run", "x.toml", "-Smodel={width = 64}", "-S", "machine.device=cpu"])),
            ["model={width = 64}"]
        );
        // A table in quotes stays whole, and so does a quote within it.
        let table = r"philidor run x.toml -S 'measure.final.probe={ positions = 4000, test = 2000 }' -S 'corpus.files=[it'\''s.pgn]' --until train";
        assert_eq!(
            changed_by(table.into()),
            ["measure.final.probe={ positions = 4000, test = 2000 }", "corpus.files=[it's.pgn]"]
        );
        assert!(changed_by(serde_json::Value::Null).is_empty());
    }

    #[test]
    fn a_name_may_carry_its_temperature() {
        assert_eq!(split("full_games.clean@0.6"), ("full_games.clean", 0.6));
        assert_eq!(split("legality.rate"), ("legality.rate", 1.0));
    }
}
