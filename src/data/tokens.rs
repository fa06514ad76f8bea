//! A file of tokens and the file of its games' ends: written in order, read through a memory map.
//!
//! Tokens are little-endian u16, games back to back; ends are little-endian u64, one a game, counted in tokens
//! from the start of the file. Opening checks that the two files belong together, so reading cannot fail.

use std::io::{BufWriter, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result};
use fs_err::File;
use memmap2::Mmap;

use crate::chess::vocabulary::{BOS, EOS};
use crate::error::Fixable;

const _: () = assert!(cfg!(target_endian = "little"), "token files are mapped as they are, in little-endian order");

/// Whether special tokens stand around each game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// The moves and nothing else.
    Bare,
    /// `<bos>` moves `<eos>`.
    Marked,
}

/// Marked games back to back, and the end of each, in tokens from the start. What needs no ends is given none.
#[derive(Clone, Copy, Debug)]
pub struct TokenStream<'a> {
    pub tokens: &'a [u16],
    pub ends: &'a [u64],
}

impl<'a> From<&'a [u16]> for TokenStream<'a> {
    fn from(tokens: &'a [u16]) -> Self {
        Self { tokens, ends: &[] }
    }
}

impl<'a, const N: usize> From<&'a [u16; N]> for TokenStream<'a> {
    fn from(tokens: &'a [u16; N]) -> Self {
        Self { tokens, ends: &[] }
    }
}

impl<'a> From<&'a Vec<u16>> for TokenStream<'a> {
    fn from(tokens: &'a Vec<u16>) -> Self {
        Self { tokens, ends: &[] }
    }
}

/// Games of tokens, mapped into memory.
pub struct TokenFile {
    tokens: Mmap,
    ends: Mmap,
    framing: Framing,
}

impl TokenFile {
    /// Maps a file of tokens and its ends.
    ///
    /// # Errors
    ///
    /// Where a file is missing, or the two do not belong together.
    pub fn open(tokens: &Path, ends: &Path, framing: Framing) -> Result<Self> {
        let file = Self { tokens: map(tokens)?, ends: map(ends)?, framing };
        let whole = file.tokens.len().is_multiple_of(2) && file.ends.len().is_multiple_of(8);
        let frame = match framing {
            Framing::Bare => 0,
            Framing::Marked => 2,
        };
        let fits = whole
            && file.ends().last().copied().unwrap_or(0) == file.tokens().len() as u64
            && file.ends().windows(2).all(|pair| pair[0].checked_add(frame).is_some_and(|least| least <= pair[1]))
            && file.ends().first().is_none_or(|&end| end >= frame);
        if !fits {
            return Err(Fixable::failed(format!(
                "`{}` ({} bytes) does not fit its ends `{}` ({} bytes)",
                tokens.display(),
                file.tokens.len(),
                ends.display(),
                file.ends.len()
            ))
            .hint("make it again, with --force and the name of its stage")
            .into());
        }
        Ok(file)
    }

    /// All tokens, with the special ones where the games are marked.
    pub fn tokens(&self) -> &[u16] {
        bytemuck::cast_slice(&self.tokens)
    }

    /// The end of each game, in tokens from the start of the file.
    pub fn ends(&self) -> &[u64] {
        bytemuck::cast_slice(&self.ends)
    }

    pub fn games(&self) -> usize {
        self.ends().len()
    }

    /// All games, as a training reads them.
    pub fn stream(&self) -> TokenStream<'_> {
        TokenStream { tokens: self.tokens(), ends: self.ends() }
    }

    /// Whether a game stands between its special tokens, where it should.
    ///
    /// # Panics
    ///
    /// Where `index` is not below [`games`](Self::games).
    pub fn is_framed(&self, index: usize) -> bool {
        let start = index.checked_sub(1).map_or(0, |before| self.ends()[before]) as usize;
        let game = &self.tokens()[start..self.ends()[index] as usize];
        self.framing == Framing::Bare || (game.first() == Some(&BOS) && game.last() == Some(&EOS))
    }

    /// The moves of a game, without special tokens.
    ///
    /// # Panics
    ///
    /// Where `index` is not below [`games`](Self::games).
    pub fn game(&self, index: usize) -> &[u16] {
        let ends = self.ends();
        let start = index.checked_sub(1).map_or(0, |before| ends[before]) as usize;
        let game = &self.tokens()[start..ends[index] as usize];
        match self.framing {
            Framing::Bare => game,
            Framing::Marked => &game[1..game.len() - 1],
        }
    }
}

#[expect(unsafe_code, reason = "a memory map is the only way to read tokens of several gigabytes without copying them")]
fn map(path: &Path) -> Result<Mmap> {
    let file = File::open(path)?;
    // SAFETY: artifacts are never written after they were renamed into place, so the bytes stay as they are mapped.
    unsafe { Mmap::map(file.file()) }.with_context(|| format!("mapping `{}`", path.display()))
}

/// Writes a file of tokens and its ends, game by game.
pub struct TokenWriter {
    tokens: BufWriter<File>,
    ends: BufWriter<File>,
    framing: Framing,
    /// Tokens written.
    written: u64,
    games: u64,
}

impl TokenWriter {
    pub fn create(tokens: &Path, ends: &Path, framing: Framing) -> Result<Self> {
        let tokens = BufWriter::with_capacity(1 << 18, File::create(tokens)?);
        let ends = BufWriter::with_capacity(1 << 16, File::create(ends)?);
        Ok(Self { tokens, ends, framing, written: 0, games: 0 })
    }

    /// Appends a game, given by its moves.
    pub fn push(&mut self, moves: &[u16]) -> Result<()> {
        if self.framing == Framing::Marked {
            self.tokens.write_all(&BOS.to_le_bytes())?;
        }
        self.tokens.write_all(bytemuck::cast_slice(moves))?;
        self.written += moves.len() as u64;
        if self.framing == Framing::Marked {
            self.tokens.write_all(&EOS.to_le_bytes())?;
            self.written += 2;
        }
        self.ends.write_all(&self.written.to_le_bytes())?;
        self.games += 1;
        Ok(())
    }

    /// Tokens written so far, special ones included.
    pub fn tokens(&self) -> u64 {
        self.written
    }

    pub fn games(&self) -> u64 {
        self.games
    }

    /// Writes what is buffered. Without it, the files are not whole.
    pub fn finish(mut self) -> Result<()> {
        self.tokens.flush()?;
        self.ends.flush()?;
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A token file of these games, as long as its folder lives.
    pub(crate) fn written(games: &[Vec<u16>], framing: Framing) -> (tempfile::TempDir, TokenFile) {
        let dir = tempfile::tempdir().expect("a folder");
        let (tokens, ends) = (dir.path().join("t.u16"), dir.path().join("t.ends.u64"));
        let mut writer = TokenWriter::create(&tokens, &ends, framing).expect("created");
        for game in games {
            writer.push(game).expect("written");
        }
        writer.finish().expect("finished");
        let file = TokenFile::open(&tokens, &ends, framing).expect("opened");
        (dir, file)
    }

    #[test]
    fn marked_games_lie_back_to_back_between_special_tokens() {
        let (dir, file) = written(&[vec![10, 11], vec![], vec![12]], Framing::Marked);
        assert_eq!(file.tokens(), [BOS, 10, 11, EOS, BOS, EOS, BOS, 12, EOS]);
        assert_eq!(file.ends(), [4, 6, 9]);
        let bytes = std::fs::read(dir.path().join("t.u16")).expect("read");
        assert_eq!(bytes[..6], [1, 0, 10, 0, 11, 0]);
    }

    #[test]
    fn files_that_do_not_belong_together_are_refused() {
        let (dir, file) = written(&[vec![10, 11]], Framing::Bare);
        drop(file);
        let (tokens, ends) = (dir.path().join("t.u16"), dir.path().join("t.ends.u64"));
        std::fs::write(&tokens, [10, 0, 11]).expect("written");
        assert!(TokenFile::open(&tokens, &ends, Framing::Bare).is_err());
        std::fs::write(&tokens, [10, 0]).expect("written");
        assert!(TokenFile::open(&tokens, &ends, Framing::Bare).is_err());
        // One token is no marked game.
        std::fs::write(&ends, 1_u64.to_le_bytes()).expect("written");
        assert!(TokenFile::open(&tokens, &ends, Framing::Bare).is_ok());
        assert!(TokenFile::open(&tokens, &ends, Framing::Marked).is_err());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(games in proptest::collection::vec(proptest::collection::vec(3_u16..1971, 0..6), 0..6)) {
            for framing in [Framing::Bare, Framing::Marked] {
                let (_dir, file) = written(&games, framing);
                let read: Vec<Vec<u16>> = (0..file.games()).map(|index| file.game(index).to_vec()).collect();
                prop_assert_eq!(&read, &games);
            }
        }
    }
}
