//! The main line of a game, from its movetext to tokens, on a board.

use super::movetext::Words;
use crate::chess::board::Board;
use crate::chess::notation::{Unplayable, to_move};
use crate::chess::replay::Ending;
use crate::chess::vocabulary::of_move;

const START: Board = Board::start();

/// What a main line came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MainLine {
    /// Words that stand for plies, playable or not.
    pub plies: usize,
    /// Whether a comment or a variation was left open, or one closed that was not open.
    pub broken: bool,
    /// How the rules ended the game, or why its first unplayable word is one.
    pub played: Result<Option<Ending>, Unplayable>,
}

/// Plays the main line from the usual start, and writes its tokens, up to the first word that cannot be played.
///
/// `tokens` is cleared first.
pub fn play(movetext: &[u8], tokens: &mut Vec<u16>) -> MainLine {
    tokens.clear();
    let mut words = Words::of(movetext);
    let mut board = START;
    loop {
        // Nearly all words of nearly all games.
        while let Some((word, length)) = words.plain()
            && let Some(token) = board.play_packed(word, length)
        {
            words.step_over(length);
            tokens.push(token);
        }
        let Some(word) = words.next() else { break };
        match play_odd(&mut board, word) {
            Ok(token) => tokens.push(token),
            Err(why) => {
                let plies = tokens.len() + 1 + words.by_ref().count();
                return MainLine { plies, broken: words.broken(), played: Err(why) };
            }
        }
    }
    MainLine { plies: tokens.len(), broken: words.broken(), played: Ok(board.ended(tokens)) }
}

/// Plays a word that was not seen to be plain.
#[cold]
fn play_odd(board: &mut Board, word: &[u8]) -> Result<u16, Unplayable> {
    if let Some(token) = board.play_san(word) {
        return Ok(token);
    }
    let token = of_move(to_move(word, &board.to_chess())?);
    // Shakmaty says that the move is legal, and the board agrees with it on every legal move.
    if board.play_token(token) { Ok(token) } else { Err(Unplayable::Illegal) }
}

#[cfg(test)]
mod tests {
    use super::super::cut::{Cut, Cutter};
    use super::super::packed::Packed;
    use super::*;
    use crate::chess::replay::Replay;
    use crate::chess::vocabulary::{parse, uci};
    use proptest::prelude::*;
    use shakmaty::san::SanPlus;
    use shakmaty::{Chess, Position as _};
    use std::path::Path;

    /// The same by words alone and shakmaty.
    fn by_shakmaty(movetext: &[u8]) -> (MainLine, Vec<u16>) {
        let (mut replay, mut tokens) = (Replay::default(), Vec::new());
        let mut words = Words::of(movetext);
        let mut failed = None;
        let mut plies = 0;
        for word in words.by_ref() {
            plies += 1;
            if failed.is_none() {
                match to_move(word, replay.position()) {
                    Ok(m) => {
                        tokens.push(of_move(m));
                        replay.step(of_move(m)).expect("legal");
                    }
                    Err(why) => failed = Some(why),
                }
            }
        }
        let played = failed.map_or(Ok(replay.ended()), Err);
        (MainLine { plies, broken: words.broken(), played }, tokens)
    }

    fn played(movetext: &str) -> (MainLine, String) {
        let mut tokens = vec![7];
        let line = play(movetext.as_bytes(), &mut tokens);
        assert_eq!((line, tokens.clone()), by_shakmaty(movetext.as_bytes()), "{movetext}");
        (line, tokens.iter().map(|&token| uci(token)).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn every_usual_notation_is_read() {
        let moves = "e2e4 e7e5 g1f3 b8c6 f1b5 g8f6 e1g1";
        for movetext in [
            "1. e4 { [%clk 0:01:00] } 1... e5 2. Nf3 Nc6 3.Bb5!? Nf6 4. O-O 1-0",
            "1.e4 e5 2.Ng1f3 Nb8-c6 3. Bf1-b5 $5 g8f6 0-0",
            "e2e4 e7e5 g1f3 b8c6 f1b5 g8f6 e1g1",
            "e2-e4 e7-e5 Ng1-f3 Nb8-c6 Bf1-b5 Ng8-f6 e1h1",
            "1 e4 e5 2 Nf3+ Nc6# 3 Bb5 ( 3 Bc4 ( Bc5 { ) } ) ) 3 ... Nf6\n4\nKe1-g1",
        ] {
            let (line, tokens) = played(movetext);
            assert_eq!((line.plies, line.played, tokens.as_str()), (7, Ok(None), moves), "{movetext}");
        }
    }

    #[test]
    fn a_word_that_cannot_be_played_is_told_by_its_kind_and_the_words_are_counted_on() {
        for (word, why) in [
            ("--", Unplayable::NullMove),
            ("Z0", Unplayable::NullMove),
            ("null", Unplayable::NullMove),
            ("0000", Unplayable::NullMove),
            ("@@@@", Unplayable::NullMove),
            ("Nd5", Unplayable::Illegal),
            ("exd5", Unplayable::Illegal),
            ("e7e4", Unplayable::Illegal),
            ("Bg8-f6", Unplayable::Illegal),
            ("castles", Unplayable::Unreadable),
            ("e5++", Unplayable::Unreadable),
            ("Сf6", Unplayable::Unreadable),
        ] {
            let (line, tokens) = played(&format!("1. e4 {word} 2. Nf3 {{ d6 }} d6 *"));
            assert_eq!((line.plies, line.played, tokens.as_str()), (4, Err(why), "e2e4"), "{word}");
        }
    }

    #[test]
    fn what_is_open_at_the_end_is_noticed() {
        for (movetext, broken) in [("1. e4 e5", false), ("1. e4 { e5", true), ("1. e4 e5 (", true), ("1. e4 zz }", true)] {
            assert_eq!(played(movetext).0.broken, broken, "{movetext}");
        }
    }

    #[test]
    fn mate_and_repetition_end_a_game() {
        assert_eq!(played("1. f3 e5 2. g4 Qh4# 0-1").0.played, Ok(Some(Ending::Checkmate)));
        let there_and_back = "Nf3 Nf6 Ng1 Ng8 ".repeat(4);
        assert_eq!(played(&there_and_back).0.played, Ok(Some(Ending::FivefoldRepetition)));
    }

    #[test]
    fn deep_variations_and_many_braces_take_linear_time() {
        for part in ["(", ")", "{", "}", "{}", "( ", "1", ".", "!", "1. ", "; \n", "%\n", "$", "e4 ", "é"] {
            let text = part.repeat(300_000);
            let mut tokens = Vec::new();
            play(text.as_bytes(), &mut tokens);
            assert!(tokens.len() <= 1);
        }
    }

    const BETWEEN: [&str; 24] = [
        " ",
        " ",
        " ",
        "\n",
        "  ",
        " { [%clk 0:01:00] } ",
        " { [%eval 0.17] [%clk 0:00:30] } ",
        "!",
        "?! ",
        " $12 ",
        "$3",
        " 1. ",
        " 12... ",
        " 12.",
        " (1. d4 d5) ",
        " ; to the end\n",
        "\n% escape\n",
        " {} ",
        "{ a remark that goes on for longer than any clock could, by far } ",
        " 0 ",
        " 1-0 ",
        ".. ",
        "\r\n",
        " 3 ",
    ];

    proptest! {
        #[test]
        fn a_game_in_any_dress_is_read_as_word_by_word(
            draws in proptest::collection::vec((any::<u16>(), 0..BETWEEN.len(), 0..40_u8), 0..80),
            cut in 0_usize..20,
        ) {
            let mut position = Chess::default();
            let mut text = String::new();
            for (draw, between, spelling) in draws {
                let moves = position.legal_moves();
                if moves.is_empty() {
                    break;
                }
                let m = moves[usize::from(draw) % moves.len()];
                let uci = uci(of_move(m));
                let san = SanPlus::from_move_and_play_unchecked(&mut position, m).to_string();
                let word = match spelling {
                    0 => uci.to_owned(),
                    1 => format!("{}-{}", &uci[..2], &uci[2..]),
                    2 => san.replace(['x', '='], ""),
                    3 => format!("{san}+"),
                    _ => san,
                };
                text += &word;
                text += BETWEEN[between];
            }
            text.truncate(text.len() - cut.min(text.len()));
            let mut tokens = Vec::new();
            let line = play(text.as_bytes(), &mut tokens);
            prop_assert_eq!((line, tokens), by_shakmaty(text.as_bytes()), "{}", text);
        }

        #[test]
        fn text_of_any_kind_is_read_as_word_by_word(
            parts in proptest::collection::vec(
                proptest::sample::select(vec![
                    "e4", "e5", "Nf3", "O-O", " ", " ", " ", "1", "0", ".", "..", "{", "}", "(", ")", ";", "%", "\n", "!", "?", "$", "-", "*",
                    "1-0", "½", "\"", "\0", "\u{a0}", "é", "x", "@", "12345678",
                ]),
                0..40,
            ),
        ) {
            let text = parts.concat();
            let mut tokens = Vec::new();
            let line = play(text.as_bytes(), &mut tokens);
            prop_assert_eq!((line, tokens), by_shakmaty(text.as_bytes()), "{:?}", text);
        }
    }

    #[test]
    fn a_token_of_uci_castling_is_the_kings() {
        let (_, tokens) = played("e4 e5 Nf3 Nf6 Be2 Be7 e1h1");
        assert!(parse("e1g1").is_some_and(|token| tokens.ends_with(uci(token))));
    }

    #[test]
    #[expect(clippy::print_stderr, reason = "a test that cannot run says so")]
    fn no_word_of_real_games_needs_a_second_look() {
        let roots =
            ["../shared/data/lichess", "../../shared/data/lichess"].map(|root| Path::new(env!("CARGO_MANIFEST_DIR")).join(root));
        let Some(dir) = roots.into_iter().find(|path| path.is_dir()) else { return eprintln!("no slices of the archive here") };
        for name in ["rated-3000.pgn.zst", "slice-2021-10.one-frame.pgn.zst"] {
            let mut unpacked = Packed::open(&dir.join(name), name).expect("a file").unpack(1 << 30).expect("a decoder");
            let mut text = vec![0; 4 << 20];
            let mut end = 0;
            while let count @ 1.. = unpacked.read(&mut text[end..]).expect("whole") {
                end += count;
            }
            let mut cutter = Cutter::new(&text[..end], true);
            while let Cut::Game(game) = cutter.next() {
                let mut board = Board::start();
                let tokens: Vec<u16> = Words::of(game.movetext).map(|word| board.play_san(word).expect("plain")).collect();
                let mut played = Vec::new();
                let line = play(game.movetext, &mut played);
                assert_eq!((line, &played), (by_shakmaty(game.movetext).0, &tokens));
            }
        }
    }
}
