//! The made-up month that the corpus is measured on: its form and its mix are those of the archive.

use std::io::Read as _;
use std::sync::OnceLock;

use philidor::corpus::config::Keep;
use philidor::corpus::packed::Packed;
use philidor::corpus::pgn::{Means, parse};
use philidor::corpus::report::{ParseReport, Reason};
use philidor::progress::silent;
use sha2::{Digest as _, Sha256};

use crate::archive::month;
use crate::archive::pack;

fn text(seed: u64, games: u64) -> String {
    let mut text = Vec::new();
    month::text(seed, games, &mut text).expect("written to memory");
    String::from_utf8(text).expect("text")
}

/// The first games of a month, made once.
fn first_games() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| text(1, 4_000))
}

fn account(text: &str) -> ParseReport {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("month.pgn");
    std::fs::write(&path, text).expect("written");
    let packed = Packed::open(&path, "month.pgn").expect("opened");
    parse(&packed, &Keep::published(), None, Means::new(2, 64 << 20), silent(), &mut |_, _| Ok(())).expect("parsed").0
}

#[test]
fn one_seed_makes_one_month_and_a_game_does_not_depend_on_those_after_it() {
    let made = text(1, 1_100);
    assert!(first_games().starts_with(&made));
    assert!(!made.starts_with(&text(2, 1)));
    // Where this changes, raise the version in `benches/archive/month.rs`: months that lie around are older.
    let digest = format!("{:x}", Sha256::digest(&made));
    assert_eq!(digest, "97942800e4d45def268049ca3d4540318ea1f3c62b39e8a23bde1622c891ad5e");
}

#[test]
fn the_published_filters_reject_as_they_did_in_july_2026() {
    let report = account(first_games());
    let share = |games: u64| games as f64 / report.read as f64;
    assert_eq!(report.read, 4_000);
    assert!((share(report.kept) - 0.1236).abs() < 0.015, "{} kept", report.kept);
    let published = [(Reason::Speed, 0.363), (Reason::EloRange, 0.474), (Reason::Termination, 0.038), (Reason::TooShort, 0.0023)];
    for &(reason, games) in &report.rejected {
        match published.iter().find(|(known, _)| *known == reason) {
            Some((_, published)) => {
                assert!((share(games) - published).abs() < 0.004 + published * 0.08, "{} {games}", reason.name());
            }
            None => assert!(games <= 1, "{} {games}", reason.name()),
        }
    }
}

#[test]
fn a_game_has_the_form_of_the_archive() {
    let text = first_games();
    let game = text.split("\n\n[Event ").find(|game| game.contains("%eval")).expect("one in eleven is analysed");
    let tags: Vec<&str> = game.lines().take_while(|line| !line.is_empty()).collect();
    let names: Vec<&str> = tags[1..].iter().map(|tag| tag[1..].split(' ').next().expect("a name")).collect();
    let wanted = "Site Date Round White Black Result UTCDate UTCTime WhiteElo BlackElo WhiteRatingDiff BlackRatingDiff \
                  ECO Opening TimeControl Termination";
    assert_eq!(names.iter().filter(|name| !name.ends_with("Title")).copied().collect::<Vec<_>>().join(" "), wanted);
    assert!(game.contains("\n\n1. ") && game.contains(" { [%eval ") && game.contains("] [%clk ") && game.contains(" } 1... "));
    assert!(["?! {", "? {", "?? {"].iter().all(|glyph| text.contains(glyph)));
    assert!(text.contains("\n\n1-0\n\n[Event ") || text.contains("\n\n0-1\n\n[Event "), "one game in a hundred has no moves");
    let mean = text.len() as f64 / 4_000.0;
    assert!((2_000.0..2_600.0).contains(&mean), "{mean} bytes a game");
}

#[test]
fn both_packings_hold_the_text_and_frames_are_announced() {
    let text = &first_games()[..200_000];
    let (mut one, mut many) = (Vec::new(), Vec::new());
    pack::one_frame(text.as_bytes(), &mut one, 3).expect("packed");
    pack::frames(text.as_bytes(), &mut many, 3, 50_000, 3).expect("packed");
    assert_eq!(zstd::decode_all(&one[..]).expect("whole"), text.as_bytes());
    let (mut rest, mut unpacked, mut frames) = (&many[..], Vec::new(), 0);
    while let Some((head, tail)) = rest.split_first_chunk::<12>() {
        assert_eq!(head[..8], [0x50, 0x2A, 0x4D, 0x18, 4, 0, 0, 0]);
        let size = u32::from_le_bytes([head[8], head[9], head[10], head[11]]) as usize;
        zstd::Decoder::new(&tail[..size]).expect("a frame").single_frame().read_to_end(&mut unpacked).expect("whole");
        rest = &tail[size..];
        frames += 1;
    }
    assert!(unpacked == text.as_bytes() && rest.is_empty());
    assert_eq!(frames, text.len().div_ceil(50_000));
}
