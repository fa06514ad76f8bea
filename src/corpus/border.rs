//! Borders where a stream of PGN text can be divided without knowing what stands before.
//!
//! An `[Event` line after an empty line begins a game whatever went before, even inside a comment that was
//! left open (see [`cut`](super::cut)). So the text on each side of such a border can be read on its own, by
//! another thread, and the games are those of the whole.

use memchr::memmem;

/// What stands at a border; the empty line before it is looked for behind.
const MARK: &[u8] = b"\n[Event ";
/// Bytes that are held back at the end of a text whose last line may be the beginning of a border.
pub(super) const HELD_BACK: usize = 64;

/// Where the first game begins after which nothing before is needed, counted from the start of `text`.
pub(super) fn first(text: &[u8]) -> Option<usize> {
    memmem::find_iter(text, MARK).find(|&at| after_empty_line(&text[..at])).map(|at| at + 1)
}

/// The same for the last game.
pub(super) fn last(text: &[u8]) -> Option<usize> {
    let mut end = text.len();
    while let Some(at) = memmem::rfind(&text[..end], MARK) {
        if after_empty_line(&text[..at]) {
            return Some(at + 1);
        }
        // The mark begins with the line's end, so two marks never share more than nothing.
        end = at;
    }
    None
}

/// Whether the line that ends with `text` is empty, and begins in `text` too.
fn after_empty_line(text: &[u8]) -> bool {
    // Few bytes, so that a text of spaces takes no more than its length.
    let tail = &text[text.len().saturating_sub(HELD_BACK - MARK.len())..];
    let spaces = tail.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
    tail.len() > spaces && tail[tail.len() - 1 - spaces] == b'\n'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_border_is_an_event_line_after_an_empty_one() {
        for (text, borders) in [
            ("a\n\n[Event \"x\"]\n\n1. e4\n\n[Event \"y\"]", Some((3, 23))),
            ("a\r\n\r\n[Event \"x\"]", Some((5, 5))),
            ("a\n \t\n[Event \"x\"]", Some((5, 5))),
            ("a\n\n[Event \"x\"]\n[Event \"y\"]", Some((3, 3))),
            ("a\n[Event \"x\"]", None),
            ("[Event \"x\"]", None),
            ("\n[Event \"x\"]", None),
            ("a\n\n[Site \"x\"]", None),
            ("", None),
        ] {
            assert_eq!(first(text.as_bytes()).zip(last(text.as_bytes())), borders, "{text:?}");
        }
    }
}
