//! A corpus file as a stream of PGN text, however it is packed. What it is, its first bytes tell, not its name.
//!
//! A zstd file may have any number of frames, skippable ones among them, and windows of any size. A file that
//! ends too early or does not decode is an error with its name and the offset: never a shorter corpus.

use std::io::{self, BufRead as _, BufReader, Read};
use std::path::Path;

use anyhow::{Context as _, Result};
use fs_err::File;
use zstd::stream::read::Decoder;

use crate::error::Fixable;

/// Larger pieces fall out of the processor's cache.
const PIECE_BYTES: usize = 128 << 10;
/// The largest window that zstd can ask for, 2 GiB: `zstd --ultra --long=31` writes it.
const WINDOW_LOG_MAX: u32 = 31;

/// A corpus file, unpacked while it is read.
pub struct Packed {
    text: Text,
    name: String,
    /// Size of the file as it lies on disk, in bytes.
    size: u64,
}

enum Text {
    Plain(Counted),
    Zstd(Box<Decoder<'static, BufReader<Counted>>>),
}

impl Packed {
    /// Opens a file. `name` is what people call it.
    ///
    /// # Errors
    ///
    /// Where it cannot be opened, or is packed in a way that is not read.
    pub fn open(path: &Path, name: &str) -> Result<Self> {
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        let mut reader = BufReader::with_capacity(PIECE_BYTES, Counted { file, bytes: 0 });
        let head = reader.fill_buf().with_context(|| format!("reading `{name}`"))?;
        let text = match Packing::of(head) {
            Packing::Plain => {
                drop(reader);
                Text::Plain(Counted { file: File::open(path)?, bytes: 0 })
            }
            Packing::Zstd => {
                let mut decoder = Decoder::with_buffer(reader).context("starting the zstd decoder")?;
                decoder.window_log_max(WINDOW_LOG_MAX).context("widening the zstd window")?;
                Text::Zstd(Box::new(decoder))
            }
            Packing::Other(format) => {
                return Err(Fixable::failed(format!("`{name}` is a {format} file, and only plain or zstd PGN is read"))
                    .hint("unpack it, or pack it with zstd")
                    .into());
            }
        };
        Ok(Self { text, name: name.to_owned(), size })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Bytes of the file that were used so far.
    pub fn position(&self) -> u64 {
        match &self.text {
            Text::Plain(file) => file.bytes,
            Text::Zstd(decoder) => decoder.get_ref().get_ref().bytes - decoder.get_ref().buffer().len() as u64,
        }
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    fn damaged(&self, error: &io::Error) -> Fixable {
        let (name, position, size) = (&self.name, self.position(), self.size);
        let what = if error.kind() == io::ErrorKind::UnexpectedEof {
            format!("`{name}` ends in the middle of a zstd frame, at byte `{position}`")
        } else {
            format!("`{name}` does not decode at byte `{position}` of {size}: zstd says `{error}`")
        };
        Fixable::failed(what).hint("fetch or copy the file again: it was cut short or damaged")
    }
}

impl Read for Packed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.text {
            Text::Plain(file) => file.read(buffer),
            Text::Zstd(decoder) => decoder.read(buffer).map_err(|error| match error.raw_os_error() {
                // A failing disk is no damaged file.
                Some(_) => error,
                None => io::Error::other(self.damaged(&error)),
            }),
        }
    }
}

/// Brings a [`Fixable`] that came through a reader back to the surface.
pub fn surfaced(error: io::Error) -> anyhow::Error {
    match error.downcast::<Fixable>() {
        Ok(fixable) => fixable.into(),
        Err(error) => error.into(),
    }
}

enum Packing {
    Plain,
    Zstd,
    /// Known, and not read.
    Other(&'static str),
}

impl Packing {
    fn of(head: &[u8]) -> Self {
        match head {
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            [0x1f, 0x8b, ..] => Self::Other("gzip"),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Self::Other("bzip2"),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Self::Other("xz"),
            [b'P', b'K', 3, 4, ..] => Self::Other("zip"),
            [b'7', b'z', 0xbc, 0xaf, ..] => Self::Other("7-Zip"),
            _ => Self::Plain,
        }
    }
}

/// Counts what is read from a file.
struct Counted {
    file: File,
    bytes: u64,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.bytes += count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What opening and reading a file of these bytes gives: its text, or the message for the user.
    fn read(bytes: &[u8]) -> Result<Vec<u8>, String> {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("x");
        std::fs::write(&path, bytes).expect("written");
        let mut text = Vec::new();
        let mut packed = Packed::open(&path, "x.pgn").map_err(|error| error.to_string())?;
        match packed.read_to_end(&mut text) {
            Ok(_) => {
                assert_eq!(packed.position(), bytes.len() as u64);
                Ok(text)
            }
            Err(error) => Err(surfaced(error).downcast::<Fixable>().expect("the user can mend it").message),
        }
    }

    fn frame(text: &[u8]) -> Vec<u8> {
        let mut encoder = zstd::Encoder::new(Vec::new(), 3).expect("an encoder");
        encoder.include_checksum(true).expect("a setting");
        io::Write::write_all(&mut encoder, text).expect("packed");
        encoder.finish().expect("packed")
    }

    const SKIPPABLE: &[u8] = &[0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4];

    #[test]
    fn frames_and_skippable_frames_are_read_as_one_text() {
        let bytes = [SKIPPABLE, &frame(b"one "), SKIPPABLE, &frame(b""), &frame(b"two"), SKIPPABLE].concat();
        assert_eq!(read(&bytes).expect("whole"), b"one two");
        assert_eq!(read(b"[Event \"?\"]").expect("plain"), b"[Event \"?\"]");
        assert_eq!(read(b"").expect("empty"), b"");
    }

    #[test]
    fn a_window_of_a_gigabyte_is_read() {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).expect("an encoder");
        encoder.window_log(30).expect("a setting");
        io::Write::write_all(&mut encoder, b"text").expect("packed");
        assert_eq!(read(&encoder.finish().expect("packed")).expect("whole"), b"text");
    }

    #[test]
    fn a_file_cut_anywhere_is_an_error_that_names_it_and_the_offset() {
        let text: Vec<u8> = (0..5000_u32).flat_map(|i| (i.wrapping_mul(2_654_435_761) >> 8).to_le_bytes()).collect();
        let bytes = [SKIPPABLE, &frame(&text), SKIPPABLE, &frame(&text)].concat();
        let first = SKIPPABLE.len() + frame(&text).len();
        for cut in [first - 1, first - 5000, first + 3, first + 11, first + 14, first + 5000, bytes.len() - 1] {
            let message = read(&bytes[..cut]).expect_err("cut short");
            assert_eq!(message, format!("`x.pgn` ends in the middle of a zstd frame, at byte `{cut}`"));
        }
    }

    #[test]
    fn a_damaged_file_is_an_error_that_names_it_and_the_offset() {
        let text: Vec<u8> = (0..50_000_u32).map(|i| b'a' + (i.wrapping_mul(2_654_435_761) >> 29) as u8).collect();
        let mut bytes = [frame(&text), frame(&text)].concat();
        let middle = bytes.len() * 3 / 4;
        bytes[middle] ^= 0xff;
        assert!(read(&bytes).expect_err("damaged").starts_with("`x.pgn` does not decode at byte `"));
        assert!(read(&[&frame(b"text"), &b"garbage"[..]].concat()).expect_err("damaged").contains("`x.pgn`"));
    }

    #[test]
    fn what_is_not_read_yet_is_named() {
        for (head, format) in [(&[0x1f, 0x8b, 8, 0][..], "gzip"), (b"BZh91AY", "bzip2"), (b"PK\x03\x04", "zip")] {
            let message = read(head).expect_err("not read");
            assert_eq!(message, format!("`x.pgn` is a {format} file, and only plain or zstd PGN is read"));
        }
    }
}
