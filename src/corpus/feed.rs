//! A stream of text, divided at its borders while it is read.
//!
//! What lies between two borders is a stretch of whole games. Before the first border, after the last, and in a
//! text that has none, the text is handed on as it comes, for whoever knows what stood before it.

use std::ops::Range;

use anyhow::Result;

use super::border::{HELD_BACK, first, last};
use super::ordered::Stopped;

/// Takes the parts of a text in order.
pub(super) trait Parts {
    /// Text that continues what came before.
    fn text(&mut self, text: &[u8]) -> Result<(), Stopped>;
    /// Here a game begins, whatever came before.
    fn border(&mut self) -> Result<(), Stopped>;
    /// Whole games lie at `games` in the buffer; afterwards, the bytes at `rest` must be its beginning.
    fn games(&mut self, buffer: &mut Vec<u8>, games: Range<usize>, rest: Range<usize>) -> Result<(), Stopped>;
}

/// Why reading ended early.
pub(super) enum Halt {
    Stopped,
    Failed(anyhow::Error),
}

impl From<Stopped> for Halt {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}

/// Reads until `read` gives nothing more, `piece_bytes` at a time. `buffer` is memory to use, and its content does
/// not matter.
pub(super) fn feed(
    piece_bytes: usize,
    buffer: &mut Vec<u8>,
    mut read: impl FnMut(&mut [u8]) -> Result<usize>,
    parts: &mut impl Parts,
) -> Result<(), Halt> {
    let size = piece_bytes.max(2 * HELD_BACK);
    let mut end = 0;
    // Whether the text at hand follows a border.
    let mut bordered = false;
    // A reader that failed is not asked again.
    let mut failed = None;
    loop {
        buffer.resize(size, 0);
        let mut filled = end;
        if failed.is_none() {
            (filled, failed) = fill(buffer, end, &mut read);
        }
        let all_read = filled < buffer.len() || failed.is_some();
        let mut start = 0;
        if !bordered && let Some(border) = first(&buffer[..filled]) {
            parts.text(&buffer[..border])?;
            parts.border()?;
            (start, bordered) = (border, true);
        }
        let cut = if bordered { last(&buffer[start..filled]).map(|border| start + border) } else { None };
        if let Some(border) = cut {
            parts.games(buffer, start..border, border..filled)?;
            end = filled - border;
        } else if all_read {
            parts.text(&buffer[start..filled])?;
            return failed.map_or(Ok(()), |error| Err(Halt::Failed(error)));
        } else if start > 0 {
            buffer.copy_within(start..filled, 0);
            end = filled - start;
        } else {
            // No border as far as the eye can see: but what is held back may begin one.
            let held_back = filled - HELD_BACK;
            parts.text(&buffer[..held_back])?;
            buffer.copy_within(held_back..filled, 0);
            (end, bordered) = (HELD_BACK, false);
        }
    }
}

/// Fills the buffer from `end` on, and says how far it is filled: less than whole only at the end of the text, or
/// where an error ended it. What came before an error is text like any other.
fn fill(buffer: &mut [u8], mut end: usize, read: &mut impl FnMut(&mut [u8]) -> Result<usize>) -> (usize, Option<anyhow::Error>) {
    while end < buffer.len() {
        match read(&mut buffer[end..]) {
            Ok(0) => break,
            Ok(count) => end += count,
            Err(error) => return (end, Some(error)),
        }
    }
    (end, None)
}
