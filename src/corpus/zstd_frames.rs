//! The frames of a zstd file: their bounds where the file tells them, and the text in them.
//!
//! `pzstd` writes independent frames, each after a skippable frame of twelve bytes (magic 0x184D2A50, length 4)
//! that holds the compressed size of the next frame. So the bounds of all frames are found by hops, without
//! decoding, and each frame can be decoded by another thread.

use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use anyhow::Result;
use fs_err::File;
use zstd::zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, ResetDirective, get_error_name};

use super::packed::{DAMAGED, cut_short};
use crate::error::Fixable;

const FRAME_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Before each frame: magic, length, size of the frame.
const SIZE_MARK_BYTES: usize = 12;
/// The most that a frame's header takes.
const HEADER_BYTES_MAX: usize = 18;
/// Compressed bytes read at once.
const PIECE_BYTES: usize = 128 << 10;
/// The largest window that zstd knows: `zstd --ultra --long=31` writes it.
const WINDOW_LOG_MAX: u32 = 31;

/// Part of a file that begins and ends between frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Region {
    pub(super) bytes: Range<u64>,
    /// Frames before it, skippable ones not counted.
    pub(super) frames_before: u64,
    /// Frames up to its end.
    pub(super) frames: u64,
    /// Bytes of text that must be remembered to decode it; 0 where that is not known.
    pub(super) window_bytes: u64,
}

/// The frames of a file that `pzstd` wrote, or none where the file does not tell them all. Small ones are put together
/// until they have `least_bytes`.
///
/// The last may end after the file: then the file was cut short.
pub(super) fn hop(file: &File, size: u64, least_bytes: u64) -> Result<Option<Vec<Region>>> {
    let mut regions: Vec<Region> = Vec::new();
    let (mut at, mut frames) = (0, 0);
    while at < size {
        let mut head = [0; SIZE_MARK_BYTES + HEADER_BYTES_MAX];
        let count = read_at(file, &mut head, at)?;
        let head = &head[..count];
        if count < SIZE_MARK_BYTES || head[..8] != [0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0] {
            return Ok(None);
        }
        let bytes = u32::from_le_bytes([head[8], head[9], head[10], head[11]]);
        if bytes == 0 || (count >= SIZE_MARK_BYTES + 4 && head[SIZE_MARK_BYTES..SIZE_MARK_BYTES + 4] != FRAME_MAGIC) {
            return Ok(None);
        }
        let end = at + SIZE_MARK_BYTES as u64 + u64::from(bytes);
        let window_bytes = window_bytes(&head[SIZE_MARK_BYTES..]).unwrap_or(0);
        match regions.last_mut().filter(|region| region.bytes.end - region.bytes.start < least_bytes) {
            Some(small) => {
                (small.bytes.end, small.frames) = (end, frames + 1);
                small.window_bytes = small.window_bytes.max(window_bytes);
            }
            None => regions.push(Region { bytes: at..end, frames_before: frames, frames: frames + 1, window_bytes }),
        }
        (at, frames) = (end, frames + 1);
    }
    Ok((regions.len() > 1).then_some(regions))
}

/// Whether the first bytes of a frame, fewer than its magic number, may be those.
fn begins_frame(head: &[u8]) -> bool {
    let skippable = head[0] & 0xf0 == 0x50 && [0x2a, 0x4d, 0x18].starts_with(&head[1..head.len().min(4)]);
    FRAME_MAGIC.starts_with(&head[..head.len().min(4)]) || skippable
}

/// How much a frame asks the decoder to remember, from its header (RFC 8878, 3.1.1.1).
pub(super) fn window_bytes(header: &[u8]) -> Option<u64> {
    let descriptor = *header.strip_prefix(&FRAME_MAGIC)?.first()?;
    let rest = &header[5..];
    if descriptor & 0x20 == 0 {
        let window = u64::from(*rest.first()?);
        let base = 1 << (10 + (window >> 3));
        return Some(base + base / 8 * (window & 7));
    }
    // A single segment: the window is the content.
    let dictionary_bytes = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let field = rest.get(dictionary_bytes..)?;
    Some(match descriptor >> 6 {
        0 => u64::from(*field.first()?),
        1 => u64::from(u16::from_le_bytes(field.get(..2)?.try_into().ok()?)) + 256,
        2 => u64::from(u32::from_le_bytes(field.get(..4)?.try_into().ok()?)),
        _ => u64::from_le_bytes(field.get(..8)?.try_into().ok()?),
    })
}

/// Decodes a region of a file.
pub(super) struct ZstdReader {
    file: Arc<File>,
    name: String,
    size: u64,
    decoder: DCtx<'static>,
    /// Compressed bytes, read and not yet used.
    buffer: Vec<u8>,
    used: usize,
    filled: usize,
    /// Where in the file the buffer ends, and where the region does.
    at: u64,
    end: u64,
    /// The frame at hand, counted from 1.
    frame: u64,
    in_frame: bool,
    memory_bytes: u64,
}

impl ZstdReader {
    /// `memory_bytes` bounds the window of a frame.
    pub(super) fn new(file: Arc<File>, name: &str, size: u64, memory_bytes: u64) -> Result<Self> {
        let mut decoder = DCtx::try_create().ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))?;
        decoder.set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX)).map_err(|code| io::Error::other(get_error_name(code)))?;
        Ok(Self {
            file,
            name: name.to_owned(),
            size,
            decoder,
            buffer: vec![0; PIECE_BYTES],
            used: 0,
            filled: 0,
            at: 0,
            end: 0,
            frame: 0,
            in_frame: false,
            memory_bytes,
        })
    }

    /// Goes to a region.
    pub(super) fn seek(&mut self, region: &Region) -> Result<()> {
        self.decoder.reset(ResetDirective::SessionOnly).map_err(|code| io::Error::other(get_error_name(code)))?;
        (self.used, self.filled, self.in_frame) = (0, 0, false);
        (self.at, self.end, self.frame) = (region.bytes.start, region.bytes.end, region.frames_before);
        Ok(())
    }

    /// The place in the file of the next byte to use.
    pub(super) fn position(&self) -> u64 {
        self.at - (self.filled - self.used) as u64
    }

    /// Fills the beginning of `text`; 0 bytes at the end of the region.
    pub(super) fn read(&mut self, text: &mut [u8]) -> Result<usize> {
        loop {
            if !self.in_frame && !self.begin_frame()? {
                return Ok(0);
            }
            // Without more input, there may still be text that did not fit the last time.
            let ended = self.used == self.filled && !self.fill()?;
            let mut input = InBuffer { src: &self.buffer[..self.filled], pos: self.used };
            let mut output = OutBuffer::around(text);
            let left = self.decoder.decompress_stream(&mut output, &mut input);
            let count = output.pos();
            self.used = input.pos;
            match left {
                Ok(left) => self.in_frame = left > 0,
                Err(code) => return Err(self.damaged(get_error_name(code)).into()),
            }
            if count > 0 {
                return Ok(count);
            }
            if ended && self.in_frame {
                return Err(self.cut_short(&format!("zstd frame {}", self.frame)).into());
            }
        }
    }

    /// Steps over skippable frames to the next one; false at the end of the region.
    fn begin_frame(&mut self) -> Result<bool> {
        loop {
            let (head, count) = self.peek()?;
            match &head[..count] {
                [] => return Ok(false),
                [0x28, 0xb5, 0x2f, 0xfd, ..] => {
                    let window = window_bytes(&head).unwrap_or(0);
                    self.frame += 1;
                    if window > self.memory_bytes {
                        return Err(self.too_large(window).into());
                    }
                    self.in_frame = true;
                    return Ok(true);
                }
                [0x50..=0x5f, 0x2a, 0x4d, 0x18, a, b, c, d, ..] => {
                    let bytes = 8 + u64::from(u32::from_le_bytes([*a, *b, *c, *d]));
                    let next = self.position() + bytes;
                    if next > self.end || next > self.size {
                        self.at = self.end.min(self.size);
                        (self.used, self.filled) = (0, 0);
                        return Err(self.cut_short("a skippable frame").into());
                    }
                    let buffered = (self.filled - self.used) as u64;
                    if bytes <= buffered {
                        self.used += bytes as usize;
                    } else {
                        (self.used, self.filled, self.at) = (0, 0, next);
                    }
                }
                // Too few bytes to tell.
                head if count < 8 && begins_frame(head) && self.position() + count as u64 >= self.end.min(self.size) => {
                    self.used = self.filled;
                    return Err(self.cut_short(&format!("zstd frame {}", self.frame + 1)).into());
                }
                _ => return Err(self.damaged("no zstd frame begins there").into()),
            }
        }
    }

    /// The next bytes, and how many of them the region has.
    fn peek(&mut self) -> Result<([u8; HEADER_BYTES_MAX], usize)> {
        while self.filled - self.used < HEADER_BYTES_MAX {
            self.buffer.copy_within(self.used..self.filled, 0);
            (self.used, self.filled) = (0, self.filled - self.used);
            if !self.fill()? {
                break;
            }
        }
        let mut head = [0; HEADER_BYTES_MAX];
        let count = HEADER_BYTES_MAX.min(self.filled - self.used);
        head[..count].copy_from_slice(&self.buffer[self.used..self.used + count]);
        Ok((head, count))
    }

    /// Reads on behind what is there; false at the end of the region or the file.
    fn fill(&mut self) -> Result<bool> {
        if self.used == self.filled {
            (self.used, self.filled) = (0, 0);
        }
        let room = (self.buffer.len() - self.filled).min(usize::try_from(self.end - self.at.min(self.end)).unwrap_or(usize::MAX));
        let count = read_at(&self.file, &mut self.buffer[self.filled..self.filled + room], self.at)?;
        self.filled += count;
        self.at += count as u64;
        Ok(count > 0)
    }

    fn cut_short(&self, inside: &str) -> Fixable {
        let (name, position) = (&self.name, self.position());
        if self.end < self.size {
            let where_said = "where the file says that it ends";
            return Fixable::failed(format!("`{name}` does not decode: {inside} goes on at byte {position}, {where_said}"))
                .hint(DAMAGED);
        }
        cut_short(name, inside, position)
    }

    fn damaged(&self, why: &str) -> Fixable {
        let (name, frame, position, size) = (&self.name, self.frame, self.position(), self.size);
        let place = if self.in_frame { format!("in zstd frame {frame}") } else { format!("after zstd frame {frame}") };
        Fixable::failed(format!("`{name}` does not decode {place}, at byte {position} of {size}: {why}")).hint(DAMAGED)
    }

    fn too_large(&self, window: u64) -> Fixable {
        let (name, frame) = (&self.name, self.frame);
        let [wanted, allowed] = [window.div_ceil(1 << 20), self.memory_bytes >> 20];
        Fixable::failed(format!(
            "zstd frame {frame} of `{name}` needs a window of {wanted} MiB, and `memory_mib` allows {allowed}"
        ))
        .hint(format!("set memory_mib = {} in philidor.toml, or pack the file with a smaller window", wanted.next_power_of_two()))
    }
}

/// Reads as much as there is, up to the length of `bytes`.
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    let mut count = 0;
    while count < bytes.len() {
        match file.file().read_at(&mut bytes[count..], at + count as u64) {
            Ok(0) => break,
            Ok(more) => count += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}
