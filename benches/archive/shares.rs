//! The mix of a month, so that the published filters reject for the reasons, and in the numbers, of July 2026:
//! speed 36.3 %, Elo range 47.4 %, termination 3.8 %, too short 0.23 %, too long 0.001 %, and keep 12.4 %.

use philidor::random::unit;
use rand_chacha::ChaCha8Rng;

/// Time controls as the archive writes them, their speed, and games of a thousand.
pub(crate) const CONTROLS: &[(&str, &str, f64)] = &[
    ("15+0", "UltraBullet", 9.0),
    ("30+0", "Bullet", 12.0),
    ("60+0", "Bullet", 232.0),
    ("60+1", "Bullet", 12.0),
    ("120+1", "Bullet", 100.0),
    ("180+0", "Blitz", 225.0),
    ("180+2", "Blitz", 105.0),
    ("300+0", "Blitz", 105.0),
    ("300+3", "Blitz", 37.0),
    ("420+0", "Blitz", 6.0),
    ("600+0", "Rapid", 100.0),
    ("600+5", "Rapid", 20.0),
    ("900+10", "Rapid", 18.0),
    ("1200+0", "Rapid", 3.0),
    ("1800+0", "Classical", 12.0),
    ("1800+20", "Classical", 4.0),
    ("-", "Correspondence", 2.0),
];

/// Games of tournaments, and of swiss events, which do not call themselves rated.
pub(crate) const TOURNAMENT: f64 = 0.15;
pub(crate) const SWISS: f64 = 0.005;
/// Games that nobody moved in.
pub(crate) const NO_MOVES: f64 = 0.012;
/// Games with an evaluation of every move.
pub(crate) const ANALYSED: f64 = 0.09;
/// Games that end when a clock runs out: in bullet, and else.
pub(crate) const FLAGGED: [f64; 2] = [0.42, 0.235];
pub(crate) const DRAWN: f64 = 0.045;

/// Plies below which a share of the games with moves ends.
const LENGTHS: &[(f64, f64)] = &[
    (0.0, 2.0),
    (0.012, 12.0),
    (0.016, 20.0),
    (0.1, 31.0),
    (0.2, 42.0),
    (0.3, 50.0),
    (0.4, 57.0),
    (0.5, 63.0),
    (0.6, 70.0),
    (0.7, 79.0),
    (0.8, 91.0),
    (0.9, 110.0),
    (0.98, 150.0),
    (0.9997, 230.0),
    (1.0, 330.0),
];

/// The plies of a game with moves.
pub(crate) fn length(rng: &mut ChaCha8Rng) -> u32 {
    let drawn = unit(rng);
    let upper = LENGTHS.iter().position(|&(share, _)| drawn < share).unwrap_or(LENGTHS.len() - 1).max(1);
    let ((low, from), (high, to)) = (LENGTHS[upper - 1], LENGTHS[upper]);
    (from + (to - from) * (drawn - low) / (high - low)) as u32
}

/// The time control and speed that a number in [0, 1) falls on.
pub(crate) fn control(drawn: f64) -> (&'static str, &'static str) {
    let total: f64 = CONTROLS.iter().map(|(.., weight)| weight).sum();
    let mut rest = drawn * total;
    for &(control, speed, weight) in CONTROLS {
        if rest < weight {
            return (control, speed);
        }
        rest -= weight;
    }
    ("180+0", "Blitz")
}

/// About a normal deviate: the sum of twelve uniform numbers, less its mean.
pub(crate) fn normal(rng: &mut ChaCha8Rng) -> f64 {
    (0..12).map(|_| unit(rng)).sum::<f64>() - 6.0
}
