//! How much of the validation games occurs in the training games, ply by ply: as positions, however they came about,
//! and as the exact moves from the start.
//!
//! A position is what the rule of repetition compares: pieces, side to move, castling rights, and a capture en passant
//! that is legal. A model with a board could know a position that it has seen by any way; one that reads moves and keeps
//! no board can only know the moves.

use serde::{Deserialize, Serialize};

use super::positions::Positions;
use super::prefixes::Prefixes;
use super::tokens::TokenFile;
use super::walk::each_position;

/// What was found, over all plies and by ply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overlap {
    /// Validation games looked at: all of them, or whole games spread evenly.
    pub games: u64,
    /// Their positions, the start and the end of each game included.
    pub positions: u64,
    /// Positions that occur in a training game, at whatever ply.
    pub seen: u64,
    pub distinct: u64,
    pub distinct_seen: u64,
    /// Positions that a training game reaches by the same moves.
    pub prefixes: u64,
    pub by_ply: Vec<AtPly>,
}

/// The positions of validation games after so many plies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AtPly {
    pub ply: u32,
    /// One for each game that gets so far.
    pub positions: u64,
    pub seen: u64,
    pub distinct: u64,
    pub distinct_seen: u64,
    pub prefixes: u64,
}

/// Games of the file, spread evenly, that have about so many positions at most; all of them where they have fewer.
pub fn sample(file: &TokenFile, positions: u64) -> Vec<usize> {
    let games = file.games() as u64;
    // `<bos>` moves `<eos>` has one token more than positions.
    let all = file.tokens().len() as u64 - games;
    let count = if all <= positions { games } else { (u128::from(games) * u128::from(positions) / u128::from(all)) as u64 };
    (0..count.max(games.min(1))).map(|i| (u128::from(i) * u128::from(games) / u128::from(count.max(1))) as usize).collect()
}

/// Validation games, to be compared with each training game.
pub struct Known<'a> {
    games: Vec<&'a [u16]>,
    /// The number of each position, game after game.
    numbers: Vec<u32>,
    positions: Positions,
    prefixes: Prefixes<'a>,
}

impl<'a> Known<'a> {
    /// Plays the games and remembers their positions, of which each takes less than 100 bytes at the most.
    ///
    /// # Errors
    ///
    /// The place in the list of a game that cannot be played.
    pub fn of(games: Vec<&'a [u16]>) -> Result<Self, usize> {
        let mut hashes = Vec::with_capacity(games.iter().map(|moves| moves.len() + 1).sum());
        for (at, moves) in games.iter().enumerate() {
            if !each_position(moves, |hash| hashes.push(hash)) {
                return Err(at);
            }
        }
        let positions = Positions::of(hashes.clone());
        let numbers = hashes.iter().map(|&hash| positions.find(hash).expect("every position is in the set") as u32).collect();
        let prefixes = Prefixes::of(&games);
        Ok(Self { games, numbers, positions, prefixes })
    }

    /// Notes a training game, and says whether it can be played. Any number of threads may do so at once.
    pub fn note(&self, moves: &[u16]) -> bool {
        self.prefixes.note(moves);
        each_position(moves, |hash| self.positions.meet(hash))
    }

    /// What was found, once every training game is noted.
    pub fn overlap(self) -> Overlap {
        let (met, shared) = (self.positions.met(), self.prefixes.plies());
        let mut overlap = Overlap {
            games: self.games.len() as u64,
            distinct: met.len() as u64,
            distinct_seen: met.iter().filter(|&&met| met).count() as u64,
            ..Overlap::default()
        };
        // Where the numbers of each game begin, the plies it has, and those it shares.
        let mut start = 0;
        let mut reaching: Vec<(usize, usize, u32)> = Vec::with_capacity(self.games.len());
        for (game, shared) in self.games.iter().zip(shared) {
            reaching.push((start, game.len(), shared));
            start += game.len() + 1;
        }
        // The last ply at which each position was counted.
        let mut counted = vec![u32::MAX; met.len()];
        for ply in 0.. {
            reaching.retain(|(_, plies, _)| *plies >= ply as usize);
            if reaching.is_empty() {
                return overlap;
            }
            let mut at = AtPly { ply, ..AtPly::default() };
            for &(start, _, shared) in &reaching {
                let number = self.numbers[start + ply as usize] as usize;
                let new = u64::from(std::mem::replace(&mut counted[number], ply) != ply);
                let seen = u64::from(met[number]);
                at.positions += 1;
                at.seen += seen;
                at.distinct += new;
                at.distinct_seen += new * seen;
                at.prefixes += u64::from(shared >= ply);
            }
            overlap.positions += at.positions;
            overlap.seen += at.seen;
            overlap.prefixes += at.prefixes;
            overlap.by_ply.push(at);
        }
        overlap
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::vocabulary::parse;
    use crate::data::tokens::Framing;
    use crate::data::tokens::tests::written;

    fn game(moves: &str) -> Vec<u16> {
        moves.split_whitespace().map(|text| parse(text).expect("in the vocabulary")).collect()
    }

    fn overlap(validation: &[&str], train: &[&str]) -> Overlap {
        let validation: Vec<_> = validation.iter().map(|moves| game(moves)).collect();
        let known = Known::of(validation.iter().map(Vec::as_slice).collect()).expect("they can be played");
        assert!(train.iter().all(|moves| known.note(&game(moves))));
        known.overlap()
    }

    /// `ply: seen/positions, distinct_seen/distinct, prefixes`
    fn rows(overlap: &Overlap) -> Vec<String> {
        let row = |at: &AtPly| {
            format!("{}: {}/{}, {}/{}, {}", at.ply, at.seen, at.positions, at.distinct_seen, at.distinct, at.prefixes)
        };
        overlap.by_ply.iter().map(row).collect()
    }

    #[test]
    fn a_transposition_is_a_position_seen_and_no_beginning_seen() {
        // The queen's pawn game by two orders of moves: alike from the third ply on.
        let found = overlap(&["d2d4 d7d5 g1f3 g8f6 c2c4"], &["g1f3 d7d5 d2d4 g8f6 e2e3"]);
        assert_eq!(
            rows(&found),
            ["0: 1/1, 1/1, 1", "1: 0/1, 0/1, 0", "2: 0/1, 0/1, 0", "3: 1/1, 1/1, 0", "4: 1/1, 1/1, 0", "5: 0/1, 0/1, 0"]
        );
        assert_eq!((found.games, found.positions, found.seen, found.prefixes), (1, 6, 3, 1));
    }

    #[test]
    fn positions_and_beginnings_are_counted_by_ply_over_games_of_different_lengths() {
        let found = overlap(
            &["e2e4 e7e5 g1f3", "e2e4 e7e5", "e2e4 c7c5 g1f3", "d2d4"],
            &["e2e4 e7e5 f1c4", "e2e4 c7c5 g1f3 d7d6", "a2a3"],
        );
        assert_eq!(rows(&found), ["0: 4/4, 1/1, 4", "1: 3/4, 1/2, 3", "2: 3/3, 2/2, 3", "3: 1/2, 1/2, 1"]);
        assert_eq!((found.positions, found.seen, found.distinct, found.distinct_seen, found.prefixes), (13, 11, 7, 5, 11));
    }

    #[test]
    fn the_same_pieces_with_other_rights_are_another_position() {
        // The kings have moved and come back: castling is lost, and with it the position.
        let moved = "e2e3 e7e6 e1e2 e8e7 e2e1 e7e8 e3e4 e6e5";
        assert_eq!(rows(&overlap(&["e2e4 e7e5"], &[moved]))[2], "2: 0/1, 0/1, 0");
        let later = "g1f3 g8f6 f3g1 f6g8 e2e4 e7e5";
        assert_eq!(rows(&overlap(&["e2e4 e7e5"], &[later]))[2], "2: 1/1, 1/1, 0");
        // After a double step the pawn can be taken en passant; after any other move it cannot.
        assert_eq!(rows(&overlap(&["e2e4 a7a6 e4e5 d7d5"], &["e2e4 d7d5 e4e5 a7a6"]))[4], "4: 0/1, 0/1, 0");
    }

    #[test]
    fn a_sample_is_of_whole_games_spread_evenly_and_of_about_so_many_positions() {
        let games: Vec<Vec<u16>> = (0..1_000).map(|game| vec![5; 9 + game % 3]).collect();
        let (_dir, file) = written(&games, Framing::Marked);
        // Eleven positions a game, on average.
        assert_eq!(sample(&file, 11_000), (0..1_000).collect::<Vec<_>>());
        assert_eq!(sample(&file, 2_200), (0..1_000).step_by(5).collect::<Vec<_>>());
        assert_eq!(sample(&file, 1), [0], "one game, and be it too long");
        let (_dir, none) = written(&[], Framing::Marked);
        assert!(sample(&none, 10).is_empty());
    }

    #[test]
    fn a_game_that_cannot_be_played_is_told() {
        let [good, bad] = [game("e2e4"), game("e2e5")];
        assert_eq!(Known::of(vec![&good, &bad]).err(), Some(1));
        let known = Known::of(vec![&good]).expect("it can be played");
        assert!(!known.note(&bad));
    }
}
