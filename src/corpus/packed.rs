//! A corpus file as a stream of PGN text, however it is packed. What it is, its first bytes tell, not its name.
//!
//! A zstd file may have any number of frames, skippable ones among them, and windows of any size; gzip and bzip2
//! files may have several members. A file that ends too early or does not decode is an error with its name and
//! the offset: never a shorter corpus.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context as _, Result};
use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;
use fs_err::File;

use super::zstd_frames::{Region, ZstdReader, hop};
use crate::error::Fixable;

/// A corpus file.
#[derive(Clone)]
pub struct Packed {
    file: Arc<File>,
    name: String,
    /// Size of the file as it lies on disk, in bytes.
    size: u64,
    packing: Packing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    Plain,
    Zstd,
    Gzip,
    Bzip2,
    /// Known, and not read.
    Other(&'static str),
}

impl Packed {
    /// Opens a file. `name` is what people call it.
    ///
    /// # Errors
    ///
    /// Where it cannot be opened, or is packed in a way that is not read.
    pub fn open(path: &Path, name: &str) -> Result<Self> {
        // To open a pipe would wait for whoever writes into it.
        if !fs_err::metadata(path)?.is_file() {
            return Err(Fixable::usage(format!("`{name}` is no file")).hint("name a PGN file, packed or not").into());
        }
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        let mut head = Vec::new();
        (&file).take(8).read_to_end(&mut head).with_context(|| format!("reading `{name}`"))?;
        let packing = Packing::of(&head);
        if let Packing::Other(format) = packing {
            return Err(Fixable::failed(format!("`{name}` is a {format} file, and only plain, zstd, gzip or bzip2 PGN is read"))
                .hint("unpack it, or pack it with zstd")
                .into());
        }
        Ok(Self { file: Arc::new(file), name: name.to_owned(), size, packing })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Size of the file as it lies on disk, in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The parts that can be unpacked on their own, where the file tells them: at least two, of so many bytes each.
    pub(super) fn regions(&self, least_bytes: u64) -> Result<Option<Vec<Region>>> {
        if self.packing == Packing::Zstd { hop(&self.file, self.size, least_bytes) } else { Ok(None) }
    }

    /// # Errors
    ///
    /// Where the file is seen to be cut short without reading it.
    pub(super) fn whole(&self, regions: &[Region]) -> Result<()> {
        match regions.last().filter(|last| last.bytes.end > self.size) {
            Some(last) => Err(cut_short(&self.name, &format!("zstd frame {}", last.frames), self.size).into()),
            None => Ok(()),
        }
    }

    /// Unpacks the whole file. `memory_bytes` bounds what zstd must remember.
    pub(super) fn unpack(&self, memory_bytes: u64) -> Result<Unpacked> {
        let read = Arc::new(AtomicU64::new(0));
        let file = Counted { file: Arc::clone(&self.file), read: Arc::clone(&read) };
        let text = match self.packing {
            Packing::Zstd => {
                let mut reader = ZstdReader::new(Arc::clone(&self.file), &self.name, self.size, memory_bytes)?;
                reader.seek(&Region { bytes: 0..self.size, frames_before: 0, frames: 0, window_bytes: 0 })?;
                return Ok(Unpacked::Zstd(Box::new(reader)));
            }
            Packing::Gzip => Box::new(MultiGzDecoder::new(file)) as Box<dyn Read + Send>,
            Packing::Bzip2 => Box::new(MultiBzDecoder::new(file)),
            Packing::Plain | Packing::Other(_) => Box::new(file),
        };
        Ok(Unpacked::Stream { text, read, packed: self.clone() })
    }
}

/// The text of a corpus file.
pub(super) enum Unpacked {
    Zstd(Box<ZstdReader>),
    Stream { text: Box<dyn Read + Send>, read: Arc<AtomicU64>, packed: Packed },
}

impl Unpacked {
    /// Goes to a region; only the whole file is one where [`Packed::regions`] tells none.
    pub(super) fn seek(&mut self, region: &Region) -> Result<()> {
        match self {
            Self::Zstd(reader) => reader.seek(region),
            Self::Stream { .. } => Ok(()),
        }
    }

    /// Fills the beginning of `bytes`; 0 bytes at the end.
    pub(super) fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        match self {
            Self::Zstd(reader) => reader.read(bytes),
            Self::Stream { text, read, packed } => loop {
                match text.read(bytes) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
                    // A failing disk is no damaged file.
                    Err(error) if error.raw_os_error().is_none() => {
                        return Err(packed.damaged(&error, read.load(Ordering::Relaxed)).into());
                    }
                    other => break Ok(other?),
                }
            },
        }
    }

    /// Bytes of the file that were used so far.
    pub(super) fn position(&self) -> u64 {
        match self {
            Self::Zstd(reader) => reader.position(),
            Self::Stream { read, .. } => read.load(Ordering::Relaxed),
        }
    }
}

impl Packed {
    fn damaged(&self, error: &io::Error, position: u64) -> Fixable {
        let (name, size) = (&self.name, self.size);
        let packing = if self.packing == Packing::Gzip { "gzip" } else { "bzip2" };
        if error.kind() == io::ErrorKind::UnexpectedEof {
            return cut_short(name, &format!("a {packing} stream"), size);
        }
        // The decoder reads ahead: the place is not exact.
        Fixable::failed(format!("`{name}` does not decode as {packing} before byte {position} of {size}: {error}")).hint(DAMAGED)
    }
}

/// What to do about a file that is not what it was.
pub(super) const DAMAGED: &str =
    "get the file again, it was cut short or damaged; where it is whole, the copy in the store is not: run with --force fetch";

pub(super) fn cut_short(name: &str, inside: &str, at: u64) -> Fixable {
    Fixable::failed(format!("`{name}` ends in the middle of {inside}, at byte {at}")).hint(DAMAGED)
}

impl Packing {
    fn of(head: &[u8]) -> Self {
        match head {
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            [0x1f, 0x8b, ..] => Self::Gzip,
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Self::Bzip2,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Self::Other("xz"),
            [b'P', b'K', 3, 4, ..] => Self::Other("zip"),
            [b'7', b'z', 0xbc, 0xaf, ..] => Self::Other("7-Zip"),
            [0x04, 0x22, 0x4d, 0x18, ..] => Self::Other("lz4"),
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Self::Other("UTF-16"),
            _ => Self::Plain,
        }
    }
}

/// Counts what is read from a file.
struct Counted {
    file: Arc<File>,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        use std::os::unix::fs::FileExt as _;
        let count = self.file.file().read_at(buffer, self.read.load(Ordering::Relaxed))?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
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
        let packed = Packed::open(&path, "x.pgn").map_err(|error| error.to_string())?;
        let message = |error: anyhow::Error| error.downcast::<Fixable>().expect("the user can mend it").message;
        let mut unpacked = packed.unpack(1 << 30).expect("a decoder");
        let (mut text, mut piece) = (Vec::new(), [0; 999]);
        loop {
            match unpacked.read(&mut piece).map_err(message)? {
                0 => break,
                count => text.extend_from_slice(&piece[..count]),
            }
        }
        assert_eq!(unpacked.position(), bytes.len() as u64);
        Ok(text)
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
    fn a_file_cut_anywhere_is_an_error_that_names_it_the_frame_and_the_offset() {
        let text: Vec<u8> = (0..5000_u32).flat_map(|i| (i.wrapping_mul(2_654_435_761) >> 8).to_le_bytes()).collect();
        let bytes = [SKIPPABLE, &frame(&text), SKIPPABLE, &frame(&text)].concat();
        let first = SKIPPABLE.len() + frame(&text).len();
        let inside =
            ["zstd frame 1", "zstd frame 1", "zstd frame 2", "a skippable frame", "zstd frame 2", "zstd frame 2", "zstd frame 2"];
        let cuts = [first - 1, first - 5000, first + 3, first + 11, first + 14, first + 5000, bytes.len() - 1];
        for (cut, inside) in cuts.into_iter().zip(inside) {
            let message = read(&bytes[..cut]).expect_err("cut short");
            assert_eq!(message, format!("`x.pgn` ends in the middle of {inside}, at byte {cut}"));
        }
    }

    #[test]
    fn a_damaged_file_is_an_error_that_names_it_the_frame_and_the_offset() {
        let text: Vec<u8> = (0..50_000_u32).map(|i| b'a' + (i.wrapping_mul(2_654_435_761) >> 29) as u8).collect();
        let mut bytes = [frame(&text), frame(&text)].concat();
        let middle = bytes.len() * 3 / 4;
        bytes[middle] ^= 0xff;
        let message = read(&bytes).expect_err("damaged");
        assert!(message.starts_with("`x.pgn` does not decode in zstd frame 2, at byte "), "{message}");
        let text = frame(b"text");
        let message = read(&[&text, &b"garbage!"[..]].concat()).expect_err("damaged");
        let expected = format!("`x.pgn` does not decode after zstd frame 1, at byte {} of {}", text.len(), text.len() + 8);
        assert_eq!(message, format!("{expected}: no zstd frame begins there"));
    }

    #[test]
    fn a_window_beyond_the_memory_is_refused_with_the_setting_that_helps() {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).expect("an encoder");
        encoder.window_log(31).expect("a setting");
        io::Write::write_all(&mut encoder, b"text").expect("packed");
        let message = read(&encoder.finish().expect("packed")).expect_err("too large");
        assert_eq!(message, "zstd frame 1 of `x.pgn` needs a window of 2048 MiB, and `memory_mib` allows 1024");
    }

    #[test]
    fn gzip_and_bzip2_are_read_to_the_end_of_their_last_member_or_refused() {
        let text: Vec<u8> = (0..50_000_u32).map(|i| b'a' + (i.wrapping_mul(2_654_435_761) >> 29) as u8).collect();
        let mut gzip = flate2::read::GzEncoder::new(&text[..], flate2::Compression::fast());
        let mut bzip2 = bzip2::read::BzEncoder::new(&text[..], bzip2::Compression::fast());
        let mut packed = [Vec::new(), Vec::new()];
        gzip.read_to_end(&mut packed[0]).expect("packed");
        bzip2.read_to_end(&mut packed[1]).expect("packed");
        for (member, packing) in packed.iter().zip(["gzip", "bzip2"]) {
            assert!(read(&member.repeat(3)).expect("whole") == text.repeat(3), "{packing}");
            for cut in [member.len() - 1, member.len() / 2, member.len() + member.len() / 2] {
                let message = read(&member.repeat(2)[..cut]).expect_err("cut short");
                assert_eq!(message, format!("`x.pgn` ends in the middle of a {packing} stream, at byte {cut}"));
            }
            let mut damaged = member.clone();
            let middle = damaged.len() / 2;
            damaged[middle..middle + 20].fill(0x55);
            let message = read(&damaged).expect_err("damaged");
            assert!(message.starts_with(&format!("`x.pgn` does not decode as {packing} before byte ")), "{message}");
        }
    }

    #[test]
    fn what_is_not_read_is_named() {
        for (head, format) in [(&b"7z\xbc\xaf\x27\x1c"[..], "7-Zip"), (b"\xfd7zXZ\0", "xz"), (b"PK\x03\x04", "zip")] {
            let message = read(head).expect_err("not read");
            assert_eq!(message, format!("`x.pgn` is a {format} file, and only plain, zstd, gzip or bzip2 PGN is read"));
        }
    }
}
