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
        let mut ratings = None;
        if self.asks_ratings() {
            let [low, high] = self.elo;
            ratings = tags.ratings();
            match ratings {
                None => return Some(Reason::EloMissing),
                Some(both) if !both.iter().all(|rating| (low..=high).contains(rating)) => return Some(Reason::EloRange),
                Some(_) => (),
            }
        }
        if !self.terminations.is_empty() {
            let termination = tags.termination.unwrap_or_default();
            if !self.terminations.iter().any(|accepted| accepted.as_bytes() == termination) {
                return Some(Reason::Termination);
            }
        }
        if tags.fen.is_some() {
            return Some(Reason::StartPosition);
        }
        self.rejects_kind(tags, ratings)
    }

    fn asks_ratings(&self) -> bool {
        self.elo != Self::ANY || self.rating_difference.is_some() || self.rating_band.is_some()
    }

    /// The rules that the published filters lack.
    fn rejects_kind(&self, tags: &Tags, ratings: Option<[u32; 2]>) -> Option<Reason> {
        if tags.other_rules() {
            return Some(Reason::Variant);
        }
        if self.rated && !tags.rated() {
            return Some(Reason::NotRated);
        }
        if self.exclude_bots && tags.bot() {
            return Some(Reason::Bot);
        }
        if self.rejects_clock(tags) {
            return Some(Reason::TimeControl);
        }
        if let Some([white, black]) = ratings {
            let differs = |[least, most]: [u32; 2]| !(least..=most).contains(&white.abs_diff(black));
            if self.rating_difference.is_some_and(differs) {
                return Some(Reason::RatingDifference);
            }
            if self.rating_band.is_some_and(|points| white / points != black / points) {
                return Some(Reason::RatingBand);
            }
        }
        if !self.results.is_empty() {
            let result = tags.result.unwrap_or_default();
            if !self.results.iter().any(|accepted| accepted.as_bytes() == result) {
                return Some(Reason::Result);
            }
        }
        let [first, last] = self.dates?;
        match tags.day() {
            None => Some(Reason::DateMissing),
            Some(day) => (day < first || day > last).then_some(Reason::DateRange),
        }
    }

    /// A game without a clock, or with one that cannot be read, is within no bounds.
    fn rejects_clock(&self, tags: &Tags) -> bool {
        let bounds = [self.estimated_seconds, self.base_seconds, self.increment_seconds];
        if bounds == [None; 3] {
            return false;
        }
        let Some(clock) = tags.clock() else { return true };
        let times_ms = [clock.estimated_ms(), clock.base_ms.into(), clock.increment_ms.into()];
        let outside = |(bounds, time_ms): (Option<[u32; 2]>, u64)| {
            bounds.is_some_and(|[least, most]| time_ms < 1000 * u64::from(least) || time_ms > 1000 * u64::from(most))
        };
        bounds.into_iter().zip(times_ms).any(outside)
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

/// Keeps every game that starts from the usual position and can be played.
impl Default for Keep {
    fn default() -> Self {
        Self {
            exclude_speeds: Vec::new(),
            elo: Self::ANY,
            terminations: Vec::new(),
            plies: Self::ANY,
            rated: false,
            exclude_bots: false,
            estimated_seconds: None,
            base_seconds: None,
            increment_seconds: None,
            rating_difference: None,
            rating_band: None,
            results: Vec::new(),
            dates: None,
            exclude_duplicates: false,
            games_per_player: None,
        }
    }
}

impl Keep {
    /// The filters of the published runs.
    pub fn published() -> Self {
        Self {
            exclude_speeds: vec!["UltraBullet".into(), "Bullet".into()],
            elo: [1800, 2600],
            terminations: vec!["Normal".into()],
            plies: [20, 300],
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::corpus::date::Date;

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

    fn rejects(keep: &Keep, tags: &Tags) -> &'static str {
        keep.rejects_tags(tags).map_or("", Reason::name)
    }

    #[test]
    fn a_game_of_other_rules_is_rejected_whatever_is_asked() {
        let antichess = Tags { variant: Some(b"Antichess"), ..good() };
        assert_eq!(rejects(&Keep::default(), &antichess), "variant");
        // As in the archive, where it is no variant but a start position.
        let odds = Tags { variant: Some(b"From Position"), fen: Some(b"x"), ..good() };
        assert_eq!(rejects(&Keep::default(), &odds), "start_position");
    }

    #[test]
    fn rated_games_and_people_are_asked_for_by_one_word_each() {
        let keep = Keep { rated: true, exclude_bots: true, ..Keep::default() };
        let bot = Tags { black_title: Some(b"BOT"), ..good() };
        let master = Tags { white_title: Some(b"GM"), ..good() };
        assert_eq!(rejects(&keep, &Tags { event: Some(b"Casual Blitz game"), ..bot }), "not_rated");
        assert_eq!([bot, master].map(|tags| rejects(&keep, &tags)), ["bot", ""]);
        assert_eq!(rejects(&Keep::default(), &bot), "");
    }

    #[test]
    fn bounds_of_time_are_inclusive_and_want_a_clock() {
        let clock = |text: &'static str| Tags { time_control: Some(text.as_bytes()), ..good() };
        let estimated = Keep { estimated_seconds: Some([180, 480]), ..Keep::default() };
        let times = ["179+0", "180+0", "120+1", "0+12", "480+0", "480.5+0", "-", "?"];
        let reasons = times.map(|text| rejects(&estimated, &clock(text)));
        let no = "time_control";
        assert_eq!(reasons, [no, "", no, "", "", no, no, no]);
        let parts = Keep { base_seconds: Some([180, 600]), increment_seconds: Some([0, 2]), ..Keep::default() };
        let reasons = ["180+2", "600+0", "180+3", "120+2", "600.001"].map(|text| rejects(&parts, &clock(text)));
        assert_eq!(reasons, ["", "", no, no, no]);
        assert_eq!(rejects(&parts, &good()), no);
    }

    #[test]
    fn ratings_are_compared_with_each_other() {
        let ratings = |white: &'static str, black: &'static str| Tags {
            white_elo: Some(white.as_bytes()),
            black_elo: Some(black.as_bytes()),
            ..good()
        };
        let near = Keep { rating_difference: Some([10, 100]), ..Keep::default() };
        let pairs = [("1500", "1500"), ("1500", "1510"), ("1600", "1500"), ("1500", "1601")];
        let no = "rating_difference";
        assert_eq!(pairs.map(|(white, black)| rejects(&near, &ratings(white, black))), [no, "", "", no]);
        assert_eq!(rejects(&near, &ratings("1500", "?")), "elo_missing");
        let band = Keep { rating_band: NonZeroU32::new(100), ..Keep::default() };
        let pairs = [("1500", "1599"), ("1599", "1600")];
        assert_eq!(pairs.map(|(white, black)| rejects(&band, &ratings(white, black))), ["", "rating_band"]);
    }

    #[test]
    fn only_results_that_are_asked_for_are_kept() {
        let keep = Keep { results: vec!["1-0".into(), "1/2-1/2".into()], ..Keep::default() };
        let results = [Some("1-0"), Some("1/2-1/2"), Some("0-1"), Some("*"), None];
        let reasons = results.map(|result| rejects(&keep, &Tags { result: result.map(str::as_bytes), ..good() }));
        assert_eq!(reasons, ["", "", "result", "result", "result"]);
    }

    #[test]
    fn dates_are_inclusive_and_one_that_is_not_known_has_its_own_reason() {
        let day = |text| Date::of_iso(text).expect("a day");
        let keep = Keep { dates: Some([day("2013-01-02"), day("2013-01-31")]), ..Keep::default() };
        let (no, none) = ("date_range", "date_missing");
        for (date, reason) in
            [("2013.01.01", no), ("2013.01.02", ""), ("2013.01.31", ""), ("2013.02.01", no), ("2013.01.??", none), ("?", none)]
        {
            assert_eq!(rejects(&keep, &Tags { date: Some(date.as_bytes()), ..good() }), reason, "{date}");
        }
        assert_eq!(rejects(&keep, &good()), none);
    }

    #[test]
    fn what_is_off_stands_in_no_key() {
        let json = |keep: &Keep| serde_json::to_string(keep).expect("JSON");
        let published =
            r#"{"exclude_speeds":["UltraBullet","Bullet"],"elo":[1800,2600],"terminations":["Normal"],"plies":[20,300]}"#;
        assert_eq!(json(&Keep::published()), published);
        let back: Keep = serde_json::from_str(published).expect("the rules");
        assert_eq!(back, Keep::published());
        let more = Keep {
            rated: true,
            games_per_player: NonZeroU32::new(9),
            dates: Date::of_iso("2013-01-31").map(|day| [day, day]),
            ..Keep::published()
        };
        assert_eq!(serde_json::from_str::<Keep>(&json(&more)).expect("the rules"), more);
    }
}
