//! What is told of a game beside its moves, and the parts of a sample that positions fall into.

use crate::corpus::clock::Speed;

use super::answers::Answer;

/// Plies that make an opening.
const OPENING_PLIES: u32 = 16;
/// Points of rating in a band.
const BAND: u32 = 200;
/// The first ply of each band; the last has no end.
const PLIES: [u32; 6] = [1, 11, 21, 41, 61, 81];

/// Facts of a validation game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GameFacts {
    /// The mean of both players' ratings; none where either is missing.
    pub rating: Option<f64>,
    pub speed: Option<Speed>,
    /// How many of its first plies begin some training game.
    pub seen_plies: u32,
}

/// A part of a sample of positions, in the order in which parts are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Slice {
    All,
    /// By the ply that is asked for, counted from 1: from the first of a band on.
    Plies(u32),
    Check(bool),
    /// By the mean rating of the game's players: from so many points on.
    Rating(u32),
    Speed(Speed),
    /// Whether the moves up to the position, the first 16 of them where there are more, begin some training game. What
    /// comes after them may be new.
    OpeningSeen(bool),
}

impl Slice {
    /// Those that a position belongs to; fewer where nothing is told of its game.
    pub(super) fn of(row: &Answer, facts: Option<&GameFacts>) -> impl Iterator<Item = Self> {
        let ply = row.ply + 1;
        let first = PLIES.into_iter().rev().find(|first| *first <= ply);
        let rating = facts.and_then(|facts| facts.rating).map(|rating| rating.max(0.0) as u32 / BAND * BAND);
        let seen = facts.map(|facts| facts.seen_plies >= row.ply.min(OPENING_PLIES));
        [
            Some(Self::All),
            first.map(Self::Plies),
            Some(Self::Check(row.in_check)),
            rating.map(Self::Rating),
            facts.and_then(|facts| facts.speed).map(Self::Speed),
            seen.map(Self::OpeningSeen),
        ]
        .into_iter()
        .flatten()
    }

    /// As a value says it; nothing for all.
    pub(super) fn label(self) -> String {
        match self {
            Self::All => String::new(),
            Self::Plies(first) => match PLIES.into_iter().find(|next| *next > first) {
                Some(next) => format!("ply {first}-{}", next - 1),
                None => format!("ply {first} and later"),
            },
            Self::Check(true) => "in check".to_owned(),
            Self::Check(false) => "not in check".to_owned(),
            Self::Rating(from) => format!("rating {from}-{}", from + BAND - 1),
            Self::Speed(speed) => speed.name().to_owned(),
            Self::OpeningSeen(true) => "opening seen in training".to_owned(),
            Self::OpeningSeen(false) => "opening not seen in training".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::answers::answer_at;
    use super::*;

    fn labels(ply: u32, facts: Option<&GameFacts>) -> Vec<String> {
        Slice::of(&answer_at(0, ply), facts).map(Slice::label).collect()
    }

    #[test]
    fn a_position_belongs_to_the_band_of_the_ply_that_is_asked_for() {
        let band = |played| labels(played, None)[1].clone();
        assert_eq!(
            [0, 9, 10, 19, 20, 40].map(band),
            ["ply 1-10", "ply 1-10", "ply 11-20", "ply 11-20", "ply 21-40", "ply 41-60"]
        );
        assert_eq!([79, 80, 299].map(band), ["ply 61-80", "ply 81 and later", "ply 81 and later"]);
        assert_eq!(labels(0, None), ["", "ply 1-10", "not in check"]);
    }

    #[test]
    fn ratings_speed_and_opening_are_told_where_they_are_known() {
        let facts = GameFacts { rating: Some(1999.5), speed: Some(Speed::Blitz), seen_plies: 3 };
        let told = |ply| labels(ply, Some(&facts))[3..].join(", ");
        assert_eq!(told(3), "rating 1800-1999, blitz, opening seen in training");
        assert_eq!(told(4), "rating 1800-1999, blitz, opening not seen in training");
        // Beyond the opening nothing more is asked of what training has seen.
        let facts = GameFacts { rating: None, speed: None, seen_plies: 16 };
        assert_eq!(labels(60, Some(&facts))[3..], ["opening seen in training"]);
        let facts = GameFacts { seen_plies: 15, ..facts };
        assert_eq!(labels(60, Some(&facts))[3..], ["opening not seen in training"]);
    }
}
