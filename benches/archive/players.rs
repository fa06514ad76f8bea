//! The players of a month: names as people choose them, ratings as they are spread, a few titles.

use philidor::random::{below, stream, unit};
use rand_chacha::ChaCha8Rng;

use super::shares::normal;

const PLAYERS: u64 = 200_000;
const MEAN: f64 = 1_574.0;
const DEVIATION: f64 = 360.0;
/// Opponents are at most so many ranks apart.
const REACH: u64 = 6_000;

pub(crate) struct Player {
    pub(crate) name: String,
    pub(crate) rating: i32,
    pub(crate) title: Option<&'static str>,
}

/// The players, from the weakest to the strongest.
pub(crate) fn pool(seed: u64) -> Vec<Player> {
    let mut rng = stream(seed, "month/players", 0);
    let mut players: Vec<Player> = (0..PLAYERS).map(|_| player(&mut rng)).collect();
    players.sort_by(|one, other| (one.rating, &one.name).cmp(&(other.rating, &other.name)));
    players
}

/// Two players who would be paired, and their ratings on the day.
pub(crate) fn pair<'a>(pool: &'a [Player], rng: &mut ChaCha8Rng) -> [(&'a Player, i32); 2] {
    let count = pool.len() as u64;
    let one = below(rng, count);
    let (low, high) = (one.saturating_sub(REACH), (one + REACH).min(count - 1));
    let drawn = low + below(rng, high - low);
    let other = if drawn >= one { drawn + 1 } else { drawn };
    [one, other].map(|rank| {
        let player = &pool[rank as usize];
        (player, player.rating + below(rng, 81) as i32 - 40)
    })
}

fn player(rng: &mut ChaCha8Rng) -> Player {
    let rating = (MEAN + DEVIATION * normal(rng)).round().clamp(450.0, 3_150.0) as i32;
    let title = match (unit(rng), rating) {
        (0.0..0.006, _) => Some("BOT"),
        (0.006..0.06, 2_300..) => Some("FM"),
        (0.06..0.1, 2_300..) => Some("IM"),
        (0.1..0.12, 2_500..) => Some("GM"),
        (0.12..0.13, 2_100..) => Some("NM"),
        _ => None,
    };
    Player { name: name(rng), rating, title }
}

const SYLLABLES: &[&str] = &[
    "a", "al", "an", "ar", "ba", "ben", "bo", "chi", "da", "de", "di", "do", "ed", "el", "en", "fa", "fi", "ga", "go", "ha",
    "in", "is", "ja", "jo", "ka", "ki", "ko", "la", "le", "li", "lo", "ma", "man", "me", "mi", "mo", "na", "ni", "no", "o", "on",
    "pa", "pe", "ra", "re", "ri", "ro", "sa", "san", "se", "sha", "so", "ta", "te", "to", "tor", "va", "vi", "ya", "za",
];
const WORDS: &[&str] =
    &["chess", "king", "Knight", "pawn", "Master", "player", "Rook", "the", "Mr", "Bishop", "blitz", "Queen", "gambit"];

fn name(rng: &mut ChaCha8Rng) -> String {
    let mut name = String::new();
    let picked = |list: &[&'static str], rng: &mut ChaCha8Rng| list[below(rng, list.len() as u64) as usize];
    if unit(rng) < 0.12 {
        name += picked(WORDS, rng);
    }
    for _ in 0..2 + below(rng, 3) {
        name += picked(SYLLABLES, rng);
    }
    if unit(rng) < 0.4 {
        name[..1].make_ascii_uppercase();
    }
    match unit(rng) {
        0.0..0.12 => name += picked(WORDS, rng),
        0.12..0.24 => name = format!("{name}_{}", picked(SYLLABLES, rng)),
        _ => (),
    }
    if unit(rng) < 0.5 {
        let numbers = [10, 100, 2_025, 10_000][below(rng, 4) as usize];
        name += &below(rng, numbers).to_string();
    }
    name
}
