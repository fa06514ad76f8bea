//! The answer in one paragraph: what the final model does, beside what it did before any training, and where it still
//! fails. A claim is made only where its interval bears it.

use super::names::{lower, share};
use super::{at, training};
use crate::measure::score::Value;
use crate::report::charts::RULES;
use crate::report::results::{Measured, Point};
use crate::stats::Estimate;
use crate::stats::difference::apart;
use crate::text::{plural, thousands};

pub(crate) fn lead(point: &Point) -> Vec<String> {
    let said: Vec<String> = [legal(point), agreement(point), clean(point), worst(point)].into_iter().flatten().collect();
    if said.is_empty() { training::training(point).into_iter().collect() } else { said }
}

/// The score of the model before any training that is measured as this one, but for the size of the sample.
pub(crate) fn untrained<'a>(point: &'a Point, score: &Measured) -> Option<&'a Measured> {
    let alike = |first: &&Measured| {
        first.score.checkpoint.step == 0
            && first.score.checkpoint.name != "imported"
            && first.temperature() == score.temperature()
            && first.score.protocol.masked == score.score.protocol.masked
    };
    point.snapshots(score.metric.name()).into_iter().find(alike)
}

/// The first final score of a metric; a mask answers for the model, so what it gives is no answer.
fn unmasked<'a>(point: &'a Point, metric: &'a str) -> Option<&'a Measured> {
    point.finals(metric).into_iter().next().filter(|score| !score.score.protocol.masked)
}

fn legal(point: &Point) -> Option<String> {
    let score = unmasked(point, "legality")?;
    let rate = score.value("rate")?;
    let moves = thousands(rate.n);
    let sampled = at(score.temperature());
    Some(format!(
        "{} the moves that the model samples{sampled} {} legal: {} of {moves}{}.",
        many(rate),
        if rate.high < 0.05 { "is" } else { "are" },
        share(rate),
        before(point, score, "rate")
    ))
}

/// How many, as far as the interval tells.
fn many(share: &Value) -> &'static str {
    match share {
        Value { low, .. } if *low >= 0.95 => "Nearly all of",
        Value { low, .. } if *low > 0.5 => "Most of",
        Value { high, .. } if *high < 0.05 => "Hardly any of",
        Value { high, .. } if *high < 0.5 => "Fewer than half of",
        _ => "About half of",
    }
}

/// The same figure of the untrained model, and whether the two are apart.
fn before(point: &Point, score: &Measured, name: &str) -> String {
    let Some((first, last)) = untrained(point, score).and_then(|first| Some((first.value(name)?, score.value(name)?))) else {
        return String::new();
    };
    let change = difference(first, last);
    let settled = if change.low > 0.0 || change.high < 0.0 { "" } else { ", and whether the training changed it is not settled" };
    format!("; before any training it was {} of {}{settled}", share(first), thousands(first.n))
}

fn agreement(point: &Point) -> Option<String> {
    let score = unmasked(point, "agreement")?;
    let first = score.value("top1")?;
    Some(format!(
        "Its first choice is the move that was played in {} of {}{}.",
        share(first),
        plural("position", first.n),
        before(point, score, "top1")
    ))
}

fn clean(point: &Point) -> Option<String> {
    let score = unmasked(point, "full_games")?;
    let clean = score.value("clean")?;
    Some(format!(
        "Of {} that it plays against itself{}, {} have no illegal move.",
        plural("full game", clean.n),
        at(score.temperature()),
        share(clean)
    ))
}

/// The rules that it keeps worst: all that the lowest share is not apart from.
fn worst(point: &Point) -> Option<String> {
    let score = unmasked(point, "rules")?;
    let rules: Vec<(&str, &Value)> =
        RULES.iter().filter_map(|(rule, label)| Some((*label, score.value(&format!("{rule}.legal"))?))).collect();
    let (_, lowest) = *rules.iter().min_by(|a, b| a.1.value.total_cmp(&b.1.value))?;
    let open: Vec<_> = rules.iter().filter(|(_, value)| difference(lowest, value).low <= 0.0).collect();
    // Where none stands out there is nothing to tell.
    if open.len() == rules.len() {
        return None;
    }
    let told = |(i, (rule, value)): (usize, &&(&str, &Value))| match i {
        0 => format!("{} (its first choice is legal in {} of {})", place(rule), share(value), plural("position", value.n)),
        _ => format!("{} ({} of {})", place(rule), share(value), thousands(value.n)),
    };
    let list: Vec<_> = open.iter().enumerate().map(told).collect();
    let order = match open.len() {
        1 => "",
        2 => "; which of the two is worse is not settled",
        _ => "; which of these is worst is not settled",
    };
    Some(format!("Of what the rules ask for, it fails most often {}{order}.", list.join(" and ")))
}

/// Where a rule is called for.
fn place(rule: &str) -> String {
    match rule {
        "In check" => "in check".to_owned(),
        other => format!("at {}", lower(other)),
    }
}

pub(super) fn difference(from: &Value, to: &Value) -> Estimate {
    let [from, to] = [from, to].map(|value| Estimate { value: value.value, low: value.low, high: value.high, n: value.n });
    apart(from, to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture::{Fixture, Wish, experiment, write};
    use crate::report::results::Results;

    fn lead_of(change: fn(&str, &str, String) -> String) -> String {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let Fixture { run_dir, store } = write(dir.path(), &[experiment(160)], &Wish { change, ..Wish::default() });
        lead(&Results::load(&run_dir, &store).expect("a run").points[0]).join(" ")
    }

    #[test]
    fn the_lead_answers_first_and_names_the_untrained_model() {
        let said = lead_of(|_, _, content| content);
        assert!(said.starts_with("Nearly all of the moves that the model samples at T = 1.0 are legal: 97."), "{said}");
        assert!(said.contains("; before any training it was 1.2"), "{said}");
        assert!(said.contains("it fails most often at promotion (its first choice is legal in 9"), "{said}");
    }

    #[test]
    fn how_many_are_legal_is_said_only_as_far_as_the_interval_tells() {
        let of = |right: u64, n: u64| many(&Value::share("rate", right, n).expect("a sample"));
        assert_eq!(of(9_800, 10_000), "Nearly all of");
        // As high a share, of too few.
        assert_eq!(of(49, 50), "Most of");
        assert_eq!(of(5, 9), "About half of");
        assert_eq!(of(441, 1_000), "Fewer than half of");
        assert_eq!(of(1, 1_000), "Hardly any of");
    }

    #[test]
    fn a_training_that_changed_nothing_for_sure_is_said_to_be_unsettled() {
        let said = lead_of(|stage, _, content| {
            if stage != "evaluate" || !content.contains("\"legality\"") {
                return content;
            }
            let mut score: serde_json::Value = serde_json::from_str(&content).expect("a score of the fixture");
            for value in score["values"].as_array_mut().expect("values") {
                (value["value"], value["low"], value["high"]) = (0.4.into(), 0.3.into(), 0.5.into());
            }
            score.to_string()
        });
        assert!(said.contains("and whether the training changed it is not settled"), "{said}");
        assert!(said.starts_with("About half of"), "{said}");
    }
}
