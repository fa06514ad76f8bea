//! The rules that ask what was kept before: a game that was there already, a player of whom there are enough.
//!
//! They are asked last, of games that all other rules keep, in the order of the input, once per source: a source is
//! parsed on its own, so that it is parsed once however many experiments take it among others.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use super::config::Keep;
use super::report::Reason;
use super::rows::{Row, hash};

/// What was kept of a source so far. A kept game takes 8 to 18 bytes where duplicates are asked for, a player 18 to 36
/// where players are, and nothing is taken otherwise.
pub struct Seen {
    games: Option<HashSet<u64, Plain>>,
    players: Option<Players>,
}

struct Players {
    most: u32,
    kept: HashMap<u64, u32, Plain>,
}

impl Seen {
    pub fn new(keep: &Keep) -> Self {
        let players = keep.games_per_player.map(|most| Players { most: most.get(), kept: HashMap::default() });
        Self { games: keep.exclude_duplicates.then(HashSet::default), players }
    }

    /// Why the next game that the other rules keep is rejected. Without a reason it counts as kept.
    pub fn rejects(&mut self, row: &Row) -> Option<Reason> {
        let id = row.game_id.map(hash);
        if let (Some(games), Some(id)) = (&self.games, id)
            && games.contains(&id)
        {
            return Some(Reason::Duplicate);
        }
        if let Some(players) = &mut self.players
            && !players.take(row.facts.players)
        {
            return Some(Reason::PlayerGames);
        }
        if let (Some(games), Some(id)) = (&mut self.games, id) {
            games.insert(id);
        }
        None
    }
}

impl Players {
    /// Counts a game of two players, unless one of them has enough.
    fn take(&mut self, players: [Option<u64>; 2]) -> bool {
        let named = || players.into_iter().flatten();
        let has_enough = |player| self.kept.get(&player).is_some_and(|&kept| kept >= self.most);
        if named().any(has_enough) {
            return false;
        }
        named().for_each(|player| *self.kept.entry(player).or_default() += 1);
        true
    }
}

/// What is hashed already needs no hash.
type Plain = BuildHasherDefault<Already>;

#[derive(Default)]
struct Already(u64);

impl Hasher for Already {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = hash(bytes);
    }

    fn write_u64(&mut self, hashed: u64) {
        self.0 = hashed;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::corpus::tags::Tags;

    /// The reasons of games, each given by White, Black and id.
    fn reasons(keep: &Keep, games: &[[&'static str; 3]]) -> Vec<&'static str> {
        let mut seen = Seen::new(keep);
        let tag = |text: &'static str| Some(text.as_bytes()).filter(|text| !text.is_empty());
        let mut reason = |[white, black, id]: [&'static str; 3]| {
            let tags = Tags { white: tag(white), black: tag(black), game_id: tag(id), ..Tags::default() };
            seen.rejects(&Row::of(&tags, 1, None)).map_or("", Reason::name)
        };
        games.iter().map(|&game| reason(game)).collect()
    }

    #[test]
    fn of_games_with_one_id_the_first_is_kept_and_without_an_id_all_are() {
        let keep = Keep { exclude_duplicates: true, ..Keep::default() };
        let games = [["a", "b", "x"], ["a", "b", ""], ["c", "d", "x"], ["a", "b", ""], ["a", "b", "X"], ["a", "b", "x"]];
        assert_eq!(reasons(&keep, &games), ["", "", "duplicate", "", "", "duplicate"]);
        assert_eq!(reasons(&Keep::default(), &games), [""; 6]);
    }

    #[test]
    fn a_player_has_so_many_games_with_either_colour_and_nobody_has_none() {
        let keep = Keep { games_per_player: NonZeroU32::new(2), ..Keep::default() };
        let games = [
            ["a", "b", ""],
            ["b", "c", ""],
            ["c", "b", ""],
            // The game before was not kept, so it counts for nobody.
            ["c", "d", ""],
            ["d", "c", ""],
            ["?", "?", ""],
            ["?", "a", ""],
            ["?", "?", ""],
            ["a", "e", ""],
            ["A", "e", ""],
        ];
        let no = "player_games";
        assert_eq!(reasons(&keep, &games), ["", "", no, "", no, "", "", "", no, ""]);
    }

    #[test]
    fn a_game_that_its_player_rejects_was_not_seen() {
        let keep = Keep { exclude_duplicates: true, games_per_player: NonZeroU32::new(1), ..Keep::default() };
        let games = [["a", "b", "x"], ["a", "c", "y"], ["c", "d", "y"], ["e", "f", "x"]];
        assert_eq!(reasons(&keep, &games), ["", "player_games", "", "duplicate"]);
    }
}
