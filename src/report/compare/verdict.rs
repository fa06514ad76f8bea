//! What a difference comes to: a rank, or why there is none.

use serde::Serialize;

use crate::measure::values::{Better, better};

use super::paired::Apart;

/// Budgets no further apart than this are one.
pub(crate) const WITHIN: f64 = 0.05;

/// Of fewer items no difference is told: the bootstrap's interval of so few holds the truth far less often than it says.
const FEWEST: u64 = 20;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The interval of the difference lies on the better side of nothing, and where items are paired, the exact test of them is
    /// below 5 % as well: of a few pairs the interval alone says too much.
    Better,
    Worse,
    /// The same, of a figure of which neither side is the better one.
    Higher,
    Lower,
    /// The interval holds 0, the exact test of the pairs is not below 5 %, or there are too few items to tell anything from.
    Inconclusive,
    /// One measurement, found twice.
    Same,
    /// The budgets differ, and nobody asked to compare across that.
    Unranked(String),
}

impl Verdict {
    pub(crate) fn of(metric: &str, value: &str, apart: &Apart, budget: &Result<(), String>) -> Self {
        let above = apart.estimate.low > 0.0;
        if apart.same {
            return Self::Same;
        }
        if !above && apart.estimate.high >= 0.0 || apart.p.is_some_and(|p| p >= 0.05) || apart.estimate.n < FEWEST {
            return Self::Inconclusive;
        }
        match (better(metric, value), budget) {
            (None, _) if above => Self::Higher,
            (None, _) => Self::Lower,
            (Some(_), Err(why)) => Self::Unranked(why.clone()),
            (Some(Better::Higher), &Ok(())) if above => Self::Better,
            (Some(Better::Lower), &Ok(())) if !above => Self::Better,
            (Some(_), &Ok(())) => Self::Worse,
        }
    }

    /// Whether it says which is which.
    pub fn is_told(&self) -> bool {
        matches!(self, Self::Better | Self::Worse | Self::Higher | Self::Lower)
    }

    pub(crate) fn words(&self) -> String {
        match self {
            Self::Better => "better".to_owned(),
            Self::Worse => "worse".to_owned(),
            Self::Higher => "higher".to_owned(),
            Self::Lower => "lower".to_owned(),
            Self::Inconclusive => "inconclusive".to_owned(),
            Self::Same => "the same".to_owned(),
            Self::Unranked(why) => format!("not ranked: {why}"),
        }
    }

    /// Without the reason.
    pub(crate) fn short(&self) -> String {
        match self {
            Self::Unranked(_) => "not ranked".to_owned(),
            other => other.words(),
        }
    }

    pub fn name(&self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Higher => "higher",
            Self::Lower => "lower",
            Self::Inconclusive => "inconclusive",
            Self::Same => "same",
            Self::Unranked(_) => "unranked",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Estimate;

    fn of(metric: &str, value: &str, [low, high]: [f64; 2], budget: &Result<(), String>) -> Verdict {
        let estimate = Estimate { value: f64::midpoint(low, high), low, high, n: 90 };
        Verdict::of(metric, value, &Apart::new(estimate, ""), budget)
    }

    #[test]
    fn a_difference_is_a_rank_where_its_interval_does_not_hold_nothing() {
        assert_eq!(of("legality", "rate", [0.01, 0.02], &Ok(())), Verdict::Better);
        assert_eq!(of("legality", "rate", [-0.02, -0.01], &Ok(())), Verdict::Worse);
        assert_eq!(of("loss", "nats", [-0.02, -0.01], &Ok(())), Verdict::Better);
        assert_eq!(of("loss", "nats", [-0.02, 0.0], &Ok(())), Verdict::Inconclusive);
        assert_eq!(of("full_games", "plies", [1.0, 2.0], &Ok(())), Verdict::Higher);
    }

    #[test]
    fn a_few_pairs_say_nothing_where_their_exact_test_does_not() {
        let estimate = Estimate { value: 0.025, low: 0.006, high: 0.06, n: 200 };
        let of = |p| Verdict::of("rules", "check.human", &Apart { p: Some(p), ..Apart::new(estimate, "") }, &Ok(()));
        assert_eq!((of(0.0625), of(0.03)), (Verdict::Inconclusive, Verdict::Better));
    }

    #[test]
    fn nothing_is_told_from_a_handful_of_items() {
        let of =
            |n| Verdict::of("rules", "check.mass", &Apart::new(Estimate { value: 0.1, low: 0.1, high: 0.1, n }, ""), &Ok(()));
        assert_eq!((of(1), of(FEWEST)), (Verdict::Inconclusive, Verdict::Better));
    }

    #[test]
    fn unequal_budgets_are_not_ranked_and_what_has_no_better_side_still_differs() {
        let why = || Err("trained on 4.0 × the tokens".to_owned());
        assert_eq!(of("legality", "rate", [0.01, 0.02], &why()), Verdict::Unranked("trained on 4.0 × the tokens".to_owned()));
        assert_eq!(of("legality", "rate", [-0.01, 0.02], &why()), Verdict::Inconclusive);
        assert_eq!(of("full_games", "plies", [-2.0, -1.0], &why()), Verdict::Lower);
    }
}
