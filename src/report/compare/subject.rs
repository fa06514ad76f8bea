//! What stands in a column of a comparison: a point of a run, or several that differ in nothing but their seed.

use std::path::Path;

use anyhow::Result;
use serde_json::Value;

use super::label::labels;
use crate::error::Fixable;
use crate::experiment::{Experiment, Weights};
use crate::report::results::{Point, Results};
use crate::report::words;

/// One column.
pub struct Subject<'a> {
    pub name: String,
    /// Short, and no other subject's.
    pub label: String,
    /// At least one; more than one are trainings of different seeds.
    pub members: Vec<Member<'a>>,
}

#[derive(Clone, Copy)]
pub struct Member<'a> {
    pub results: &'a Results,
    pub point: &'a Point,
    /// Where the run lies, if it is to be linked.
    pub folder: Option<&'a Path>,
}

impl Subject<'_> {
    pub fn first(&self) -> &Point {
        self.members[0].point
    }

    pub fn seeds(&self) -> usize {
        self.members.len()
    }
}

/// The points of a run that are meant: the one that is named (by its title or its number, from 1), or all.
///
/// # Errors
///
/// Where no point is called so; the titles are listed.
pub fn choose<'a>(results: &'a Results, name: Option<&str>) -> Result<Vec<&'a Point>> {
    let Some(name) = name else { return Ok(results.points.iter().collect()) };
    let by_number = || results.points.get(name.parse::<usize>().ok()?.checked_sub(1)?);
    let plain = |name: &str| name.replace(['\u{a0}', '\u{202f}', ' '], "");
    let as_shown = || results.points.iter().find(|point| plain(&words::point_name(point)) == plain(name));
    let found = results.points.iter().find(|point| point.title() == name).or_else(as_shown).or_else(by_number);
    if let Some(point) = found {
        return Ok(vec![point]);
    }
    let title = |(at, point): (usize, &Point)| format!("{} `{}`", at + 1, words::point_name(point));
    let titles: Vec<String> = results.points.iter().enumerate().map(title).collect();
    Err(Fixable::usage(format!("`{}` has no point `{name}`", results.run.name))
        .hint(format!("its points are {}", titles.join(", ")))
        .into())
}

/// Gathers points into columns, in their order: those that differ in nothing but the seed of their training are one.
pub fn subjects<'a>(members: Vec<Member<'a>>) -> Vec<Subject<'a>> {
    let mut groups: Vec<(Value, Vec<Member<'a>>)> = Vec::new();
    for member in members {
        let asked = without_seed(&member.point.experiment);
        let seed = |member: &Member| member.point.experiment.train().map(|train| train.seed);
        let is_another_seed =
            |group: &&mut (Value, Vec<Member>)| group.0 == asked && group.1.iter().all(|known| seed(known) != seed(&member));
        match groups.iter_mut().find(is_another_seed) {
            Some((_, members)) => members.push(member),
            None => groups.push((asked, vec![member])),
        }
    }
    if let [(asked, seeds)] = groups.as_mut_slice()
        && seeds.len() > 1
    {
        // Nothing else to compare with: what one seed changes is the question then.
        groups = seeds.drain(..).map(|member| (asked.clone(), vec![member])).collect();
    }
    let names: Vec<String> = groups.iter().map(|(_, members)| plain_name(members)).collect();
    let subject = |(at, (_, members)): (usize, (Value, Vec<Member<'a>>))| {
        let twice = names.iter().filter(|name| **name == names[at]).count() > 1;
        let name = if twice { format!("{} ({})", names[at], members[0].results.run.id) } else { names[at].clone() };
        Subject { label: name.clone(), name, members }
    };
    let mut subjects: Vec<Subject> = groups.into_iter().enumerate().map(subject).collect();
    for (at, label) in labels(&subjects).into_iter().enumerate() {
        subjects[at].label = label;
    }
    subjects
}

/// A run's name; of a sweep also that of its point, without the seed where there are several.
fn plain_name(members: &[Member]) -> String {
    let Member { results, point, .. } = members[0];
    let is_seed = |word: &&str| word.split_once('=').is_some_and(|(key, _)| key.rsplit('.').next() == Some("seed"));
    let title = point.title();
    let words: Vec<&str> = title.split_whitespace().filter(|word| members.len() == 1 || !is_seed(word)).collect();
    let name = if results.run.name.is_empty() { &point.experiment.name } else { &results.run.name };
    let title = if results.points.len() == 1 || title == name { String::new() } else { words.join(" ") };
    let seeds = if members.len() > 1 { format!(" × {} seeds", members.len()) } else { String::new() };
    format!("{}{seeds}", if title.is_empty() { name.clone() } else { format!("{name} {title}") })
}

/// What was asked, without the seed of the training and without what people call it.
pub(crate) fn without_seed(experiment: &Experiment) -> Value {
    let mut plain = experiment.clone();
    if let Weights::Train(train) = &mut plain.weights {
        train.seed = 0;
    }
    asked(&plain)
}

/// All that decides a result, as JSON.
pub(super) fn asked(experiment: &Experiment) -> Value {
    let mut json = serde_json::to_value(experiment).expect("an experiment is plain JSON");
    if let Some(fields) = json.as_object_mut() {
        for name in ["name", "question", "point", "published"] {
            fields.remove(name);
        }
    }
    json
}

/// `RUN:POINT` is a run and a point of it. A folder whose name has a colon is one as well.
pub fn name(wanted: &str) -> (&str, Option<&str>) {
    match wanted.split_once(':') {
        Some((run, point)) if !Path::new(wanted).exists() => (run, Some(point)),
        _ => (wanted, None),
    }
}
