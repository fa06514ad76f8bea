//! The players of a mined month: invented names, ratings, titles. A pure function of the seed.

use crate::arena::config::{Level, Players};
use crate::random::{below, stream, unit};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Player {
    pub(crate) name: String,
    /// The month's average; a game's rating wanders around it.
    pub(crate) rating: u32,
    pub(crate) is_bot: bool,
}

/// All players, from the weakest.
pub(crate) fn pool(players: &Players, seed: u64) -> Vec<Player> {
    let mut names = stream(seed, "names", 0);
    let first = below(&mut names, NAMES);
    let mut pool: Vec<Player> = (0..players.count)
        .map(|index| {
            let mut rng = stream(seed, "player", index);
            // Twelve uniform numbers: near enough to normal, and without a transcendental function.
            let normal = (0..12).map(|_| unit(&mut rng)).sum::<f64>() - 6.0;
            let [low, high] = players.ratings.map(f64::from);
            let rating = (players.mean + players.deviation * normal).clamp(low, high) as u32;
            let is_bot = unit(&mut rng) < players.bots;
            Player { name: name(first + index, is_bot), rating, is_bot }
        })
        .collect();
    pool.sort_by(|a, b| (a.rating, &a.name).cmp(&(b.rating, &b.name)));
    pool
}

/// The level of a rating: the last that does not ask for more.
pub(crate) fn level(levels: &[Level], rating: u32) -> &Level {
    let above = levels.partition_point(|level| level.rating <= rating);
    &levels[above.saturating_sub(1)]
}

/// Three syllables make a name; as many names as there are.
const NAMES: u64 = 70 * 70 * 70;

fn name(number: u64, is_bot: bool) -> String {
    const CONSONANTS: &[u8; 14] = b"bdfghklmnprstv";
    const VOWELS: &[u8; 5] = b"aeiou";
    // A multiplier without a common divisor with the count reaches every name once.
    let mut rest = (number % NAMES * 123_457) % NAMES;
    let mut name = if is_bot { "bot-".to_owned() } else { String::new() };
    for _ in 0..3 {
        name.push(char::from(CONSONANTS[(rest % 14) as usize]));
        name.push(char::from(VOWELS[(rest / 14 % 5) as usize]));
        rest /= 70;
    }
    name
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::arena::config::tests::small;

    #[test]
    fn no_two_players_share_a_name_and_all_ratings_are_in_range() {
        let players = Players { count: 3_000, deviation: 600.0, ..small().players };
        let pool = pool(&players, 3);
        let names: HashSet<&str> = pool.iter().map(|player| &*player.name).collect();
        assert_eq!(names.len(), 3_000);
        assert!(pool.iter().all(|player| (800..=2_800).contains(&player.rating)));
        assert!(pool.is_sorted_by_key(|player| player.rating));
        let bots = pool.iter().filter(|player| player.is_bot).count();
        assert!((200..400).contains(&bots), "{bots} bots");
    }

    #[test]
    fn a_player_has_the_last_level_that_does_not_ask_for_more() {
        let levels = small().levels;
        let ratings = [500, 800, 1_699, 1_700, 2_900].map(|rating| level(&levels, rating).rating);
        assert_eq!(ratings, [800, 800, 800, 1_700, 1_700]);
    }
}
