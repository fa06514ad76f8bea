//! `philidor power`: what a sample size buys, before anything is measured.

use anyhow::Result;
use serde_json::{Value, json};

use crate::cli::PowerArgs;
use crate::error::Fixable;
use crate::stats::power::{POWER, half_width, power as power_of, to_know, to_tell};
use crate::text::{percent, significant, thousands};
use crate::ui::say::answer;

pub fn power(args: &PowerArgs) -> Result<()> {
    let (said, json) = told(args)?;
    if args.json {
        return answer(serde_json::to_string_pretty(&json)?);
    }
    answer(said)
}

/// The answer as a sentence, and as a document.
fn told(args: &PowerArgs) -> Result<(String, Value), Fixable> {
    match *args {
        PowerArgs { share: Some(share), within: Some(within), n: None, from: None, .. } => know(share, within),
        PowerArgs { share: Some(share), within: None, n: Some(n), from: None, .. } => Ok(known(share, n)),
        PowerArgs { from: Some(from), to: Some(to), n: None, .. } => tell(from, to),
        PowerArgs { from: Some(from), to: Some(to), n: Some(n), .. } => told_apart(from, to, n),
        _ => Err(Fixable::usage("no question that has an answer")
            .hint("ask with --share 0.98 --within 0.002, with --share 0.98 --n 20000, or with --from 0.9786 --to 0.9885")),
    }
}

fn know(share: f64, within: f64) -> Result<(String, Value), Fixable> {
    let n = to_know(share, within).ok_or_else(|| {
        Fixable::usage(format!("no sample that could be drawn is enough for `{within}`")).hint("take a wider interval")
    })?;
    let said = format!(
        "A share near {} is known within {} either way by {} observations (95 % Wilson interval).",
        exact(share),
        points(within),
        thousands(n),
    );
    Ok((said, json!({ "schema": 1, "share": share, "within": within, "n": n, "method": "wilson 95 %" })))
}

fn known(share: f64, n: u64) -> (String, Value) {
    let within = half_width(share, n);
    let said = format!(
        "By {} observations a share near {} is known within {} either way (95 % Wilson interval).",
        thousands(n),
        exact(share),
        points(within),
    );
    (said, json!({ "schema": 1, "share": share, "n": n, "within": within, "method": "wilson 95 %" }))
}

fn tell(from: f64, to: f64) -> Result<(String, Value), Fixable> {
    let n = to_tell(from, to).ok_or_else(|| alike(from, to))?;
    let said = format!(
        "To tell {} from {} takes {} observations of each (two-sided test of two independent shares at 5 %, found in {} of trials).",
        exact(from),
        exact(to),
        thousands(n),
        percent(POWER, 0),
    );
    Ok((said, json!({ "schema": 1, "from": from, "to": to, "n": n, "power": POWER, "method": METHOD })))
}

fn alike(from: f64, to: f64) -> Fixable {
    Fixable::usage(format!("`{from}` and `{to}` cannot be told apart by any sample that could be drawn"))
        .hint("take shares that differ by more")
}

fn told_apart(from: f64, to: f64, n: u64) -> Result<(String, Value), Fixable> {
    to_tell(from, to).ok_or_else(|| alike(from, to))?;
    let power = power_of(from, to, n);
    let said = format!(
        "By {} observations of each, {} is told from {} in {} of trials (two-sided test of two independent shares at 5 %).",
        thousands(n),
        exact(from),
        exact(to),
        if power > 0.999 { "more than 99.9 %".to_owned() } else { percent(power, 1) },
    );
    Ok((said, json!({ "schema": 1, "from": from, "to": to, "n": n, "power": power, "method": METHOD })))
}

const METHOD: &str = "two independent shares, normal, two-sided 5 %";

/// A share as it was typed: `97.86 %`.
fn exact(share: f64) -> String {
    // Hundredths, without the noise of floating point.
    format!("{} %", (share * 1e6).round() / 1e4)
}

/// A difference of shares: `0.2 points`.
fn points(width: f64) -> String {
    format!("{} points", significant(width * 100.0, 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(share: Option<f64>, within: Option<f64>, n: Option<u64>, from: Option<f64>, to: Option<f64>) -> PowerArgs {
        PowerArgs { share, within, n, from, to, json: false }
    }

    #[test]
    fn each_question_is_answered_in_a_sentence() {
        let questions = [
            asked(Some(0.98), Some(0.002), None, None, None),
            asked(Some(0.98), None, Some(20_000), None, None),
            asked(None, None, None, Some(0.9786), Some(0.9885)),
            asked(None, None, Some(20_000), Some(0.9786), Some(0.9885)),
        ];
        let said: Vec<_> = questions.iter().map(|question| told(question).expect("an answer").0).collect();
        insta::assert_snapshot!(said.join("\n"), @"
        A share near 98 % is known within 0.2 points either way by 18,866 observations (95 % Wilson interval).
        By 20,000 observations a share near 98 % is known within 0.194 points either way (95 % Wilson interval).
        To tell 97.86 % from 98.85 % takes 2,591 observations of each (two-sided test of two independent shares at 5 %, found in 80 % of trials).
        By 20,000 observations of each, 97.86 % is told from 98.85 % in more than 99.9 % of trials (two-sided test of two independent shares at 5 %).
        ");
    }

    #[test]
    fn what_is_no_question_is_refused_with_those_that_are() {
        let half = Some(0.5);
        for question in [
            asked(Some(0.98), None, None, None, None),
            asked(None, None, None, half, half),
            asked(None, None, Some(9), half, half),
        ] {
            let error = told(&question).expect_err("no answer");
            assert!(error.hint.is_some(), "{error}");
        }
    }
}
