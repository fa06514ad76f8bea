//! Nanoseconds a ply: this crate's replay, and shakmaty's on the same words, each the best of several rounds.
//!
//!     cargo run --release --manifest-path tests/fuzz/Cargo.toml --example stopwatch FILE.pgn[.zst] …

use std::hint::black_box;
use std::time::{Duration, Instant};

use philidor_fuzz::chess::board::Board;
use philidor_fuzz::chess::hash::HashedBoard;
use philidor_fuzz::chess::vocabulary::of_move;
use philidor_fuzz::corpus::mainline::play;
use shakmaty::san::SanPlus;
use shakmaty::{Chess, Position as _};

fn main() {
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path).expect("a file");
        let text = if path.ends_with(".zst") { zstd::decode_all(&bytes[..]).expect("zstd") } else { bytes };
        let text = String::from_utf8(text).expect("text");
        let games: Vec<&str> = text.split("\n\n").filter(|part| part.starts_with("1. ")).collect();
        let words: Vec<Vec<&str>> = games.iter().map(|game| words(game)).collect();
        let plies: usize = words.iter().map(Vec::len).sum();
        println!("{path}: {} games, {plies} plies", games.len());
        let mut tokens = Vec::new();
        let whole = best(|| {
            for game in &games {
                black_box(play(game.as_bytes(), &mut tokens));
            }
        });
        let packed: Vec<Vec<(u64, usize)>> = words
            .iter()
            .map(|game| {
                let pack = |word: &&str| {
                    let mut bytes = [0; 8];
                    bytes[..word.len()].copy_from_slice(word.as_bytes());
                    (u64::from_le_bytes(bytes), word.len())
                };
                game.iter().map(pack).collect()
            })
            .collect();
        let board = best(|| {
            for game in &packed {
                let mut board = Board::start();
                for word in game {
                    black_box(board.play_packed(word.0, word.1).expect("plain"));
                }
            }
        });
        let games_of_tokens: Vec<Vec<u16>> = games
            .iter()
            .map(|game| {
                play(game.as_bytes(), &mut tokens);
                tokens.clone()
            })
            .collect();
        let hashed = best(|| {
            for game in &games_of_tokens {
                let mut board = HashedBoard::start();
                for &token in game {
                    black_box(board.after(token));
                }
            }
        });
        let shakmaty = best(|| {
            for game in &words {
                let mut position = Chess::default();
                for word in game {
                    let m = SanPlus::from_ascii(word.as_bytes()).expect("SAN").san.to_move(&position).expect("legal");
                    black_box(of_move(m));
                    position.play_unchecked(m);
                }
            }
        });
        for (name, time) in [("text and board", whole), ("board", board), ("tokens, hashed", hashed), ("shakmaty", shakmaty)] {
            let ns = time.as_nanos() as f64;
            println!("  {name:14} {:6.1} ns/ply {:8.2} us/game", ns / plies as f64, ns / 1000.0 / games.len() as f64);
        }
    }
}

fn best(mut work: impl FnMut()) -> Duration {
    let round = |work: &mut dyn FnMut()| {
        let begin = Instant::now();
        work();
        begin.elapsed()
    };
    (0..60).map(|_| round(&mut work)).min().expect("rounds")
}

/// Good enough for files of the archive.
fn words(game: &str) -> Vec<&str> {
    let mut bare = Vec::new();
    for part in game.split('}') {
        let text = part.split('{').next().unwrap_or_default();
        bare.extend(text.split_whitespace().filter(|word| word.as_bytes()[0].is_ascii_alphabetic()));
    }
    bare.into_iter().map(|word| word.trim_end_matches(['!', '?'])).collect()
}
