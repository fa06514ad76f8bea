//! Plays one game: two levels of one engine, until the rules, the clock or the players end it.

use rand_chacha::ChaCha8Rng;
use shakmaty::fen::Fen;
use shakmaty::san::SanPlus;
use shakmaty::uci::UciMove;
use shakmaty::zobrist::Zobrist64;
use shakmaty::{ByColor, CastlingMode, Chess, Color, EnPassantMode, Move, Position};

use super::choice::{choose, impossible, shuffle};
use super::clocks::{Pair, Spent};
use super::config::{Level, MineConfig};
use super::engine::{Engine, Limit, Search};
use super::entry::{Entry, Kind};
use super::players;
use super::uci::Score;
use crate::error::Fixable;
use crate::random::{below, unit};

/// A played game, as far as the archive tells it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Played {
    /// Where it starts, if not from the initial position.
    pub(crate) fen: Option<&'static str>,
    pub(crate) plies: Vec<Ply>,
    pub(crate) end: End,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ply {
    /// With `+` or `#`.
    pub(crate) san: String,
    /// Seconds left to the player after the move.
    pub(crate) clock: Option<u32>,
    /// What the position after the move is worth to White; `None` where the game ended in it.
    pub(crate) score: Option<Score>,
}

/// How a game ended, and the winner where there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Mate, stalemate, too little material, a third repetition, or fifty moves.
    ByRule(Option<Color>),
    Resigned(Color),
    DrawAgreed,
    Flagged(Option<Color>),
    Abandoned(Color),
}

impl End {
    pub(crate) fn winner(self) -> Option<Color> {
        match self {
            Self::ByRule(winner) | Self::Flagged(winner) => winner,
            Self::Resigned(winner) | Self::Abandoned(winner) => Some(winner),
            Self::DrawAgreed => None,
        }
    }

    /// The value of the `Termination` tag.
    pub(crate) fn termination(self) -> &'static str {
        match self {
            Self::ByRule(_) | Self::Resigned(_) | Self::DrawAgreed => "Normal",
            Self::Flagged(_) => "Time forfeit",
            Self::Abandoned(_) => "Abandoned",
        }
    }
}

/// Odds that a casual game starts from: White is without a knight, a rook, the queen, or two pawns.
const ODDS: [&str; 4] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/R1BQKBNR w KQkq - 0 1",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/1NBQKBNR w Kkq - 0 1",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPP1P1/RNBQKBNR w KQkq - 0 1",
];

/// Plays the game of `entry`; `rng` is the game's own stream.
pub(crate) fn play(config: &MineConfig, entry: &Entry, engine: &mut Engine, rng: &mut ChaCha8Rng) -> Result<Played, Fixable> {
    let mut game = Game::new(config, entry, rng);
    // A game that nobody begins needs no engine.
    if entry.kind == Kind::NoMoves {
        return Ok(game.ended(End::Abandoned(Color::Black)));
    }
    engine.new_game()?;
    loop {
        if let Some(end) = game.end_by_rule() {
            return Ok(game.ended(end));
        }
        if entry.kind == Kind::Long && game.ply() >= SHUFFLE_FROM {
            if game.ply() >= game.fate.last_ply {
                return Ok(game.ended(End::DrawAgreed));
            }
            let m = shuffle(&game.position, rng);
            game.make(m, rng);
            continue;
        }
        let level = *game.levels.get(game.position.turn());
        let search = engine.search(&game.told, Limit::Nodes(level.nodes))?;
        game.note(&search);
        if let Some(end) = game.end_by_players() {
            return Ok(game.ended(end));
        }
        let chosen = choose(&search, level, rng);
        let m = chosen.to_move(&game.position).map_err(|_| {
            Fixable::failed(format!(
                "the engine `{}` answered `{chosen}` in `{}`, where it cannot be played",
                config.engine, game.told
            ))
            .hint("an engine that breaks the rules cannot be mined: choose another one")
        })?;
        if let Some(end) = game.make(m, rng) {
            return Ok(game.ended(end));
        }
    }
}

/// From this ply on, the players of a long game only shuffle.
const SHUFFLE_FROM: u32 = 24;

/// What is decided about a game before it begins.
struct Fate {
    resigns: ByColor<bool>,
    agrees: bool,
    /// The ply that a game of an odd kind ends, or is broken, at.
    last_ply: u32,
}

struct Game<'a> {
    config: &'a MineConfig,
    kind: Kind,
    fate: Fate,
    levels: ByColor<&'a Level>,
    clocks: Pair,
    fen: Option<&'static str>,
    position: Chess,
    /// The position as it is told to the engine.
    told: String,
    /// The hashes of the positions since the last capture or pawn move.
    since: Vec<Zobrist64>,
    plies: Vec<Ply>,
    /// Plies in a row for which a side has been lost, and the game level.
    lost: ByColor<u32>,
    level: u32,
}

impl<'a> Game<'a> {
    fn new(config: &'a MineConfig, entry: &Entry, rng: &mut ChaCha8Rng) -> Self {
        let mut resigns = || unit(rng) < config.resign.probability;
        let resigns = ByColor { white: resigns(), black: resigns() };
        let agrees = unit(rng) < config.draw.probability;
        let last_ply = match entry.kind {
            Kind::Abandoned => 1,
            Kind::Short => 4 + below(rng, 15) as u32,
            Kind::Long => 301 + below(rng, 40) as u32,
            Kind::Broken => 10 + below(rng, 15) as u32,
            _ => 0,
        };
        let clocks = Pair::new(entry.control, config.clocks, rng);
        let fen = (entry.kind == Kind::SetUp).then(|| ODDS[below(rng, ODDS.len() as u64) as usize]);
        let (position, told) = match fen {
            Some(fen) => (set_up(fen), format!("fen {fen} moves")),
            None => (Chess::default(), "startpos moves".to_owned()),
        };
        let levels = ByColor {
            white: players::level(&config.levels, entry.players.white.rating),
            black: players::level(&config.levels, entry.players.black.rating),
        };
        let since = vec![hash(&position)];
        let lost = ByColor { white: 0, black: 0 };
        let fate = Fate { resigns, agrees, last_ply };
        let (kind, plies) = (entry.kind, Vec::new());
        Self { config, kind, fate, levels, clocks, fen, position, told, since, plies, lost, level: 0 }
    }

    fn ply(&self) -> u32 {
        self.plies.len() as u32
    }

    fn end_by_rule(&self) -> Option<End> {
        if let Some(known) = self.position.outcome().known() {
            return Some(End::ByRule(known.winner()));
        }
        let here = self.since.last();
        let repeated = self.since.iter().filter(|&hash| Some(hash) == here).count() >= 3;
        let drawn = self.kind != Kind::Long && (repeated || self.position.halfmoves() >= 100);
        drawn.then_some(End::ByRule(None))
    }

    /// Takes down what the engine thinks of the position on the board.
    fn note(&mut self, search: &Search) {
        let Some(score) = search.lines.first().map(|line| line.score) else { return };
        let to_white = if self.position.turn().is_white() { score } else { score.flipped() };
        if let Some(last) = self.plies.last_mut() {
            last.score = Some(to_white);
        }
        let (centipawns, resign, draw) = (to_white.centipawns(), self.config.resign.score, self.config.draw.score);
        let count = |holds: bool, plies: u32| if holds { plies + 1 } else { 0 };
        self.lost.white = count(centipawns <= -resign, self.lost.white);
        self.lost.black = count(centipawns >= resign, self.lost.black);
        self.level = count(centipawns.abs() <= draw, self.level);
    }

    fn end_by_players(&self) -> Option<End> {
        let (turn, ply) = (self.position.turn(), self.ply());
        match self.kind {
            Kind::Abandoned if ply >= self.fate.last_ply => return Some(End::Abandoned(turn.other())),
            Kind::Short if ply >= self.fate.last_ply => return Some(End::Resigned(turn.other())),
            Kind::Long => return None,
            Kind::Broken if ply < 30 => return None,
            _ => {}
        }
        if *self.fate.resigns.get(turn) && *self.lost.get(turn) >= self.config.resign.plies {
            return Some(End::Resigned(turn.other()));
        }
        let draw = self.config.draw;
        (self.fate.agrees && ply >= draw.after && self.level >= draw.plies).then_some(End::DrawAgreed)
    }

    /// Plays a move, unless the clock runs out before it.
    fn make(&mut self, m: Move, rng: &mut ChaCha8Rng) -> Option<End> {
        let turn = self.position.turn();
        let clock = match self.clocks.spend(turn, self.ply(), rng) {
            Spent::Left(seconds) => Some(seconds),
            Spent::Untimed => None,
            // Only usual games end by the clock: what is odd about the others must be the only thing.
            Spent::Flagged if self.kind == Kind::Usual => {
                let can_win = !self.position.has_insufficient_material(turn.other());
                return Some(End::Flagged(can_win.then_some(turn.other())));
            }
            Spent::Flagged => Some(0),
        };
        if m.is_zeroing() {
            self.since.clear();
        }
        let broken = self.kind == Kind::Broken && self.ply() == self.fate.last_ply;
        let impossible = broken.then(|| impossible(&self.position, self.ply()));
        self.told.push(' ');
        self.told.push_str(&UciMove::from_standard(m).to_string());
        let san = SanPlus::from_move_and_play_unchecked(&mut self.position, m).to_string();
        self.since.push(hash(&self.position));
        self.plies.push(Ply { san: impossible.map_or(san, str::to_owned), clock, score: None });
        None
    }

    fn ended(self, end: End) -> Played {
        Played { fen: self.fen, plies: self.plies, end }
    }
}

fn hash(position: &Chess) -> Zobrist64 {
    position.zobrist_hash(EnPassantMode::Legal)
}

fn set_up(fen: &str) -> Chess {
    let fen: Fen = fen.parse().expect("a constant of this file");
    fen.into_position(CastlingMode::Standard).expect("a constant of this file")
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::san::San;

    #[test]
    fn odds_are_positions_and_an_impossible_move_is_found_in_them() {
        for fen in ODDS {
            let position = set_up(fen);
            for ply in 0..7 {
                let san: San = impossible(&position, ply).parse().expect("good notation");
                assert!(san.to_move(&position).is_err());
            }
        }
    }
}
