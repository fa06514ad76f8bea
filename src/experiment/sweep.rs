//! `[sweep]`: one file, several points. A grid takes all combinations, a zip steps together, a list names each.

use serde::{Deserialize, Serialize};

use super::problem::{Problem, nearest, one_of};
use super::raw;
use super::source::Place;
use super::tree::{Node, Table, dotted};

const MOST_POINTS: usize = 10_000;

/// A key that a sweep varies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    /// Such as `model.width`.
    pub key: String,
    /// Its name in the names of points, such as `width`.
    pub short: String,
    /// Its value at each point, in the order of the points.
    pub values: Vec<String>,
}

impl Axis {
    /// Tables group by every other axis and show the interval over this one.
    pub fn is_seed(&self) -> bool {
        self.key.rsplit('.').next() == Some("seed")
    }
}

type Path = Vec<String>;

/// What a point sets.
type Row = Vec<Setting>;

#[derive(Clone)]
struct Setting {
    path: Path,
    /// Where the sweep names the key.
    place: Place,
    value: Node,
}

/// One point: its tree, and its name where there are several.
pub(super) struct Point {
    pub name: Option<String>,
    pub table: Table,
}

/// The points of an experiment: itself, where it has no sweep.
pub(super) fn points(mut table: Table, problems: &mut Vec<Problem>) -> (Vec<Point>, Vec<Axis>) {
    let sweep = table.remove("sweep").filter(|entry| !entry.node.is_false());
    let Some(entry) = sweep else { return (vec![Point { name: None, table }], Vec::new()) };
    let before = problems.len();
    let rows = rows(&table, &entry.node, problems);
    if problems.len() > before {
        // The experiment itself is still checked.
        return (vec![Point { name: None, table }], Vec::new());
    }
    let laid = |row: &Row| {
        let mut table = table.clone();
        for Setting { path, place, value } in row {
            table.lay(Table::single(path, place, value.clone()));
        }
        table
    };
    let tables: Vec<Table> = rows.iter().map(laid).collect();
    let axes = axes(&rows, &tables);
    let said: Vec<String> = rows.iter().map(say).collect();
    for (at, row) in said.iter().enumerate() {
        if said[..at].contains(row) {
            let problem = Problem::new(&entry.place, "sweep", format!("two points are the same: {row}"));
            problems.push(problem.hint("name each value once"));
        }
    }
    let points = rows.iter().zip(tables).map(|(row, table)| Point { name: name(row, &axes), table }).collect();
    (points, axes)
}

fn rows(table: &Table, sweep: &Node, problems: &mut Vec<Problem>) -> Vec<Row> {
    const KNOWN: [&str; 4] = ["grid", "zip", "list", "exclude"];
    let Some(parts) = sweep.table() else {
        problems.push(Problem::new(&sweep.place, "sweep", format!("`sweep` wants a table, not {}", sweep.seen())));
        return Vec::new();
    };
    for entry in parts.0.iter().filter(|entry| !KNOWN.contains(&entry.key.as_str())) {
        let hint = nearest(&entry.key, KNOWN).map(|meant| format!("did you mean `{meant}`?"));
        let hint = hint.unwrap_or_else(|| format!("wanted here: {}", one_of(KNOWN)));
        let key = format!("sweep.{}", entry.key);
        problems.push(Problem::new(&entry.place, key.clone(), format!("unknown key `{key}`")).hint(hint));
    }
    let mut factors: Vec<Vec<Row>> = Vec::new();
    if let Some(grid) = parts.get("grid") {
        factors.extend(
            lists("sweep.grid", grid, problems).into_iter().map(|values| values.into_iter().map(|set| vec![set]).collect()),
        );
    }
    if let Some(zip) = parts.get("zip") {
        factors.push(zipped(&zip.place, &lists("sweep.zip", zip, problems), problems));
    }
    if let Some(list) = parts.get("list") {
        factors.push(tables("sweep.list", list, problems).into_iter().map(|(_, row)| row).collect());
    }
    once_each(&factors, problems);
    not_overridden(table, &factors, problems);
    if factors.iter().map(Vec::len).try_fold(1, usize::checked_mul).is_none_or(|points| points > MOST_POINTS) {
        let message = format!("the sweep has more than {MOST_POINTS} points");
        problems.push(Problem::new(&sweep.place, "sweep", message).hint("sweep fewer values, or zip some keys"));
        return Vec::new();
    }
    // The last key varies fastest.
    let rows = factors.iter().fold(vec![Vec::new()], |rows: Vec<Row>, factor| {
        rows.iter().flat_map(|row| factor.iter().map(move |more| [row.as_slice(), more].concat())).collect()
    });
    match parts.get("exclude") {
        Some(exclude) => kept(table, rows, exclude, problems),
        None => rows,
    }
}

/// Keys with a list of values each; none of the lists is empty.
fn lists(name: &str, node: &Node, problems: &mut Vec<Problem>) -> Vec<Row> {
    let mut axes = Vec::new();
    for Setting { path, place, value } in leaves(name, node, problems) {
        let seen = match value.items() {
            Some(items) if !items.is_empty() => {
                let set = |value| Setting { path: path.clone(), place: place.clone(), value };
                axes.push(items.into_iter().map(set).collect());
                continue;
            }
            Some(_) => "an empty one".to_owned(),
            None => value.seen(),
        };
        let message = format!("`{name}.{}` wants a list of values, not {seen}", dotted(&path));
        problems.push(Problem::new(&value.place, dotted(&path), message).hint("such as \"model.width\" = [128, 256]"));
    }
    axes
}

/// Tables of a list, each with what it sets.
fn tables(name: &str, node: &Node, problems: &mut Vec<Problem>) -> Vec<(Place, Row)> {
    match node.items() {
        Some(items) if !items.is_empty() => items.iter().map(|item| (item.place.clone(), leaves(name, item, problems))).collect(),
        _ => {
            let message = format!("`{name}` wants a list of tables that is not empty");
            problems.push(Problem::new(&node.place, name, message).hint("such as [{ \"model.width\" = 128 }]"));
            Vec::new()
        }
    }
}

/// Everything that a table sets, however it nests: `{ "model.width" = 1 }` and `{ model = { width = 1 } }` are one.
fn leaves(name: &str, node: &Node, problems: &mut Vec<Problem>) -> Row {
    fn walk(table: &Table, above: &[String], found: &mut Row) {
        for entry in &table.0 {
            let path = [above, &raw::path(&entry.key)].concat();
            match entry.node.table() {
                Some(inner) => walk(inner, &path, found),
                None => found.push(Setting { path, place: entry.place.clone(), value: entry.node.clone() }),
            }
        }
    }
    let Some(table) = node.table() else {
        problems.push(Problem::new(&node.place, name, format!("`{name}` wants tables, not {}", node.seen())));
        return Vec::new();
    };
    let mut found = Vec::new();
    walk(table, &[], &mut found);
    found.retain_mut(|set| {
        let first = set.path[0].clone();
        if set.path == ["seed"] {
            set.path.insert(0, "train".to_owned());
        }
        let fixed = ["extends", "name", "sweep", "machine"].contains(&first.as_str());
        if fixed {
            let problem = Problem::new(&set.place, dotted(&set.path), format!("`{first}` cannot be swept"));
            problems.push(problem.hint("a sweep varies what decides a result, such as `model.width` or `train.seed`"));
        }
        !fixed
    });
    found
}

fn zipped(place: &Place, axes: &[Row], problems: &mut Vec<Problem>) -> Vec<Row> {
    if axes.windows(2).any(|pair| pair[0].len() != pair[1].len()) {
        let each: Vec<String> = axes.iter().map(|axis| format!("`{}` has {}", dotted(&axis[0].path), axis.len())).collect();
        let problem = Problem::new(place, "sweep.zip", format!("the lists of `sweep.zip` differ in length: {}", each.join(", ")));
        problems.push(problem.hint("give each key as many values; for all combinations use `sweep.grid`"));
        return Vec::new();
    }
    let row = |at: usize| axes.iter().map(|axis| axis[at].clone()).collect();
    (0..axes.first().map_or(0, Vec::len)).map(row).collect()
}

/// A key swept in two ways would make the later one win without a word.
fn once_each(factors: &[Vec<Row>], problems: &mut Vec<Problem>) {
    let mut seen: Vec<Path> = Vec::new();
    for factor in factors {
        let mut here: Vec<&Setting> = factor.iter().flatten().collect();
        here.sort_by(|a, b| a.path.cmp(&b.path));
        here.dedup_by(|a, b| a.path == b.path);
        for Setting { path, place, .. } in here {
            if seen.contains(path) {
                let problem = Problem::new(place, dotted(path), format!("`{}` is swept twice", dotted(path)));
                problems.push(problem.hint("sweep it in one of grid, zip and list"));
            }
            seen.push(path.clone());
        }
    }
}

/// An override is the strongest layer, and must not lose to a sweep without a word.
fn not_overridden(table: &Table, factors: &[Vec<Row>], problems: &mut Vec<Problem>) {
    for Setting { path, .. } in factors.iter().flatten().flatten() {
        if let Some(place @ Place::Set(_)) = table.find(path.iter().map(String::as_str)).map(|node| &node.place) {
            let key = dotted(path);
            let problem = Problem::new(place, key.as_str(), format!("`{key}` is swept, so that setting it changes nothing"));
            problems.push(problem.hint(format!("set sweep=false for one point, or other values to sweep: sweep.grid.{key}=[…]")));
        }
    }
}

fn kept(table: &Table, rows: Vec<Row>, exclude: &Node, problems: &mut Vec<Problem>) -> Vec<Row> {
    let excluded = tables("sweep.exclude", exclude, problems);
    if rows.is_empty() {
        return rows;
    }
    let is = |row: &Row, out: &Setting| {
        let set = row.iter().rev().find(|set| set.path == out.path).map(|set| &set.value);
        let set = set.or_else(|| table.find(out.path.iter().map(String::as_str)));
        set.is_some_and(|set| set.label() == out.value.label())
    };
    let matches = |row: &Row, out: &Row| out.iter().all(|out| is(row, out));
    for (place, out) in &excluded {
        if out.is_empty() || !rows.iter().any(|row| matches(row, out)) {
            let problem = Problem::new(place, "sweep.exclude", "this excludes no point");
            problems.push(problem.hint("it names keys and values that one point has together"));
        }
    }
    let kept: Vec<Row> = rows.into_iter().filter(|row| !excluded.iter().any(|(_, out)| matches(row, out))).collect();
    if kept.is_empty() {
        problems.push(Problem::new(&exclude.place, "sweep.exclude", "every point is excluded").hint("leave one"));
    }
    kept
}

fn axes(rows: &[Row], tables: &[Table]) -> Vec<Axis> {
    let mut paths: Vec<&Path> = Vec::new();
    for Setting { path, .. } in rows.iter().flatten() {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    let short = |path: &Path| {
        let tail = |count: usize| path[path.len() - count..].to_vec();
        let alone = |count: &usize| paths.iter().filter(|other| other.ends_with(&tail(*count))).count() == 1;
        dotted(&tail((1..path.len()).find(alone).unwrap_or(path.len())))
    };
    let value = |table: &Table, path: &Path| table.find(path.iter().map(String::as_str)).map_or_else(String::new, Node::label);
    let axis = |path: &&Path| Axis {
        key: dotted(path),
        short: short(path),
        values: tables.iter().map(|table| value(table, path)).collect(),
    };
    paths.iter().map(axis).collect()
}

/// A point by what differs; nothing where nothing does.
fn name(row: &Row, axes: &[Axis]) -> Option<String> {
    let differs = |axis: &&Axis| axis.values.iter().any(|value| *value != axis.values[0]);
    let part = |set: &Setting| {
        let varied = axes.iter().find(|axis| axis.key == dotted(&set.path)).filter(differs)?;
        Some(format!("{}={}", varied.short, set.value.label()))
    };
    Some(row.iter().filter_map(part).collect::<Vec<_>>().join(" ")).filter(|name| !name.is_empty())
}

/// All that a point sets.
fn say(row: &Row) -> String {
    let part = |set: &Setting| format!("`{}` = {}", dotted(&set.path), set.value.label());
    row.iter().map(part).collect::<Vec<_>>().join(", ")
}
