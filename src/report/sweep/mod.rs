//! What the points of a sweep tell together: settings, each with its seeds; what varies between them; and figures side by side.

mod axis;
mod figure;

use super::compare::{Member, Subject, WITHIN, without_seed};
use super::results::Results;
use super::words;

pub(crate) use axis::{Axis, Kind, written};
pub(crate) use figure::{Cell, Figure, between};

pub(crate) struct Sweep<'a> {
    /// Points that differ in nothing but the seed of their training are one setting.
    pub(crate) settings: Vec<Subject<'a>>,
    /// What varies between settings, without what follows from what stands before.
    pub(crate) axes: Vec<Axis>,
    /// In the order of a reader: loss, legal moves, agreement, and all else that was measured.
    pub(crate) figures: Vec<Figure>,
    /// Of each setting; none where it is not known.
    pub(crate) tokens: Vec<Option<u64>>,
}

impl<'a> Sweep<'a> {
    /// None where there is one point only.
    pub(crate) fn of(results: &'a Results) -> Option<Self> {
        if results.points.len() < 2 {
            return None;
        }
        let settings = settings(results);
        let tokens: Vec<_> = settings.iter().map(|setting| tokens(setting)).collect();
        let (axes, figures) = (axis::axes(&settings, &tokens), figure::figures(&settings));
        Some(Self { settings, axes, figures, tokens })
    }

    /// Whether all settings took as many tokens, within 5 %.
    pub(crate) fn is_of_equal_tokens(&self) -> bool {
        let known: Option<Vec<f64>> = self.tokens.iter().map(|tokens| tokens.map(|tokens| tokens as f64)).collect();
        let ends = known.map(|known| known.into_iter().fold((f64::INFINITY, 0.0), |(low, high), at| (at.min(low), at.max(high))));
        ends.is_some_and(|(low, high): (f64, f64)| low > 0.0 && (high / low).ln() <= WITHIN.ln_1p())
    }

    /// Settings of several seeds.
    pub(crate) fn repeated(&self) -> impl Iterator<Item = usize> {
        (0..self.settings.len()).filter(|at| self.settings[*at].seeds() > 1)
    }

    pub(crate) fn axis(&self, kind: &Kind) -> Option<&Axis> {
        self.axes.iter().find(|axis| axis.kind == *kind)
    }
}

fn settings(results: &Results) -> Vec<Subject<'_>> {
    let mut groups: Vec<(serde_json::Value, Vec<Member>)> = Vec::new();
    for point in &results.points {
        let (asked, member) = (without_seed(&point.experiment), Member { results, point, folder: None });
        match groups.iter_mut().find(|(known, _)| *known == asked) {
            Some((_, members)) => members.push(member),
            None => groups.push((asked, vec![member])),
        }
    }
    let alone = groups.len() == 1;
    let name = |members: &[Member]| {
        let point = members[0].point;
        match words::setting_name(point) {
            _ if members.len() == 1 => words::point_name(point),
            name if name.is_empty() => if alone { "all seeds" } else { "as in the file" }.to_owned(),
            name => name,
        }
    };
    groups
        .into_iter()
        .map(|(_, members)| {
            let name = name(&members);
            Subject { label: name.clone(), name, members }
        })
        .collect()
}

/// What the longest of its trainings has seen.
fn tokens(setting: &Subject) -> Option<u64> {
    let seen = |member: &Member| Some(member.point.training.as_ref()?.curve.last()?.tokens);
    setting.members.iter().filter_map(seen).max()
}
