//! Kept games as lines of UCI moves, in the order of their source.

use std::io::Write;

use anyhow::Result;

use crate::chess::vocabulary::uci;
use crate::data::tokens::TokenFile;

/// Writes one game a line, its moves divided by spaces.
pub fn games(games: &TokenFile, out: &mut dyn Write) -> Result<()> {
    let mut line = Vec::new();
    for index in 0..games.games() {
        line.clear();
        for (ply, &token) in games.game(index).iter().enumerate() {
            if ply > 0 {
                line.push(b' ');
            }
            line.extend_from_slice(uci(token).as_bytes());
        }
        line.push(b'\n');
        out.write_all(&line)?;
    }
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::vocabulary::parse;
    use crate::data::tokens::{Framing, TokenWriter};

    #[test]
    fn games_are_written_one_a_line() {
        let dir = tempfile::tempdir().expect("a folder");
        let (tokens, ends) = (dir.path().join("moves.u16"), dir.path().join("ends.u64"));
        let mut writer = TokenWriter::create(&tokens, &ends, Framing::Bare).expect("created");
        for game in [&["e2e4", "e7e5"][..], &[], &["e7e8q"]] {
            let moves: Vec<u16> = game.iter().map(|text| parse(text).expect("in the vocabulary")).collect();
            writer.push(&moves).expect("written");
        }
        writer.finish().expect("finished");
        let mut text = Vec::new();
        games(&TokenFile::open(&tokens, &ends, Framing::Bare).expect("opened"), &mut text).expect("written");
        assert_eq!(text, b"e2e4 e7e5\n\ne7e8q\n");
    }
}
