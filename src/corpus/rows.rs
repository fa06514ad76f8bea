//! What is told of kept games beside their moves, as the table of games and the rules over a whole corpus need it.
//!
//! A batch outlives the text that it was read from, since games are scanned in one thread and collected in another.
//! Text of all its games stands in one buffer, so that nothing is allocated per game once a batch is warm.

use std::hash::{DefaultHasher, Hasher as _};

use super::clock::{Speed, TimeControl};
use super::date::Date;
use super::tags::{Tags, rating};
use crate::chess::replay::Ending;

/// A termination or an id that is longer is none: no site writes it, and memory must not depend on it.
const TEXT_BYTES_MAX: usize = 64;

/// What is told of a game, without its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    pub white_elo: Option<u32>,
    pub black_elo: Option<u32>,
    pub speed: Option<Speed>,
    pub time_control: Option<TimeControl>,
    /// `1-0`, `0-1`, `1/2-1/2`, or `*` for anything else.
    pub result: &'static str,
    pub date: Option<Date>,
    pub plies: u32,
    pub ending: Option<Ending>,
    /// Hashes of the players' names, White's first; none for a player without one.
    pub players: [Option<u64>; 2],
}

/// A kept game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    pub facts: Facts,
    /// The `Termination` tag as it stands.
    pub termination: Option<&'a [u8]>,
    /// Unique to the game on the site where it was played.
    pub game_id: Option<&'a [u8]>,
}

impl<'a> Row<'a> {
    pub(super) fn of(tags: &Tags<'a>, plies: u32, ending: Option<Ending>) -> Self {
        let facts = Facts {
            white_elo: rating(tags.white_elo),
            black_elo: rating(tags.black_elo),
            speed: tags.speed(),
            time_control: tags.clock(),
            result: result(tags.result),
            date: tags.day(),
            plies,
            ending,
            players: [player(tags.white), player(tags.black)],
        };
        let short = |text: &&[u8]| text.len() <= TEXT_BYTES_MAX;
        Self { facts, termination: tags.termination.filter(short), game_id: tags.id().filter(short) }
    }
}

fn result(tag: Option<&[u8]>) -> &'static str {
    match tag {
        Some(b"1-0") => "1-0",
        Some(b"0-1") => "0-1",
        Some(b"1/2-1/2") => "1/2-1/2",
        _ => "*",
    }
}

/// The hash of a name, byte for byte. Only equality counts, within one run of the program.
fn player(name: Option<&[u8]>) -> Option<u64> {
    let name = name.filter(|name| !matches!(*name, b"" | b"?" | b"-" | b"Anonymous"))?;
    Some(hash(name))
}

pub(super) fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

/// Kept games in a row.
#[derive(Clone, Debug, Default)]
pub struct RowBatch {
    rows: Vec<Stored>,
    /// Of each game its termination and its id.
    text: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Stored {
    facts: Facts,
    /// Where the game's text begins.
    begin: usize,
    /// Bytes of each text, where there is one.
    termination: Option<u32>,
    game_id: Option<u32>,
}

impl RowBatch {
    pub(super) fn push(&mut self, tags: &Tags, plies: u32, ending: Option<Ending>) {
        self.append(&Row::of(tags, plies, ending));
    }

    pub fn append(&mut self, &Row { facts, termination, game_id }: &Row) {
        let length = |text: &[u8]| text.len() as u32;
        self.rows.push(Stored {
            facts,
            begin: self.text.len(),
            termination: termination.map(length),
            game_id: game_id.map(length),
        });
        self.text.extend_from_slice(termination.unwrap_or_default());
        self.text.extend_from_slice(game_id.unwrap_or_default());
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// What it takes in memory, nearly.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.rows[..]) + self.text.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Forgets the games and keeps the memory.
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// Keeps the first `len` games.
    pub fn truncate(&mut self, len: usize) {
        if let Some(first_gone) = self.rows.get(len) {
            self.text.truncate(first_gone.begin);
        }
        self.rows.truncate(len);
    }

    /// # Panics
    ///
    /// Where `index` is not below [`len`](Self::len).
    pub fn row(&self, index: usize) -> Row<'_> {
        let Stored { facts, begin, termination, game_id } = self.rows[index];
        let middle = begin + termination.unwrap_or(0) as usize;
        let end = middle + game_id.unwrap_or(0) as usize;
        Row {
            facts,
            termination: termination.map(|_| &self.text[begin..middle]),
            game_id: game_id.map(|_| &self.text[middle..end]),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = Row<'_>> {
        (0..self.len()).map(|index| self.row(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_row_tells_what_the_tags_tell() {
        let tags = Tags {
            event: Some(b"Rated Blitz game"),
            site: Some(b"https://lichess.org/cWWlPBrs"),
            utc_date: Some(b"2013.01.31"),
            white: Some(b"ann"),
            black: Some(b"?"),
            white_elo: Some(b"1500"),
            black_elo: Some(b"?"),
            result: Some(b"1/2-1/2"),
            time_control: Some(b"180+2"),
            termination: Some(b"Normal"),
            ..Tags::default()
        };
        let row = Row::of(&tags, 71, Some(Ending::Stalemate));
        let facts = row.facts;
        assert_eq!((facts.white_elo, facts.black_elo), (Some(1500), None));
        assert_eq!((facts.speed, facts.result, facts.plies), (Some(Speed::Blitz), "1/2-1/2", 71));
        assert_eq!(facts.time_control, Some(TimeControl { base_ms: 180_000, increment_ms: 2_000 }));
        assert_eq!(facts.date, Date::of_iso("2013-01-31"));
        assert_eq!(facts.ending, Some(Ending::Stalemate));
        assert_eq!((row.termination, row.game_id), (Some(&b"Normal"[..]), Some(&b"cWWlPBrs"[..])));
        assert_eq!(facts.players, [player(Some(b"ann")), None]);
        assert_ne!(player(Some(b"ann")), player(Some(b"Ann")));
        let nothing = Row::of(&Tags::default(), 0, None);
        assert_eq!((nothing.termination, nothing.game_id, nothing.facts.result), (None, None, "*"));
    }

    proptest! {
        #[test]
        fn a_batch_gives_back_what_was_pushed(
            games in proptest::collection::vec((proptest::option::of("[a-z]{0,4}"), proptest::option::of("[a-z0-9]{1,8}")), 0..20),
            kept in 0_usize..25,
        ) {
            let tags: Vec<Tags> = games
                .iter()
                .map(|(termination, id)| Tags {
                    termination: termination.as_ref().map(String::as_bytes),
                    game_id: id.as_ref().map(String::as_bytes),
                    ..Tags::default()
                })
                .collect();
            let mut batch = RowBatch::default();
            let push = |batch: &mut RowBatch, tags: &[Tags]| {
                for tags in tags {
                    batch.push(tags, batch.len() as u32, None);
                }
            };
            push(&mut batch, &tags);
            batch.truncate(kept);
            let kept = kept.min(tags.len());
            push(&mut batch, &tags[kept..]);
            prop_assert_eq!(batch.len(), tags.len());
            for (plies, (row, tags)) in batch.iter().zip(&tags).enumerate() {
                prop_assert_eq!(row, Row::of(tags, plies as u32, None));
            }
            batch.clear();
            prop_assert!(batch.is_empty() && batch.text.is_empty());
        }
    }

    #[test]
    fn an_id_that_no_site_writes_is_none() {
        let long = vec![b'x'; 65];
        let tags = Tags { game_id: Some(&long), termination: Some(&long), ..Tags::default() };
        let row = Row::of(&tags, 1, None);
        assert_eq!((row.game_id, row.termination), (None, None));
    }
}
