//! Tables of what was read and kept, and of what the two sides share.

use anyhow::Result;
use polars::prelude::{DataFrame, df};

use super::{frame, rows, some};
use crate::report::results::{Inspection, ParseReport, Point, Results};
use crate::report::words;

fn share(of: u64, all: u64) -> Option<f64> {
    (all > 0).then(|| of as f64 / all as f64)
}

/// Each source that was read, and all of them together where there are several.
fn accounts(point: &Point) -> Vec<(&str, ParseReport)> {
    let read = point.sources.iter().filter_map(|source| Some((source.name.as_str(), source.report.clone()?)));
    let mut accounts: Vec<_> = read.collect();
    if let (2.., Some(all)) = (accounts.len(), point.corpus()) {
        accounts.push(("all", all));
    }
    accounts
}

pub(super) fn corpus(results: &Results) -> Result<Option<DataFrame>> {
    let reasons = rows(results, |point| {
        let of_account = |(source, report): (_, ParseReport)| {
            let read = report.read;
            let known = [("read".to_owned(), read), ("kept".to_owned(), report.kept)].into_iter().chain(report.rejected);
            known.map(move |(reason, games)| (source, reason, games, share(games, read))).collect::<Vec<_>>()
        };
        accounts(point).into_iter().flat_map(of_account).collect()
    });
    Ok(some(frame!(reasons, row => {
        "point": row.point, "source": row.of.0, "reason": row.of.1.as_str(), "games": row.of.2, "share": row.of.3,
    })?))
}

pub(super) fn sources(results: &Results) -> Result<Option<DataFrame>> {
    let sources = rows(results, accounts);
    let ended = |report: &ParseReport| {
        let ends = &report.ends;
        ends.checkmate + ends.stalemate + ends.other_by_rules + ends.not_by_rules
    };
    Ok(some(frame!(sources, row => {
        "point": row.point,
        "source": row.of.0,
        "read": row.of.1.read,
        "kept": row.of.1.kept,
        "kept_share": share(row.of.1.kept, row.of.1.read),
        "plies": row.of.1.plies,
        "mean_plies": row.of.1.mean_plies(),
        "first_quartile": row.of.1.quantile(0.25),
        "median": row.of.1.quantile(0.5),
        "third_quartile": row.of.1.quantile(0.75),
        "checkmate": row.of.1.ends.checkmate,
        "checkmate_share": share(row.of.1.ends.checkmate, ended(&row.of.1)),
        "stalemate": row.of.1.ends.stalemate,
        "stalemate_share": share(row.of.1.ends.stalemate, ended(&row.of.1)),
        "other_by_rules": row.of.1.ends.other_by_rules,
        "other_by_rules_share": share(row.of.1.ends.other_by_rules, ended(&row.of.1)),
        "not_by_rules": row.of.1.ends.not_by_rules,
        "not_by_rules_share": share(row.of.1.ends.not_by_rules, ended(&row.of.1)),
    })?))
}

/// A side of the split: its games, how many of them are different, and so many of so many that are on the other side too.
struct Side {
    name: &'static str,
    tokens: Option<u64>,
    games: u64,
    distinct: u64,
    most: Option<crate::data::duplicates::MostRepeated>,
    shared: (u64, u64),
}

pub(super) fn sides(results: &Results) -> Result<Option<DataFrame>> {
    let sides = rows(results, |point| {
        let (found, encoded) = (point.inspection.as_ref(), point.encoded);
        let side = |found: &Inspection| {
            [
                Side {
                    name: "training",
                    tokens: encoded.map(|encoded| encoded.train_tokens),
                    games: encoded.map_or(found.train_games, |encoded| encoded.train_games),
                    distinct: found.distinct_train_games,
                    most: found.most_repeated_train,
                    shared: (found.overlap_train_games, found.train_games),
                },
                Side {
                    name: "validation",
                    tokens: encoded.map(|encoded| encoded.validation_tokens),
                    games: encoded.map_or(found.validation_games, |encoded| encoded.validation_games),
                    distinct: found.distinct_validation_games,
                    most: found.most_repeated_validation,
                    shared: (found.overlap_games, found.distinct_validation_games),
                },
            ]
        };
        let nothing_found = Inspection::default();
        let found = found.or(encoded.map(|_| &nothing_found));
        found.into_iter().flat_map(side).collect()
    });
    Ok(some(frame!(sides, row => {
        "point": row.point,
        "side": row.of.name,
        "tokens": row.of.tokens,
        "games": row.of.games,
        "distinct": row.of.distinct,
        "copies": row.of.games.saturating_sub(row.of.distinct),
        "copies_share": share(row.of.games.saturating_sub(row.of.distinct), row.of.games),
        "most_copies": row.of.most.map(|most| most.copies),
        "most_copied_plies": row.of.most.map(|most| most.plies),
        "on_the_other_side": row.of.shared.0,
        "of_games": row.of.shared.1,
        "on_the_other_side_share": share(row.of.shared.0, row.of.shared.1),
    })?))
}

/// Of an inspection: a ply, and its positions, those seen, those by the same moves, those different, and of these those seen.
type AtPly<'a> = (&'a Inspection, Option<u32>, [u64; 5]);

fn by_ply(found: &Inspection) -> Vec<AtPly<'_>> {
    let overlap = &found.overlap;
    let all = [overlap.positions, overlap.seen, overlap.prefixes, overlap.distinct, overlap.distinct_seen];
    let each = overlap.by_ply.iter();
    let each = each.map(|at| (found, Some(at.ply), [at.positions, at.seen, at.prefixes, at.distinct, at.distinct_seen]));
    each.chain([(found, None, all)]).collect()
}

/// By ply, and of all plies together where none is named.
pub(super) fn overlap(results: &Results) -> Result<Option<DataFrame>> {
    let plies = rows(results, |point| point.inspection.iter().flat_map(by_ply).collect());
    let estimate = |found: &Inspection, hits: u64, n: u64| words::known(found, hits, n);
    Ok(some(frame!(plies, row => {
        "point": row.point,
        "games": row.of.0.overlap.games,
        "of_games": row.of.0.validation_games,
        "ply": row.of.1,
        "positions": row.of.2[0],
        "seen": row.of.2[1],
        "seen_share": share(row.of.2[1], row.of.2[0]),
        "seen_low": estimate(row.of.0, row.of.2[1], row.of.2[0]).map(|share| share.low),
        "seen_high": estimate(row.of.0, row.of.2[1], row.of.2[0]).map(|share| share.high),
        "prefixes": row.of.2[2],
        "prefixes_share": share(row.of.2[2], row.of.2[0]),
        "prefixes_low": estimate(row.of.0, row.of.2[2], row.of.2[0]).map(|share| share.low),
        "prefixes_high": estimate(row.of.0, row.of.2[2], row.of.2[0]).map(|share| share.high),
        "distinct": row.of.2[3],
        "distinct_seen": row.of.2[4],
        "distinct_seen_share": share(row.of.2[4], row.of.2[3]),
    })?))
}

pub(super) fn lengths(results: &Results) -> Result<Option<DataFrame>> {
    let lengths = rows(results, |point| point.corpus().map_or_else(Vec::new, |corpus| corpus.lengths));
    Ok(some(frame!(lengths, row => { "point": row.point, "plies": row.of.0, "games": row.of.1 })?))
}
