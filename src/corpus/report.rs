//! What reading a corpus found: games read, kept, and rejected by reason.

use serde::{Deserialize, Serialize};

use crate::chess::replay::Ending;

/// Why a game is not kept, in the order in which the rules are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    Speed,
    /// A rating that is missing or no number.
    EloMissing,
    EloRange,
    Termination,
    StartPosition,
    /// Of other rules than those of chess.
    Variant,
    NotRated,
    /// A player is a program.
    Bot,
    /// Time out of bounds, or no clock that can be read.
    TimeControl,
    RatingDifference,
    RatingBand,
    Result,
    /// A day that is not known.
    DateMissing,
    DateRange,
    TooShort,
    TooLong,
    /// A move that passes, which no rule allows.
    NullMove,
    /// A comment or a variation that was left open, or closed and never opened.
    Unbalanced,
    /// A move that cannot be read or played.
    InvalidSan,
    /// A game with the same id was kept.
    Duplicate,
    /// A player of whom enough games were kept.
    PlayerGames,
}

impl Reason {
    pub const ALL: [Self; 21] = [
        Self::Speed,
        Self::EloMissing,
        Self::EloRange,
        Self::Termination,
        Self::StartPosition,
        Self::Variant,
        Self::NotRated,
        Self::Bot,
        Self::TimeControl,
        Self::RatingDifference,
        Self::RatingBand,
        Self::Result,
        Self::DateMissing,
        Self::DateRange,
        Self::TooShort,
        Self::TooLong,
        Self::NullMove,
        Self::Unbalanced,
        Self::InvalidSan,
        Self::Duplicate,
        Self::PlayerGames,
    ];

    /// As in reports: `too_short`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Speed => "speed",
            Self::EloMissing => "elo_missing",
            Self::EloRange => "elo_range",
            Self::Termination => "termination",
            Self::StartPosition => "start_position",
            Self::Variant => "variant",
            Self::NotRated => "not_rated",
            Self::Bot => "bot",
            Self::TimeControl => "time_control",
            Self::RatingDifference => "rating_difference",
            Self::RatingBand => "rating_band",
            Self::Result => "result",
            Self::DateMissing => "date_missing",
            Self::DateRange => "date_range",
            Self::TooShort => "too_short",
            Self::TooLong => "too_long",
            Self::NullMove => "null_move",
            Self::Unbalanced => "unbalanced",
            Self::InvalidSan => "invalid_san",
            Self::Duplicate => "duplicate",
            Self::PlayerGames => "player_games",
        }
    }

    /// Whether reports tell of it even where it rejected nothing: the reasons of the published filters.
    fn always_told(self) -> bool {
        use Reason::{EloMissing, EloRange, InvalidSan, Speed, StartPosition, Termination, TooLong, TooShort};
        matches!(self, Speed | EloMissing | EloRange | Termination | StartPosition | TooShort | TooLong | InvalidSan)
    }
}

/// How kept games ended on the board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ends {
    pub checkmate: u64,
    pub stalemate: u64,
    /// Too little material, the fifth repetition, 75 moves.
    pub other_by_rules: u64,
    /// Resignation, agreement, time, or a draw that was claimed.
    pub not_by_rules: u64,
}

/// The account of one source, or of several merged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParseReport {
    pub read: u64,
    pub kept: u64,
    /// Plies of kept games.
    pub plies: u64,
    /// Every reason, in order. In JSON those that the published filters lack stand only where they rejected a game.
    #[serde(with = "told")]
    pub rejected: Vec<(Reason, u64)>,
    /// Plies, and kept games of so many, ascending.
    pub lengths: Vec<(u32, u64)>,
    pub ends: Ends,
}

impl Default for ParseReport {
    fn default() -> Self {
        Self { read: 0, kept: 0, plies: 0, rejected: none_rejected(), lengths: Vec::new(), ends: Ends::default() }
    }
}

fn none_rejected() -> Vec<(Reason, u64)> {
    Reason::ALL.map(|reason| (reason, 0)).to_vec()
}

/// The JSON form of the reasons.
mod told {
    use serde::{Deserialize as _, Deserializer, Serializer};

    use super::{Reason, none_rejected};

    pub(super) fn serialize<S: Serializer>(rejected: &[(Reason, u64)], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(rejected.iter().filter(|(reason, games)| *games > 0 || reason.always_told()))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(Reason, u64)>, D::Error> {
        let mut rejected = none_rejected();
        for (reason, games) in Vec::<(Reason, u64)>::deserialize(deserializer)? {
            rejected[reason as usize].1 += games;
        }
        Ok(rejected)
    }
}

impl ParseReport {
    pub fn keep(&mut self, plies: u32, ending: Option<Ending>) {
        self.read += 1;
        self.kept += 1;
        self.plies += u64::from(plies);
        self.add_length(plies, 1);
        *match ending {
            Some(Ending::Checkmate) => &mut self.ends.checkmate,
            Some(Ending::Stalemate) => &mut self.ends.stalemate,
            Some(_) => &mut self.ends.other_by_rules,
            None => &mut self.ends.not_by_rules,
        } += 1;
    }

    pub fn reject(&mut self, reason: Reason) {
        self.read += 1;
        self.rejected[reason as usize].1 += 1;
    }

    /// Adds the account of another source.
    pub fn merge(&mut self, other: &Self) {
        self.read += other.read;
        self.kept += other.kept;
        self.plies += other.plies;
        for &(reason, games) in &other.rejected {
            self.rejected[reason as usize].1 += games;
        }
        for &(plies, games) in &other.lengths {
            self.add_length(plies, games);
        }
        self.ends.checkmate += other.ends.checkmate;
        self.ends.stalemate += other.ends.stalemate;
        self.ends.other_by_rules += other.ends.other_by_rules;
        self.ends.not_by_rules += other.ends.not_by_rules;
    }

    /// The reasons that rejected games, in words: `speed 302, elo_range 453`.
    pub fn reasons(&self) -> String {
        let told = self.rejected.iter().filter(|&&(_, games)| games > 0);
        told.map(|(reason, games)| format!("{} {games}", reason.name())).collect::<Vec<_>>().join(", ")
    }

    fn add_length(&mut self, plies: u32, games: u64) {
        match self.lengths.binary_search_by_key(&plies, |&(plies, _)| plies) {
            Ok(at) => self.lengths[at].1 += games,
            Err(at) => self.lengths.insert(at, (plies, games)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_merged_account_is_that_of_both_sources_read_as_one() {
        type Step = fn(&mut ParseReport);
        let steps: [Step; 5] = [
            |report| report.keep(30, Some(Ending::Checkmate)),
            |report| report.reject(Reason::Speed),
            |report| report.keep(20, None),
            |report| report.reject(Reason::InvalidSan),
            |report| report.keep(30, Some(Ending::FivefoldRepetition)),
        ];
        let account = |steps: &[Step]| {
            let mut report = ParseReport::default();
            for step in steps {
                step(&mut report);
            }
            report
        };
        let mut merged = account(&steps[..3]);
        merged.merge(&account(&steps[3..]));
        assert_eq!(merged, account(&steps));
        assert_eq!(merged.lengths, [(20, 1), (30, 2)]);
        assert_eq!((merged.read, merged.kept, merged.plies), (5, 3, 80));
        assert_eq!(merged.reasons(), "speed 1, invalid_san 1");
    }

    #[test]
    fn the_json_form_names_the_published_reasons_and_those_that_rejected_a_game() {
        let mut report = ParseReport::default();
        report.reject(Reason::NullMove);
        let json = serde_json::to_value(&report).expect("it serialises");
        let rejected = json["rejected"].as_array().expect("a list");
        let names: Vec<_> = rejected.iter().map(|pair| pair[0].as_str().expect("a name")).collect();
        let told = "speed elo_missing elo_range termination start_position too_short too_long null_move invalid_san";
        assert_eq!(names.join(" "), told);
        assert_eq!(json["ends"]["not_by_rules"], 0);
        assert_eq!(serde_json::from_value::<ParseReport>(json).expect("an account"), report);
    }

    #[test]
    fn reasons_stand_in_order_under_their_names() {
        for (at, reason) in Reason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, at);
            assert_eq!(serde_json::to_value(reason).expect("a name"), reason.name());
        }
    }
}
