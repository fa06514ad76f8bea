//! Text to games: told apart, filtered by the rules, replayed, counted.
//!
//! The movetext of a game that its tags reject is stepped over unread. Length is counted in words of the main
//! line, playable or not, before anything is judged by the board; so a game of 19 words is too short even where
//! one of them is no move.

use std::time::{Duration, Instant};

use super::config::Keep;
use super::cut::{Cut, Cutter};
use super::mainline::{MainLine, play};
use super::movetext::looks_like_a_game;
use super::plain::plain;
use super::report::Reason;
use super::rows::RowBatch;
use super::tags::{Tags, tags};
use crate::chess::notation::Unplayable;
use crate::chess::replay::Ending;

/// What a stretch of text holds.
#[derive(Default)]
pub(super) struct Batch {
    /// One a game, in order; [`Verdict::NoGame`] where a text is none.
    pub(super) verdicts: Vec<Verdict>,
    /// The moves of the kept games, back to back.
    pub(super) tokens: Vec<u16>,
    /// What is told of each kept game beside its moves.
    pub(super) rows: RowBatch,
    /// The beginning of the first text that is no game.
    pub(super) prose: Vec<u8>,
    pub(super) spent: Spent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Kept,
    Rejected(Reason),
    NoGame,
}

/// Time that went into each step, over all threads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    pub(super) scan: Duration,
    pub(super) replay: Duration,
    pub(super) text_bytes: u64,
}

impl Batch {
    /// What it takes in memory, nearly.
    pub(super) fn bytes(&self) -> usize {
        self.verdicts.len() * 2 + self.tokens.len() * 2 + self.rows.bytes()
    }

    pub(super) fn clear(&mut self) {
        self.verdicts.clear();
        self.tokens.clear();
        self.rows.clear();
        self.prose.clear();
        self.spent = Spent::default();
    }
}

/// How much is done with each game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// The text is unpacked, and that is all.
    Unpack,
    /// Games are told apart and their tags held against the rules; every game that passes counts as kept, without moves.
    Scan,
    /// Games are replayed too.
    Replay,
}

/// Reads stretches of text, one after the other, in the same memory.
pub(super) struct Reader<'k> {
    keep: &'k Keep,
    depth: Depth,
    /// The moves of the game at hand.
    tokens: Vec<u16>,
}

/// A game whose tags passed.
struct Candidate<'a> {
    /// Its place among the verdicts.
    at: usize,
    tags: Tags<'a>,
    movetext: &'a [u8],
}

impl<'k> Reader<'k> {
    pub(super) fn new(keep: &'k Keep, depth: Depth) -> Self {
        Self { keep, depth, tokens: Vec::new() }
    }

    /// Reads the games of a text into an empty batch, and says how much of the text they take.
    ///
    /// `whole` tells that the text ends between games, or with its file; without it, the last game may be left.
    pub(super) fn read(&mut self, text: &[u8], whole: bool, batch: &mut Batch) -> usize {
        if self.depth == Depth::Unpack {
            batch.spent.text_bytes = text.len() as u64;
            return text.len();
        }
        let begun = Instant::now();
        let mut candidates = Vec::with_capacity(text.len() >> 13);
        let used = self.scan(text, whole, batch, &mut candidates);
        let scanned = Instant::now();
        for candidate in candidates {
            batch.verdicts[candidate.at] = self.replay(&candidate, batch);
        }
        batch.spent = Spent { scan: scanned - begun, replay: scanned.elapsed(), text_bytes: used as u64 };
        used
    }

    fn scan<'a>(&self, text: &'a [u8], whole: bool, batch: &mut Batch, candidates: &mut Vec<Candidate<'a>>) -> usize {
        let mut cutter = Cutter::new(text, whole);
        loop {
            let start = cutter.position();
            let (movetext, tags) = if let Some((game, tags, length)) = plain(&text[start..], whole) {
                cutter.seek(start + length);
                (game.movetext, tags)
            } else {
                let Cut::Game(game) = cutter.next() else { return cutter.position() };
                let tags = tags(game.tags);
                if !tags.any && !looks_like_a_game(game.movetext) {
                    note(&mut batch.prose, game.tags);
                    note(&mut batch.prose, game.movetext);
                    batch.verdicts.push(Verdict::NoGame);
                    continue;
                }
                (game.movetext, tags)
            };
            batch.verdicts.push(if let Some(reason) = self.keep.rejects_tags(&tags) {
                Verdict::Rejected(reason)
            } else {
                candidates.push(Candidate { at: batch.verdicts.len(), tags, movetext });
                Verdict::Kept
            });
        }
    }

    fn replay(&mut self, game: &Candidate, batch: &mut Batch) -> Verdict {
        match self.main_line(game.movetext) {
            Ok(ending) => {
                batch.tokens.extend_from_slice(&self.tokens);
                batch.rows.push(&game.tags, self.tokens.len() as u32, ending);
                Verdict::Kept
            }
            Err(reason) => Verdict::Rejected(reason),
        }
    }

    /// Plays the moves, and says how the rules ended the game, or why it is not kept.
    fn main_line(&mut self, movetext: &[u8]) -> Result<Option<Ending>, Reason> {
        if self.depth == Depth::Scan {
            return Ok(None);
        }
        let MainLine { plies, broken, played } = play(movetext, &mut self.tokens);
        if let Some(reason) = self.keep.rejects_length(plies) {
            return Err(reason);
        }
        match played {
            Err(Unplayable::NullMove) => Err(Reason::NullMove),
            _ if broken => Err(Reason::Unbalanced),
            Err(_) => Err(Reason::InvalidSan),
            Ok(ending) => Ok(ending),
        }
    }
}

/// Remembers the beginning of the first text that is no game.
fn note(prose: &mut Vec<u8>, text: &[u8]) {
    if prose.is_empty() {
        let text = text.trim_ascii();
        prose.extend_from_slice(&text[..text.len().min(40)]);
    }
}
