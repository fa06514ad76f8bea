//! PGN text to games of tokens: cut, filtered by the rules, replayed on a board, counted.
//!
//! The movetext of a game that its tags reject is stepped over unread. Length is counted in words of the main
//! line, playable or not, before anything is played; so a game of 19 words is too short even where one of them
//! is no move.

use anyhow::Result;
use shakmaty::san::{San, SanError, SanPlus};
use shakmaty::{CastlingSide, Chess, Position as _, Role};

use super::config::Keep;
use super::cut::{Cutter, Game};
use super::movetext::{Words, looks_like_a_game};
use super::packed::{Packed, surfaced};
use super::report::{ParseReport, Reason};
use super::tags::tags;
use crate::chess::replay::{Ending, Replay, ended};
use crate::chess::vocabulary::of_move;
use crate::error::Fixable;
use crate::progress::Progress;

/// Reads the games of a file and hands the moves of the kept ones to `kept`, in order.
///
/// It stops at the end of the game with which `moves` plies are reached.
///
/// # Errors
///
/// Where the file is damaged, holds no games, or none that is kept; and where the user wants to stop.
pub fn parse(
    file: Packed,
    keep: &Keep,
    moves: Option<u64>,
    progress: Progress,
    kept: &mut dyn FnMut(&[u16]) -> Result<()>,
) -> Result<ParseReport> {
    let (name, size) = (file.name().to_owned(), file.size());
    let mut cutter = Cutter::new(file, &name);
    let mut reading = Reading::default();
    let mut report = ParseReport::default();
    let mut prose = Prose::default();
    let tell_every = (size / 1000).max(256 << 10);
    let mut told = 0;
    while moves.is_none_or(|moves| report.plies < moves) {
        let position = cutter.reader().position();
        if position >= told + tell_every {
            told = position;
            progress.done(position, size, "bytes");
        }
        if progress.should_stop() {
            return Err(Fixable::interrupted(format!("stopped after {} games of `{name}`", report.read)).into());
        }
        let Some(game) = cutter.next().map_err(surfaced)? else { break };
        match reading.read(&game, keep) {
            Verdict::NoGame => {
                prose.note(game.tags);
                prose.note(game.movetext);
            }
            Verdict::Rejected(reason) => report.reject(reason),
            Verdict::Kept(ending) => {
                report.keep(reading.tokens.len() as u32, ending);
                kept(&reading.tokens)?;
            }
        }
    }
    progress.done(cutter.reader().position(), size, "bytes");
    if report.read == 0 {
        return Err(prose.no_games(&name).into());
    }
    if report.kept == 0 {
        return Err(Fixable::failed(format!("`{name}` holds no game to keep: {} read, {}", report.read, report.reasons()))
            .hint("widen corpus.keep, or take another source")
            .into());
    }
    Ok(report)
}

enum Verdict {
    Kept(Option<Ending>),
    Rejected(Reason),
    /// Text that is no game.
    NoGame,
}

/// Memory for one game after the other.
#[derive(Default)]
struct Reading {
    sans: Vec<San>,
    tokens: Vec<u16>,
    replay: Replay,
}

impl Reading {
    fn read(&mut self, game: &Game, keep: &Keep) -> Verdict {
        let tags = tags(game.tags);
        if !tags.any && !looks_like_a_game(game.movetext) {
            return Verdict::NoGame;
        }
        if let Some(reason) = keep.rejects_tags(&tags) {
            return Verdict::Rejected(reason);
        }
        let mut words = Words::of(game.movetext);
        self.sans.clear();
        self.sans.extend(words.by_ref().map(san));
        if let Some(reason) = keep.rejects_length(self.sans.len()) {
            return Verdict::Rejected(reason);
        }
        if words.broken() {
            return Verdict::Rejected(Reason::InvalidSan);
        }
        self.play().map_or(Verdict::Rejected(Reason::InvalidSan), Verdict::Kept)
    }

    /// Plays the moves, writes their tokens, and says how the rules ended the game.
    ///
    /// # Errors
    ///
    /// Where a move cannot be played.
    fn play(&mut self) -> Result<Option<Ending>, SanError> {
        self.tokens.clear();
        let mut position = Chess::default();
        for san in &self.sans {
            let m = san.to_move(&position)?;
            self.tokens.push(of_move(m));
            position.play_unchecked(m);
        }
        // Repetition needs the whole game again, so it is asked only where it can be.
        Ok(ended(&position).or_else(|| (position.halfmoves() >= 16).then(|| self.ended_by_repetition()).flatten()))
    }

    fn ended_by_repetition(&mut self) -> Option<Ending> {
        self.replay.reset();
        for &token in &self.tokens {
            self.replay.step(token).ok()?;
        }
        self.replay.ended()
    }
}

/// A word as a move; the null move, which is never legal, where it is none.
fn san(word: &[u8]) -> San {
    if let Ok(san) = SanPlus::from_ascii(word) {
        return san.san;
    }
    let checks = word.iter().rev().take_while(|byte| matches!(byte, b'+' | b'#')).count();
    match &word[..word.len() - checks] {
        b"0-0" => San::Castle(CastlingSide::KingSide),
        b"0-0-0" => San::Castle(CastlingSide::QueenSide),
        [pawn @ .., role @ (b'N' | b'B' | b'R' | b'Q')] => promoting(pawn, *role).unwrap_or(San::Null),
        _ => San::Null,
    }
}

/// A promotion without its sign, as in `cxd8Q`.
fn promoting(pawn: &[u8], role: u8) -> Option<San> {
    match San::from_ascii(pawn).ok()? {
        San::Normal { role: Role::Pawn, file, rank, capture, to, promotion: None } => {
            Some(San::Normal { role: Role::Pawn, file, rank, capture, to, promotion: Role::from_char(char::from(role)) })
        }
        _ => None,
    }
}

/// What stood in a file beside games, to say so where there are none.
#[derive(Default)]
struct Prose {
    first: Vec<u8>,
}

impl Prose {
    fn note(&mut self, text: &[u8]) {
        if self.first.is_empty() {
            let text = text.trim_ascii();
            text[..text.len().min(40)].clone_into(&mut self.first);
        }
    }

    fn no_games(&self, name: &str) -> Fixable {
        let seen = if self.first.is_empty() { "it is empty".to_owned() } else { format!("it begins with {}", self.shown()) };
        Fixable::failed(format!("`{name}` holds no games: {seen}")).hint("a PGN file was wanted, plain or packed with zstd")
    }

    /// The first line as text, or the first bytes in hexadecimal where they are none.
    fn shown(&self) -> String {
        let text = self.first.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        // The last character may have been cut.
        let readable = text.len() + 3 >= self.first.len() && !text.contains(|c: char| c.is_control() && !c.is_whitespace());
        if readable && let Some(line) = text.lines().next() {
            return format!("`{line}`");
        }
        let bytes: Vec<String> = self.first.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        format!("the bytes `{}`", bytes.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::vocabulary::uci;
    use crate::progress::silent;
    use sha2::{Digest as _, Sha256};
    use std::path::{Path, PathBuf};

    /// The account, and the kept games as UCI lines.
    fn read(path: &Path, keep: &Keep, moves: Option<u64>) -> Result<(ParseReport, String)> {
        let mut lines = String::new();
        let packed = Packed::open(path, "x.pgn")?;
        let report = parse(packed, keep, moves, silent(), &mut |tokens| {
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

    const SHUFFLE: &str =
        "1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 5. Nf3 Nf6 6. Ng1 Ng8 7. Nf3 Nf6 8. Ng1 Ng8 9. Nf3 Nf6 10. e4";

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
            ("rated-3000.pgn.zst", rated, rated_digest),
        ] {
            let (report, lines) = read(&dir.join(name), &Keep::published(), None).expect("parsed");
            assert_eq!((report.read, report.kept, report.plies, report.reasons().as_str()), account, "{name}");
            assert_eq!(format!("{:x}", Sha256::digest(&lines)), digest, "{name}");
        }
        let cut = message(read(&dir.join("slice-2021-10.truncated.pgn.zst"), &Keep::published(), None));
        assert_eq!(cut, "`x.pgn` ends in the middle of a zstd frame, at byte `470000`");
    }

    #[test]
    #[expect(clippy::print_stderr, reason = "a test that cannot run says so")]
    fn strange_files_are_read_or_refused_but_never_break_the_reader() {
        let Some(dir) = shared("odd-pgn") else { return eprintln!("no strange files here") };
        let (mut read_games, mut refused) = (0, Vec::new());
        for entry in std::fs::read_dir(dir).expect("a folder") {
            let path = entry.expect("a file").path();
            match read(&path, &Keep::default(), None) {
                Ok((report, _)) => read_games += report.read,
                Err(error) => refused.push(error.downcast::<Fixable>().expect("the user can mend it").message),
            }
        }
        assert!(refused.iter().any(|message| message.ends_with("holds no games: it begins with `I'm not a PGN file...`")));
        assert!(refused.len() <= 20 && read_games > 250, "{read_games} games read, {} files refused", refused.len());
    }
}
