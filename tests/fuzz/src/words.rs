//! The main line of a movetext, word by word and byte by byte, played by shakmaty: slow, and plainly right.

use shakmaty::{Chess, Position as _};

use crate::chess::notation::{Unplayable, to_move};
use crate::chess::replay::Replay;
use crate::chess::vocabulary::of_move;
use crate::corpus::mainline::MainLine;

/// What [`play`](crate::corpus::mainline::play) must say, and the tokens that it must write.
pub fn slowly_played(movetext: &[u8]) -> (MainLine, Vec<u16>) {
    let (words, broken) = words(movetext);
    let (mut position, mut tokens, mut failed) = (Chess::default(), Vec::new(), None::<Unplayable>);
    for word in &words {
        match to_move(word, &position) {
            Ok(m) => {
                tokens.push(of_move(m));
                position.play_unchecked(m);
            }
            Err(why) => {
                failed = Some(why);
                break;
            }
        }
    }
    let ending = || {
        let mut replay = Replay::default();
        for &token in &tokens {
            replay.step(token).expect("shakmaty has played it");
        }
        replay.ended()
    };
    let played = failed.map_or_else(|| Ok(ending()), Err);
    (MainLine { plies: words.len(), broken, played }, tokens)
}

/// The words of the main line, and whether a comment or a variation was left open, or closed twice.
fn words(text: &[u8]) -> (Vec<Vec<u8>>, bool) {
    let (mut words, mut word) = (Vec::new(), Vec::new());
    let (mut depth, mut broken) = (0, false);
    let mut at = 0;
    while at <= text.len() {
        let byte = text.get(at).copied();
        // The sign of an annotation begins a word and ends the one before.
        let ends = byte.is_none_or(|byte| b" \n\r\t\x0b\x0c{}();!?$".contains(&byte));
        if ends && !word.is_empty() {
            let bare = bare(&word);
            if depth == 0 && !bare.is_empty() {
                words.push(bare.to_vec());
            }
            word.clear();
        }
        let Some(byte) = byte else { break };
        let line_begins = at == 0 || b"\n\r".contains(&text[at - 1]);
        match byte {
            b'%' if line_begins => at = until(text, at, b"\n\r").unwrap_or(text.len()),
            b';' => at = until(text, at, b"\n\r").unwrap_or(text.len()),
            b'{' => match until(text, at, b"}") {
                Some(end) => at = end + 1,
                None => (at, broken) = (text.len(), true),
            },
            b'}' => (at, broken) = (at + 1, true),
            b'(' => (at, depth) = (at + 1, depth + 1),
            b')' if depth == 0 => (at, broken) = (at + 1, true),
            b')' => (at, depth) = (at + 1, depth - 1),
            b'$' => (at, word) = (at + 1, vec![byte]),
            _ if ends => at += 1,
            _ => {
                word.push(byte);
                at += 1;
            }
        }
    }
    (words, broken || depth > 0)
}

fn until(text: &[u8], at: usize, ends: &[u8]) -> Option<usize> {
    (at..text.len()).find(|&at| ends.contains(&text[at]))
}

/// A word without move number, dots, results and annotations.
fn bare(word: &[u8]) -> &[u8] {
    if word[0] == b'$' || is_result(word) {
        return b"";
    }
    let digits = if word[0] == b'0' { 0 } else { word.iter().take_while(|byte| byte.is_ascii_digit()).count() };
    let rest = &word[digits..];
    let rest = &rest[rest.iter().take_while(|&&byte| byte == b'.').count()..];
    if rest == "…".as_bytes() || is_result(rest) { b"" } else { rest }
}

fn is_result(word: &[u8]) -> bool {
    [&b"1-0"[..], b"0-1", b"1/2-1/2", b"1/2", b"*", "½-½".as_bytes()].contains(&word)
}
