//! Evaluations as an engine might give them: small steps, now and then a mistake, and a mate in sight at the end.

use std::fmt::Write as _;

use philidor::random::{below, unit};
use rand_chacha::ChaCha8Rng;

use super::shares::normal;

/// An evaluation on its walk, in centipawns, seen from white.
pub(crate) struct Walk {
    centipawns: f64,
}

impl Walk {
    pub(crate) fn new() -> Self {
        Self { centipawns: 20.0 }
    }

    /// The next evaluation, after a move of white or black, and the glyph that the move earns.
    pub(crate) fn step(&mut self, is_white: bool, rng: &mut ChaCha8Rng) -> (f64, &'static str) {
        let before = self.centipawns;
        let lost = match unit(rng) {
            0.0..0.015 => 500.0,
            0.015..0.05 => 220.0,
            0.05..0.12 => 110.0,
            _ => 0.0,
        };
        let sign = if is_white { -1.0 } else { 1.0 };
        let spread = 18.0 + before.abs() / 12.0;
        self.centipawns = (before + sign * lost + spread * normal(rng)).clamp(-9_000.0, 9_000.0).round();
        let chances = |centipawns: f64| 2.0 / (1.0 + (-0.003_682_08 * centipawns.clamp(-1_000.0, 1_000.0)).exp()) - 1.0;
        let glyph = match sign * (chances(self.centipawns) - chances(before)) {
            0.3.. => "??",
            0.2.. => "?",
            0.1.. => "?!",
            _ => "",
        };
        (self.centipawns, glyph)
    }
}

/// Writes an evaluation as a part of a comment.
pub(crate) fn write(text: &mut String, centipawns: f64, rng: &mut ChaCha8Rng) {
    // Writing to a string cannot fail.
    let _ = if centipawns.abs() > 1_500.0 && unit(rng) < 0.4 {
        write!(text, "[%eval #{}{}] ", if centipawns < 0.0 { "-" } else { "" }, 1 + below(rng, 20))
    } else {
        write!(text, "[%eval {:?}] ", centipawns / 100.0)
    };
}
