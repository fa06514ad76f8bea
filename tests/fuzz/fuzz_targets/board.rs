//! A game drawn by the input, whose moves the board must play as shakmaty does: spelt rightly, spelt wrongly, as tokens.
#![no_main]

use libfuzzer_sys::fuzz_target;
use philidor_fuzz::chess::board::Board;
use philidor_fuzz::chess::hash::HashedBoard;
use philidor_fuzz::chess::replay::Replay;
use philidor_fuzz::chess::vocabulary::{VOCABULARY_SIZE, of_move, to_move};
use shakmaty::san::{San, SanPlus};
use shakmaty::zobrist::Zobrist128;
use shakmaty::{Chess, EnPassantMode, Move, Position as _};

fuzz_target!(|data: &[u8]| {
    let mut position = Chess::default();
    let (mut board, mut hashed) = (Board::start(), HashedBoard::start());
    let (mut replay, mut tokens) = (Replay::default(), Vec::new());
    for &[draw, how, what, place] in data.as_chunks().0 {
        let moves = position.legal_moves();
        if moves.is_empty() {
            break;
        }
        let m = drawn(&moves, draw);
        let token = of_move(m);
        let mut after = position.clone();
        let word = SanPlus::from_move_and_play_unchecked(&mut after, m).to_string().into_bytes();

        let wrong = misspelt(&word, how, what, place);
        let read = board.clone().play_san(&wrong);
        let wanted = by_shakmaty(&wrong, &position);
        if read != wanted {
            assert!(read.is_none() && !plain(&wrong), "{} is {read:?}, not {wanted:?}", wrong.escape_ascii());
        }
        let other = u16::from_le_bytes([what, place]) % (VOCABULARY_SIZE as u16 + 1);
        assert_eq!(board.clone().play_token(other), to_move(other, &position).is_some());

        assert_eq!(board.play_san(&word), Some(token));
        assert!(hashed.play_token(token) && hashed.board() == &board);
        position = after;
        assert_eq!(board, Board::of(&position));
        assert_eq!(hashed.hash128(), position.zobrist_hash::<Zobrist128>(EnPassantMode::Legal).0);
        tokens.push(token);
    }
    for &token in &tokens {
        replay.step(token).expect("legal");
    }
    assert_eq!(board.to_chess(), position);
    assert_eq!(board.ended(&tokens), replay.ended());
});

/// Rare moves are as likely as all others.
fn drawn(moves: &[Move], draw: u8) -> Move {
    let rare = |m: &&Move| m.is_promotion() || m.is_en_passant() || m.is_castle();
    let rare: Vec<Move> = moves.iter().filter(rare).copied().collect();
    let among = if draw & 1 == 1 && !rare.is_empty() { &rare[..] } else { moves };
    among[usize::from(draw >> 1) % among.len()]
}

fn misspelt(word: &[u8], how: u8, what: u8, place: u8) -> Vec<u8> {
    let mut wrong = word.to_vec();
    let place = usize::from(place) % wrong.len();
    let letter = b"abcdefgh12345678x=NBRQKOP-+#0"[usize::from(what) % 29];
    match how % 10 {
        0 => drop(wrong.remove(place)),
        1 => wrong.insert(place, what),
        2 => wrong.insert(place, letter),
        3 => wrong[place] = letter,
        4 => wrong[place] = what,
        5 => wrong.retain(|byte| !b"x=+#"[usize::from(what) % 4..].contains(byte)),
        6 => wrong.push(if place == 0 { what } else { letter }),
        7 => {
            wrong[place] = letter;
            wrong.insert(place, b"abcdefgh12345678"[usize::from(what >> 4)]);
        }
        8 => wrong = vec![b"NBRQKabc"[usize::from(what & 7)], b'a' + (what >> 3 & 7), b'1' + (what >> 6) + (place as u8 & 4)],
        _ => wrong.truncate(place),
    }
    wrong
}

/// Spelt as programs spell moves, and with a capital where a pawn promotes.
fn plain(word: &[u8]) -> bool {
    word.first().is_some_and(|first| b"abcdefghNBRQKO".contains(first)) && !lower_case_promotion(word)
}

fn lower_case_promotion(word: &[u8]) -> bool {
    word.iter().position(|&byte| byte == b'=').is_some_and(|sign| word.get(sign + 1).is_some_and(u8::is_ascii_lowercase))
}

/// What shakmaty makes of a word; promotions need no sign.
fn by_shakmaty(word: &[u8], position: &Chess) -> Option<u16> {
    let bare = word.strip_suffix(b"+").or_else(|| word.strip_suffix(b"#")).unwrap_or(word);
    let san = San::from_ascii(word).ok().or_else(|| {
        let (role, pawn) = bare.split_last().filter(|(role, _)| b"NBRQ".contains(role))?;
        San::from_ascii(&[pawn, b"=", &[*role]].concat()).ok()
    })?;
    Some(of_move(san.to_move(position).ok()?))
}
