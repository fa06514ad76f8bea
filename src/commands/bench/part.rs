//! The part of a large file that is measured, as a file of its own: the same for every step and every program.
//!
//! Where frames are announced, the first of them; inside one long frame, its first blocks, closed as a frame.
//! Nothing is decoded for it.

use std::io::{BufReader, ErrorKind, Read, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use fs_err::File;
use tempfile::NamedTempFile;

use crate::error::Fixable;
use crate::text::bytes;

/// Packed bytes that are enough: about 200,000 games.
const PACKED_BYTES: u64 = 64 << 20;
/// Plain text that is as much.
const PLAIN_BYTES: u64 = 448 << 20;
/// Frames for each core, so that none is idle for long.
const FRAMES_PER_CORE: u64 = 4;

const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// A file, or a part of it.
pub(super) struct Part {
    path: PathBuf,
    size: u64,
    whole_size: u64,
    pub(super) packing: &'static str,
    /// Gone with the last use of it.
    temporary: Option<NamedTempFile>,
}

/// Where a file is cut.
struct Cut {
    /// What is taken as it is.
    bytes: u64,
    /// The frame that is cut inside, if any.
    inside: Option<Inside>,
}

struct Inside {
    /// Where the frame begins, and how long its header is.
    frame: u64,
    header: Vec<u8>,
    /// Where the header of its last block is.
    last_block: u64,
}

impl Part {
    /// The part of a file to measure: all of it where it is small, or where the `whole` is asked for.
    pub(super) fn of(path: &Path, name: &str, cores: usize, whole: bool) -> Result<Self> {
        let file = File::open(path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => Fixable::usage(format!("there is no file `{}`", path.display()))
                .hint("name a file of games, such as a month of the archive; `cargo bench --bench month` makes one up")
                .into(),
            _ => anyhow::Error::from(error),
        })?;
        let size = file.metadata()?.len();
        let mut head = Vec::new();
        (&file).take(4).read_to_end(&mut head).with_context(|| format!("reading `{name}`"))?;
        let packing = match head[..] {
            [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => "zstd",
            [0x1f, 0x8b, ..] => "gzip",
            [b'B', b'Z', b'h', _] => "bzip2",
            _ => "plain",
        };
        let enough = if packing == "plain" { PLAIN_BYTES } else { PACKED_BYTES };
        let as_it_is = || Self { path: path.to_owned(), size, whole_size: size, packing, temporary: None };
        if whole || size <= enough {
            return Ok(as_it_is());
        }
        let cut = match packing {
            "zstd" => Some(zstd_cut(&file, size, enough, FRAMES_PER_CORE * cores as u64)?),
            "plain" => Some(Cut { bytes: PLAIN_BYTES, inside: None }),
            _ => {
                return Err(Fixable::usage(format!(
                    "`{name}` has {}, and {packing} cannot be cut without unpacking it",
                    bytes(size)
                ))
                .hint("add --whole to measure all of it, or unpack some of it into a file")
                .into());
            }
        };
        let Some(cut) = cut.filter(|cut| cut.bytes < size) else { return Ok(as_it_is()) };
        let temporary = tempfile::Builder::new()
            .prefix("philidor-bench-")
            .suffix(if packing == "zstd" { ".pgn.zst" } else { ".pgn" })
            .tempfile()
            .context("making a temporary file")?;
        write(&file, &cut, temporary.path()).with_context(|| format!("copying a part of `{name}`"))?;
        let cut_size = temporary.path().metadata()?.len();
        Ok(Self { path: temporary.path().to_owned(), size: cut_size, whole_size: size, packing, temporary: Some(temporary) })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes on disk that are measured.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    pub(super) fn whole_size(&self) -> u64 {
        self.whole_size
    }

    pub(super) fn is_cut(&self) -> bool {
        self.temporary.is_some()
    }
}

/// Walks frames and blocks by their headers (RFC 8878, 3.1.1) until there is enough.
///
/// Announced frames are only cut between them, once there are `frames` of them.
fn zstd_cut(file: &File, size: u64, enough: u64, frames: u64) -> Result<Cut> {
    let mut file = BufReader::new(file);
    let mut at = 0;
    let mut announced = 0;
    while at < size {
        file.seek(SeekFrom::Start(at))?;
        let mut head = [0; 12];
        if file.read_exact(&mut head).is_err() {
            break;
        }
        let after = u64::from(u32::from_le_bytes([head[8], head[9], head[10], head[11]]));
        if head[..8] == [0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0] {
            // The announcement and its frame.
            at += 12 + after;
            announced += 1;
            if at >= enough && announced >= frames {
                break;
            }
        } else if head[..4] == ZSTD_MAGIC {
            let header = frame_header(&head[4..], &mut file)?;
            let frame = at;
            let has_checksum = header[4] & 4 != 0;
            at += header.len() as u64;
            loop {
                file.seek(SeekFrom::Start(at))?;
                let mut block = [0; 3];
                if file.read_exact(&mut block).is_err() {
                    // Cut short: the reader will say so better.
                    return Ok(Cut { bytes: size, inside: None });
                }
                let block_header = u32::from_le_bytes([block[0], block[1], block[2], 0]);
                let length = if block_header >> 1 & 3 == 1 { 1 } else { u64::from(block_header >> 3) };
                let last_block = at;
                at += 3 + length;
                if block_header & 1 == 1 {
                    at += if has_checksum { 4 } else { 0 };
                    break;
                }
                if at >= enough {
                    return Ok(Cut { bytes: at, inside: Some(Inside { frame, header, last_block }) });
                }
            }
            if at >= enough {
                break;
            }
        } else if head[1..4] == [0x2a, 0x4d, 0x18] {
            at += 8 + u64::from(u32::from_le_bytes([head[4], head[5], head[6], head[7]]));
        } else {
            break;
        }
    }
    Ok(Cut { bytes: at.min(size), inside: None })
}

/// The whole header of a frame, of which eight bytes after the magic number were read.
fn frame_header(read: &[u8], more: &mut impl Read) -> Result<Vec<u8>> {
    let descriptor = read[0];
    let is_single = descriptor & 0x20 != 0;
    let window = usize::from(!is_single);
    let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let content = match descriptor >> 6 {
        0 => usize::from(is_single),
        shift => 1 << shift,
    };
    let length = 1 + window + dictionary + content;
    let mut header = [&ZSTD_MAGIC, read].concat();
    if 4 + length > header.len() {
        let have = header.len();
        header.resize(4 + length, 0);
        more.read_exact(&mut header[have..])?;
    }
    header.truncate(4 + length);
    Ok(header)
}

/// The header for a frame that ends early: no content size, no checksum.
fn open_header(header: &[u8]) -> Vec<u8> {
    let descriptor = header[4];
    let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let mut open = [&ZSTD_MAGIC[..], &[descriptor & 3]].concat();
    if descriptor & 0x20 == 0 {
        open.extend_from_slice(&header[5..6 + dictionary]);
    } else {
        // The window was the content: the next power of two that holds it.
        let mut content = [0; 8];
        let field = &header[5 + dictionary..];
        content[..field.len()].copy_from_slice(field);
        let content = u64::from_le_bytes(content) + if field.len() == 2 { 256 } else { 0 };
        let log = content.max(1 << 10).next_power_of_two().trailing_zeros();
        open.push(((log - 10) << 3) as u8);
        open.extend_from_slice(&header[5..5 + dictionary]);
    }
    open
}

fn write(file: &File, cut: &Cut, path: &Path) -> Result<()> {
    let mut file = file;
    let mut out = File::create(path)?;
    file.seek(SeekFrom::Start(0))?;
    let Some(Inside { frame, header, last_block }) = &cut.inside else {
        std::io::copy(&mut file.take(cut.bytes), &mut out)?;
        return Ok(());
    };
    std::io::copy(&mut file.take(*frame), &mut out)?;
    out.write_all(&open_header(header))?;
    let blocks = frame + header.len() as u64;
    file.seek(SeekFrom::Start(blocks))?;
    std::io::copy(&mut file.take(last_block - blocks), &mut out)?;
    let mut block = [0; 1];
    file.read_exact(&mut block)?;
    out.write_all(&[block[0] | 1])?;
    std::io::copy(&mut file.take(cut.bytes - last_block - 1), &mut out)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{below, stream};

    /// Text of which zstd makes several blocks.
    fn text() -> Vec<u8> {
        let mut rng = stream(1, "text", 0);
        (0..600_000).map(|_| b'a' + below(&mut rng, 16) as u8).collect()
    }

    fn cut(packed: &[u8], enough: u64, frames: u64) -> Vec<u8> {
        let dir = tempfile::tempdir().expect("a folder");
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        fs_err::write(&from, packed).expect("written");
        let file = File::open(&from).expect("a file");
        let cut = zstd_cut(&file, packed.len() as u64, enough, frames).expect("walked");
        write(&file, &cut, &to).expect("copied");
        fs_err::read(to).expect("read")
    }

    #[test]
    fn a_frame_cut_inside_decodes_to_the_beginning_of_its_text() {
        let text = text();
        for (checksum, told) in [(true, false), (false, true), (true, true)] {
            let mut encoder = zstd::Encoder::new(Vec::new(), 1).expect("an encoder");
            encoder.include_checksum(checksum).expect("a setting");
            encoder.set_pledged_src_size(told.then_some(text.len() as u64)).expect("a setting");
            encoder.write_all(&text).expect("packed");
            let packed = encoder.finish().expect("packed");
            let part = cut(&packed, packed.len() as u64 / 2, 1);
            assert!(part.len() < packed.len() * 3 / 4, "{} of {}", part.len(), packed.len());
            let unpacked = zstd::decode_all(&part[..]).expect("a whole frame");
            assert!(text.starts_with(&unpacked) && unpacked.len() > text.len() / 3, "{}", unpacked.len());
        }
    }

    #[test]
    fn announced_frames_are_cut_between_them_once_there_are_enough() {
        let frame = zstd::encode_all(&text()[..], 1).expect("packed");
        let size = (frame.len() as u32).to_le_bytes();
        let announced = [&[0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0][..], &size, &frame].concat();
        let packed = announced.repeat(6);
        for (enough, frames, taken) in [(1, 1, 1), (1, 3, 3), (announced.len() as u64 * 2, 1, 2), (1, 99, 6)] {
            assert!(cut(&packed, enough, frames) == announced.repeat(taken), "{enough} {frames}");
        }
    }

    #[test]
    fn what_is_whole_or_damaged_is_taken_as_it_is() {
        let frame = zstd::encode_all(&text()[..], 1).expect("packed");
        for packed in [&frame[..], &frame[..frame.len() - 9], &[&frame[..], b"garbage and more"].concat()] {
            let part = cut(packed, 1 << 30, 1);
            assert!(packed.starts_with(&part) && part.len() >= frame.len() - 9);
        }
    }
}
