//! A game's tags: how they are told apart, and those that the rules and the table of games ask for.

use memchr::{memchr, memchr2};

/// What is asked of a game's tags, each as its bytes stand. A tag that stands twice counts as it stands last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tags<'a> {
    pub(super) event: Option<&'a [u8]>,
    pub(super) site: Option<&'a [u8]>,
    pub(super) game_id: Option<&'a [u8]>,
    pub(super) date: Option<&'a [u8]>,
    pub(super) utc_date: Option<&'a [u8]>,
    pub(super) white: Option<&'a [u8]>,
    pub(super) black: Option<&'a [u8]>,
    pub(super) white_elo: Option<&'a [u8]>,
    pub(super) black_elo: Option<&'a [u8]>,
    pub(super) white_title: Option<&'a [u8]>,
    pub(super) black_title: Option<&'a [u8]>,
    pub(super) result: Option<&'a [u8]>,
    pub(super) time_control: Option<&'a [u8]>,
    pub(super) termination: Option<&'a [u8]>,
    pub(super) variant: Option<&'a [u8]>,
    pub(super) fen: Option<&'a [u8]>,
    /// Whether there is a tag at all, of any well-formed name.
    pub(super) any: bool,
}

impl<'a> Tags<'a> {
    /// Takes the next tag.
    pub(super) fn set(&mut self, name: &'a [u8], value: &'a [u8]) {
        let field = match name {
            b"Event" => &mut self.event,
            b"Site" => &mut self.site,
            b"GameId" => &mut self.game_id,
            b"Date" => &mut self.date,
            b"UTCDate" => &mut self.utc_date,
            b"White" => &mut self.white,
            b"Black" => &mut self.black,
            b"WhiteElo" => &mut self.white_elo,
            b"BlackElo" => &mut self.black_elo,
            b"WhiteTitle" => &mut self.white_title,
            b"BlackTitle" => &mut self.black_title,
            b"Result" => &mut self.result,
            b"TimeControl" => &mut self.time_control,
            b"Termination" => &mut self.termination,
            b"Variant" => &mut self.variant,
            b"FEN" => &mut self.fen,
            _ => {
                self.any |= !name.is_empty() && name.iter().all(|&byte| byte.is_ascii_alphanumeric() || byte == b'_');
                return;
            }
        };
        *field = Some(value);
        self.any = true;
    }
}

/// The tags of a game's head.
pub(super) fn tags(text: &[u8]) -> Tags<'_> {
    let mut tags = Tags::default();
    let mut rest = text;
    while let Some(begin) = memchr(b'[', rest) {
        let (name, value, after) = tag(&rest[begin..]);
        tags.set(name, value);
        rest = after;
    }
    tags
}

/// The name and the value of the tag at the head of `text`, and what follows it. It ends with its line at the latest.
pub(super) fn tag(text: &[u8]) -> (&[u8], &[u8], &[u8]) {
    let line = &text[..memchr2(b'\n', b'\r', text).unwrap_or(text.len())];
    let rest = |length: usize| &text[length.min(line.len())..];
    let Some(quote) = memchr(b'"', line) else {
        let end = memchr(b']', line).map_or(line.len(), |bracket| bracket + 1);
        return (b"", b"", rest(end));
    };
    let name = line[1.min(quote)..quote].trim_ascii();
    let begin = quote + 1;
    let mut at = begin;
    while let Some(length) = memchr2(b'"', b'\\', &line[at..]) {
        at += length;
        if line[at] == b'\\' {
            at = (at + 2).min(line.len());
            continue;
        }
        // A quote inside the value that nobody escaped is followed by no bracket.
        let after = line[at + 1..].trim_ascii_start();
        if after.is_empty() || after[0] == b']' {
            let end = line.len() - after.len() + usize::from(!after.is_empty());
            return (name, &line[begin..at], rest(end));
        }
        at += 1;
    }
    (name, &line[begin..], rest(line.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_read_as_they_stand_even_when_badly_quoted() {
        let text = b"[Event \"Rated \"Blitz\" game\"]\n[WhiteElo \"1\"] [BlackElo \"2\\\"]\"]\n[FEN]\n[Termination \"Normal\n";
        let tags = tags(text);
        assert_eq!(tags.event, Some(&b"Rated \"Blitz\" game"[..]));
        assert_eq!((tags.white_elo, tags.black_elo), (Some(&b"1"[..]), Some(&b"2\\\"]"[..])));
        assert_eq!((tags.fen, tags.termination), (None, Some(&b"Normal"[..])));
    }
}
