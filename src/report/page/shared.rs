//! What all points of a sweep have alike stands on the page once, and the section of a point shows only what is its own.

use super::Figure;
use super::point::PointPage;
use super::table::Table;
use crate::report::words::{Group, TRAINING_AND_CORPUS};

/// Puts what is alike into a section of its own, before the points.
///
/// Figures of several models that are equal are so by chance, and each point tells its own: they are only shared where all points
/// measure `one_model`.
pub(super) fn first(mut points: Vec<PointPage>, one_model: bool) -> Vec<PointPage> {
    if points.len() < 2 {
        return points;
    }
    let shared = taken(&mut points, one_model);
    for point in &mut points {
        point.beside = Some("what all points share".to_owned());
        if point.is_left {
            point.leave();
        }
    }
    points.insert(0, shared);
    points
}

fn taken(points: &mut [PointPage], one_model: bool) -> PointPage {
    let first = points[0].name.clone();
    let of_corpus = PointPage {
        anchor: "shared".to_owned(),
        name: "Data and setup, shared by all points".to_owned(),
        shared: true,
        is_left: false,
        lead: Vec::new(),
        caveats: common(points, |point| &mut point.caveats),
        summary: summaries(points, |heading| one_model || heading == TRAINING_AND_CORPUS),
        tiles: Vec::new(),
        published: None,
        figures: None,
        parts: Vec::new(),
        learned: Vec::new(),
        cards: Vec::new(),
        trained: Vec::new(),
        origin: common(points, |point| &mut point.origin),
        corpus: charts(points, &first, |point| &mut point.corpus),
        device: common(points, |point| &mut point.device),
        gates: rows(points, |point| &mut point.gates),
        tables: common(points, |point| &mut point.tables),
        settings: settings(points),
        beside: None,
    };
    if !one_model {
        return of_corpus;
    }
    PointPage {
        lead: common(points, |point| &mut point.lead),
        tiles: common(points, |point| &mut point.tiles),
        published: rows(points, |point| &mut point.published),
        figures: rows(points, |point| &mut point.figures),
        parts: common(points, |point| &mut point.parts),
        learned: learned(points, &first),
        trained: charts(points, &first, |point| &mut point.trained),
        ..of_corpus
    }
}

/// The items that all lists have, taken out of them.
fn common<T: Clone + PartialEq>(points: &mut [PointPage], list: fn(&mut PointPage) -> &mut Vec<T>) -> Vec<T> {
    let mut items = list(&mut points[0]).clone();
    for point in points.iter_mut() {
        let here = list(point);
        items.retain(|item| here.contains(item));
    }
    for point in points.iter_mut() {
        list(point).retain(|item| !items.contains(item));
    }
    items
}

/// The sentences of a group, one by one.
fn summaries(points: &mut [PointPage], wanted: impl Fn(&str) -> bool) -> Vec<Group> {
    let mut shared: Vec<Group> = points[0].summary.iter().filter(|group| wanted(group.heading)).cloned().collect();
    let has = |point: &PointPage, heading: &str, sentence: &String| {
        let mine = point.summary.iter().filter(|group| group.heading == heading);
        mine.flat_map(|group| group.said.iter().chain(&group.more)).any(|said| said == sentence)
    };
    for group in &mut shared {
        let heading = group.heading;
        for list in [&mut group.said, &mut group.more] {
            list.retain(|sentence| points.iter().all(|point| has(point, heading, sentence)));
        }
    }
    for point in points {
        for group in &mut point.summary {
            let known: Vec<&String> = shared
                .iter()
                .filter(|shared| shared.heading == group.heading)
                .flat_map(|group| group.said.iter().chain(&group.more))
                .collect();
            for list in [&mut group.said, &mut group.more] {
                list.retain(|sentence| !known.contains(&sentence));
            }
        }
        point.summary.retain(|group| !group.said.is_empty() || !group.more.is_empty());
    }
    shared.retain(|group| !group.said.is_empty() || !group.more.is_empty());
    shared
}

fn rows(points: &mut [PointPage], table: fn(&mut PointPage) -> &mut Option<Table>) -> Option<Table> {
    Table::shared(&mut points.iter_mut().map(table).collect::<Vec<_>>())
}

/// The charts of the first point that are those of all others too.
fn charts(points: &mut [PointPage], first: &str, list: fn(&mut PointPage) -> &mut Vec<Figure>) -> Vec<Figure> {
    let (of_first, others) = points.split_at_mut(1);
    let mut lists: Vec<&mut Vec<Figure>> = others.iter_mut().map(list).collect();
    shared_charts(list(&mut of_first[0]), &mut lists, first)
}

fn shared_charts(of_first: &mut Vec<Figure>, others: &mut [&mut Vec<Figure>], first: &str) -> Vec<Figure> {
    let is_of_all = |figure: &Figure| {
        let is_same = |other: &Figure| other.name == figure.name && other.same.as_deref() == Some(first);
        others.iter().all(|list| list.iter().any(is_same))
    };
    let (shared, own): (Vec<Figure>, Vec<Figure>) = std::mem::take(of_first).into_iter().partition(is_of_all);
    *of_first = own;
    for list in others.iter_mut() {
        list.retain(|other| !shared.iter().any(|figure| figure.name == other.name));
    }
    shared
}

fn learned(points: &mut [PointPage], first: &str) -> Vec<(&'static str, Vec<Figure>)> {
    let (of_first, others) = points.split_at_mut(1);
    let mut all = Vec::new();
    for (heading, charts) in &mut of_first[0].learned {
        let mut none: Vec<Vec<Figure>> = (0..others.len()).map(|_| Vec::new()).collect();
        let mut lists: Vec<&mut Vec<Figure>> = Vec::new();
        for (point, none) in others.iter_mut().zip(&mut none) {
            lists.push(point.learned.iter_mut().find(|(known, _)| known == heading).map_or(none, |(_, charts)| charts));
        }
        let shared = shared_charts(charts, &mut lists, first);
        if !shared.is_empty() {
            all.push((*heading, shared));
        }
    }
    for point in points {
        point.learned.retain(|(_, charts)| !charts.is_empty());
    }
    all
}

/// Settings of a group, one by one.
fn settings(points: &mut [PointPage]) -> crate::report::settings::Groups {
    let mut shared = points[0].settings.clone();
    let has = |point: &PointPage, group: &str, row: &(&str, String)| {
        point.settings.iter().any(|(name, rows)| *name == group && rows.contains(row))
    };
    for (group, rows) in &mut shared {
        rows.retain(|row| points.iter().all(|point| has(point, group, row)));
    }
    for point in points {
        for (group, rows) in &mut point.settings {
            let known = shared.iter().find(|(name, _)| name == group);
            rows.retain(|row| known.is_none_or(|(_, known)| !known.contains(row)));
        }
        point.settings.retain(|(_, rows)| !rows.is_empty());
    }
    shared.retain(|(_, rows)| !rows.is_empty());
    shared
}
