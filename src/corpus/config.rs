//! What is asked of a corpus: where the games come from, which are kept, how they are split.

use serde::{Deserialize, Serialize};

/// Where games come from. A file enters by its content, a month by its name and digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// A PGN file, identified by the BLAKE3 digest of its bytes; the name is for people, and in no key.
    File {
        #[serde(skip_serializing_if = "Option::is_none", default)]
        name: Option<String>,
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
            Self::File { blake3, .. } => Self::File { name: None, blake3: blake3.clone() },
            month @ Self::Month { .. } => month.clone(),
        }
    }
}

/// Which games are kept. The first rule that fails names the reason; rules left out keep everything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keep {
    /// Speeds as named in the `Event` tag, such as `Bullet`; a game of one of them is rejected.
    pub exclude_speeds: Vec<String>,
    /// Lowest and highest rating, both players, inclusive.
    pub elo: [u32; 2],
    /// Accepted values of the `Termination` tag.
    pub terminations: Vec<String>,
    /// Fewest and most plies, inclusive.
    pub plies: [u32; 2],
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
