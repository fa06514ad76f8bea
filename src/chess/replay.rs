//! A game of tokens on a board: what is legal, why a token is not, and when the rules end a game.
//!
//! The rules end a game by mate, stalemate, too little material, the fifth repetition, or 75 moves of both sides
//! without a capture or a pawn's move. Threefold repetition and fifty moves only let a player claim a draw: people
//! and models may play on, so they end nothing here.

use serde::{Deserialize, Serialize};
use shakmaty::zobrist::Zobrist64;
use shakmaty::{Chess, EnPassantMode, Move, Position as _};

use super::vocabulary::{SPECIAL_TOKENS, of_move, squares, to_move};

/// Why a token is no legal move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Illegal {
    /// `<pad>`, `<bos>` or `<eos>`; whoever takes `<eos>` for a resignation asks before.
    SpecialToken,
    EmptySquare,
    OpponentsPiece,
    /// One's own piece, but it cannot move so, or the king would stand in check.
    IllegalMovement,
}

/// How the rules end a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    Checkmate,
    Stalemate,
    InsufficientMaterial,
    FivefoldRepetition,
    SeventyFiveMoves,
}

/// The legal move that a token means in a position, or why it means none.
pub fn classify(token: u16, position: &Chess) -> Result<Move, Illegal> {
    if token < SPECIAL_TOKENS {
        return Err(Illegal::SpecialToken);
    }
    if let Some(m) = to_move(token, position) {
        return Ok(m);
    }
    let Some((from, ..)) = squares(token) else { return Err(Illegal::IllegalMovement) };
    Err(match position.board().color_at(from) {
        None => Illegal::EmptySquare,
        Some(color) if color != position.turn() => Illegal::OpponentsPiece,
        Some(_) => Illegal::IllegalMovement,
    })
}

/// The tokens of all legal moves, in no particular order; `tokens` is cleared first.
pub fn legal_tokens(position: &Chess, tokens: &mut Vec<u16>) {
    tokens.clear();
    tokens.extend(position.legal_moves().iter().map(|&m| of_move(m)));
}

/// How the rules end the game in this position, as far as the position alone tells: all but repetition.
pub fn ended(position: &Chess) -> Option<Ending> {
    if position.legal_moves().is_empty() {
        return Some(if position.is_check() { Ending::Checkmate } else { Ending::Stalemate });
    }
    if position.is_insufficient_material() {
        return Some(Ending::InsufficientMaterial);
    }
    (position.halfmoves() >= 150).then_some(Ending::SeventyFiveMoves)
}

/// A board that plays tokens from the start and remembers what repetition needs.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    position: Chess,
    plies: u32,
    /// The positions since the last irreversible move, without the present one.
    past: Vec<Zobrist64>,
}

impl Replay {
    /// Begins a new game and keeps the memory of the last.
    pub fn reset(&mut self) {
        self.position = Chess::default();
        self.plies = 0;
        self.past.clear();
    }

    pub fn position(&self) -> &Chess {
        &self.position
    }

    /// Plies played so far.
    pub fn plies(&self) -> u32 {
        self.plies
    }

    /// Plays a token. An illegal one leaves the board as it was.
    pub fn step(&mut self, token: u16) -> Result<Move, Illegal> {
        let m = classify(token, &self.position)?;
        if self.position.is_irreversible(m) {
            self.past.clear();
        } else {
            self.past.push(hash(&self.position));
        }
        self.position.play_unchecked(m);
        self.plies += 1;
        Ok(m)
    }

    /// How the rules have ended the game, if they have.
    pub fn ended(&self) -> Option<Ending> {
        ended(&self.position).or_else(|| (self.repetitions() >= 5).then_some(Ending::FivefoldRepetition))
    }

    /// How many times the present position has stood on the board.
    fn repetitions(&self) -> usize {
        // The fifth needs four returns of four plies.
        if self.past.len() < 16 {
            return 1;
        }
        let now = hash(&self.position);
        1 + self.past.iter().filter(|&&past| past == now).count()
    }
}

/// Equal for positions that count as the same under the repetition rule.
fn hash(position: &Chess) -> Zobrist64 {
    position.zobrist_hash(EnPassantMode::Legal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::vocabulary::{BOS, EOS, PAD, parse};
    use shakmaty::CastlingMode;
    use shakmaty::fen::Fen;

    fn play(moves: &str) -> Replay {
        let mut replay = Replay::default();
        for text in moves.split_whitespace() {
            replay.step(parse(text).expect("in the vocabulary")).expect("legal");
        }
        replay
    }

    fn at(fen: &str) -> Chess {
        let setup: Fen = fen.parse().expect("a good FEN");
        setup.into_position(CastlingMode::Standard).expect("a position")
    }

    #[test]
    fn an_illegal_token_is_told_by_its_kind_and_leaves_the_board() {
        let mut replay = play("e2e4");
        for (token, kind) in [
            (PAD, Illegal::SpecialToken),
            (BOS, Illegal::SpecialToken),
            (EOS, Illegal::SpecialToken),
            (parse("e5e6").expect("in the vocabulary"), Illegal::EmptySquare),
            (parse("d2d4").expect("in the vocabulary"), Illegal::OpponentsPiece),
            (parse("e7e4").expect("in the vocabulary"), Illegal::IllegalMovement),
        ] {
            assert_eq!(replay.step(token), Err(kind));
        }
        assert_eq!(replay.plies(), 1);
        assert!(replay.step(parse("e7e5").expect("in the vocabulary")).is_ok());
    }

    #[test]
    fn legal_tokens_are_twenty_at_the_start() {
        let mut tokens = vec![PAD];
        legal_tokens(&Chess::default(), &mut tokens);
        tokens.sort_unstable();
        tokens.dedup();
        assert_eq!(tokens.len(), 20);
    }

    #[test]
    fn the_rules_end_games_in_five_ways() {
        assert_eq!(play("f2f3 e7e5 g2g4 d8h4").ended(), Some(Ending::Checkmate));
        assert_eq!(ended(&at("k7/2Q5/8/8/8/8/8/4K3 b - - 0 1")), Some(Ending::Stalemate));
        assert_eq!(ended(&at("k7/8/8/8/8/8/8/4KB2 w - - 0 1")), Some(Ending::InsufficientMaterial));
        assert_eq!(ended(&at("k7/8/8/8/8/8/8/4KR2 w - - 150 90")), Some(Ending::SeventyFiveMoves));
        assert_eq!(ended(&at("k7/8/8/8/8/8/8/4KR2 w - - 149 90")), None);
    }

    #[test]
    fn the_fifth_repetition_ends_a_game_and_the_third_does_not() {
        let dance = "g1f3 g8f6 f3g1 f6g8 ";
        assert_eq!(play(&dance.repeat(2)).ended(), None);
        assert_eq!(play(&dance.repeat(3)).ended(), None);
        assert_eq!(play(&dance.repeat(4)).ended(), Some(Ending::FivefoldRepetition));
        // After a pawn's move the count begins again.
        assert_eq!(play(&(dance.repeat(3) + "e2e4 e7e5 " + &dance.repeat(3))).ended(), None);
        assert_eq!(play(&("e2e4 e7e5 ".to_owned() + &dance.repeat(4))).ended(), Some(Ending::FivefoldRepetition));
    }
}
