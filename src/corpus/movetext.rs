//! The moves of a game's main line, out of everything else that stands in PGN movetext.
//!
//! Comments, variations, move numbers, results, NAGs and glyphs such as `?!` go; every word that is left is a
//! ply, whether it can be read as a move or not. Nothing is dropped because it is strange: that is for the
//! board to say.

use memchr::memchr;

/// Walks the words of the main line.
#[derive(Clone, Debug)]
pub(super) struct Words<'a> {
    text: &'a [u8],
    at: usize,
    depth: usize,
    broken: bool,
}

impl<'a> Words<'a> {
    pub(super) fn of(text: &'a [u8]) -> Self {
        Self { text, at: 0, depth: 0, broken: false }
    }

    /// After the last word: whether a comment or a variation was left open, or one closed that was not open.
    pub(super) fn broken(&self) -> bool {
        self.broken || self.depth > 0
    }

    /// Steps to the next word of the main line, if it looks plain: up to 7 bytes that a space ends, the first of them
    /// of a move, here in the lowest byte, and their number.
    ///
    /// None says nothing: `next` knows. What the bytes are is not looked at; they are the next word where all of
    /// them are such as a move in SAN is spelled with, and then `step_over` makes it the last.
    #[inline]
    pub(super) fn plain(&mut self) -> Option<(u64, usize)> {
        if self.depth > 0 {
            return None;
        }
        loop {
            let bytes = load(self.text, self.at)?;
            let byte = bytes as u8;
            if byte == b' ' {
                self.at += 1;
            } else if byte == b'{' {
                self.at = self.end_of_comment()?;
            } else if byte & 0x40 != 0 {
                let length = first(bytes, b' ');
                return (length < 8).then_some((bytes, length));
            } else if matches!(byte, b'1'..=b'9') {
                self.at = self.end_of_number()?;
            } else if matches!(byte, b'!' | b'?') {
                self.at += 1;
            } else {
                return None;
            }
        }
    }

    /// Past the word that `plain` found.
    #[inline]
    pub(super) fn step_over(&mut self, length: usize) {
        self.at += length;
    }

    /// Where the text goes on after a comment, if it is closed.
    #[inline]
    fn end_of_comment(&self) -> Option<usize> {
        let mut at = self.at + 1;
        // A clock, `{ [%clk 0:01:00] }`: where it ends is foreseen, not waited for.
        if let Some(clock) = self.text.get(at..).and_then(|text| text.first_chunk::<17>())
            && clock[16] == b'}'
            && first(load(clock, 0)?, b'}') + first(load(clock, 8)?, b'}') == 16
        {
            return Some(at + 17);
        }
        // A clock or a value ends soon, and a search takes long to begin.
        for _ in 0..6 {
            let length = first(load(self.text, at)?, b'}');
            if length < 8 {
                return Some(at + length + 1);
            }
            at += 8;
        }
        Some(at + memchr(b'}', &self.text[at..])? + 1)
    }

    /// Where the text goes on after a move number, if nothing but a move, a comment or a space follows it.
    #[inline]
    fn end_of_number(&self) -> Option<usize> {
        let mut at = self.at + 1;
        while self.text.get(at)?.is_ascii_digit() {
            at += 1;
        }
        while *self.text.get(at)? == b'.' {
            at += 1;
        }
        matches!(self.text.get(at)?, b' ' | b'\n' | b'a'..=b'h' | b'B' | b'K' | b'N' | b'O' | b'Q' | b'R').then_some(at)
    }

    /// Steps over the bytes up to `end`; without one, to the end of the text.
    fn skip_past(&mut self, end: u8) -> bool {
        let found = memchr(end, &self.text[self.at..]);
        self.at = found.map_or(self.text.len(), |length| self.at + length + 1);
        found.is_some()
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'{' => self.broken |= !self.skip_past(b'}'),
                b'}' => {
                    self.broken = true;
                    self.at += 1;
                }
                // The rest of the line; old Macs end lines with a carriage return alone.
                b';' => self.at += line_length(&self.text[self.at..]),
                b'%' if self.at == 0 || matches!(self.text[self.at - 1], b'\n' | b'\r') => {
                    self.at += line_length(&self.text[self.at..]);
                }
                b'(' => {
                    self.depth += 1;
                    self.at += 1;
                }
                b')' => {
                    self.broken |= self.depth == 0;
                    self.depth = self.depth.saturating_sub(1);
                    self.at += 1;
                }
                _ if is_space(byte) || matches!(byte, b'!' | b'?') => self.at += 1,
                _ => {
                    let rest = &self.text[self.at..];
                    // The first byte belongs to the word, as in `$5`.
                    let word = &rest[..rest[1..].iter().position(|&byte| ends_word(byte)).map_or(rest.len(), |end| end + 1)];
                    self.at += word.len();
                    let ply = bare(word);
                    if self.depth == 0 && !ply.is_empty() {
                        return Some(ply);
                    }
                }
            }
        }
        None
    }
}

/// A word without its move number; nothing where it is only a number, a NAG, dots or a result.
fn bare(word: &[u8]) -> &[u8] {
    if word[0] == b'$' || is_result(word) {
        return b"";
    }
    // `0-0` is castling, and no move number begins with 0.
    let digits = match word[0] {
        b'1'..=b'9' => word.iter().take_while(|byte| byte.is_ascii_digit()).count(),
        _ => 0,
    };
    let word = &word[digits..];
    let dots = word.iter().take_while(|&&byte| byte == b'.').count();
    let word = &word[dots..];
    if word == "…".as_bytes() || is_result(word) { b"" } else { word }
}

/// Whether a word tells how the game ended.
pub(super) fn is_result(word: &[u8]) -> bool {
    matches!(word, b"1-0" | b"0-1" | b"1/2-1/2" | b"1/2" | b"*") || word == "½-½".as_bytes()
}

/// Whether text without tags begins like a game: with a move number, a result or a move.
pub(super) fn looks_like_a_game(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    let first = &text[..text.iter().position(|&byte| is_space(byte)).unwrap_or(text.len())];
    if is_result(first) {
        return true;
    }
    let digits = first.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits > 0 && first.get(digits) == Some(&b'.') {
        return true;
    }
    let ply = Words::of(text).next();
    ply.is_some_and(|ply| shakmaty::san::SanPlus::from_ascii(ply).is_ok())
}

/// Eight bytes, the first in the lowest.
#[inline]
fn load(text: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*text.get(at..)?.first_chunk()?))
}

/// How many of eight bytes stand before the first that is `wanted`; 8 where none is.
#[inline]
fn first(bytes: u64, wanted: u8) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let zero_where_wanted = bytes ^ (ONES * u64::from(wanted));
    // Of each byte the high bit, set where the byte is 0; of those above the first, perhaps too many.
    let found = zero_where_wanted.wrapping_sub(ONES) & !zero_where_wanted & (ONES << 7);
    found.trailing_zeros() as usize / 8
}

fn line_length(text: &[u8]) -> usize {
    memchr::memchr2(b'\n', b'\r', text).unwrap_or(text.len())
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t' | 0x0b | 0x0c)
}

fn ends_word(byte: u8) -> bool {
    is_space(byte) || matches!(byte, b'{' | b'}' | b'(' | b')' | b';' | b'!' | b'?' | b'$')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> (String, bool) {
        let mut words = Words::of(text.as_bytes());
        let plies: Vec<String> = words.by_ref().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
        (plies.join(" "), words.broken())
    }

    #[test]
    fn only_plies_of_the_main_line_are_left() {
        for (text, plies) in [
            ("1. e4 { [%clk 0:01:00] } 1... c5 2.Nf3 d6?! 3. d4!! cxd4$6 $13 4.Nxd4 1-0", "e4 c5 Nf3 d6 d4 cxd4 Nxd4"),
            ("1.e4 (1.d4 d5 {) (} (1... Nf6) ) 1...e5 ; 2. f4 (\n2.Nf3 1/2-1/2", "e4 e5 Nf3"),
            ("% 1. a4\n1. e4\r% b4\re5 *", "e4 e5"),
            ("1 e4 e5 2 0-0 O-O-O", "e4 e5 0-0 O-O-O"),
            ("1. e4 1… e5 2… *", "e4 e5"),
            ("1. pawn goes to e4 *", "pawn goes to e4"),
            ("{only a comment}", ""),
            ("", ""),
        ] {
            assert_eq!(words(text), (plies.to_owned(), false), "{text}");
        }
    }

    #[test]
    fn open_comments_and_variations_are_noticed() {
        for text in ["1. e4 { e5", "1. e4 ( d4", "1. e4 ) e5", "1. e4 } e5"] {
            assert!(words(text).1, "{text}");
        }
    }

    #[test]
    fn prose_is_no_game() {
        for (text, game) in [
            ("1. e4 e5", true),
            ("e4 e5 *", true),
            ("*", true),
            ("  1-0", true),
            ("{comment} 1. e4", true),
            ("I'm not a PGN file...", false),
            ("3 games were played", false),
            ("", false),
        ] {
            assert_eq!(looks_like_a_game(text.as_bytes()), game, "{text}");
        }
    }
}
