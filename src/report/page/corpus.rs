//! What was read and kept, and what training and validation share.

use super::table::{Cell, Table};
use crate::data::duplicates::MostRepeated;
use crate::report::results::{ParseReport, Point};
use crate::report::words::{self, exact_share, known_share};
use crate::text::{fixed, percent, plural, thousands};

/// The plies whose positions are shown as numbers; the chart has all of them.
const PLIES: [u32; 6] = [5, 10, 20, 30, 40, 60];

/// Heading and table, in the order of the page.
pub(crate) fn tables(point: &Point) -> Vec<(&'static str, Table)> {
    let all = [
        ("Games kept, by source", sources(point)),
        ("Games not kept, by source", rejected(point)),
        ("The two sides of the split", sides(point)),
        ("Validation positions that occur in training games", positions(point)),
    ];
    let told = |(heading, table): (&'static str, Option<Table>)| {
        Some((heading, table?.gathered(heading, "corpus sources sides overlap")))
    };
    all.into_iter().filter_map(told).collect()
}

fn dash() -> Cell {
    Cell::number("–".to_owned(), None)
}

/// A count, and what share it is.
fn part(n: u64, of: u64, decimals: usize) -> Cell {
    let share = if of > 0 { format!(" ({})", percent(n as f64 / of as f64, decimals)) } else { String::new() };
    Cell::number(thousands(n) + if n > 0 { &share } else { "" }, Some(n as f64))
}

/// Every source that has been read, and all of them together where there are several.
fn accounts(point: &Point) -> Vec<(&str, ParseReport)> {
    let read = point.sources.iter().filter_map(|source| Some((source.name.as_str(), source.report.clone()?)));
    let mut accounts: Vec<_> = read.filter(|(_, report)| report.read > 0).collect();
    if let (2.., Some(all)) = (accounts.len(), point.corpus()) {
        accounts.push(("all", all));
    }
    accounts
}

fn sources(point: &Point) -> Option<Table> {
    let row = |(name, report): (&str, ParseReport)| {
        let quartiles = [0.25, 0.5, 0.75].map(|share| report.quantile(share));
        let quartiles = match quartiles {
            [Some(first), Some(second), Some(third)] => Cell::number(format!("{first}, {second}, {third}"), Some(second.into())),
            _ => dash(),
        };
        let mean = report.mean_plies();
        let ends = [report.ends.checkmate, report.ends.stalemate, report.ends.other_by_rules, report.ends.not_by_rules];
        let ended: u64 = ends.iter().sum();
        let mut cells = vec![
            Cell::text(name),
            Cell::count(report.read),
            part(report.kept, report.read, 2),
            mean.map_or_else(dash, |mean| Cell::number(fixed(mean, 1), Some(mean))),
            quartiles,
        ];
        cells.extend(ends.map(|games| if ended > 0 { part(games, ended, 1) } else { dash() }));
        cells
    };
    let head = [
        ("Source", false),
        ("Games read", true),
        ("Kept", true),
        ("Mean plies", true),
        ("Quartiles", true),
        ("Mate", true),
        ("Stalemate", true),
        ("Drawn by other rules", true),
        ("Ended otherwise", true),
    ];
    Table::of(&head, accounts(point).into_iter().map(row).collect())
}

/// One source is shown by the chart.
fn rejected(point: &Point) -> Option<Table> {
    let accounts = accounts(point);
    let (_, all) = accounts.last().filter(|_| accounts.len() > 1)?;
    let reasons: Vec<&String> = all.rejected.iter().filter(|(_, games)| *games > 0).map(|(reason, _)| reason).collect();
    let rows = accounts
        .iter()
        .map(|(name, report)| {
            let of = |reason: &String| report.rejected.iter().find(|(known, _)| known == reason).map_or(0, |(_, games)| *games);
            let counts = reasons.iter().map(|reason| part(of(reason), report.read, 2));
            [Cell::text(*name), Cell::count(report.read)].into_iter().chain(counts).collect()
        })
        .collect();
    let reasons = reasons.iter().map(|reason| (words::reason(reason), true));
    let head = [("Source".to_owned(), false), ("Games read".to_owned(), true)];
    Table::with(head.into_iter().chain(reasons), rows)
}

/// A side of the split, as far as it is known.
struct Side {
    name: &'static str,
    tokens: Option<u64>,
    games: Option<u64>,
    distinct: Option<u64>,
    most: Option<MostRepeated>,
    /// Of so many, games that are on the other side too.
    shared: Option<(u64, u64)>,
}

fn sides(point: &Point) -> Option<Table> {
    let (encoded, found) = (point.encoded, point.inspection.as_ref());
    encoded.map(|_| ()).or(found.map(|_| ()))?;
    // What older files do not tell is 0 there.
    let known = |n: u64| (n > 0).then_some(n);
    let train = Side {
        name: "Training",
        tokens: encoded.map(|encoded| encoded.train_tokens),
        games: encoded.map(|encoded| encoded.train_games).or(found.map(|found| found.train_games)),
        distinct: found.and_then(|found| known(found.distinct_train_games)),
        most: found.and_then(|found| found.most_repeated_train),
        shared: found.filter(|found| found.distinct_train_games > 0).map(|found| (found.overlap_train_games, found.train_games)),
    };
    let validation = Side {
        name: "Validation",
        tokens: encoded.map(|encoded| encoded.validation_tokens),
        games: encoded.map(|encoded| encoded.validation_games).or(found.map(|found| found.validation_games)),
        distinct: found.and_then(|found| known(found.distinct_validation_games)),
        most: found.and_then(|found| found.most_repeated_validation),
        shared: found
            .filter(|found| found.distinct_validation_games > 0)
            .map(|found| (found.overlap_games, found.distinct_validation_games)),
    };
    let head = [
        ("Side", false),
        ("Tokens", true),
        ("Games", true),
        ("Different games", true),
        ("Copies of an earlier game", true),
        ("Most repeated", false),
        ("On the other side too", false),
    ];
    Table::of(&head, vec![side(&train), side(&validation)]).map(Table::without_empty_columns)
}

fn side(side: &Side) -> Vec<Cell> {
    let count = |n: Option<u64>| n.map_or_else(dash, Cell::count);
    let copies =
        side.distinct.zip(side.games).map_or_else(dash, |(distinct, games)| part(games.saturating_sub(distinct), games, 3));
    let most = match (side.most, side.distinct) {
        (Some(most), _) => format!("{} times, {}", thousands(most.copies), plural("ply", most.plies)),
        (None, Some(_)) => "none".to_owned(),
        (None, None) => "–".to_owned(),
    };
    let shared = match side.shared {
        Some((0, _)) => "none".to_owned(),
        Some((n, of)) => format!("{} of {} ({})", thousands(n), thousands(of), percent(n as f64 / of.max(1) as f64, 3)),
        None => "–".to_owned(),
    };
    vec![
        Cell::text(side.name),
        count(side.tokens),
        count(side.games),
        count(side.distinct),
        copies,
        Cell::text(most),
        Cell::text(shared),
    ]
}

fn positions(point: &Point) -> Option<Table> {
    let found = point.inspection.as_ref()?;
    let overlap = &found.overlap;
    let sampled = |hits: u64, n: u64| match words::known(found, hits, n) {
        Some(estimate) => Cell::number(known_share(found, estimate), Some(estimate.value)),
        None => dash(),
    };
    // Positions of one game come together, and a larger sample has other ones: these are of the games looked at.
    let counted = |hits: u64, n: u64| {
        let share = (n > 0).then(|| hits as f64 / n as f64);
        share.map_or_else(dash, |share| Cell::number(exact_share(share), Some(share)))
    };
    let row = |ply: String, of: &dyn Fn(u64, u64) -> Cell, [positions, seen, prefixes, distinct, distinct_seen]: [u64; 5]| {
        vec![
            Cell::text(ply),
            Cell::count(positions),
            of(seen, positions),
            of(prefixes, positions),
            Cell::count(distinct),
            counted(distinct_seen, distinct),
        ]
    };
    let at_ply = overlap.by_ply.iter().filter(|at| PLIES.contains(&at.ply) && at.positions > 0);
    let mut rows: Vec<_> = at_ply
        .map(|at| row(at.ply.to_string(), &sampled, [at.positions, at.seen, at.prefixes, at.distinct, at.distinct_seen]))
        .collect();
    if overlap.positions > 0 {
        let all = [overlap.positions, overlap.seen, overlap.prefixes, overlap.distinct, overlap.distinct_seen];
        rows.push(row("all".to_owned(), &counted, all));
    }
    let head = [
        ("After plies", false),
        ("Positions", true),
        ("In a training game", true),
        ("By the same moves", true),
        ("Different positions", true),
        ("Of these, in a training game", true),
    ];
    Table::of(&head, rows)
}
