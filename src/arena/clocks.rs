//! Time controls, their speeds, and a model of how players spend their time.

use std::fmt;

use rand_chacha::ChaCha8Rng;
use shakmaty::{ByColor, Color};

use super::config::Clocks;
pub(crate) use crate::corpus::clock::Speed;
use crate::corpus::clock::TimeControl;
use crate::random::{below, unit};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// Seconds for the game, and seconds gained with each move.
    Clock {
        base: u32,
        increment: u32,
    },
    Correspondence,
}

impl Control {
    /// Reads the value of the `TimeControl` tag.
    pub(crate) fn parse(tag: &str) -> Option<Self> {
        if tag == "-" {
            return Some(Self::Correspondence);
        }
        let (base, increment) = tag.split_once('+')?;
        let seconds = |text: &str| text.parse::<u32>().ok().filter(|&seconds| seconds <= 86_400 && seconds.to_string() == text);
        let (base, increment) = (seconds(base)?, seconds(increment)?);
        (base > 0).then_some(Self::Clock { base, increment })
    }

    /// The archive sorts games by the time that one of 40 moves may take, in seconds.
    pub(crate) fn speed(self) -> Speed {
        let Self::Clock { base, increment } = self else { return Speed::Correspondence };
        Speed::of(TimeControl { base_ms: 1000 * base, increment_ms: 1000 * increment })
    }
}

impl Speed {
    /// Whether games of odd kinds may have it: nothing but what is odd about them should set them apart.
    pub(crate) fn is_ordinary(self) -> bool {
        matches!(self, Self::Blitz | Self::Rapid)
    }
}

impl fmt::Display for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clock { base, increment } => write!(f, "{base}+{increment}"),
            Self::Correspondence => f.write_str("-"),
        }
    }
}

/// What a move did to the clock of the player who made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spent {
    /// Correspondence shows no clock.
    Untimed,
    /// Seconds left after the move.
    Left(u32),
    /// The time was over before the move was made.
    Flagged,
}

/// The two clocks of a game. All in tenths of a second.
pub(crate) struct Pair {
    increment: u64,
    left: ByColor<u64>,
    /// Share of the time left that each player gives to a move.
    share: ByColor<f64>,
    timed: bool,
    model: Clocks,
}

impl Pair {
    pub(crate) fn new(control: Control, model: Clocks, rng: &mut ChaCha8Rng) -> Self {
        let [low, high] = model.share;
        let mut share = || low + (high - low) * unit(rng);
        let share = ByColor { white: share(), black: share() };
        let (base, increment, timed) = match control {
            Control::Clock { base, increment } => (u64::from(base) * 10, u64::from(increment) * 10, true),
            Control::Correspondence => (0, 0, false),
        };
        Self { increment, left: ByColor { white: base, black: base }, share, timed, model }
    }

    /// Draws the time of one move. `ply` counts from 0; the first move of each side is free, as in the archive.
    pub(crate) fn spend(&mut self, turn: Color, ply: u32, rng: &mut ChaCha8Rng) -> Spent {
        if !self.timed {
            return Spent::Untimed;
        }
        let left = self.left.get_mut(turn);
        if ply >= 2 {
            let is_quick = unit(rng) < self.model.quick;
            let [least, most] = self.model.least;
            let least = if is_quick { below(rng, 4) } else { least + below(rng, most - least + 1) };
            // Opening moves are played from memory.
            let familiarity = f64::from(ply.min(16)) / 16.0;
            // Most moves are quick and a few take long: the cube of a uniform number has the mean 1/4.
            let variation = 0.25 + 3.0 * unit(rng).powi(3);
            let depth = if unit(rng) < self.model.deep { 4.0 } else { 1.0 };
            let budget = *left as f64 * self.share.get(turn) + self.increment as f64 * 0.7;
            let thought = if is_quick { 0.0 } else { budget * familiarity * variation * depth };
            let spent = least + thought as u64;
            if spent >= *left {
                return Spent::Flagged;
            }
            *left = *left - spent + self.increment;
        }
        Spent::Left(((*left + 5) / 10) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    const MODEL: Clocks = Clocks { share: [0.02, 0.08], least: [4, 12], quick: 0.3, deep: 0.02 };

    #[test]
    fn controls_have_the_speeds_of_the_archive() {
        let tags = ["15+0", "30+0", "120+1", "180+0", "300+3", "600+0", "900+10", "1800+0", "-"];
        let speeds = tags.map(|tag| Control::parse(tag).expect("a control").speed().to_string());
        let known = ["UltraBullet", "Bullet", "Bullet", "Blitz", "Blitz", "Rapid", "Rapid", "Classical", "Correspondence"];
        assert_eq!(speeds, known);
        assert!(tags.iter().all(|tag| Control::parse(tag).expect("a control").to_string() == *tag));
        for tag in ["", "180", "0+1", "+3", "3+", "180+0+0", "-1+0", "0180+2", "999999999+0"] {
            assert_eq!(Control::parse(tag), None, "{tag}");
        }
    }

    #[test]
    fn a_clock_never_shows_more_than_was_given_and_flags_only_when_it_is_over() {
        let mut rng = stream(1, "clocks", 0);
        let mut clocks = Pair::new(Control::Clock { base: 60, increment: 0 }, MODEL, &mut rng);
        let mut last = 60;
        for ply in (0..4_000).step_by(2) {
            match clocks.spend(Color::White, ply, &mut rng) {
                Spent::Left(seconds) => assert!(seconds <= last),
                other => {
                    assert_eq!(other, Spent::Flagged);
                    assert!(last < 10, "flagged with {last} s left");
                    return;
                }
            }
            last = ((clocks.left.white + 5) / 10) as u32;
        }
        panic!("a minute lasts for ever");
    }

    #[test]
    fn the_first_moves_are_free_and_correspondence_has_no_clock() {
        let mut rng = stream(1, "clocks", 1);
        let mut clocks = Pair::new(Control::Clock { base: 180, increment: 2 }, MODEL, &mut rng);
        assert_eq!(clocks.spend(Color::White, 0, &mut rng), Spent::Left(180));
        assert_eq!(clocks.spend(Color::Black, 1, &mut rng), Spent::Left(180));
        let mut clocks = Pair::new(Control::Correspondence, MODEL, &mut rng);
        assert_eq!(clocks.spend(Color::White, 40, &mut rng), Spent::Untimed);
    }
}
