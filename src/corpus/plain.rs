//! The way in which nearly all games of the archive are written, read in one pass without a look at the rest.
//!
//! Lines of one tag each, an empty line, one line of movetext, an empty line, and the next game. Whatever is
//! written in another way is left to [`cut`](super::cut), which reads everything; where both read a game, they
//! read the same.

use memchr::{memchr, memchr3};

use super::cut::Game;
use super::tags::Tags;

/// The game at the head of `text`, its tags, and its length with the empty line after it.
///
/// `text` has no carriage return; `whole` tells that it ends between games. None where the game is written in
/// another way, or may go on behind the text.
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
    if *text.get(at)? != b'\n' {
        return None;
    }
    at += 1;
    // These may begin something else than a line of moves.
    if matches!(text.get(at)?, b'[' | b'%' | 0xef | 0..=b' ') {
        return None;
    }
    at += memchr(b'\n', &text[at..])? + 1;
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
    // No name of the archive is longer.
    let name_end = text.iter().take(24).position(|&byte| matches!(byte, b' ' | b'"'))?;
    if text[name_end] != b' ' || text.get(name_end + 1) != Some(&b'"') {
        return None;
    }
    let value = &text[name_end + 2..];
    let length = memchr3(b'"', b'\\', b'\n', value)?;
    if !value[length..].starts_with(b"\"]\n") {
        return None;
    }
    tags.set(&text[1..name_end], &value[..length]);
    Some(name_end + 2 + length + 3)
}
