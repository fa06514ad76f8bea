//! Packs text as zstd: one frame, or as `pzstd` does it.

use std::io::{self, Read, Write};

use zstd::stream::Encoder;

/// Text of a frame that `pzstd -19` writes.
pub(crate) const FRAME_TEXT_BYTES: usize = 32 << 20;
/// 8 MiB: what level 19 takes, and the archive has.
const WINDOW_LOG: u32 = 23;
/// Magic number of the skippable frame that `pzstd` writes before each frame, and the length of what follows.
const ANNOUNCEMENT: [u8; 8] = [0x50, 0x2A, 0x4D, 0x18, 4, 0, 0, 0];

/// All of the text as one frame.
pub(crate) fn one_frame(mut text: impl Read, out: impl Write, level: i32) -> io::Result<()> {
    let mut encoder = encoder(out, level)?;
    io::copy(&mut text, &mut encoder)?;
    encoder.finish()?.flush()
}

/// Independent frames of `text_bytes` each, each announced by its size; `threads` of them are packed at a time.
pub(crate) fn frames(mut text: impl Read, mut out: impl Write, level: i32, text_bytes: usize, threads: usize) -> io::Result<()> {
    loop {
        let mut pieces = Vec::new();
        while pieces.len() < threads {
            let mut piece = Vec::with_capacity(text_bytes);
            text.by_ref().take(text_bytes as u64).read_to_end(&mut piece)?;
            if piece.is_empty() {
                break;
            }
            pieces.push(piece);
        }
        if pieces.is_empty() {
            return out.flush();
        }
        let packed = std::thread::scope(|scope| {
            let workers: Vec<_> = pieces.iter().map(|piece| scope.spawn(|| frame(piece, level))).collect();
            workers.into_iter().map(|worker| worker.join().expect("packing does not panic")).collect::<io::Result<Vec<_>>>()
        })?;
        for frame in packed {
            out.write_all(&ANNOUNCEMENT)?;
            out.write_all(&u32::try_from(frame.len()).map_err(io::Error::other)?.to_le_bytes())?;
            out.write_all(&frame)?;
        }
    }
}

fn frame(text: &[u8], level: i32) -> io::Result<Vec<u8>> {
    let mut encoder = encoder(Vec::new(), level)?;
    encoder.write_all(text)?;
    encoder.finish()
}

/// As `pzstd` sets it: no size of the content, a checksum at the end.
fn encoder<W: Write>(out: W, level: i32) -> io::Result<Encoder<'static, W>> {
    let mut encoder = Encoder::new(out, level)?;
    encoder.window_log(WINDOW_LOG)?;
    encoder.include_checksum(true)?;
    Ok(encoder)
}
