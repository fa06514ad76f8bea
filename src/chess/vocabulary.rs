//! One move, one token: three special tokens, then the 1,968 geometric UCI moves in the order of their text.
//!
//! Castling is the king's move of two squares, `e1g1`. The form in which the king takes its rook is in the
//! vocabulary too, as a rook's ray, so a wrong notation would encode silently: every move goes through
//! [`of_move`], and [`to_move`] gives back none for it.

use serde::{Serialize, Serializer};
use shakmaty::uci::UciMove;
use shakmaty::{CastlingSide, Chess, Move, Role, Square};

pub const PAD: u16 = 0;
pub const BOS: u16 = 1;
pub const EOS: u16 = 2;
pub const SPECIAL_TOKENS: u16 = 3;
pub const MOVES: usize = 1968;
/// Special tokens and moves: 1,971.
pub const VOCABULARY_SIZE: usize = SPECIAL_TOKENS as usize + MOVES;

/// Promotions follow the plain move of the same squares, in this order.
const PROMOTIONS: [Role; 4] = [Role::Bishop, Role::Knight, Role::Queen, Role::Rook];

/// The token of a move's squares and promotion; none where no piece could ever move so.
pub fn token(from: Square, to: Square, promotion: Option<Role>) -> Option<u16> {
    let plain = TABLE.of_squares[from.to_usize() * 64 + to.to_usize()];
    if plain == 0 {
        return None;
    }
    let Some(role) = promotion else { return Some(plain) };
    let offset = PROMOTIONS.iter().position(|&promotion| promotion == role)? as u16 + 1;
    // Only where a promotion can happen is the plain move followed by four of them.
    let token = plain + offset;
    (usize::from(token) < VOCABULARY_SIZE && TABLE.squares[usize::from(token)] == TABLE.squares[usize::from(plain)])
        .then_some(token)
}

/// The token of a move of standard chess.
///
/// # Panics
///
/// For a piece dropped on the board, which standard chess does not have.
pub fn of_move(m: Move) -> u16 {
    let (from, to, promotion) = match m {
        Move::Normal { from, to, promotion, .. } => (from, to, promotion),
        Move::EnPassant { from, to } => (from, to, None),
        Move::Castle { king, rook } => {
            let side = CastlingSide::from_king_side(king < rook);
            (king, Square::from_coords(side.king_to_file(), king.rank()), None)
        }
        Move::Put { .. } => unreachable!("standard chess drops no pieces"),
    };
    token(from, to, promotion).expect("every move of standard chess is a geometric move")
}

/// The legal move that a token means in a position, if any.
pub fn to_move(token: u16, position: &Chess) -> Option<Move> {
    let (from, to, promotion) = squares(token)?;
    let m = UciMove::Normal { from, to, promotion }.to_move(position).ok()?;
    // `e1h1` is read as castling too, but that is another token.
    (of_move(m) == token).then_some(m)
}

/// The squares and the promotion of a move's token; none for a special token or no token at all.
pub fn squares(token: u16) -> Option<(Square, Square, Option<Role>)> {
    if token < SPECIAL_TOKENS || usize::from(token) >= VOCABULARY_SIZE {
        return None;
    }
    let [from, to] = TABLE.squares[usize::from(token)];
    let plain = TABLE.of_squares[usize::from(from) * 64 + usize::from(to)];
    let promotion = (token - plain).checked_sub(1).map(|index| PROMOTIONS[usize::from(index)]);
    Some((Square::new(u32::from(from)), Square::new(u32::from(to)), promotion))
}

/// The text of a token: `e2e4`, `e7e8q`, or `<bos>`.
///
/// # Panics
///
/// From [`VOCABULARY_SIZE`] on, where there are no tokens.
pub fn uci(token: u16) -> &'static str {
    let text = &TABLE.text[usize::from(token)];
    let length = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
    std::str::from_utf8(&text[..length]).expect("the table holds ASCII")
}

/// The token of a text such as `e2e4` or `<eos>`.
pub fn parse(text: &str) -> Option<u16> {
    match text {
        "<pad>" => return Some(PAD),
        "<bos>" => return Some(BOS),
        "<eos>" => return Some(EOS),
        _ => (),
    }
    match text.parse().ok()? {
        UciMove::Normal { from, to, promotion } => token(from, to, promotion),
        _ => None,
    }
}

/// The vocabulary as the published code keeps it, to be written with an indent of two spaces.
#[derive(Serialize)]
pub struct Json {
    itos: Vec<&'static str>,
    stoi: InOrder,
    vocab_size: usize,
    n_special: u16,
    n_moves: usize,
    pad_id: u16,
    bos_id: u16,
    eos_id: u16,
}

/// Every text and its token, in the order of the tokens.
struct InOrder;

impl Serialize for InOrder {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map((0..VOCABULARY_SIZE as u16).map(|token| (uci(token), token)))
    }
}

struct Table {
    /// From-square and to-square of each token.
    squares: [[u8; 2]; VOCABULARY_SIZE],
    text: [[u8; 5]; VOCABULARY_SIZE],
    /// The token without promotion by from-square × 64 + to-square; 0 where there is none.
    of_squares: [u16; 64 * 64],
}

static TABLE: Table = table();

/// The token of a move without promotion by from-square × 64 + to-square; 0 where there is none.
pub(super) static PLAIN_TOKENS: &[u16; 64 * 64] = &TABLE.of_squares;

/// Walks squares in the order of their names, which is the order of the moves' texts.
const fn table() -> Table {
    let mut table = Table { squares: [[0; 2]; VOCABULARY_SIZE], text: [[0; 5]; VOCABULARY_SIZE], of_squares: [0; 64 * 64] };
    table.text[PAD as usize] = *b"<pad>";
    table.text[BOS as usize] = *b"<bos>";
    table.text[EOS as usize] = *b"<eos>";
    let mut token = SPECIAL_TOKENS as usize;
    let mut from = 0;
    while from < 64 {
        let mut to = 0;
        while to < 64 {
            let (from_file, from_rank, to_file, to_rank) = (from / 8, from % 8, to / 8, to % 8);
            if geometric(from_file, from_rank, to_file, to_rank) {
                let squares = [(from_rank * 8 + from_file) as u8, (to_rank * 8 + to_file) as u8];
                let name = [b'a' + from_file as u8, b'1' + from_rank as u8, b'a' + to_file as u8, b'1' + to_rank as u8];
                table.of_squares[squares[0] as usize * 64 + squares[1] as usize] = token as u16;
                let promotes =
                    from_file.abs_diff(to_file) <= 1 && ((from_rank == 6 && to_rank == 7) || (from_rank == 1 && to_rank == 0));
                let last = if promotes { 4 } else { 0 };
                let mut promotion = 0;
                while promotion <= last {
                    table.squares[token] = squares;
                    table.text[token] = [name[0], name[1], name[2], name[3], b"\0bnqr"[promotion]];
                    token += 1;
                    promotion += 1;
                }
            }
            to += 1;
        }
        from += 1;
    }
    assert!(token == VOCABULARY_SIZE);
    table
}

/// Whether a queen or a knight could move so on an empty board.
const fn geometric(from_file: usize, from_rank: usize, to_file: usize, to_rank: usize) -> bool {
    let (files, ranks) = (from_file.abs_diff(to_file), from_rank.abs_diff(to_rank));
    files + ranks > 0 && (files == 0 || ranks == 0 || files == ranks || (files + ranks == 3))
}

/// The vocabulary in its JSON form.
pub fn json() -> Json {
    Json {
        itos: (0..VOCABULARY_SIZE as u16).map(uci).collect(),
        stoi: InOrder,
        vocab_size: VOCABULARY_SIZE,
        n_special: SPECIAL_TOKENS,
        n_moves: MOVES,
        pad_id: PAD,
        bos_id: BOS,
        eos_id: EOS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{below, stream};
    use proptest::prelude::*;
    use sha2::{Digest as _, Sha256};
    use shakmaty::fen::Fen;
    use shakmaty::{CastlingMode, Position as _};

    fn at(fen: &str) -> Chess {
        let setup: Fen = fen.parse().expect("a good FEN");
        setup.into_position(CastlingMode::Standard).expect("a position")
    }

    #[test]
    fn the_json_form_is_the_published_one() {
        let text = serde_json::to_string_pretty(&json()).expect("it serialises");
        let digest = format!("{:x}", Sha256::digest(text.as_bytes()));
        assert_eq!(digest, "be5c4b3d4a5ac48b005720837bcdb1ce4262164d1d067f24e73209a8a33792c3");
    }

    #[test]
    fn moves_are_sorted_by_text_and_found_again() {
        let texts: Vec<&str> = (SPECIAL_TOKENS..VOCABULARY_SIZE as u16).map(uci).collect();
        assert!(texts.is_sorted());
        assert_eq!((texts[0], texts[MOVES - 1]), ("a1a2", "h8h7"));
        for text in 0..VOCABULARY_SIZE as u16 {
            assert_eq!(parse(uci(text)), Some(text));
        }
        assert_eq!(parse("a1b4"), None);
        assert_eq!(token(Square::H8, Square::H7, Some(Role::Queen)), None);
        assert_eq!(token(Square::A7, Square::A8, Some(Role::King)), None);
        assert_eq!((squares(EOS), squares(1971)), (None, None));
    }

    #[test]
    fn castling_is_a_move_of_the_king_and_never_takes_the_rook() {
        let position = at("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
        for (castling, takes_rook) in [("e1g1", "e1h1"), ("e1c1", "e1a1")] {
            let m = to_move(parse(castling).expect("in the vocabulary"), &position).expect("legal");
            assert!(m.is_castle());
            assert_eq!(uci(of_move(m)), castling);
            assert_eq!(to_move(parse(takes_rook).expect("in the vocabulary"), &position), None);
        }
    }

    #[test]
    fn en_passant_and_promotions_are_found_in_their_position() {
        let legal = |text: &str, fen: &str| to_move(parse(text).expect("in the vocabulary"), &at(fen));
        let en_passant = legal("e5d6", "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2").expect("legal");
        assert!(en_passant.is_en_passant());
        for text in ["b7a8q", "b7a8r", "b7a8b", "b7a8n", "b7b8q"] {
            let m = legal(text, "r3k3/1P6/8/8/8/8/8/4K3 w - - 0 1").expect("legal");
            assert_eq!(uci(of_move(m)), text);
        }
        assert_eq!(legal("b7b8", "r3k3/1P6/8/8/8/8/8/4K3 w - - 0 1"), None);
    }

    proptest! {
        #[test]
        fn in_random_games_decoding_undoes_encoding_and_no_two_legal_moves_share_a_token(seed: u64) {
            let mut rng = stream(seed, "test", 0);
            let mut position = Chess::default();
            for _ in 0..200 {
                let moves = position.legal_moves();
                if moves.is_empty() {
                    break;
                }
                let mut tokens: Vec<u16> = moves.iter().map(|&m| of_move(m)).collect();
                for (&m, &token) in moves.iter().zip(&tokens) {
                    prop_assert_eq!(to_move(token, &position), Some(m));
                }
                tokens.sort_unstable();
                tokens.dedup();
                prop_assert_eq!(tokens.len(), moves.len());
                position.play_unchecked(moves[below(&mut rng, moves.len() as u64) as usize]);
            }
        }
    }
}
