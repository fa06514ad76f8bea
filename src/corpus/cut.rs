//! A stream of PGN text, cut into games without copying them.
//!
//! A game is its tags and the movetext up to the next tag that begins a line outside a comment, or up to the
//! empty line after its result, or to a second first move after an empty line. A brace that is never closed spoils
//! its own game only: an `[Event` after an empty line begins a game even inside a comment. Lines may end as on any
//! system.

use memchr::{memchr, memchr2, memrchr2};

use super::movetext::is_result;
use super::tags::tag;

/// One game's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Game<'a> {
    /// The lines with tags; empty where the game has none.
    pub(super) tags: &'a [u8],
    pub(super) movetext: &'a [u8],
}

/// Cuts a text.
pub(super) struct Cutter<'a> {
    text: &'a [u8],
    /// Where the next game begins.
    at: usize,
    /// Whether the text is known to end a game.
    whole: bool,
}

/// What stands next in a text.
#[derive(Debug)]
pub(super) enum Cut<'a> {
    Game(Game<'a>),
    /// A game whose end may lie behind the text.
    More,
    End,
}

/// A game in the making; offsets count from its start.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is seen or not, whatever the others are")]
struct Seen {
    /// Where the movetext begins, once it has.
    movetext: Option<usize>,
    in_comment: bool,
    after_empty_line: bool,
    after_result: bool,
    /// A line began with the first move.
    has_first_move: bool,
}

impl<'a> Cutter<'a> {
    /// `whole` tells that the text ends between games, or with its file.
    pub(super) fn new(text: &'a [u8], whole: bool) -> Self {
        Self { text, at: 0, whole }
    }

    /// Begins elsewhere: at the start of a game.
    pub(super) fn seek(&mut self, at: usize) {
        self.at = at;
    }

    /// Where the next game begins.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn next(&mut self) -> Cut<'a> {
        let mut seen = Seen::default();
        let mut at = self.at;
        let mut has_text = false;
        loop {
            let line = match self.line(at) {
                Some(line) => line,
                None if self.whole => break,
                None => return Cut::More,
            };
            let (mut text, mut begin) = (&self.text[at..line.end], at);
            // A byte order mark may stand where files were joined.
            if let Some(rest) = text.strip_prefix(b"\xef\xbb\xbf") {
                text = rest;
                begin += 3;
            }
            match seen.line(text, begin - self.at) {
                Step::Goes => has_text |= !text.trim_ascii().is_empty(),
                Step::BeginsNext if has_text => break,
                Step::BeginsNext => {
                    // Nothing but empty lines so far.
                    self.at = at;
                    (seen, has_text) = (Seen::default(), false);
                    continue;
                }
                Step::Ends => {
                    at = line.next;
                    break;
                }
            }
            at = line.next;
        }
        let text = &self.text[self.at..at];
        self.at = at;
        if !has_text {
            return Cut::End;
        }
        let (tags, movetext) = text.split_at(seen.movetext.unwrap_or(text.len()));
        Cut::Game(Game { tags, movetext })
    }

    /// The line that begins at `at`; none at the end of the text, or where its end may lie behind it.
    fn line(&self, at: usize) -> Option<Line> {
        let text = &self.text[at..];
        match memchr2(b'\n', b'\r', text) {
            Some(length) if text[length] == b'\n' => Some(Line { end: at + length, next: at + length + 1 }),
            // A carriage return alone ends a line too; what follows it must be known first.
            Some(length) if length + 1 < text.len() || self.whole => {
                let next = length + 1 + usize::from(text.get(length + 1) == Some(&b'\n'));
                Some(Line { end: at + length, next: at + next })
            }
            None if self.whole && !text.is_empty() => Some(Line { end: self.text.len(), next: self.text.len() }),
            _ => None,
        }
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
            // Games without tags and results are told apart by their numbers.
            Some(_) if after_empty_line && self.has_first_move && is_first_move(text) => return Step::BeginsNext,
            Some(_) => self.movetext(line, offset),
        }
        Step::Goes
    }

    fn movetext(&mut self, line: &[u8], offset: usize) {
        self.movetext.get_or_insert(offset);
        self.has_first_move |= is_first_move(line.trim_ascii_start());
        self.in_comment = open_after(line, false);
        let line = line.trim_ascii_end();
        let last = line.iter().rposition(u8::is_ascii_whitespace).map_or(line, |space| &line[space + 1..]);
        self.after_result = !self.in_comment && is_result(last);
    }
}

/// Whether a text begins with White's first move, and not Black's as in `1... e5`.
fn is_first_move(text: &[u8]) -> bool {
    text.starts_with(b"1.") && text.get(2) != Some(&b'.')
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

    /// Cuts a text of which a few bytes more are known each time, to put every line across a border.
    fn cut_by(text: &[u8], piece: usize) -> Vec<(String, String)> {
        let mut games = Vec::new();
        let bare = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        let (mut start, mut end) = (0, piece.min(text.len()));
        loop {
            let whole = end == text.len();
            let mut cutter = Cutter::new(&text[start..end], whole);
            while let Cut::Game(game) = cutter.next() {
                games.push((bare(game.tags), bare(game.movetext)));
            }
            start += cutter.position();
            if whole {
                return games;
            }
            end = text.len().min(end.saturating_add(piece));
        }
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
        // Neither tags nor results.
        assert_eq!(
            movetexts("1. e4 e5\n\n1. d4 d5\n\n1... c5\n\n2. c4\n\n1.c4"),
            ["1. e4 e5", "1. d4 d5\n\n1... c5\n\n2. c4", "1.c4"]
        );
        assert_eq!(movetexts("1. e4 (\n1. d4) e5"), ["1. e4 (\n1. d4) e5"]);
    }

    #[test]
    fn an_open_comment_spoils_its_own_game_only() {
        let text = "[Event \"a\"]\n\n1. e4 {oh\n\n*\n\n[Event \"b\"]\n\n1. d4 ; {\n1... d5 *\n\n[Event \"c\"]\n";
        assert_eq!(movetexts(text), ["1. e4 {oh\n\n*", "1. d4 ; {\n1... d5 *", ""]);
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
            let mut cutter = Cutter::new(text.as_bytes(), true);
            while let Cut::Game(game) = cutter.next() {
                tags(game.tags);
            }
        }
    }
}
