//! Moves as people and programs spell them, where the spelling is not the usual one.

use shakmaty::san::{San, SanPlus};
use shakmaty::uci::UciMove;
use shakmaty::{CastlingSide, Chess, Move, Position as _, Role, Square};

/// Why a word cannot be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unplayable {
    /// A move that moves nothing, such as `--`.
    NullMove,
    /// It is no move in any notation.
    Unreadable,
    /// A move that is not legal here, or one of several.
    Illegal,
}

/// The move that a word means: in SAN, with castling as `0-0` and promotions as `e8Q`; in UCI, castling as `e1g1` or
/// `e1h1`; or in long algebraic notation, such as `Ng1-f3`.
///
/// # Errors
///
/// Where it means no legal move, or more than one.
pub fn to_move(word: &[u8], position: &Chess) -> Result<Move, Unplayable> {
    let san = san(word);
    if san == Some(San::Null) || matches!(word, b"null" | b"0000" | b"@@@@") {
        return Err(Unplayable::NullMove);
    }
    if let Some(m) = san.and_then(|san| san.to_move(position).ok()) {
        return Ok(m);
    }
    match coordinates(word) {
        Some(coordinates) => coordinates.to_move(position).ok_or(Unplayable::Illegal),
        None if san.is_some() => Err(Unplayable::Illegal),
        None => Err(Unplayable::Unreadable),
    }
}

fn san(word: &[u8]) -> Option<San> {
    if let Ok(san) = SanPlus::from_ascii(word) {
        return Some(san.san);
    }
    let checks = word.iter().rev().take_while(|byte| matches!(byte, b'+' | b'#')).count();
    match &word[..word.len() - checks] {
        b"0-0" => Some(San::Castle(CastlingSide::KingSide)),
        b"0-0-0" => Some(San::Castle(CastlingSide::QueenSide)),
        [pawn @ .., role @ (b'N' | b'B' | b'R' | b'Q')] => promoting(pawn, *role),
        _ => None,
    }
}

/// A promotion without its sign, as in `cxd8Q`.
fn promoting(pawn: &[u8], role: u8) -> Option<San> {
    match San::from_ascii(pawn).ok()? {
        San::Normal { role: Role::Pawn, file, rank, capture, to, promotion: None } => {
            Some(San::Normal { role: Role::Pawn, file, rank, capture, to, promotion: Role::from_char(char::from(role)) })
        }
        _ => None,
    }
}

/// A move by both its squares.
struct Coordinates {
    /// Where the word names it.
    role: Option<Role>,
    from: Square,
    to: Square,
    promotion: Option<Role>,
}

fn coordinates(word: &[u8]) -> Option<Coordinates> {
    let word = word.strip_suffix(b"+").or_else(|| word.strip_suffix(b"#")).unwrap_or(word);
    let (role, rest) = match word {
        [role @ (b'N' | b'B' | b'R' | b'Q' | b'K'), rest @ ..] => (Role::from_char(char::from(*role)), rest),
        _ => (None, word),
    };
    let (from, rest) = rest.split_at_checked(2)?;
    let rest = rest.strip_prefix(b"-").or_else(|| rest.strip_prefix(b"x")).unwrap_or(rest);
    let (to, rest) = rest.split_at_checked(2)?;
    let promotion = match rest.strip_prefix(b"=").unwrap_or(rest) {
        [] => None,
        [role @ (b'n' | b'b' | b'r' | b'q' | b'N' | b'B' | b'R' | b'Q')] => Role::from_char(char::from(*role)),
        _ => return None,
    };
    Some(Coordinates { role, from: Square::from_ascii(from).ok()?, to: Square::from_ascii(to).ok()?, promotion })
}

impl Coordinates {
    fn to_move(&self, position: &Chess) -> Option<Move> {
        if self.role.is_some() && self.role != position.board().role_at(self.from) {
            return None;
        }
        UciMove::Normal { from: self.from, to: self.to, promotion: self.promotion }.to_move(position).ok()
    }
}
