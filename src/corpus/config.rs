//! What is asked of a corpus: where the games come from, which are kept, how they are split.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::date::Date;

/// Where games come from. A file enters by its content, a month by its name and digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// A PGN file, named for people, identified by the BLAKE3 digest of its bytes.
    File {
        /// Never in a key: the same bytes under another name are the same games.
        #[serde(skip_serializing_if = "String::is_empty", default)]
        name: String,
        blake3: String,
    },
    /// A month of the public archive of rated standard games, as `2026-07`.
    Month {
        month: String,
        /// The archive's SHA-256, where the experiment pins it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        sha256: Option<String>,
    },
}

impl Source {
    /// Only what decides the games.
    #[must_use]
    pub fn nameless(&self) -> Self {
        match self {
            Self::File { blake3, .. } => Self::File { name: String::new(), blake3: blake3.clone() },
            month @ Self::Month { .. } => month.clone(),
        }
    }

    /// What people call it: the file's name, or that of the month in the archive.
    pub fn name(&self) -> String {
        match self {
            Self::File { name, blake3 } if name.is_empty() => blake3.chars().take(8).collect(),
            Self::File { name, .. } => name.clone(),
            Self::Month { month, .. } => format!("lichess_db_standard_rated_{month}.pgn.zst"),
        }
    }
}

/// Which games are kept. The first rule that fails names the reason. An experiment states the first four rules; the
/// others may be left out, which asks nothing. The [`default`](Keep::default) keeps all that can be played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keep {
    /// Speeds as named in the `Event` tag; a game whose `Event` holds one of them is rejected, so `Bullet` rejects
    /// `UltraBullet` too, as published.
    pub exclude_speeds: Vec<String>,
    /// Lowest and highest rating, both players, inclusive; [`Keep::ANY`] asks for no rating at all.
    pub elo: [u32; 2],
    /// Accepted values of the `Termination` tag; none accepts any.
    pub terminations: Vec<String>,
    /// Fewest and most plies, inclusive.
    pub plies: [u32; 2],
    // What is off is in no key, so that a rule that is new to the program changes none.
    /// Only games in which ratings were at stake.
    #[serde(skip_serializing_if = "is_off", default)]
    pub rated: bool,
    /// No games in which a player has the title BOT.
    #[serde(skip_serializing_if = "is_off", default)]
    pub exclude_bots: bool,
    /// Shortest and longest time that a player's game may take: the base and 40 increments, inclusive.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub estimated_seconds: Option<[u32; 2]>,
    /// Shortest and longest time for the whole game, inclusive.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub base_seconds: Option<[u32; 2]>,
    /// Shortest and longest time that each move adds, inclusive.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub increment_seconds: Option<[u32; 2]>,
    /// Smallest and largest difference of the players' ratings, inclusive.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rating_difference: Option<[u32; 2]>,
    /// Both ratings between the same multiples of so many points.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rating_band: Option<NonZeroU32>,
    /// Accepted values of the `Result` tag; none accepts any.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub results: Vec<String>,
    /// First and last day, inclusive.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub dates: Option<[Date; 2]>,
    /// Of the games with one id, only the first.
    #[serde(skip_serializing_if = "is_off", default)]
    pub exclude_duplicates: bool,
    /// Most kept games of a player.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub games_per_player: Option<NonZeroU32>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_off(rule: &bool) -> bool {
    !rule
}

/// How kept games are divided into training and validation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Split {
    /// Share of the games that go to validation, above 0 and below 1.
    pub validation: f64,
    pub by: SplitBy,
    pub seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SplitBy {
    /// Exactly `floor(games × validation)` whole games, drawn by the seed.
    Draw,
    /// By a seeded hash of the moves, so that equal games fall on one side.
    GameHash,
}
