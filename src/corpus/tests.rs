//! What reading whole files gives.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use anyhow::Result;
use proptest::prelude::*;
use sha2::{Digest as _, Sha256};

use super::config::Keep;
use super::date::Date;
use super::packed::Packed;
use super::pgn::{Means, parse};
use super::report::ParseReport;
use crate::chess::vocabulary::uci;
use crate::error::Fixable;
use crate::progress::silent;

/// The account, and the kept games as UCI lines: the same for any number of threads.
fn read(path: &Path, keep: &Keep, moves: Option<u64>) -> Result<(ParseReport, String)> {
    let [one, more @ ..] = [1, 2, 5].map(|threads| read_with(threads, path, keep, moves));
    let shown = |result: &Result<_>| result.as_ref().map_err(ToString::to_string).cloned();
    for other in &more {
        assert_eq!(shown(other), shown(&one));
    }
    one
}

fn read_with(threads: usize, path: &Path, keep: &Keep, moves: Option<u64>) -> Result<(ParseReport, String)> {
    let mut lines = String::new();
    let packed = Packed::open(path, "x.pgn")?;
    let means = Means::new(threads, 1 << 30);
    let (report, _) = parse(&packed, keep, moves, means, silent(), &mut |tokens, _| {
        lines += &tokens.iter().map(|&token| uci(token)).collect::<Vec<_>>().join(" ");
        lines += "\n";
        Ok(())
    })?;
    Ok((report, lines))
}

fn read_text(text: &str, keep: &Keep, moves: Option<u64>) -> Result<(ParseReport, String)> {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("x");
    std::fs::write(&path, text).expect("written");
    read(&path, keep, moves)
}

fn message(result: Result<(ParseReport, String)>) -> String {
    result.expect_err("refused").downcast::<Fixable>().expect("the user can mend it").message
}

const SHUFFLE: &str = "1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 5. Nf3 Nf6 6. Ng1 Ng8 7. Nf3 Nf6 8. Ng1 Ng8 9. Nf3 Nf6 10. e4";

fn game(event: &str, white: &str, black: &str, termination: &str, more: &str, moves: &str) -> String {
    format!(
        "[Event \"{event}\"]\n[WhiteElo \"{white}\"]\n[BlackElo \"{black}\"]\n[Termination \"{termination}\"]\n{more}\n{moves} *\n\n"
    )
}

#[test]
fn each_reason_rejects_its_game_and_the_good_one_is_kept() {
    let rated = "Rated Blitz game";
    let text = [
        game("Rated Bullet game", "?", "2000", "Normal", "", SHUFFLE),
        game(rated, "2000", "?", "Abandoned", "", SHUFFLE),
        game(rated, "2000", "1700", "Abandoned", "", SHUFFLE),
        game(rated, "2000", "2000", "Abandoned", "[FEN \"8/8/8/8/8/8/8/8 w - - 0 1\"]\n", SHUFFLE),
        game(rated, "2000", "2000", "Normal", "[FEN \"8/8/8/8/8/8/8/8 w - - 0 1\"]\n", "1. e5"),
        game(rated, "2000", "2000", "Normal", "", "1. e5"),
        game(rated, "2000", "2000", "Normal", "", &format!("1. e5 {}", SHUFFLE.repeat(16))),
        game(rated, "2000", "2000", "Normal", "", &format!("{SHUFFLE} e5 Ke3")),
        game(rated, "2000", "2000", "Normal", "", SHUFFLE),
        game(rated, "2000", "2000", "Normal", "", &format!("{SHUFFLE} 10... e5 11. Ke2 rubbish")),
        game(rated, "2000", "2000", "Normal", "", &format!("{SHUFFLE}?! {{good}} 10... e5 $1 (10... c5 11. c3)")),
    ]
    .concat();
    let keep = Keep { plies: [19, 300], ..Keep::published() };
    let (report, lines) = read_text(&text, &keep, None).expect("parsed");
    let counts: Vec<u64> = report.rejected.iter().map(|&(_, games)| games).filter(|&games| games > 0).collect();
    assert_eq!(counts, [1, 1, 1, 1, 1, 1, 1, 2]);
    assert_eq!((report.read, report.kept, report.plies), (11, 2, 39));
    assert_eq!(report.lengths, [(19, 1), (20, 1)]);
    assert!(lines.lines().nth(1).expect("two games").ends_with("g8f6 e2e4 e7e5"));
}

#[test]
fn castling_en_passant_and_promotion_come_out_as_uci() {
    let moves = "1. e4 Nf6 2. e5 d5 3. exd6 Nc6 4. dxc7 Bg4 5. cxd8N Rxd8 6. Nf3 e6 7. Be2 Be7 8. 0-0 O-O";
    let (_, lines) = read_text(moves, &Keep::default(), None).expect("parsed");
    assert_eq!(lines, "e2e4 g8f6 e4e5 d7d5 e5d6 b8c6 d6c7 c8g4 c7d8n a8d8 g1f3 e7e6 f1e2 f8e7 e1g1 e8g8\n");
    let long = "1. d4 d5 2. Nc3 Nc6 3. Bf4 Bf5 4. Qd2 Qd7 5. O-O-O+ 0-0-0";
    // A check that is none is a mistake of the writer, not of the move.
    let (_, lines) = read_text(long, &Keep::default(), None).expect("parsed");
    assert!(lines.ends_with("e1c1 e8c8\n"));
}

#[test]
fn how_games_ended_is_counted() {
    let dance = "Nf3 Nf6 Ng1 Ng8 ".repeat(4);
    let text = format!("1. f3 e5 2. g4 Qh4# 0-1\n\n1. {dance} 1/2-1/2\n\n1. e4 1-0\n");
    let (report, _) = read_text(&text, &Keep::default(), None).expect("parsed");
    let ends = report.ends;
    assert_eq!((ends.checkmate, ends.stalemate, ends.other_by_rules, ends.not_by_rules), (1, 0, 1, 1));
}

#[test]
fn reading_stops_at_the_end_of_the_game_that_reaches_the_moves() {
    let text = "1. e4 e5 *\n\n1. d4 d5 *\n\n1. c4 c5 *\n\n";
    for (moves, games) in [(None, 3), (Some(1), 1), (Some(2), 1), (Some(3), 2), (Some(99), 3)] {
        let (report, lines) = read_text(text, &Keep::default(), moves).expect("parsed");
        assert_eq!((report.read, report.kept, lines.lines().count()), (games, games, games as usize));
    }
}

#[test]
fn a_file_without_games_says_what_it_holds() {
    let message = |text: &[u8]| {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::write(dir.path().join("x"), text).expect("written");
        message(read(&dir.path().join("x"), &Keep::default(), None))
    };
    assert_eq!(message(b""), "`x.pgn` holds no games: it is empty");
    assert_eq!(message(b" \n\nI'm not a PGN file...\n"), "`x.pgn` holds no games: it begins with `I'm not a PGN file...`");
    assert_eq!(message(b"[corpus]\nmonths = []\n"), "`x.pgn` holds no games: it begins with `[corpus]`");
    let elf = message(b"\x7fELF\x02\x01\x01\0\0\0\n\xff\xfe");
    assert_eq!(elf, "`x.pgn` holds no games: it begins with the bytes `7f 45 4c 46 02 01 01 00`");
    assert!(message(&vec![b'x'; 17 << 20]).starts_with("`x.pgn` holds no games: "));
}

#[test]
fn a_file_whose_games_are_all_rejected_says_why() {
    let text = "[WhiteElo \"2000\"]\n\n1. e4 *\n\n[Event \"Rated Bullet game\"]\n\n1. e4 *\n";
    assert_eq!(
        message(read_text(text, &Keep::published(), None)),
        "`x.pgn` holds no game to keep: 2 read, speed 1, elo_missing 1"
    );
}

/// A folder of the workplace's data, which the project does not need.
fn shared(folder: &str) -> Option<PathBuf> {
    let roots = ["../shared/data", "../../shared/data"].map(|root| Path::new(env!("CARGO_MANIFEST_DIR")).join(root));
    roots.into_iter().map(|root| root.join(folder)).find(|path| path.is_dir())
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that cannot run says so")]
fn the_slices_of_the_archive_give_the_published_account() {
    let Some(dir) = shared("lichess") else { return eprintln!("no slices of the archive here") };
    let slice = (999, 174, 12_659, "speed 302, elo_range 453, termination 66, too_short 3, too_long 1");
    let slice_digest = "36b0e7be4fce6dbea9a5c19db7dff945bb06216a9f322ff5a0b570ffac2a919b";
    let rated = (3_000, 1_118, 84_854, "elo_range 1720, termination 157, too_short 5");
    let rated_digest = "966289d43b8484c5b69b57abe3d7c05eabb45e424a328b79e5ec74ce1298d7c9";
    for (name, account, digest) in [
        ("slice-2021-10.one-frame.pgn.zst", slice, slice_digest),
        ("slice-2021-10.two-frames.pgn.zst", slice, slice_digest),
        ("slice-2021-10.pgn.bz2", slice, slice_digest),
        ("rated-3000.pgn.zst", rated, rated_digest),
    ] {
        let (report, lines) = read(&dir.join(name), &Keep::published(), None).expect("parsed");
        assert_eq!((report.read, report.kept, report.plies, report.reasons().as_str()), account, "{name}");
        assert_eq!(format!("{:x}", Sha256::digest(&lines)), digest, "{name}");
    }
    let cut = message(read(&dir.join("slice-2021-10.truncated.pgn.zst"), &Keep::published(), None));
    assert_eq!(cut, "`x.pgn` ends in the middle of zstd frame 2, at byte 470000");
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that cannot run says so")]
fn rules_that_may_be_left_out_count_as_an_independent_program_does() {
    let Some(dir) = shared("lichess") else { return eprintln!("no slices of the archive here") };
    let day = |text| Date::of_iso(text).expect("a day");
    let keep = Keep {
        rated: true,
        exclude_bots: true,
        estimated_seconds: Some([180, 1499]),
        rating_difference: Some([0, 100]),
        results: vec!["1-0".into(), "0-1".into()],
        dates: Some([day("2021-07-01"), day("2021-10-01")]),
        exclude_duplicates: true,
        games_per_player: NonZeroU32::new(1),
        ..Keep::default()
    };
    let slice_account = (1_998, 529, 35_796, "bot 2, time_control 640, rating_difference 248, result 50, duplicate 529");
    let rated_account = (3_000, 211, 15_375, "time_control 692, rating_difference 430, result 85, date_range 1582");
    // Twice, as one file of two frames.
    let slice = std::fs::read(dir.join("slice-2021-10.one-frame.pgn.zst")).expect("a file").repeat(2);
    let rated = std::fs::read(dir.join("rated-3000.pgn.zst")).expect("a file");
    for (bytes, account) in [(slice, slice_account), (rated, rated_account)] {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), bytes).expect("written");
        let (report, _) = read(file.path(), &keep, None).expect("parsed");
        assert_eq!((report.read, report.kept, report.plies, report.reasons().as_str()), account);
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that cannot run says so")]
fn strange_files_are_read_or_refused_as_they_were() {
    let Some(dir) = shared("odd-pgn") else { return eprintln!("no strange files here") };
    let mut paths: Vec<PathBuf> = std::fs::read_dir(dir).expect("a folder").map(|entry| entry.expect("a file").path()).collect();
    paths.sort();
    let lines = paths.iter().map(|path| {
        let told = match read(path, &Keep::default(), None) {
            Ok((report, _)) => {
                let ParseReport { read, kept, plies, .. } = report;
                format!("{read} read, {kept} kept with {plies} plies; {}", report.reasons())
            }
            Err(error) => error.downcast::<Fixable>().expect("the user can mend it").message,
        };
        format!("{}: {}\n", path.file_name().expect("a name").to_string_lossy(), told.trim_end_matches("; "))
    });
    insta::assert_snapshot!(lines.collect::<String>());
}

/// Frames as `pzstd` writes them.
fn in_frames<'a>(parts: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in parts {
        let frame = zstd::encode_all(part, 1).expect("packed");
        bytes.extend([0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0]);
        bytes.extend((frame.len() as u32).to_le_bytes());
        bytes.extend(frame);
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn frames_pieces_and_threads_change_nothing(
        parts in proptest::collection::vec(
            proptest::sample::select(vec![
                "[Event \"x\"]\n", "\n\n[Event \"Rated\"]\n[WhiteElo \"2000\"]\n\n1. e4 e5 2. Nf3 1-0\n", "\n[Event \"y\"]\n[FEN \"\"]\n\n1. d4 *\n",
                "[Site \"x\"]\n", "1. e4 { oh", "}", "(", "\n", "\n\n", "\r\n\r\n", "1. c4 c5 *", "*", "prose", "\u{feff}", "Nf3 ", "2. ", "%", ";",
            ]),
            0..60,
        ),
        cuts in proptest::collection::vec(0.0..1.0_f64, 0..6),
        piece_bytes in 1_usize..400,
    ) {
        let text = parts.concat().into_bytes();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| (cut * text.len() as f64) as usize).chain([0, text.len()]).collect();
        cuts.sort_unstable();
        let dir = tempfile::tempdir().expect("a folder");
        let found = |name: &str, bytes: &[u8], threads, piece_bytes| {
            let path = dir.path().join(name);
            std::fs::write(&path, bytes).expect("written");
            let packed = Packed::open(&path, "x.pgn").expect("opened");
            let mut games = Vec::new();
            let means = Means { piece_bytes, ..Means::new(threads, 1 << 30) };
            let report = parse(&packed, &Keep::default(), None, means, silent(), &mut |tokens, _| {
                games.push(tokens.to_vec());
                Ok(())
            });
            (report.map(|(report, _)| report).map_err(|error| error.to_string()), games)
        };
        let whole = found("plain", &text, 1, 1 << 20);
        let frames = in_frames(cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]));
        for threads in [1, 3] {
            prop_assert_eq!(&found("frames", &frames, threads, piece_bytes), &whole);
            prop_assert_eq!(&found("plain", &text, threads, piece_bytes), &whole);
        }
    }
}

#[test]
fn a_game_without_end_is_refused_whatever_the_threads() {
    assert!(message(read_text(&"x ".repeat(9 << 20), &Keep::default(), None)).contains("more than 16 MiB"));
}

#[test]
fn games_without_borders_are_read_in_pieces() {
    let game = "[Site \"x\"]\n\n1. e4 e5 2. Nf3 Nc6 1-0\n\n";
    let (report, _) = read_text(&game.repeat(100_000), &Keep::default(), None).expect("parsed");
    assert_eq!((report.read, report.kept, report.plies), (100_000, 100_000, 400_000));
}

#[test]
fn the_first_frame_that_is_cut_or_damaged_is_named_after_the_games_before_it() {
    let text = "[Event \"x\"]\n\n1. e4 e5 *\n\n".repeat(300);
    let frames = in_frames(text.as_bytes().chunks(1000));
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("x");
    let read_bytes = |bytes: &[u8], moves| {
        std::fs::write(&path, bytes).expect("written");
        read(&path, &Keep::default(), moves)
    };
    let cut = &frames[..frames.len() - 5];
    let expected = format!("`x.pgn` ends in the middle of zstd frame {}, at byte {}", text.len().div_ceil(1000), cut.len());
    assert_eq!(message(read_bytes(cut, None)), expected);
    // Whoever wants only the beginning gets it.
    assert_eq!(read_bytes(cut, Some(10)).expect("parsed").0.plies, 10);
    let mut damaged = frames.clone();
    let third = in_frames(text.as_bytes().chunks(1000).take(2)).len() + 12;
    damaged[third + 8] ^= 0xff;
    let message = message(read_bytes(&damaged, None));
    assert!(message.starts_with("`x.pgn` does not decode in zstd frame 3, at byte "), "{message}");
}

#[test]
fn a_pipe_or_a_folder_is_no_file_and_is_not_waited_for() {
    let dir = tempfile::tempdir().expect("a folder");
    for path in [dir.path(), Path::new("/dev/zero")] {
        assert_eq!(message(read(path, &Keep::default(), None)), "`x.pgn` is no file");
    }
}

#[test]
fn text_that_fills_its_slot_waits_for_whoever_takes_it_and_goes_on() {
    // Read by one thread, which must wait for whoever takes the text.
    let text = "[Site \"x\"]\n\n1. e4 e5 1-0\n\n".repeat(1 << 18);
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("x");
    std::fs::write(&path, zstd::encode_all(text.as_bytes(), 1).expect("packed")).expect("written");
    drop(text);
    let (report, _) = read_with(1, &path, &Keep::default(), None).expect("parsed");
    assert_eq!(report.read, 1 << 18);
}
