//! A game's tags: how they are told apart, and those that the rules and the table of games ask for.

use memchr::{memchr, memchr2};

use super::clock::{Speed, TimeControl};
use super::date::Date;

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
    pub(super) white_rating_diff: Option<&'a [u8]>,
    pub(super) black_rating_diff: Option<&'a [u8]>,
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
            b"WhiteRatingDiff" => &mut self.white_rating_diff,
            b"BlackRatingDiff" => &mut self.black_rating_diff,
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

    /// White's and Black's, where both have one.
    pub(super) fn ratings(&self) -> Option<[u32; 2]> {
        Some([rating(self.white_elo)?, rating(self.black_elo)?])
    }

    /// Whether ratings were at stake. The event says `Rated` or `Casual`; where it says neither, as those of swiss
    /// tournaments and simultaneous exhibitions do, a rating that changed tells, and a swiss tournament counts as
    /// rated.
    pub(super) fn rated(&self) -> bool {
        let mut swiss = false;
        for word in self.event.unwrap_or_default().split(|byte| !byte.is_ascii_alphanumeric()) {
            match word {
                b"Rated" | b"rated" => return true,
                b"Casual" | b"casual" => return false,
                _ => swiss |= word == b"swiss",
            }
        }
        swiss || self.white_rating_diff.is_some() || self.black_rating_diff.is_some()
    }

    /// Whether a player is a program, as the archive's titles tell.
    pub(super) fn bot(&self) -> bool {
        [self.white_title, self.black_title].into_iter().flatten().any(|title| title.trim_ascii() == b"BOT")
    }

    /// Whether the game is of other rules than those of chess.
    pub(super) fn other_rules(&self) -> bool {
        const CHESS: [&[u8]; 6] = [b"", b"?", b"-", b"standard", b"chess", b"from position"];
        self.variant.is_some_and(|variant| !CHESS.iter().any(|name| variant.trim_ascii().eq_ignore_ascii_case(name)))
    }

    /// The day in UTC, or else that of the organiser.
    pub(super) fn day(&self) -> Option<Date> {
        let day = |tag: Option<&[u8]>| Date::of_tag(tag?);
        day(self.utc_date).or_else(|| day(self.date))
    }

    pub(super) fn clock(&self) -> Option<TimeControl> {
        TimeControl::of_tag(self.time_control?)
    }

    /// As the event names it, or else by the time control; one without a clock is played by correspondence.
    pub(super) fn speed(&self) -> Option<Speed> {
        let no_clock = || (self.time_control?.trim_ascii() == b"-").then_some(Speed::Correspondence);
        Speed::of_event(self.event.unwrap_or_default()).or_else(|| self.clock().map(Speed::of)).or_else(no_clock)
    }

    /// The id that tells a game from all others: that of an export, or the last segment of its address on lichess.org.
    /// Elsewhere `Site` is a place, or the address of an event.
    pub(super) fn id(&self) -> Option<&'a [u8]> {
        let known = |id: &&[u8]| !matches!(*id, b"" | b"?" | b"-");
        self.game_id.map(<[u8]>::trim_ascii).filter(known).or_else(|| game_of_address(self.site?))
    }
}

/// A rating as a number; `?` and `1500?` are none.
pub(super) fn rating(value: Option<&[u8]>) -> Option<u32> {
    std::str::from_utf8(value?.trim_ascii()).ok()?.parse().ok()
}

/// The game's id in an address such as `https://lichess.org/cWWlPBrs`, whosever side it is seen from.
fn game_of_address(address: &[u8]) -> Option<&[u8]> {
    let address = address.trim_ascii();
    let path = [&b"https://"[..], b"http://"].into_iter().find_map(|scheme| address.strip_prefix(scheme))?;
    let path = path.strip_prefix(b"www.").unwrap_or(path).strip_prefix(b"lichess.org/")?;
    let path = &path[..path.iter().position(|byte| matches!(byte, b'?' | b'#')).unwrap_or(path.len())];
    let path = path.strip_suffix(b"/").unwrap_or(path);
    let path = [&b"/white"[..], b"/black"].into_iter().find_map(|side| path.strip_suffix(side)).unwrap_or(path);
    // Studies, broadcasts and tournaments have longer paths.
    (!path.is_empty() && path.iter().all(u8::is_ascii_alphanumeric)).then_some(path)
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

    fn event(event: &str) -> Tags<'_> {
        Tags { event: Some(event.as_bytes()), ..Tags::default() }
    }

    #[test]
    fn rated_is_what_says_so_or_had_an_effect() {
        for (text, rated) in [
            ("Rated Blitz game", true),
            ("rated blitz tournament https://lichess.org/tournament/casual", true),
            ("Casual Blitz game", false),
            ("Casual blitz tournament https://lichess.org/tournament/abcdefgh", false),
            ("Casual game, knight odds", false),
            ("Blitz swiss https://lichess.org/swiss/abcdefgh", true),
            ("Blitz simul https://lichess.org/simul/abcdefgh", false),
            ("Unrated friendly", false),
            ("London", false),
            ("", false),
        ] {
            assert_eq!(event(text).rated(), rated, "{text}");
            let changed = Tags { black_rating_diff: Some(b"-3"), ..event(text) };
            assert_eq!(changed.rated(), !text.starts_with("Casual"), "{text}");
        }
    }

    #[test]
    fn an_id_is_that_of_a_game_and_never_a_place() {
        for (site, id) in [
            ("https://lichess.org/cWWlPBrs", Some("cWWlPBrs")),
            ("http://www.lichess.org/cWWlPBrs/black#31", Some("cWWlPBrs")),
            ("https://lichess.org/cWWlPBrs/?theme=x", Some("cWWlPBrs")),
            ("https://lichess.org/", None),
            ("https://lichess.org", None),
            ("https://lichess.org/study/abcdefgh/ijklmnop", None),
            ("https://example.org/event", None),
            ("London", None),
            ("?", None),
            ("", None),
        ] {
            let tags = Tags { site: Some(site.as_bytes()), ..Tags::default() };
            assert_eq!(tags.id(), id.map(str::as_bytes), "{site}");
            let export = Tags { game_id: Some(b"q7"), ..tags };
            assert_eq!(export.id(), Some(&b"q7"[..]));
        }
    }

    #[test]
    fn a_variant_is_other_rules_unless_it_is_named_as_chess() {
        for (variant, other) in
            [("Standard", false), ("From Position", false), ("?", false), ("Chess960", true), ("Antichess", true)]
        {
            let tags = Tags { variant: Some(variant.as_bytes()), ..Tags::default() };
            assert_eq!(tags.other_rules(), other, "{variant}");
        }
        assert!(!Tags::default().other_rules());
    }

    #[test]
    fn the_day_is_that_of_utc_where_it_is_known() {
        let day = |utc_date: &'static [u8], date: &'static [u8]| {
            let tags = Tags { utc_date: Some(utc_date), date: Some(date), ..Tags::default() };
            tags.day().map(|day| day.to_string())
        };
        assert_eq!(day(b"2013.01.31", b"2013.02.01").as_deref(), Some("2013-01-31"));
        assert_eq!(day(b"????.??.??", b"2013.02.01").as_deref(), Some("2013-02-01"));
        assert_eq!(day(b"?", b"2013.??.??"), None);
    }

    #[test]
    fn speed_is_asked_of_the_event_before_the_clock() {
        let speed = |event: &'static [u8], time_control: &'static [u8]| {
            Tags { event: Some(event), time_control: Some(time_control), ..Tags::default() }.speed()
        };
        assert_eq!(speed(b"Rated Classical game", b"600+8"), Some(Speed::Classical));
        assert_eq!(speed(b"London", b"600+8"), Some(Speed::Rapid));
        assert_eq!(speed(b"London", b"-"), Some(Speed::Correspondence));
        assert_eq!(speed(b"London", b"?"), None);
    }
}
