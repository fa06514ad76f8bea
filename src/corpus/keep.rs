//! The rules that a game must pass to be kept, asked in order; the first that fails names the reason.

use super::config::Keep;
use super::report::Reason;
use super::tags::Tags;

impl Keep {
    /// The whole range: a rule that was left out.
    pub const ANY: [u32; 2] = [0, u32::MAX];

    /// Why a game's tags reject it, before its moves are looked at.
    pub(super) fn rejects_tags(&self, tags: &Tags) -> Option<Reason> {
        // As published, anywhere in the event's name: `Bullet` rejects UltraBullet too.
        let event = tags.event.unwrap_or_default();
        if self.exclude_speeds.iter().any(|speed| memchr::memmem::find(event, speed.as_bytes()).is_some()) {
            return Some(Reason::Speed);
        }
        if self.elo != Self::ANY {
            let (Some(white), Some(black)) = (rating(tags.white_elo), rating(tags.black_elo)) else {
                return Some(Reason::EloMissing);
            };
            let [low, high] = self.elo;
            if !(low..=high).contains(&white) || !(low..=high).contains(&black) {
                return Some(Reason::EloRange);
            }
        }
        if !self.terminations.is_empty() {
            let termination = tags.termination.unwrap_or_default();
            if !self.terminations.iter().any(|accepted| accepted.as_bytes() == termination) {
                return Some(Reason::Termination);
            }
        }
        tags.fen.map(|_| Reason::StartPosition)
    }

    /// Why a game's length rejects it.
    pub(super) fn rejects_length(&self, plies: usize) -> Option<Reason> {
        let [fewest, most] = self.plies.map(|plies| plies as usize);
        if plies < fewest {
            return Some(Reason::TooShort);
        }
        (plies > most).then_some(Reason::TooLong)
    }
}

/// A rating as a number; `?` and `1500?` are none.
fn rating(value: Option<&[u8]>) -> Option<u32> {
    std::str::from_utf8(value?.trim_ascii()).ok()?.parse().ok()
}

/// Keeps every game that starts from the usual position and can be played.
impl Default for Keep {
    fn default() -> Self {
        Self { exclude_speeds: Vec::new(), elo: Self::ANY, terminations: Vec::new(), plies: Self::ANY }
    }
}

#[cfg(test)]
impl Keep {
    /// The filters of the published runs.
    pub(crate) fn published() -> Self {
        Self {
            exclude_speeds: vec!["UltraBullet".into(), "Bullet".into()],
            elo: [1800, 2600],
            terminations: vec!["Normal".into()],
            plies: [20, 300],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> Tags<'static> {
        Tags {
            event: Some(b"Rated Blitz game"),
            white_elo: Some(b"1800"),
            black_elo: Some(b"2600"),
            termination: Some(b"Normal"),
            any: true,
            ..Tags::default()
        }
    }

    #[test]
    fn the_first_rule_that_fails_names_the_reason() {
        let mut tags = Tags {
            event: Some(b"Rated UltraBullet tournament https://lichess.org/tournament/x"),
            white_elo: Some(b"?"),
            black_elo: None,
            termination: Some(b"Time forfeit"),
            fen: Some(b"8/8/8/8/8/8/8/8 w - - 0 1"),
            ..Tags::default()
        };
        let keep = Keep::published();
        assert_eq!(keep.rejects_tags(&tags), Some(Reason::Speed));
        tags.event = good().event;
        assert_eq!(keep.rejects_tags(&tags), Some(Reason::EloMissing));
        tags.white_elo = Some(b"1799");
        assert_eq!(keep.rejects_tags(&tags), Some(Reason::EloMissing));
        tags.black_elo = Some(b"2000");
        assert_eq!(keep.rejects_tags(&tags), Some(Reason::EloRange));
        tags.white_elo = Some(b"2000");
        tags.black_elo = Some(b"2601");
        assert_eq!(keep.rejects_tags(&tags), Some(Reason::EloRange));
        tags.black_elo = good().black_elo;
        assert_eq!(keep.rejects_tags(&tags), Some(Reason::Termination));
        tags.termination = None;
        assert_eq!(keep.rejects_tags(&tags), Some(Reason::Termination));
        tags.termination = good().termination;
        assert_eq!(keep.rejects_tags(&tags), Some(Reason::StartPosition));
        assert_eq!(keep.rejects_tags(&good()), None);
    }

    #[test]
    fn bounds_are_inclusive() {
        let keep = Keep::published();
        let reasons = [19, 20, 300, 301].map(|plies| keep.rejects_length(plies));
        assert_eq!(reasons, [Some(Reason::TooShort), None, None, Some(Reason::TooLong)]);
    }

    #[test]
    fn a_rating_that_is_no_number_is_missing() {
        for value in ["", "?", "1500?", "-", "1500.5", "-1500", "99999999999"] {
            let tags = Tags { white_elo: Some(value.as_bytes()), ..good() };
            assert_eq!(Keep::published().rejects_tags(&tags), Some(Reason::EloMissing), "{value}");
        }
    }

    #[test]
    fn rules_left_out_keep_everything_but_strange_starts() {
        assert_eq!(Keep::default().rejects_tags(&Tags::default()), None);
        let fen = Tags { fen: Some(b""), ..Tags::default() };
        assert_eq!(Keep::default().rejects_tags(&fen), Some(Reason::StartPosition));
        assert_eq!(Keep::default().rejects_length(0), None);
    }
}
