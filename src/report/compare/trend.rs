//! What a figure does over all shared levels: one level alone may say little, and all of them the same.

use serde::Serialize;

use crate::measure::values::{Better, better};

use super::levels::Budget;
use super::section::{Row, Section};
use super::verdict::Verdict;

/// Of a figure of a subject, beside the first subject's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Trend {
    pub budget: Budget,
    /// The column, counted from 0.
    pub subject: usize,
    pub metric: String,
    pub value: String,
    pub label: String,
    /// Levels at which it is the better one, by the number alone.
    pub better: usize,
    pub worse: usize,
    /// Levels at which that is told, and not inconclusive.
    pub told: usize,
    pub levels: usize,
}

/// Of every figure with a better side, where there are two levels at least.
pub(crate) fn trends(sections: &[Section]) -> Vec<Trend> {
    let mut all: Vec<Trend> = Vec::new();
    for section in sections {
        let Some(budget) = section.budget else { continue };
        for row in section.listed(false) {
            let Some(side) = better(&row.metric, &row.value) else { continue };
            for (at, difference) in row.differences.iter().enumerate() {
                let Some(difference) = difference else { continue };
                let trend = entry(&mut all, budget, at + 1, row);
                let gain = if side == Better::Higher { difference.value } else { -difference.value };
                trend.levels += 1;
                trend.better += usize::from(gain > 0.0);
                trend.worse += usize::from(gain < 0.0);
                trend.told += usize::from(difference.verdict != Verdict::Inconclusive);
            }
        }
    }
    all.retain(|trend| trend.levels > 1);
    all
}

fn entry<'t>(all: &'t mut Vec<Trend>, budget: Budget, subject: usize, row: &Row) -> &'t mut Trend {
    let is_it = |trend: &Trend| {
        trend.budget == budget && trend.subject == subject && trend.metric == row.metric && trend.value == row.value
    };
    let at = all.iter().position(is_it).unwrap_or_else(|| {
        let (metric, value, label) = (row.metric.clone(), row.value.clone(), row.label.clone());
        all.push(Trend { budget, subject, metric, value, label, better: 0, worse: 0, told: 0, levels: 0 });
        all.len() - 1
    });
    &mut all[at]
}
