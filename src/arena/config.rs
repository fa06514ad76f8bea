//! What is asked of a mined month. Every value decides the bytes of the result, so every value must be written down.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::clocks::{Control, Speed};
use crate::error::Fixable;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MineConfig {
    pub seed: u64,
    /// Games to play, the odd ones among them.
    pub games: u64,
    /// The month that the games are dated in, such as `2026-01`.
    pub month: String,
    /// The engine as it names itself: another one would play other games.
    pub engine: String,
    /// What the addresses of games and tournaments begin with.
    pub site: String,
    /// The engine's hash table in MiB, cleared before each game.
    pub hash_mib: u32,
    pub frames: Frames,
    pub players: Players,
    /// From the weakest; a player has the last level whose rating is not above theirs.
    pub levels: Vec<Level>,
    pub resign: Resign,
    pub draw: Draw,
    pub clocks: Clocks,
    pub events: Events,
    pub odd: Odd,
}

/// How the text is packed.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frames {
    /// Bytes of text in a frame; games straddle frames.
    pub text_bytes: u64,
    /// Level of zstd, 1 to 22.
    pub level: i32,
}

/// The people, or what stands for them.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Players {
    pub count: u64,
    /// Ratings are drawn around it, roughly normally.
    pub mean: f64,
    pub deviation: f64,
    /// Lowest and highest rating.
    pub ratings: [u32; 2],
    /// How far apart in rank opponents are at most.
    pub reach: u64,
    /// Share of players with the title `BOT`.
    pub bots: f64,
}

/// How the players from a rating upwards choose their moves.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    pub rating: u32,
    /// Positions that the engine visits for a move.
    pub nodes: u64,
    /// Weights of the engine's best move, its second best, and so on; as many lines are asked of it.
    pub weights: Vec<f64>,
    /// Centipawns by which a move may be worse than the best one and still be chosen.
    pub within: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resign {
    /// Centipawns behind…
    pub score: i32,
    /// …for so many plies in a row…
    pub plies: u32,
    /// …resigns this share of players; the others play on.
    pub probability: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draw {
    /// Within so many centipawns of equality…
    pub score: i32,
    /// …for so many plies in a row…
    pub plies: u32,
    /// …from this ply of the game on, a draw is agreed…
    pub after: u32,
    /// …in this share of games.
    pub probability: f64,
}

/// How players spend their time.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clocks {
    /// Share of the time left that goes into a move, from the hastiest player to the slowest.
    pub share: [f64; 2],
    /// Tenths of a second that a move takes at least, from and to.
    pub least: [u64; 2],
    /// Share of moves that were ready before they were due: at most three tenths of a second.
    pub quick: f64,
    /// Share of moves that are thought about four times as long.
    pub deep: f64,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Events {
    /// Share of games played in tournaments, and in swiss events.
    pub tournament: f64,
    pub swiss: f64,
    /// Share of games with evaluations.
    pub analysed: f64,
    /// Time controls as in the tag, such as `180+2`, or `-` for correspondence, and their weights.
    pub controls: BTreeMap<String, f64>,
}

/// Games of odd kinds, in numbers. Which ones they are is drawn by the seed.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Odd {
    /// Abandoned before the first move, and after it.
    pub no_moves: u64,
    pub abandoned: u64,
    /// The rating of one player is `?`.
    pub rating_unknown: u64,
    /// Casual games from a set-up position.
    pub set_up: u64,
    /// Given up before the 20th ply.
    pub short: u64,
    /// Shuffled about beyond the 300th ply.
    pub long: u64,
    /// One move of it is one that cannot be played: broken on purpose.
    pub broken: u64,
}

impl Odd {
    pub(crate) fn total(&self) -> u64 {
        [self.no_moves, self.abandoned, self.rating_unknown, self.set_up, self.short, self.long, self.broken].iter().sum()
    }
}

impl MineConfig {
    /// Refuses what no month could be mined with.
    pub fn check(&self) -> Result<(), Fixable> {
        let shares = [
            ("players.bots", self.players.bots),
            ("resign.probability", self.resign.probability),
            ("draw.probability", self.draw.probability),
            ("clocks.quick", self.clocks.quick),
            ("clocks.deep", self.clocks.deep),
            ("events.analysed", self.events.analysed),
            ("events.tournament + swiss", self.events.tournament + self.events.swiss),
        ];
        for (name, share) in shares {
            wanted((0.0..=1.0).contains(&share), name, share, "a share between 0 and 1")?;
        }
        wanted(month_days(&self.month).is_some(), "month", &self.month, "a month such as `2026-01`")?;
        wanted(self.odd.total() <= self.games, "games", self.games, "at least as many as `odd` counts")?;
        let [low, high] = self.players.ratings;
        wanted(low <= high && high <= 4_000, "players.ratings", format!("{low}, {high}"), "the lower first, 4000 at most")?;
        let normal = self.players.mean.is_finite() && self.players.deviation >= 0.0 && self.players.deviation.is_finite();
        wanted(normal, "players.deviation", self.players.deviation, "a finite mean, and a deviation of 0 or more")?;
        wanted((4..=343_000).contains(&self.players.count), "players.count", self.players.count, "4 to 343000")?;
        wanted((1..self.players.count).contains(&self.players.reach), "players.reach", self.players.reach, "1 to count − 1")?;
        let [hasty, slow] = self.clocks.share;
        wanted(0.0 < hasty && hasty <= slow && slow < 1.0, "clocks.share", format!("{hasty}, {slow}"), "0 < first ≤ second < 1")?;
        let [least, most] = self.clocks.least;
        wanted(least <= most, "clocks.least", format!("{least}, {most}"), "the lower first")?;
        wanted((1..=1 << 30).contains(&self.frames.text_bytes), "frames.text_bytes", self.frames.text_bytes, "1 to 2^30")?;
        wanted((1..=22).contains(&self.frames.level), "frames.level", self.frames.level, "1 to 22")?;
        self.check_levels()?;
        self.check_controls()
    }

    fn check_levels(&self) -> Result<(), Fixable> {
        wanted(!self.levels.is_empty(), "levels", "[]", "at least one level")?;
        let ascending = self.levels.is_sorted_by(|a, b| a.rating < b.rating);
        wanted(ascending, "levels", "a rating not above the one before", "ascending ratings")?;
        for level in &self.levels {
            let weighed = level.weights.iter().all(|weight| (0.0..1e9).contains(weight));
            let first = level.weights.first().copied().unwrap_or_default();
            wanted(weighed && first > 0.0, "levels.weights", format!("{:?}", level.weights), "weights, the first above 0")?;
            wanted(level.nodes > 0, "levels.nodes", level.nodes, "at least 1")?;
        }
        Ok(())
    }

    fn check_controls(&self) -> Result<(), Fixable> {
        let mut ordinary = false;
        for (tag, &weight) in &self.events.controls {
            let control = Control::parse(tag);
            wanted(control.is_some(), "events.controls", tag, "a time control such as `180+2`, or `-`")?;
            wanted((0.0..1e9).contains(&weight), "events.controls", weight, "a weight of 0 or more")?;
            ordinary |= weight > 0.0 && control.is_some_and(|control| control.speed().is_ordinary());
        }
        let speeds = format!("one of {} or {}", Speed::Blitz, Speed::Rapid);
        wanted(ordinary, "events.controls", "no such control", &speeds)
    }
}

fn wanted(holds: bool, name: &str, seen: impl std::fmt::Display, what: &str) -> Result<(), Fixable> {
    if holds {
        return Ok(());
    }
    Err(Fixable::usage(format!("`{name}` is `{seen}`, wanted: {what}")).hint("mend the value in the file of the mined month"))
}

/// The days of a month such as `2026-02`; `None` where it is none.
pub(crate) fn month_days(month: &str) -> Option<u64> {
    let (year, number) = month.split_once('-')?;
    if year.len() != 4 || number.len() != 2 || !month.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
        return None;
    }
    let year: u32 = year.parse().ok()?;
    match number.parse().ok()? {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => Some(29),
        2 => Some(28),
        4 | 6 | 9 | 11 => Some(30),
        1..=12 => Some(31),
        _ => None,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A small month: ten games, every odd kind once.
    pub(crate) fn small() -> MineConfig {
        let level = |rating, weights: &[f64]| Level { rating, nodes: 50, weights: weights.to_vec(), within: 100 };
        MineConfig {
            seed: 7,
            games: 12,
            month: "2026-01".to_owned(),
            engine: "Toy 1".to_owned(),
            site: "https://philidor.invalid".to_owned(),
            hash_mib: 16,
            frames: Frames { text_bytes: 4_096, level: 3 },
            players: Players { count: 40, mean: 1_700.0, deviation: 300.0, ratings: [800, 2_800], reach: 5, bots: 0.1 },
            levels: vec![level(800, &[60.0, 40.0]), level(1_700, &[80.0, 20.0])],
            resign: Resign { score: 500, plies: 3, probability: 0.7 },
            draw: Draw { score: 20, plies: 8, after: 60, probability: 0.5 },
            clocks: Clocks { share: [0.02, 0.08], least: [4, 12], quick: 0.3, deep: 0.02 },
            events: Events {
                tournament: 0.2,
                swiss: 0.1,
                analysed: 0.3,
                controls: [("60+0", 1.0), ("180+2", 4.0), ("600+0", 2.0), ("-", 1.0)]
                    .map(|(tag, weight)| (tag.to_owned(), weight))
                    .into(),
            },
            odd: Odd { no_moves: 1, abandoned: 1, rating_unknown: 1, set_up: 1, short: 1, long: 1, broken: 1 },
        }
    }

    type Spoil = fn(&mut MineConfig);

    #[test]
    fn what_cannot_be_mined_is_refused_by_name() {
        assert_eq!(small().check(), Ok(()));
        let cases: [(&str, Spoil); 8] = [
            ("month", |config| config.month = "2026-13".to_owned()),
            ("games", |config| config.games = 6),
            ("events.controls", |config| config.events.controls = [("60+0".to_owned(), 1.0)].into()),
            ("events.controls", |config| config.events.controls.extend([("fast".to_owned(), 1.0)])),
            ("levels.weights", |config| config.levels[0].weights = vec![0.0, 1.0]),
            ("levels", |config| config.levels.reverse()),
            ("clocks.share", |config| config.clocks.share = [0.1, f64::NAN]),
            ("players.bots", |config| config.players.bots = f64::NAN),
        ];
        for (name, spoil) in cases {
            let mut config = small();
            spoil(&mut config);
            let message = config.check().expect_err(name).message;
            assert!(message.starts_with(&format!("`{name}`")), "{message}");
        }
    }

    #[test]
    fn months_have_their_days() {
        let days = ["2026-01", "2026-02", "2024-02", "1900-02", "2026-04", "2026-00", "26-01", "2026-1", "+026-01"];
        let known = [Some(31), Some(28), Some(29), Some(28), Some(30), None, None, None, None];
        assert_eq!(days.map(month_days), known);
    }
}
