//! A file of any bytes, read as a corpus, and all that the reading says.

use std::ffi::CString;
use std::fs::File;
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use crate::corpus::config::Keep;
use crate::corpus::packed::Packed;
use crate::corpus::pgn::{Means, parse};
use crate::error::Fixable;
use crate::progress::silent;

/// What a reading found.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Moves of the kept games, in order.
    pub games: Vec<Vec<u16>>,
    /// The account as JSON, or the message for the user.
    pub account: Result<String, String>,
}

/// A file in memory, for one reading after the other.
pub struct Scratch {
    file: File,
    path: PathBuf,
}

impl Default for Scratch {
    fn default() -> Self {
        let name = CString::new("fuzz").expect("no zero in it");
        // SAFETY: the name lives until the call returns, and the descriptor belongs to nobody else.
        let file = unsafe { File::from_raw_fd(libc::memfd_create(name.as_ptr(), 0)) };
        let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
        Self { file, path }
    }
}

impl Scratch {
    /// Reads a file of these bytes.
    ///
    /// # Panics
    ///
    /// Where the reading fails in a way that no user can mend.
    pub fn read(&self, bytes: &[u8], threads: usize, piece_bytes: usize, moves: Option<u64>) -> Outcome {
        self.file.set_len(0).expect("a file in memory");
        self.file.write_all_at(bytes, 0).expect("a file in memory");
        let mut games = Vec::new();
        let mut means = Means::new(threads, 16 << 20);
        means.piece_bytes = piece_bytes;
        let account = Packed::open(&self.path, "x.pgn")
            .and_then(|file| {
                parse(&file, &Keep::default(), moves, means, silent(), &mut |tokens, _| {
                    games.push(tokens.to_vec());
                    Ok(())
                })
            })
            .map(|(report, _)| serde_json::to_string(&report).expect("it serialises"))
            .map_err(|error| error.downcast::<Fixable>().expect("the user can mend it").message);
        Outcome { games, account }
    }
}
