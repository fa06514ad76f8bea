//! Every value that a metric may find, by its name. One list for all that must know values beforehand: which figures an
//! experiment may publish, and in which unit a report shows them.

use std::sync::LazyLock;

use serde::Serialize;

/// What a value is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Of 1, shown in per cent.
    Share,
    Nats,
    Bits,
    Plies,
}

/// Of what a value is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Of the whole sample, and of parts of it where the metric has parts.
    Whole,
    /// Of parts of the sample alone.
    Parts,
    /// Of the whole sample, and its bounds are no interval: a smallest or a largest.
    Extreme,
}

/// Which way a value is better. A length, or how often real games end, is neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    Higher,
    Lower,
}

/// A value, before it is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    pub metric: &'static str,
    /// Within its metric, such as `castling.legal`.
    pub name: String,
    pub unit: Unit,
    /// Whether the temperature decides it at which tokens are sampled.
    pub sampled: bool,
    pub told: Told,
    /// None where another one is not better, or where it is no value of the model.
    pub better: Option<Better>,
}

/// All of them, by metric.
pub fn known() -> &'static [Known] {
    static KNOWN: LazyLock<Vec<Known>> = LazyLock::new(all);
    &KNOWN
}

/// One of them.
pub fn find(metric: &str, name: &str) -> Option<&'static Known> {
    known().iter().find(|known| known.metric == metric && known.name == name)
}

/// Which way a value is better; none too where it is no value that is known.
pub fn better(metric: &str, name: &str) -> Option<Better> {
    find(metric, name)?.better
}

fn all() -> Vec<Known> {
    const UP: Option<Better> = Some(Better::Higher);
    const DOWN: Option<Better> = Some(Better::Lower);
    use Told::{Extreme, Parts, Whole};
    use Unit::{Bits, Nats, Plies, Share};
    let mut all = Vec::new();
    let mut add = |metric, names: &[&str], unit, sampled, told, better| {
        all.extend(names.iter().map(|&name| Known { metric, name: name.to_owned(), unit, sampled, told, better }));
    };
    add("legality", &["rate"], Share, true, Whole, UP);
    add("agreement", &["top1", "top5"], Share, false, Whole, UP);
    for rule in ["castling", "en_passant", "promotion", "check"] {
        let names = |aspects: &[&str]| aspects.iter().map(|aspect| format!("{rule}.{aspect}")).collect::<Vec<_>>();
        let [shares, extremes] = [names(&["legal", "human", "mass"]), names(&["mass_min", "mass_max"])];
        add("rules", &shares.iter().map(String::as_str).collect::<Vec<_>>(), Share, false, Whole, UP);
        add("rules", &extremes.iter().map(String::as_str).collect::<Vec<_>>(), Share, false, Extreme, None);
    }
    add("mass", &["mean", "above_99"], Share, false, Whole, UP);
    add("calibration", &["ece"], Share, false, Whole, DOWN);
    add("calibration", &["confidence"], Share, false, Whole, None);
    add("calibration", &["right"], Share, false, Whole, UP);
    add("calibration", &["log_loss"], Nats, false, Whole, DOWN);
    add("dense", &["top1", "top5", "mass"], Share, false, Whole, UP);
    add("dense", &["legal"], Share, true, Whole, UP);
    add("dense", &["survival"], Share, true, Parts, UP);
    add("full_games", &["clean"], Share, true, Whole, UP);
    add("full_games", &["by_rules"], Share, true, Whole, None);
    add("full_games", &["plies"], Plies, true, Whole, None);
    add("full_games", &["real_by_rules"], Share, false, Whole, None);
    add("full_games", &["real_plies"], Plies, false, Whole, None);
    add("loss", &["nats"], Nats, false, Whole, DOWN);
    add("openings", &["divergence"], Bits, false, Parts, DOWN);
    add("openings", &["variation"], Share, false, Parts, DOWN);
    add("puzzles", &["solved"], Share, false, Whole, UP);
    for frame in ["", "to_move."] {
        for model in ["", "random.", "majority."] {
            // Beside the probe of the model stand those that it is to be compared with.
            let better = if model.is_empty() { UP } else { None };
            let names = ["accuracy", "occupied"].map(|squares| format!("{frame}{model}{squares}"));
            add("probe", &names.each_ref().map(String::as_str), Share, false, Whole, better);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::metric::Metric;
    use super::super::{Material, fakes, measure};
    use super::*;
    use crate::data::tokens::Framing;
    use crate::data::tokens::tests::written;
    use crate::progress::silent;

    const PUZZLES: &[u8] = b"PuzzleId,FEN,Moves,Rating,Prefix\n\
        a1,rnbqkbnr/pppp1ppp/8/4p3/8/5P2/PPPPP1PP/RNBQKBNR w KQkq - 0 2,g2g4 d8h4,850,f2f3 e7e5\n";

    #[test]
    fn every_value_that_is_found_is_known_and_every_known_one_is_found() {
        let mut games = fakes::games();
        games.extend(std::iter::repeat_n(fakes::game("e2e4 e7e5"), 30));
        let (_dir, file) = written(&games, Framing::Marked);
        let on = Material::split(&file, &file).with_puzzles(PUZZLES);
        for metric in [
            Metric::Legality { positions: 50, temperature: 1.0, seed: 5 },
            Metric::Agreement { positions: 50, seed: 5 },
            Metric::Rules { positions: 5, seed: 5 },
            Metric::Mass { positions: 50, seed: 5 },
            Metric::Calibration { positions: 50, seed: 5 },
            Metric::Dense { games: 20, temperature: 1.0, seed: 5 },
            Metric::FullGames { games: 5, temperature: 1.0, seed: 5 },
            Metric::Loss,
            Metric::Openings { prefixes: vec![String::new()], seed: 5 },
            Metric::Puzzles { blake3: "9f2c".into(), puzzles: 5, seed: 5 },
        ] {
            let name = metric.name();
            let measured = measure(&metric, &fakes::moody(), &on, &silent()).expect("games to measure on");
            let found: BTreeSet<_> = measured.values.iter().map(|value| value.name.as_str()).collect();
            let wanted: BTreeSet<_> =
                known().iter().filter(|known| known.metric == name).map(|known| known.name.as_str()).collect();
            assert_eq!(found, wanted, "{name}");
            for value in &measured.values {
                let told = find(name, &value.name).map(|known| known.told);
                assert!(told != Some(Told::Parts) || !value.slice.is_empty(), "{name} {value:?}");
                let extreme = value.method.ends_with("seen");
                assert_eq!(told == Some(Told::Extreme), extreme, "{name} {value:?}");
            }
        }
    }

    #[test]
    fn what_describes_the_games_or_the_instrument_is_neither_better_nor_worse() {
        for (metric, value) in [
            ("full_games", "plies"),
            ("full_games", "real_by_rules"),
            ("rules", "check.mass_min"),
            ("probe", "random.accuracy"),
            ("probe", "to_move.majority.occupied"),
            ("calibration", "confidence"),
        ] {
            assert_eq!(better(metric, value), None, "{metric}.{value}");
        }
        assert_eq!(better("probe", "to_move.occupied"), Some(Better::Higher));
        assert_eq!(better("loss", "nats"), Some(Better::Lower));
        assert_eq!(better("rules", "check.mass"), Some(Better::Higher));
    }
}
