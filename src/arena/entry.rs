//! What is settled about a game before its first move. A pure function of the settings and the game's number.

use rand_chacha::ChaCha8Rng;
use shakmaty::ByColor;

use super::clocks::{Control, Speed};
use super::config::{MineConfig, Odd, month_days};
use super::players::{self, Player};
use crate::random::{below, stream, unit};

/// What is odd about a game, if anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Usual,
    NoMoves,
    Abandoned,
    RatingUnknown,
    SetUp,
    Short,
    Long,
    Broken,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) kind: Kind,
    pub(crate) event: String,
    pub(crate) site: String,
    /// As `2026.01.31` and `23:59:59`.
    pub(crate) date: String,
    pub(crate) time: String,
    pub(crate) players: ByColor<Seat>,
    pub(crate) control: Control,
    pub(crate) is_analysed: bool,
}

/// A player in one game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seat {
    pub(crate) name: String,
    pub(crate) rating: u32,
    pub(crate) is_rating_known: bool,
    pub(crate) is_bot: bool,
}

/// Everything that the games of a month share.
pub(crate) struct Entries<'a> {
    config: &'a MineConfig,
    pool: Vec<Player>,
    kinds: Vec<Kind>,
    controls: Vec<(Control, f64)>,
    /// What the first game's address is made of.
    first_site: u64,
}

impl<'a> Entries<'a> {
    /// `config` has passed its check.
    pub(crate) fn new(config: &'a MineConfig) -> Self {
        let parse = |(tag, &weight): (&String, &f64)| Some((Control::parse(tag)?, weight));
        Self {
            config,
            pool: players::pool(&config.players, config.seed),
            kinds: kinds(config.games, config.odd, config.seed),
            controls: config.events.controls.iter().filter_map(parse).collect(),
            first_site: below(&mut stream(config.seed, "sites", 0), SITES),
        }
    }

    /// Draws the entry of game `index` from the game's own stream.
    pub(crate) fn entry(&self, index: u64, rng: &mut ChaCha8Rng) -> Entry {
        let kind = self.kinds[index as usize];
        let control = self.control(kind, rng);
        let (date, time) = self.start(index, rng);
        let mut players = self.pair(kind, rng);
        if kind == Kind::RatingUnknown {
            let unknown = if unit(rng) < 0.5 { &mut players.white } else { &mut players.black };
            unknown.is_rating_known = false;
        }
        let event = self.event(kind, control, index, rng);
        let is_analysed = unit(rng) < self.config.events.analysed && kind != Kind::Long;
        let site = format!("{}/{}", self.config.site, address(self.first_site + index));
        Entry { kind, event, site, date, time, players, control, is_analysed }
    }

    /// Odd games get an ordinary speed, so that nothing else about them makes a filter turn them away first.
    fn control(&self, kind: Kind, rng: &mut ChaCha8Rng) -> Control {
        loop {
            let control = weighted(&self.controls, unit(rng));
            let fits = match kind {
                Kind::Usual => true,
                Kind::NoMoves | Kind::Abandoned => control.speed() != Speed::Correspondence,
                _ => control.speed().is_ordinary(),
            };
            if fits {
                return control;
            }
        }
    }

    fn pair(&self, kind: Kind, rng: &mut ChaCha8Rng) -> ByColor<Seat> {
        let count = self.pool.len() as u64;
        let white = match kind {
            Kind::Usual => below(rng, count),
            // The middle of the pool: no rating filter turns them away.
            _ => count / 4 + below(rng, count / 2),
        };
        // Another player, at most `reach` ranks away.
        let reach = self.config.players.reach;
        let (low, high) = (white.saturating_sub(reach), (white + reach).min(count - 1));
        let drawn = low + below(rng, high - low);
        let black = if drawn >= white { drawn + 1 } else { drawn };
        let mut seat = |number: u64| {
            let Player { name, rating, is_bot } = self.pool[number as usize].clone();
            let wander = below(rng, 41) as u32;
            Seat { name, rating: (rating + wander).saturating_sub(20), is_rating_known: true, is_bot }
        };
        ByColor { white: seat(white), black: seat(black) }
    }

    fn event(&self, kind: Kind, control: Control, index: u64, rng: &mut ChaCha8Rng) -> String {
        let (speed, site, events) = (control.speed(), &self.config.site, &self.config.events);
        if kind == Kind::SetUp {
            return format!("Casual {speed} game");
        }
        let drawn = unit(rng);
        let held = |purpose| address(below(&mut stream(self.config.seed, purpose, index / 100 * 16 + speed as u64), SITES));
        if speed == Speed::Correspondence || drawn >= events.tournament + events.swiss {
            format!("Rated {speed} game")
        } else if drawn < events.tournament {
            format!("Rated {speed} tournament {site}/tournament/{}", held("tournament"))
        } else {
            // The archive does not call them rated.
            format!("{speed} swiss {site}/swiss/{}", held("swiss"))
        }
    }

    /// Games are spread evenly over the month, in order.
    fn start(&self, index: u64, rng: &mut ChaCha8Rng) -> (String, String) {
        let seconds = month_days(&self.config.month).unwrap_or(28) * 86_400;
        let (from, to) = (index * seconds / self.config.games, (index + 1) * seconds / self.config.games);
        let second = from + below(rng, (to - from).max(1));
        let date = format!("{}.{:02}", self.config.month.replace('-', "."), second / 86_400 + 1);
        let second = second % 86_400;
        (date, format!("{:02}:{:02}:{:02}", second / 3_600, second / 60 % 60, second % 60))
    }
}

/// The kind of every game: the odd ones are dealt over the month by the seed.
fn kinds(games: u64, odd: Odd, seed: u64) -> Vec<Kind> {
    let counts = [
        (Kind::NoMoves, odd.no_moves),
        (Kind::Abandoned, odd.abandoned),
        (Kind::RatingUnknown, odd.rating_unknown),
        (Kind::SetUp, odd.set_up),
        (Kind::Short, odd.short),
        (Kind::Long, odd.long),
        (Kind::Broken, odd.broken),
        (Kind::Usual, games.saturating_sub(odd.total())),
    ];
    let mut kinds: Vec<Kind> = counts.iter().flat_map(|&(kind, count)| (0..count).map(move |_| kind)).collect();
    let mut rng = stream(seed, "kinds", 0);
    for last in (1..kinds.len()).rev() {
        kinds.swap(last, below(&mut rng, last as u64 + 1) as usize);
    }
    kinds
}

/// The item that a number in [0, 1) falls on, by weight. There is at least one, and the weights do not add up to 0.
pub(crate) fn weighted<T: Copy>(items: &[(T, f64)], drawn: f64) -> T {
    let total: f64 = items.iter().map(|(_, weight)| weight).sum();
    let mut rest = drawn * total;
    for &(item, weight) in items {
        if rest < weight {
            return item;
        }
        rest -= weight;
    }
    // Only rounding leads here.
    items[items.len() - 1].0
}

/// Addresses of eight characters of the 62.
const SITES: u64 = 62_u64.pow(8);

fn address(number: u64) -> String {
    const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    // A multiplier without a common divisor with the count (2 and 31) gives every number its own address.
    let mixed = u128::from(number) * 137_438_953_481 % u128::from(SITES);
    let mut rest = mixed as u64;
    let letter = |_| {
        let letter = LETTERS[(rest % 62) as usize];
        rest /= 62;
        char::from(letter)
    };
    (0..8).map(letter).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::arena::config::tests::small;

    fn all(config: &MineConfig) -> Vec<Entry> {
        let entries = Entries::new(config);
        (0..config.games).map(|index| entries.entry(index, &mut stream(config.seed, "game", index))).collect()
    }

    #[test]
    fn every_odd_kind_comes_as_often_as_asked_and_has_an_ordinary_speed() {
        let config = MineConfig { games: 500, odd: Odd { long: 9, broken: 4, ..small().odd }, ..small() };
        let entries = all(&config);
        let count = |kind| entries.iter().filter(|entry| entry.kind == kind).count();
        assert_eq!([count(Kind::Long), count(Kind::Broken), count(Kind::SetUp), count(Kind::NoMoves)], [9, 4, 1, 1]);
        let unknown = entries.iter().filter(|entry| entry.players.iter().any(|seat| !seat.is_rating_known)).count();
        assert_eq!(unknown, 1);
        for entry in entries.iter().filter(|entry| matches!(entry.kind, Kind::Long | Kind::Broken)) {
            assert!(entry.control.speed().is_ordinary());
        }
    }

    #[test]
    fn addresses_are_unique_nobody_plays_alone_and_time_goes_forward() {
        let config = MineConfig { games: 3_000, ..small() };
        let entries = all(&config);
        let sites: HashSet<&str> = entries.iter().map(|entry| &*entry.site).collect();
        assert_eq!(sites.len(), 3_000);
        assert!(entries.iter().all(|entry| entry.players.white.name != entry.players.black.name));
        assert!(entries.is_sorted_by_key(|entry| (&entry.date, &entry.time)));
        assert!(entries.iter().all(|entry| entry.date.starts_with("2026.01.")));
    }

    #[test]
    fn an_entry_depends_on_nothing_but_the_settings_and_its_number() {
        let config = small();
        let other = MineConfig { seed: 8, ..small() };
        assert_eq!(all(&config), all(&config));
        assert_ne!(all(&config)[0].site, all(&other)[0].site);
    }

    #[test]
    fn a_weight_of_nothing_is_never_drawn() {
        let mut rng = stream(1, "weights", 0);
        let drawn: HashSet<u8> = (0..200).map(|_| weighted(&[(0, 0.0), (1, 2.0), (2, 0.0), (3, 1.0)], unit(&mut rng))).collect();
        assert_eq!(drawn, HashSet::from([1, 3]));
    }
}
