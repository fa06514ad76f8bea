//! Lines of moves as people write them.

use shakmaty::Chess;
use shakmaty::san::SanPlus;

use super::vocabulary::{parse, to_move};

/// The line `e2e4 c7c5` as `1. e4 c5`; as it is where it is no line of legal moves from the start.
pub fn numbered(line: &str) -> String {
    let Some(moves) = san(line) else { return line.to_owned() };
    let numbered = moves.iter().enumerate().map(|(ply, san)| match ply % 2 {
        0 => format!("{}. {san}", ply / 2 + 1),
        _ => san.clone(),
    });
    numbered.collect::<Vec<_>>().join(" ")
}

/// The move `g1f3` after a line, as `Nf3`; as it is where it is not legal there.
pub fn after(line: &str, uci: &str) -> String {
    san(&format!("{line} {uci}")).and_then(|moves| moves.into_iter().next_back()).unwrap_or_else(|| uci.to_owned())
}

/// The moves of a line in UCI from the start, in SAN; none where one is not legal.
fn san(line: &str) -> Option<Vec<String>> {
    let mut board = Chess::default();
    let play = |word: &str| {
        let played = to_move(parse(word)?, &board)?;
        Some(SanPlus::from_move_and_play_unchecked(&mut board, played).to_string())
    };
    line.split_whitespace().map(play).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_numbered_and_what_is_none_is_left_as_it_is() {
        assert_eq!(numbered("e2e4 c7c5 g1f3"), "1. e4 c5 2. Nf3");
        assert_eq!(numbered("f2f3 e7e5 g2g4 d8h4"), "1. f3 e5 2. g4 Qh4#");
        assert_eq!(numbered(""), "");
        assert_eq!(numbered("e2e5 and more"), "e2e5 and more");
        assert_eq!(after("e2e4 e7e5 g1f3 b8c6 f1c4 f8c5", "e1g1"), "O-O");
        assert_eq!(after("", "g1f3"), "Nf3");
        assert_eq!(after("", "g1g3"), "g1g3");
    }
}
