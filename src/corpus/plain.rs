//! The way in which nearly all games of the archive are written, read in one pass without a look at the rest.
//!
//! Lines of one tag each, an empty line, one line of movetext, an empty line, and the next game. Whatever is
//! written in another way is left to [`cut`](super::cut), which reads everything; where both read a game, they
//! read the same.

use memchr::{memchr, memchr_iter, memchr2, memchr2_iter};

use super::cut::Game;
use super::tags::Tags;

/// The game at the head of `text`, its tags, and its length with the empty line after it.
///
/// `whole` tells that the text ends between games. None where the game is written in another way, or may go on
/// behind the text.
pub(super) fn plain(text: &[u8], whole: bool) -> Option<(Game<'_>, Tags<'_>, usize)> {
    if !text.starts_with(b"[Event ") {
        return None;
    }
    let mut tags = Tags::default();
    let mut quotes = memchr2_iter(b'"', b'\\', text);
    let (mut at, mut lines) = (0, 0);
    while text.get(at) == Some(&b'[') {
        at = tag_line(text, at, quotes.next()?, quotes.next()?, &mut tags)?;
        lines += 1;
    }
    let head = &text[..at];
    // A line's end inside of a tag was not looked for so far, and a carriage return is one too.
    if *text.get(at)? != b'\n' || memchr_iter(b'\n', head).count() != lines || memchr(b'\r', head).is_some() {
        return None;
    }
    at += 1;
    // These may begin something else than a line of moves.
    if matches!(text.get(at)?, b'[' | b'%' | 0xef | 0..=b' ') {
        return None;
    }
    at += memchr2(b'\n', b'\r', &text[at..])?;
    if text[at] == b'\r' {
        return None;
    }
    at += 1;
    let game = Game { tags: head, movetext: &text[head.len() + 1..at] };
    let rest = &text[at..];
    match rest {
        b"" if whole => Some((game, tags, at)),
        [b'\n'] if whole => Some((game, tags, at + 1)),
        _ => rest.starts_with(b"\n[Event ").then_some((game, tags, at + 1)),
    }
}

/// Takes the tag of the line that begins at `at`, given the next two quotes, and says where the next line begins. None
/// unless the line has one tag and nothing else.
fn tag_line<'a>(text: &'a [u8], at: usize, open: usize, close: usize, tags: &mut Tags<'a>) -> Option<usize> {
    let quoted = text[open] == b'"' && text[close] == b'"' && text[close..].starts_with(b"\"]\n");
    // One space before the value, as always; whoever writes more or others is left to the rest.
    let spaced = open >= at + 3 && text[open - 1] == b' ' && text[open - 2].is_ascii_graphic() && text[at + 1].is_ascii_graphic();
    if !quoted || !spaced {
        return None;
    }
    tags.set(&text[at + 1..open - 1], &text[open + 1..close]);
    Some(close + 3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::cut::{Cut, Cutter};
    use crate::corpus::tags::tags;
    use proptest::prelude::*;

    const GAME: &str =
        "[Event \"Rated Blitz game\"]\n[White \"a]b\"]\n[WhiteElo \"2000\"]\n\n1. e4 { [%clk 0:03:00] } e5 1-0\n\n";

    #[test]
    fn the_form_of_the_archive_is_read_here() {
        let text = GAME.repeat(2);
        let (game, tags, length) = plain(text.as_bytes(), false).expect("plain");
        assert_eq!((length, tags.white, tags.white_elo), (GAME.len(), Some(&b"a]b"[..]), Some(&b"2000"[..])));
        assert!(game.movetext.starts_with(b"1. e4 {") && game.movetext.ends_with(b"1-0\n"));
        assert!(plain(GAME.as_bytes(), false).is_none() && plain(GAME.as_bytes(), true).is_some());
    }

    proptest! {
        #[test]
        fn what_is_read_here_is_read_the_same_elsewhere(
            changes in proptest::collection::vec(
                (0..GAME.len(), proptest::sample::select(vec!["", "\n", "\r", "\"", "\\", "[", "]", " ", "{", "}", "%", "\n\n", "x", "[Event \"y\"]", "\u{feff}", "1-0"]), 0..3_usize),
                0..4,
            ),
            whole: bool,
        ) {
            let mut text = GAME.to_owned();
            for (at, put, removed) in changes {
                let at = (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).expect("0 is one");
                let end = (at + removed..=text.len()).find(|&end| text.is_char_boundary(end)).unwrap_or(text.len());
                text.replace_range(at..end, put);
            }
            text += "[Event \"next\"]\n\n*\n";
            if let Some((game, found, length)) = plain(text.as_bytes(), whole) {
                let mut cutter = Cutter::new(text.as_bytes(), whole);
                let Cut::Game(cut) = cutter.next() else { panic!("no game: {text:?}") };
                prop_assert_eq!((game.tags.trim_ascii_end(), game.movetext.trim_ascii()), (cut.tags.trim_ascii_end(), cut.movetext.trim_ascii()), "{:?}", text);
                prop_assert_eq!(format!("{:?}", found), format!("{:?}", tags(cut.tags)), "{:?}", text);
                let rest = |at: usize| text[at..].trim_start_matches(['\n', '\r', ' ']);
                prop_assert_eq!(rest(length), rest(cutter.position()), "{:?}", text);
            }
        }
    }
}
