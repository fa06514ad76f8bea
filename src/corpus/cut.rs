//! A stream of PGN text, cut into games without copying them.
//!
//! A game is its tags and the movetext up to the next tag that begins a line outside a comment, or up to the
//! empty line after its result. A brace that is never closed spoils its own game only: an `[Event` after an
//! empty line begins a game even inside a comment. Lines may end as on any system.

use std::io::{self, Read};

use memchr::{memchr, memchr2, memrchr2};

use super::movetext::is_result;
use super::tags::tag;
use crate::error::Fixable;

/// Read at once; larger pieces fall out of the processor's cache.
const PIECE_BYTES: usize = 128 << 10;
/// No game is longer: what goes on beyond is something else.
const GAME_BYTES_MAX: usize = 16 << 20;

/// One game's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Game<'a> {
    /// The lines with tags; empty where the game has none.
    pub(super) tags: &'a [u8],
    pub(super) movetext: &'a [u8],
}

/// Cuts what a reader gives.
pub(super) struct Cutter<R> {
    reader: R,
    /// What people call the source.
    name: String,
    buffer: Vec<u8>,
    /// Where the next game begins in the buffer.
    start: usize,
    /// Where what was read ends.
    end: usize,
    all_read: bool,
}

/// A game in the making; offsets count from its start.
#[derive(Default)]
struct Seen {
    /// Where the movetext begins, once it has.
    movetext: Option<usize>,
    in_comment: bool,
    after_empty_line: bool,
    after_result: bool,
}

impl<R: Read> Cutter<R> {
    pub(super) fn new(reader: R, name: &str) -> Self {
        Self { reader, name: name.to_owned(), buffer: vec![0; 2 * PIECE_BYTES], start: 0, end: 0, all_read: false }
    }

    pub(super) fn reader(&self) -> &R {
        &self.reader
    }

    /// The next game, or none at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Game<'_>>> {
        let mut seen = Seen::default();
        let mut at = 0;
        let mut has_text = false;
        while let Some(line) = self.line(at)? {
            let (mut text, mut offset) = (&self.buffer[self.start + at..self.start + line.end], at);
            // A byte order mark may stand where files were joined.
            if let Some(rest) = text.strip_prefix(b"\xef\xbb\xbf") {
                text = rest;
                offset += 3;
            }
            match seen.line(text, offset) {
                Step::Goes => has_text |= !text.trim_ascii().is_empty(),
                Step::BeginsNext if has_text => break,
                Step::BeginsNext => {
                    // Nothing but empty lines so far.
                    self.start += at;
                    (seen, at) = (Seen::default(), 0);
                    continue;
                }
                Step::Ends => {
                    at = line.next;
                    break;
                }
            }
            at = line.next;
        }
        if !has_text {
            return Ok(None);
        }
        let text = &self.buffer[self.start..self.start + at];
        self.start += at;
        let (tags, movetext) = text.split_at(seen.movetext.unwrap_or(at));
        Ok(Some(Game { tags, movetext }))
    }

    /// The line that begins `at` bytes after the game's start; none at the end of the text.
    fn line(&mut self, at: usize) -> io::Result<Option<Line>> {
        let mut looked_at = at;
        loop {
            let text = &self.buffer[self.start..self.end];
            if let Some(length) = memchr2(b'\n', b'\r', &text[looked_at..]) {
                let end = looked_at + length;
                if text[end] == b'\n' {
                    return Ok(Some(Line { end, next: end + 1 }));
                }
                // A carriage return alone ends a line too; what follows it must be known first.
                if end + 1 < text.len() || self.all_read {
                    let next = end + 1 + usize::from(text.get(end + 1) == Some(&b'\n'));
                    return Ok(Some(Line { end, next }));
                }
                looked_at = end;
            } else {
                looked_at = text.len();
            }
            if self.all_read {
                return Ok((at < text.len()).then_some(Line { end: text.len(), next: text.len() }));
            }
            self.fill()?;
        }
    }

    /// Reads on, and makes room first where there is none.
    fn fill(&mut self) -> io::Result<()> {
        if self.end + PIECE_BYTES > self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            if self.end > GAME_BYTES_MAX {
                let (name, most) = (&self.name, GAME_BYTES_MAX >> 20);
                let message = format!("`{name}` holds no games: one text of more than {most} MiB was seen");
                let hint = "a PGN file was wanted, with a line of tags before each game";
                return Err(io::Error::other(Fixable::failed(message).hint(hint)));
            }
            let wanted = (self.end + PIECE_BYTES).next_power_of_two();
            self.buffer.resize(wanted.max(self.buffer.len()), 0);
        }
        let count = loop {
            match self.reader.read(&mut self.buffer[self.end..self.end + PIECE_BYTES]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
                other => break other?,
            }
        };
        self.end += count;
        self.all_read = count == 0;
        Ok(())
    }
}

struct Line {
    /// Where its text ends.
    end: usize,
    /// Where the next line begins.
    next: usize,
}

enum Step {
    /// The line belongs to the game.
    Goes,
    /// The game ended before the line.
    BeginsNext,
    /// The game ends with the line.
    Ends,
}

impl Seen {
    /// Takes the next line of text, which begins `offset` bytes after the game's start.
    fn line(&mut self, line: &[u8], offset: usize) -> Step {
        let text = line.trim_ascii_start();
        let after_empty_line = std::mem::replace(&mut self.after_empty_line, text.is_empty());
        if self.in_comment {
            if after_empty_line && text.starts_with(b"[Event ") {
                return Step::BeginsNext;
            }
            self.in_comment = open_after(line, true);
            return Step::Goes;
        }
        match text.first() {
            None => {
                if self.after_result {
                    return Step::Ends;
                }
            }
            // A line for programs that is no part of the game.
            Some(b'%') if text.len() == line.len() => (),
            Some(b'[') if self.movetext.is_some() => return Step::BeginsNext,
            Some(b'[') => {
                if after_empty_line && text.starts_with(b"[Event ") {
                    return Step::BeginsNext;
                }
                let rest = after_tags(text);
                if !rest.is_empty() {
                    let begins = offset + line.len() - rest.len();
                    self.movetext(rest, begins);
                }
            }
            Some(_) => self.movetext(line, offset),
        }
        Step::Goes
    }

    fn movetext(&mut self, line: &[u8], offset: usize) {
        self.movetext.get_or_insert(offset);
        self.in_comment = open_after(line, false);
        let line = line.trim_ascii_end();
        let last = line.iter().rposition(u8::is_ascii_whitespace).map_or(line, |space| &line[space + 1..]);
        self.after_result = !self.in_comment && is_result(last);
    }
}

/// Whether a comment is open at the end of a line.
fn open_after(line: &[u8], open_before: bool) -> bool {
    match memrchr2(b'{', b'}', line) {
        None => open_before,
        Some(last) if line[last] == b'}' => false,
        // Only here is the whole line looked at: the brace may stand in a `;` comment or in a comment.
        Some(_) => {
            let mut rest = line;
            let mut open = open_before;
            loop {
                if open {
                    let Some(close) = memchr(b'}', rest) else { return true };
                    (rest, open) = (&rest[close + 1..], false);
                } else {
                    let Some(begin) = memchr2(b'{', b';', rest) else { return false };
                    if rest[begin] == b';' {
                        return false;
                    }
                    (rest, open) = (&rest[begin + 1..], true);
                }
            }
        }
    }
}

/// What stands behind the tags of a line.
fn after_tags(line: &[u8]) -> &[u8] {
    // As good as always.
    if line.trim_ascii_end().ends_with(b"]") {
        return b"";
    }
    let mut rest = line;
    while rest.first() == Some(&b'[') {
        rest = tag(rest).2.trim_ascii_start();
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::tags::tags;
    use proptest::prelude::*;

    /// Gives a few bytes at a time, to put every line across a border of pieces.
    struct Trickle<'a>(&'a [u8], usize);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn cut_by(text: &[u8], piece: usize) -> Vec<(String, String)> {
        let mut cutter = Cutter::new(Trickle(text, piece), "x.pgn");
        let mut games = Vec::new();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        while let Some(game) = cutter.next().expect("read") {
            games.push((text(game.tags), text(game.movetext)));
        }
        games
    }

    fn cut(text: &str) -> Vec<(String, String)> {
        let games = cut_by(text.as_bytes(), usize::MAX);
        assert_eq!(games, cut_by(text.as_bytes(), 1), "{text:?}");
        games
    }

    fn movetexts(text: &str) -> Vec<String> {
        cut(text).into_iter().map(|(_, movetext)| movetext).collect()
    }

    #[test]
    fn games_are_cut_at_the_tags_that_begin_a_line() {
        let text = "[Event \"a\"]\n[Site \"b\"]\n\n1. e4 { x\n\n[%clk 1] } 1-0\n\n\n[Event \"c\"]\n\n1. d4 *\n";
        let games = cut(text);
        assert_eq!(games[0], ("[Event \"a\"]\n[Site \"b\"]".into(), "1. e4 { x\n\n[%clk 1] } 1-0".into()));
        assert_eq!(games[1], ("[Event \"c\"]".into(), "1. d4 *".into()));
        assert_eq!(games.len(), 2);
        for ends in ["\r\n", "\r"] {
            assert_eq!(movetexts(&text.replace('\n', ends)).len(), 2, "{ends:?}");
        }
    }

    #[test]
    fn games_without_tags_or_without_moves_are_cut_too() {
        assert_eq!(movetexts("1. e4 1-0\n\n1. d4\n1... d5\n*\n\n\n"), ["1. e4 1-0", "1. d4\n1... d5\n*"]);
        assert_eq!(cut("[Event \"a\"]\n\n[Event \"b\"]\n\n").len(), 2);
        assert_eq!(movetexts("\u{feff}\n[A \"b\"] [C \"d]\"] 1. e4 *\n[A \"e\"]\n1. d4"), ["1. e4 *", "1. d4"]);
        assert_eq!(movetexts("[A \"b\"]\n\n{A remark.}\n\n1. e4 *"), ["{A remark.}\n\n1. e4 *"]);
        assert!(cut("").is_empty());
    }

    #[test]
    fn an_open_comment_spoils_its_own_game_only() {
        let text = "[Event \"a\"]\n\n1. e4 {oh\n\n*\n\n[Event \"b\"]\n\n1. d4 ; {\n1... d5 *\n\n[Event \"c\"]\n";
        assert_eq!(movetexts(text), ["1. e4 {oh\n\n*", "1. d4 ; {\n1... d5 *", ""]);
    }

    #[test]
    fn a_text_that_never_ends_is_refused() {
        let mut cutter = Cutter::new(io::repeat(b'x'), "x.pgn");
        assert!(cutter.next().is_err());
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_pieces_do_not_matter(
            parts in proptest::collection::vec(
                proptest::sample::select(vec![
                    "[Event \"x\"]", "[A", "\"", "{", "}", ";", "%", "(", ")", "\n", "\n\n", "\r", "\r\n", " ", "e4", "1-0", "*", "\\", "]",
                ]),
                0..40,
            ),
            piece in 1_usize..7,
        ) {
            let text = parts.concat();
            let games = cut_by(text.as_bytes(), usize::MAX);
            prop_assert_eq!(&games, &cut_by(text.as_bytes(), piece));
            let bare = |text: &str| text.chars().filter(|character| !character.is_whitespace()).collect::<String>();
            let kept: String = games.iter().map(|(tags, movetext)| bare(tags) + &bare(movetext)).collect();
            prop_assert_eq!(kept, bare(&text));
            let mut cutter = Cutter::new(text.as_bytes(), "x.pgn");
            while let Some(game) = cutter.next().expect("read") {
                tags(game.tags);
            }
        }
    }
}
