//! A corpus file read by several threads, and its games taken in order by one.
//!
//! Where the file tells its frames, each thread unpacks and reads whole frames. Elsewhere one thread unpacks, and
//! the others read what it hands over. In both, text is divided at borders that need nothing of what came before,
//! so the games are the same for any number of threads; what lies across two frames is read by whoever takes
//! the games.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;

use super::config::Keep;
use super::feed::{Halt, Parts, feed};
use super::games::{Batch, Depth, Reader};
use super::ordered::{Ordered, Stopped};
use super::packed::{Packed, Unpacked};
use super::zstd_frames::Region;

/// Slots that are open at a time, for each thread.
const SLOTS_PER_THREAD: u64 = 4;
/// Small frames are read together until they have so many pieces.
const REGION_PIECES: u64 = 4;
/// What is handed to another thread leaves this one's cache anyway: larger pieces then mean fewer meetings.
const HANDED_PIECES: usize = 4;
/// What a slot may hold while the ones before it are not done.
const SLOT_BYTES_MAX: usize = 2 << 20;

/// How a file is read.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) keep: &'a Keep,
    pub(super) depth: Depth,
    /// At least 1.
    pub(super) threads: usize,
    /// What unpacking may remember, in bytes, over all threads.
    pub(super) memory_bytes: u64,
    /// Text that is unpacked at a time.
    pub(super) piece_bytes: usize,
}

/// Part of a file's games, or of its text, in order.
pub(super) enum Piece {
    Games(Batch),
    /// Text that continues what came before.
    Text(Vec<u8>),
    /// Here a game begins, whatever came before.
    Border,
    Failed(anyhow::Error),
}

/// What the threads share.
pub(super) struct Shared {
    pieces: Ordered<Piece>,
    /// Batches to be used again.
    batches: Mutex<Vec<Batch>>,
    /// Memory for text that is handed over, to be used again.
    buffers: Mutex<Vec<Vec<u8>>>,
    /// Bytes of the file that were used, over all threads.
    used: AtomicU64,
    /// Time that unpacking took, over all threads.
    unpacked_ns: AtomicU64,
}

impl Shared {
    /// The next piece in order; none at the end.
    pub(super) fn take(&self) -> Option<Piece> {
        self.pieces.take()
    }

    /// Gives a batch back.
    pub(super) fn recycle(&self, mut batch: Batch) {
        batch.clear();
        self.batches.lock().unwrap_or_else(PoisonError::into_inner).push(batch);
    }

    /// An empty batch.
    pub(super) fn batch(&self) -> Batch {
        self.batches.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    pub(super) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    pub(super) fn unpacked(&self) -> Duration {
        Duration::from_nanos(self.unpacked_ns.load(Ordering::Relaxed))
    }

    /// Reads what is unpacked, timed and counted.
    fn timed<'a>(&'a self, unpacked: &'a mut Unpacked) -> impl FnMut(&mut [u8]) -> Result<usize> + 'a {
        move |text| {
            let (begun, before) = (Instant::now(), unpacked.position());
            let count = unpacked.read(text)?;
            self.unpacked_ns.fetch_add(begun.elapsed().as_nanos() as u64, Ordering::Relaxed);
            self.used.fetch_add(unpacked.position() - before, Ordering::Relaxed);
            Ok(count)
        }
    }
}

/// Reads a file with as many threads as asked, while `take` takes the pieces here.
///
/// `whole` tells that the file is read to its end: then one that was cut short is better refused now than after an hour.
pub(super) fn read<T>(file: &Packed, asked: &Asked, whole: bool, take: impl FnOnce(&Shared) -> Result<T>) -> Result<T> {
    let regions = file.regions(REGION_PIECES * asked.piece_bytes as u64)?;
    if whole {
        file.whole(regions.as_deref().unwrap_or_default())?;
    }
    let shared = Shared {
        pieces: Ordered::new(SLOTS_PER_THREAD * asked.threads as u64 + 1, SLOT_BYTES_MAX),
        batches: Mutex::default(),
        buffers: Mutex::default(),
        used: AtomicU64::new(0),
        unpacked_ns: AtomicU64::new(0),
    };
    std::thread::scope(|scope| {
        let _home = SendHome(&shared);
        match &regions {
            None if asked.threads > 1 => {
                let (sender, receiver) = sync_channel(asked.threads);
                let receiver = Arc::new(Mutex::new(receiver));
                for _ in 1..asked.threads {
                    let (shared, receiver) = (&shared, Arc::clone(&receiver));
                    scope.spawn(move || read_handed(asked, &receiver, shared));
                }
                let shared = &shared;
                scope.spawn(move || unpack(file, asked, sender, shared));
            }
            None => {
                let whole = [Region { bytes: 0..file.size(), frames_before: 0, frames: 0, window_bytes: 0 }];
                let shared = &shared;
                scope.spawn(move || read_regions(file, asked, asked.memory_bytes, &whole, shared));
            }
            Some(regions) => {
                let (threads, memory_bytes) = share_memory(asked, regions);
                for _ in 0..threads {
                    let shared = &shared;
                    scope.spawn(move || read_regions(file, asked, memory_bytes, regions, shared));
                }
            }
        }
        take(&shared)
    })
}

/// As many threads as there is memory for, at least one, and what each may take.
fn share_memory(asked: &Asked, regions: &[Region]) -> (usize, u64) {
    let window = regions.iter().map(|region| region.window_bytes).max().unwrap_or(0).max(1);
    let fit = usize::try_from(asked.memory_bytes / window).unwrap_or(usize::MAX);
    let threads = asked.threads.min(fit).min(regions.len()).max(1);
    (threads, asked.memory_bytes / threads as u64)
}

/// Whoever leaves, done or in a panic, lets nobody wait.
struct SendHome<'a>(&'a Shared);

impl Drop for SendHome<'_> {
    fn drop(&mut self) {
        self.0.pieces.stop();
    }
}

/// As above, but only in a panic.
struct OnPanic<'a>(&'a Shared);

impl Drop for OnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.pieces.stop();
        }
    }
}

/// Unpacks and reads one region after the other, as long as there are any.
fn read_regions(file: &Packed, asked: &Asked, memory_bytes: u64, regions: &[Region], shared: &Shared) {
    let _home = OnPanic(shared);
    let mut here = Here { slot: 0, reader: Reader::new(asked.keep, asked.depth), shared };
    let mut buffer = Vec::new();
    let mut unpacked = None;
    while let Ok(slot) = shared.pieces.open() {
        let Some(region) = regions.get(slot as usize) else {
            shared.pieces.close(slot);
            return shared.pieces.end();
        };
        here.slot = slot;
        let mut run = || -> Result<(), Halt> {
            let unpacked = match &mut unpacked {
                Some(unpacked) => unpacked,
                none => none.insert(file.unpack(memory_bytes).map_err(Halt::Failed)?),
            };
            unpacked.seek(region).map_err(Halt::Failed)?;
            feed(asked.piece_bytes, &mut buffer, shared.timed(unpacked), &mut here)
        };
        match run() {
            Ok(()) => shared.pieces.close(slot),
            Err(Halt::Failed(error)) => {
                shared.pieces.push(slot, Piece::Failed(error), 0).ok();
                shared.pieces.close(slot);
            }
            Err(Halt::Stopped) => return,
        }
    }
}

/// Reads the games where they were unpacked, into one slot.
struct Here<'a> {
    slot: u64,
    reader: Reader<'a>,
    shared: &'a Shared,
}

impl Parts for Here<'_> {
    fn text(&mut self, text: &[u8]) -> Result<(), Stopped> {
        self.shared.pieces.push(self.slot, Piece::Text(text.to_vec()), text.len())
    }

    fn border(&mut self) -> Result<(), Stopped> {
        self.shared.pieces.push(self.slot, Piece::Border, 0)
    }

    fn games(&mut self, buffer: &mut Vec<u8>, games: Range<usize>, rest: Range<usize>) -> Result<(), Stopped> {
        let mut batch = self.shared.batch();
        self.reader.read(&buffer[games], true, &mut batch);
        buffer.copy_within(rest, 0);
        let bytes = batch.bytes();
        self.shared.pieces.push(self.slot, Piece::Games(batch), bytes)
    }
}

/// Text for another thread to read, and the slot for its games.
struct Handed {
    slot: u64,
    buffer: Vec<u8>,
    games: Range<usize>,
}

/// Unpacks the whole file and hands it over, a slot for each part.
fn unpack(file: &Packed, asked: &Asked, sender: SyncSender<Handed>, shared: &Shared) {
    let _home = OnPanic(shared);
    let mut over = Over { sender, shared };
    let mut run = || -> Result<(), Halt> {
        let mut unpacked = file.unpack(asked.memory_bytes).map_err(Halt::Failed)?;
        feed(HANDED_PIECES * asked.piece_bytes, &mut Vec::new(), shared.timed(&mut unpacked), &mut over)
    };
    if let Err(Halt::Failed(error)) = run() {
        over.alone(Piece::Failed(error)).ok();
    }
    shared.pieces.end();
}

struct Over<'a> {
    sender: SyncSender<Handed>,
    shared: &'a Shared,
}

impl Over<'_> {
    /// Puts a piece into a slot of its own.
    fn alone(&mut self, piece: Piece) -> Result<(), Stopped> {
        let slot = self.shared.pieces.open()?;
        self.shared.pieces.push(slot, piece, 0)?;
        self.shared.pieces.close(slot);
        Ok(())
    }
}

impl Parts for Over<'_> {
    fn text(&mut self, text: &[u8]) -> Result<(), Stopped> {
        self.alone(Piece::Text(text.to_vec()))
    }

    fn border(&mut self) -> Result<(), Stopped> {
        self.alone(Piece::Border)
    }

    fn games(&mut self, buffer: &mut Vec<u8>, games: Range<usize>, rest: Range<usize>) -> Result<(), Stopped> {
        let mut next = self.shared.buffers.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        next.resize(buffer.len(), 0);
        next[..rest.len()].copy_from_slice(&buffer[rest]);
        let slot = self.shared.pieces.open()?;
        let buffer = std::mem::replace(buffer, next);
        let handed = Handed { slot, buffer, games };
        self.sender.send(handed).map_err(|_| Stopped)
    }
}

/// Reads what is handed over, as long as anything is.
fn read_handed(asked: &Asked, handed: &Mutex<Receiver<Handed>>, shared: &Shared) {
    let _home = OnPanic(shared);
    let mut reader = Reader::new(asked.keep, asked.depth);
    loop {
        let next = handed.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Handed { slot, buffer, games }) = next else { return };
        let mut batch = shared.batch();
        reader.read(&buffer[games], true, &mut batch);
        shared.buffers.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
        let bytes = batch.bytes();
        if shared.pieces.push(slot, Piece::Games(batch), bytes).is_err() {
            return;
        }
        shared.pieces.close(slot);
    }
}
