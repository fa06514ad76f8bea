//! Packs text as `pzstd` does: independent zstd frames, each announced by a skippable frame that holds its size.
//!
//! The bounds of all frames can thus be found without decoding, and the frames decoded side by side.

use std::io::{self, Write};

use super::config::Frames;

/// Magic number of the skippable frame that `pzstd` writes, and the length of what follows.
const ANNOUNCEMENT: [u8; 8] = [0x50, 0x2A, 0x4D, 0x18, 4, 0, 0, 0];

pub(crate) struct Packer<W> {
    out: W,
    frames: Frames,
    text: Vec<u8>,
    packed_bytes: u64,
}

impl<W: Write> Packer<W> {
    pub(crate) fn new(out: W, frames: Frames) -> Self {
        Self { out, frames, text: Vec::new(), packed_bytes: 0 }
    }

    pub(crate) fn push(&mut self, text: &[u8]) -> io::Result<()> {
        self.text.extend_from_slice(text);
        let size = self.frames.text_bytes as usize;
        while self.text.len() >= size {
            let rest = self.text.split_off(size);
            self.write_frame()?;
            self.text = rest;
        }
        Ok(())
    }

    /// Writes what is left; gives back the writer and how many bytes it was given in all.
    pub(crate) fn finish(mut self) -> io::Result<(W, u64)> {
        if !self.text.is_empty() {
            self.write_frame()?;
        }
        Ok((self.out, self.packed_bytes))
    }

    fn write_frame(&mut self) -> io::Result<()> {
        let mut compressor = zstd::bulk::Compressor::new(self.frames.level)?;
        compressor.include_checksum(true)?;
        let frame = compressor.compress(&self.text)?;
        let size = u32::try_from(frame.len()).map_err(io::Error::other)?;
        self.out.write_all(&ANNOUNCEMENT)?;
        self.out.write_all(&size.to_le_bytes())?;
        self.out.write_all(&frame)?;
        self.packed_bytes += 12 + u64::from(size);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_frame_is_announced_with_its_size_and_holds_its_share_of_the_text() {
        let text: Vec<u8> = (0..2_500_u32).map(|index| (index % 251) as u8).collect();
        let mut packer = Packer::new(Vec::new(), Frames { text_bytes: 1_000, level: 3 });
        for piece in text.chunks(333) {
            packer.push(piece).expect("memory takes it");
        }
        let (written, bytes) = packer.finish().expect("memory takes it");
        assert_eq!(written.len() as u64, bytes);
        let (mut rest, mut sizes) = (&written[..], Vec::new());
        while let Some((head, tail)) = rest.split_first_chunk::<12>() {
            assert_eq!(head[..8], [0x50, 0x2A, 0x4D, 0x18, 4, 0, 0, 0]);
            let size = u32::from_le_bytes([head[8], head[9], head[10], head[11]]) as usize;
            sizes.push(zstd::bulk::decompress(&tail[..size], 2_000).expect("a whole frame").len());
            rest = &tail[size..];
        }
        assert_eq!((sizes, rest.len()), (vec![1_000, 1_000, 500], 0));
        assert_eq!(zstd::decode_all(&written[..]).expect("zstd passes over the announcements"), text);
    }
}
