//! Any movetext is walked and played as it is byte by byte. Some bytes of the input stand for what movetexts are made of.
#![no_main]

use libfuzzer_sys::fuzz_target;
use philidor_fuzz::corpus::mainline::play;
use philidor_fuzz::words::slowly_played;
use shakmaty::san::SanPlus;
use shakmaty::{Chess, Position as _};

fuzz_target!(|data: &[u8]| {
    let text = dressed(data);
    let mut tokens = Vec::new();
    let line = play(&text, &mut tokens);
    assert_eq!((line, tokens), slowly_played(&text), "{}", text.escape_ascii());
});

/// Bytes from 128 on are a legal move or a part of a usual text; all others stand for themselves.
fn dressed(data: &[u8]) -> Vec<u8> {
    const PARTS: [&str; 32] = [
        " ",
        " ",
        " { [%clk 0:01:00] } ",
        " { [%eval 0.17] [%clk 0:00:30] } ",
        " 1. ",
        " 12... ",
        "1.",
        "…",
        "?!",
        "$6",
        " (",
        ") ",
        "{",
        "}",
        ";",
        "\n%",
        "\n",
        "\r\n",
        " 1-0",
        " * ",
        "½-½",
        "0-0",
        "e7e8q",
        "Ng1-f3",
        "--",
        "Z0",
        "e2e4",
        "g8f6",
        "O-O-O",
        "e1g1",
        "e1h1",
        "Nbd7+",
    ];
    let mut position = Chess::default();
    let mut text = Vec::new();
    for &byte in data {
        match byte {
            0..128 => text.push(byte),
            128..224 => {
                let moves = position.legal_moves();
                if !moves.is_empty() {
                    let m = moves[usize::from(byte) % moves.len()];
                    SanPlus::from_move_and_play_unchecked(&mut position, m).append_ascii_to(&mut text);
                }
            }
            224.. => text.extend_from_slice(PARTS[usize::from(byte - 224)].as_bytes()),
        }
    }
    text
}
