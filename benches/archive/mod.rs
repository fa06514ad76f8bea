//! A made-up month of the public archive: its form, its mix of games, its size when packed. One seed, one month.
//!
//! Nothing of it is anybody's: names, addresses, ratings, clocks and evaluations are drawn; games begin as games of
//! the engine that are committed with the project, and go on by a weighted draw among the legal moves.

mod clock;
mod evaluation;
mod game;
pub(crate) mod month;
mod moves;
pub(crate) mod pack;
mod players;
mod shares;
