//! The board against shakmaty: every move, every token, every spelling.

use proptest::prelude::*;
use shakmaty::fen::Fen;
use shakmaty::san::{San, SanPlus};
use shakmaty::zobrist::Zobrist128;
use shakmaty::{CastlingMode, Chess, EnPassantMode, Move, Position as _};

use super::board::Board;
use super::hash::HashedBoard;
use super::replay::Replay;
use super::vocabulary::{VOCABULARY_SIZE, of_move, parse, to_move, uci};

/// Pins, double checks, castling through and out of check, captures in passing that uncover a check, promotions.
const TRICKY: [&str; 20] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1",
    "r3k2r/8/8/4r3/8/8/8/R3K2R w KQkq - 0 1",
    "r3k2r/8/8/5r2/8/8/8/R3K2R w KQkq - 0 1",
    "1r2k2r/8/8/8/8/8/8/R3K2R w KQk - 3 9",
    "8/8/8/K2pP2r/8/8/8/4k3 w - d6 0 2",
    "8/8/8/8/R2Pp2k/8/8/4K3 b - d3 0 1",
    "4k3/8/8/2pP4/1K6/8/8/8 w - c6 0 2",
    "3k4/8/8/3pP3/8/8/8/3RK3 w - d6 0 2",
    "4k3/b7/8/2Pp4/8/4K3/8/8 w - d6 0 2",
    "r1bqkb1r/ppp2ppp/2np1n2/4p1N1/2B1P3/8/PPPP1PPP/RNBQK2R w KQkq - 0 5",
    "4k3/8/8/8/1b6/2N5/8/4K1N1 w - - 0 1",
    "4k3/4r3/8/8/4N3/8/8/4K1N1 w - - 0 1",
    "4k3/8/4N3/8/8/8/4R3/4K3 w - - 0 1",
    "rnb2k1r/pp1Pbppp/2p5/q7/2B5/8/PPPQNnPP/RNB1K2R w KQ - 3 9",
    "r3k3/1P6/8/8/8/8/6p1/4K2R b Kq - 0 1",
    "8/2P1P3/3k4/8/8/3K4/2p1p3/8 w - - 0 1",
    "Q6Q/8/3k4/8/8/8/8/Q3K2Q w - - 0 1",
    "2kr4/8/8/8/8/8/5PPb/R3K2R w KQ - 0 1",
];

fn at(fen: &str) -> Chess {
    let setup: Fen = fen.parse().expect("a good FEN");
    setup.into_position(CastlingMode::Standard).expect("a position")
}

/// Plays by draws, with a liking for what is rare.
fn drawn(position: &Chess, draw: u16) -> Option<Move> {
    let moves = position.legal_moves();
    let rare = |m: &&Move| m.is_promotion() || m.is_en_passant() || m.is_castle();
    let rare: Vec<Move> = moves.iter().filter(rare).copied().collect();
    let among = if draw & 1 == 1 && !rare.is_empty() { &rare[..] } else { &moves[..] };
    (!among.is_empty()).then(|| among[usize::from(draw >> 1) % among.len()])
}

fn draws() -> impl Strategy<Value = Vec<u16>> {
    proptest::collection::vec(any::<u16>(), 0..200)
}

/// What shakmaty makes of a word that is a plain spelling; promotions need no sign.
fn by_shakmaty(word: &[u8], position: &Chess) -> Option<u16> {
    let bare = word.strip_suffix(b"+").or_else(|| word.strip_suffix(b"#")).unwrap_or(word);
    let san = San::from_ascii(bare).or_else(|_| {
        let (pawn, role) = bare.split_at(bare.len().saturating_sub(1));
        let signed = [pawn, b"=", role].concat();
        if role.iter().all(u8::is_ascii_uppercase) { San::from_ascii(&signed) } else { San::from_ascii(bare) }
    });
    Some(of_move(san.ok()?.to_move(position).ok()?))
}

#[test]
fn the_start_is_the_start() {
    assert_eq!(Board::start(), Board::of(&Chess::default()));
    assert_eq!(Board::start().to_chess(), Chess::default());
}

#[test]
fn in_tricky_positions_every_token_is_legal_or_not_as_shakmaty_says() {
    for fen in TRICKY {
        let position = at(fen);
        for token in 0..VOCABULARY_SIZE as u16 + 3 {
            let mut board = Board::of(&position);
            let m = to_move(token, &position);
            assert_eq!(board.play_token(token), m.is_some(), "{} in {fen}", uci(token.min(1970)));
            let mut after = position.clone();
            if let Some(m) = m {
                after.play_unchecked(m);
            }
            assert_eq!(board, Board::of(&after), "{} in {fen}", uci(token.min(1970)));
        }
    }
}

#[test]
fn in_tricky_positions_every_spelling_is_read_as_shakmaty_reads_it() {
    let mut accepted = 0;
    for fen in TRICKY {
        let position = at(fen);
        let board = Board::of(&position);
        for man in ["", "N", "B", "R", "Q", "K"] {
            for from in ["", "a", "b", "d", "e", "f", "1", "2", "5", "7", "e5", "b7", "g1", "3c", "ee"] {
                for to in ["", "x"].into_iter().flat_map(|takes| (0..64).map(move |square| (takes, square))) {
                    for promotion in ["", "=Q", "=N", "=K", "="] {
                        let square = shakmaty::Square::new(to.1);
                        let word = format!("{man}{from}{}{square}{promotion}", to.0);
                        let plain = !word.starts_with(|first: char| first.is_ascii_digit() || first == 'x');
                        let wanted = by_shakmaty(word.as_bytes(), &position).filter(|_| plain);
                        assert_eq!(board.clone().play_san(word.as_bytes()), wanted, "{word} in {fen}");
                        accepted += u32::from(wanted.is_some());
                    }
                }
            }
        }
    }
    assert!(accepted > 700, "{accepted}");
}

#[test]
fn a_pinned_man_makes_no_move_ambiguous() {
    // The knight on c3 stands in a pin, so the other alone can go to e2.
    let mut board = Board::of(&at("4k3/8/8/8/1b6/2N5/8/4K1N1 w - - 0 1"));
    assert_eq!(board.play_san(b"Ne2"), parse("g1e2"));
}

#[test]
fn words_that_are_no_plain_moves_are_left_to_others_and_leave_the_board() {
    let mut board = Board::start();
    for word in
        ["", "e", "e5", "+", "e4+#", "e4++", "exd5", "O-O", "0-0", "--", "Z0", "e4 e5", "Nf3xxxxxxx", "e4\0", "é", "P@e4", "Nxf3"]
    {
        assert_eq!(board.play_san(word.as_bytes()), None, "{word}");
        assert_eq!(board, Board::start(), "{word}");
    }
    assert_eq!(board.play_san(b"e4#"), parse("e2e4"));
    let ready_to_castle = Board::of(&at("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"));
    for word in ["O-O\0", "O-O-O\0", "O-O-O\0\0", "O-O-", "O-O=", "O-O+#", "O-O-O-O", "OO"] {
        assert_eq!(ready_to_castle.clone().play_san(word.as_bytes()), None, "{word:?}");
    }
    assert_eq!(ready_to_castle.clone().play_san(b"O-O-O#"), parse("e1c1"));
}

#[test]
fn promotions_are_read_with_and_without_their_sign() {
    let position = at("3r4/4P2k/8/8/8/8/8/4K3 w - - 0 1");
    for (word, move_) in [("exd8=Q+", "e7d8q"), ("exd8Q", "e7d8q"), ("exd8=N", "e7d8n"), ("exd8B", "e7d8b"), ("exd8=R#", "e7d8r")]
    {
        assert_eq!(Board::of(&position).play_san(word.as_bytes()), parse(move_), "{word}");
    }
    for word in ["exd8", "exd8=K", "exd8=P", "exd8=", "e8", "Ke2=Q"] {
        assert_eq!(Board::of(&position).play_san(word.as_bytes()), None, "{word}");
    }
}

proptest! {
    #[test]
    fn a_game_is_played_as_shakmaty_plays_it(start in 0..TRICKY.len(), draws in draws()) {
        let mut position = at(TRICKY[start]);
        let mut board = Board::of(&position);
        for draw in draws {
            let Some(m) = drawn(&position, draw) else { break };
            let mut by_token = board.clone();
            let word = SanPlus::from_move_and_play_unchecked(&mut position, m).to_string();
            prop_assert_eq!(board.play_san(word.as_bytes()), Some(of_move(m)), "{}", word);
            prop_assert!(by_token.play_token(of_move(m)));
            prop_assert_eq!(&board, &by_token);
            prop_assert_eq!(&board, &Board::of(&position));
            prop_assert_eq!(board.in_check(), position.is_check());
            prop_assert_eq!(board.halfmoves(), position.halfmoves());
        }
        prop_assert_eq!(&board.to_chess(), &position);
        for token in 0..VOCABULARY_SIZE as u16 {
            prop_assert_eq!(board.clone().play_token(token), to_move(token, &position).is_some(), "{}", uci(token));
        }
    }

    #[test]
    fn a_misspelt_move_is_refused_or_read_as_shakmaty_reads_it(draws in draws(), at in any::<u8>(), byte in any::<u8>(), cut in 0_usize..8) {
        let mut position = Chess::default();
        let mut board = Board::start();
        for draw in draws {
            let Some(m) = drawn(&position, draw) else { break };
            let before = position.clone();
            let word = SanPlus::from_move_and_play_unchecked(&mut position, m).to_string();
            let mut wrong = word.clone().into_bytes();
            let place = usize::from(at) % wrong.len();
            match cut {
                0 => drop(wrong.remove(place)),
                1 => wrong.insert(place, byte),
                2 => wrong.insert(place, b"abcdefgh12345678x=NBRQKO-+#"[usize::from(byte) % 27]),
                3 => wrong[place] = b"abcdefgh12345678x=NBRQKO-+#"[usize::from(byte) % 27],
                4 => wrong.retain(|&byte| byte != b'x'),
                5 => wrong.retain(|&byte| byte != b'='),
                6 => wrong.push(b'+'),
                _ => wrong[place] = byte,
            }
            if let Some(token) = board.clone().play_san(&wrong) {
                prop_assert_eq!(Some(token), by_shakmaty(&wrong, &before), "{}", String::from_utf8_lossy(&wrong));
            }
            board.play_san(word.as_bytes());
        }
    }

    #[test]
    fn the_hash_is_shakmatys(draws in draws()) {
        let mut position = Chess::default();
        let mut board = HashedBoard::start();
        for draw in draws {
            prop_assert_eq!(board.hash128(), position.zobrist_hash::<Zobrist128>(EnPassantMode::Legal).0);
            let Some(m) = drawn(&position, draw) else { break };
            prop_assert!(!board.play_token(0));
            prop_assert!(board.play_token(of_move(m)));
            position.play_unchecked(m);
        }
    }

    #[test]
    fn a_game_ends_as_its_replay_says(draws in draws(), back in 0_usize..40) {
        let (mut replay, mut board, mut tokens) = (Replay::default(), Board::start(), Vec::new());
        for draw in draws {
            let Some(m) = drawn(replay.position(), draw) else { break };
            tokens.push(of_move(m));
            replay.step(of_move(m)).expect("legal");
            board.play_token(of_move(m));
            prop_assert_eq!(board.ended(&tokens), replay.ended());
        }
        // Knights and kings that go to and fro, from wherever the game stands.
        for _ in 0..back {
            let Some(token) = there_or_back(&tokens, replay.position()) else { break };
            tokens.push(token);
            replay.step(token).expect("legal");
            board.play_token(token);
            prop_assert_eq!(board.ended(&tokens), replay.ended());
        }
    }
}

/// The way back of the last move but one, or any move of a piece.
fn there_or_back(tokens: &[u16], position: &Chess) -> Option<u16> {
    let back = tokens.len().checked_sub(2).and_then(|at| {
        let text = uci(tokens[at]);
        parse(&format!("{}{}", &text[2..4], &text[..2]))
    });
    let quiet = |m: &&Move| !m.is_zeroing() && !m.is_castle();
    let other = || position.legal_moves().iter().find(quiet).map(|&m| of_move(m));
    back.filter(|&token| to_move(token, position).is_some()).or_else(other)
}
