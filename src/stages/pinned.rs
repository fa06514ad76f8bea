//! The bytes that the portable stages write, pinned beside their versions: whoever changes the bytes raises `VERSION`,
//! since an artifact of the same key would be taken for what it is not.

use std::fmt::Write as _;

use insta::assert_snapshot;

use super::bench::{Bench, random_games};
use super::encode::Encode;
use super::inspect::Inspect;
use super::parse::Parse;
use crate::corpus::config::{Keep, Split, SplitBy};
use crate::plan::{Handle, Stage};

/// The stage, its version, and the first digits of each file's digest.
fn pin<S: Stage>(text: &mut String, bench: &Bench, made: Handle<S::Output>) {
    writeln!(text, "{} {}", S::NAME, S::VERSION).expect("a string takes text");
    for (name, bytes) in bench.bytes(S::NAME, made) {
        writeln!(text, "  {} {name}", &blake3::hash(&bytes).to_hex()[..16]).expect("a string takes text");
    }
}

#[test]
fn other_bytes_have_another_version() {
    let mut bench = Bench::default();
    let mut text = String::new();
    let archive = bench.archive(random_games(60, 1).as_bytes());
    let keep = Keep { plies: [15, 35], ..Keep::default() };
    let games = bench.make(Parse { archive, keep, moves: None, source: String::new() });
    pin::<Parse>(&mut text, &bench, games);
    for by in [SplitBy::Draw, SplitBy::GameHash] {
        let split = Split { validation: 0.2, by, seed: 1337 };
        let tokens = bench.make(Encode { games: vec![games], moves: Some(700), split });
        pin::<Encode>(&mut text, &bench, tokens);
        let inspection = bench.make(Inspect { tokens, replay: 20 });
        pin::<Inspect>(&mut text, &bench, inspection);
    }
    assert_snapshot!(text, @r#"
    parse 2
      7081502e98728402 ends.u64
      68bdf2223a425971 games.parquet
      cb90b05cfbdac286 moves.u16
      cca10a37b9cf074f report.json
    encode 1
      3b4bc4fdd8cc79fc report.json
      45462c7ccf12a7de train.ends.u64
      0b72f48f009cae1c train.u16
      ec13b032f3023f5f validation.ends.u64
      f2e531a5d4a5325c validation.u16
    inspect 2
      25824892b092d17d inspection.json
    encode 1
      0b1090098854e2f0 report.json
      d56683507901405f train.ends.u64
      28846ed185cd810e train.u16
      8afe7c5ac121b4a7 validation.ends.u64
      71da4e0534161fb0 validation.u16
    inspect 2
      9913efe24927761d inspection.json
    "#);
}
