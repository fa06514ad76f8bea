//! The way in which nearly all games of the archive are written, read in one pass without a look at the rest.
//!
//! Lines of one tag each, an empty line, one line of movetext, an empty line, and the next game. Whatever is
//! written in another way is left to [`cut`](super::cut), which reads everything; where both read a game, they
//! read the same.

use memchr::{memchr, memchr2, memchr3};

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
    let mut at = 0;
    while text.get(at) == Some(&b'[') {
        at += tag_line(&text[at..], &mut tags)?;
    }
    let head = at;
    // A carriage return ends a line too, even inside of a tag.
    if *text.get(at)? != b'\n' || memchr(b'\r', &text[..head]).is_some() {
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
    let game = Game { tags: &text[..head], movetext: &text[head + 1..at] };
    let rest = &text[at..];
    match rest {
        b"" if whole => Some((game, tags, at)),
        [b'\n'] if whole => Some((game, tags, at + 1)),
        _ => rest.starts_with(b"\n[Event ").then_some((game, tags, at + 1)),
    }
}

/// Takes the tag of a line that has one tag and nothing else, and gives the length of the line.
fn tag_line<'a>(text: &'a [u8], tags: &mut Tags<'a>) -> Option<usize> {
    let quote = memchr3(b'"', b'\\', b'\n', text)?;
    // One space, as always; whoever writes more or other ones is left to the rest.
    if quote < 3
        || text[quote] != b'"'
        || text[quote - 1] != b' '
        || !text[quote - 2].is_ascii_graphic()
        || !text[1].is_ascii_graphic()
    {
        return None;
    }
    let value = &text[quote + 1..];
    let length = memchr3(b'"', b'\\', b'\n', value)?;
    if !value[length..].starts_with(b"\"]\n") {
        return None;
    }
    tags.set(&text[1..quote - 1], &value[..length]);
    Some(quote + 1 + length + 3)
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
