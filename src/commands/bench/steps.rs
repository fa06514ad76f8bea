//! The steps of reading a corpus, each run alone and with those before it.

use std::io::Read as _;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::Result;
use fs_err::File;

use super::cpu;
use super::part::Part;
use crate::corpus::Depth;
use crate::corpus::config::Keep;
use crate::corpus::packed::Packed;
use crate::corpus::pgn::{Means, parse};
use crate::corpus::report::ParseReport;
use crate::memory;
use crate::progress::Progress;

/// Read from the disk at once.
const PIECE_BYTES: usize = 1 << 20;

/// How far a file is read, and by how many threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) threads: usize,
    /// None: only the bytes of the file.
    depth: Option<Depth>,
}

/// One run of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) seconds: f64,
    /// Of the processors, over all threads.
    pub(super) cpu_seconds: f64,
    /// Of all threads together: unpacking, scanning, replaying.
    pub(super) thread_seconds: [f64; 3],
    /// The most memory that this process had while it ran, in bytes, where the system tells.
    pub(super) peak_bytes: Option<u64>,
}

/// What the file holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counts {
    pub(super) games: u64,
    pub(super) kept: u64,
    pub(super) plies: u64,
    pub(super) text_bytes: u64,
}

pub(super) const READ: &str = "read";
pub(super) const DECODE: &str = "decode";
pub(super) const SCAN: &str = "decode + scan";
pub(super) const WHOLE: &str = "whole";

/// Every step, for every number of threads worth trying; one more than cores, since a decoder may stand apart.
pub(super) fn ladder(cores: usize) -> Vec<Step> {
    let mut threads: Vec<usize> = if cores <= 8 {
        (1..=cores + 1).collect()
    } else {
        (0..=cores.ilog2()).map(|power| 1 << power).chain([cores, cores + 1]).collect()
    };
    threads.dedup();
    let steps = [(DECODE, Depth::Unpack), (SCAN, Depth::Scan), (WHOLE, Depth::Replay)];
    let each =
        steps.iter().flat_map(|&(name, depth)| threads.iter().map(move |&threads| Step { name, threads, depth: Some(depth) }));
    std::iter::once(Step { name: READ, threads: 1, depth: None }).chain(each).collect()
}

/// The file to measure on.
pub(super) struct Bench<'a> {
    part: &'a Part,
    packed: Packed,
    keep: &'a Keep,
    /// What unpacking may remember.
    memory_bytes: u64,
    stop: &'a AtomicBool,
}

impl<'a> Bench<'a> {
    pub(super) fn new(part: &'a Part, name: &str, keep: &'a Keep, memory_bytes: u64, stop: &'a AtomicBool) -> Result<Self> {
        Ok(Self { part, packed: Packed::open(part.path(), name)?, keep, memory_bytes, stop })
    }

    pub(super) fn should_stop(&self) -> bool {
        self.stop.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// Reads the whole once, which is not measured.
    pub(super) fn count(&self, threads: usize) -> Result<Counts> {
        let (report, measured) = self.parse(Depth::Replay, threads)?;
        Ok(Counts { games: report.read, kept: report.kept, plies: report.plies, text_bytes: measured.text_bytes })
    }

    pub(super) fn run(&self, step: &Step) -> Result<Sample> {
        memory::reset_peak();
        let (begun, cpu_before) = (Instant::now(), cpu::seconds());
        let thread_seconds = match step.depth {
            None => {
                self.read()?;
                [0.0; 3]
            }
            Some(depth) => {
                let (_, measured) = self.parse(depth, step.threads)?;
                [measured.unpack, measured.scan, measured.replay].map(|spent| spent.as_secs_f64())
            }
        };
        Ok(Sample {
            seconds: begun.elapsed().as_secs_f64(),
            cpu_seconds: cpu::seconds() - cpu_before,
            thread_seconds,
            peak_bytes: memory::peak_bytes(),
        })
    }

    /// From the disk, where the system can be made to forget the file.
    fn read(&self) -> Result<()> {
        let mut file = File::open(self.part.path())?;
        forget(&file);
        let mut piece = vec![0; PIECE_BYTES];
        while file.read(&mut piece)? > 0 {}
        Ok(())
    }

    /// The moves are copied as they come, as a writer to disk does.
    fn parse(&self, depth: Depth, threads: usize) -> Result<(ParseReport, crate::corpus::pgn::Measured)> {
        let means = Means { depth, ..Means::new(threads, self.memory_bytes) };
        let mut written: Vec<u16> = Vec::with_capacity(PIECE_BYTES);
        parse(&self.packed, self.keep, None, means, Progress::new(&|_| (), self.stop), &mut |moves, _| {
            if written.len() + moves.len() > PIECE_BYTES {
                written.clear();
            }
            written.extend_from_slice(moves);
            Ok(())
        })
    }
}

#[expect(unsafe_code, reason = "the standard library cannot tell the system to forget a file")]
fn forget(file: &File) {
    use std::os::fd::AsRawFd as _;
    // SAFETY: the descriptor is open as long as the file is borrowed. It is advice: nothing is wrong where it fails.
    let _ = unsafe { libc::posix_fadvise(file.file().as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_is_tried_with_one_thread_with_all_and_with_one_more() {
        for (cores, wanted) in [(1, vec![1, 2]), (2, vec![1, 2, 3]), (8, (1..=9).collect()), (12, vec![1, 2, 4, 8, 12, 13])] {
            let steps = ladder(cores);
            assert_eq!((steps[0].name, steps[0].threads), (READ, 1));
            for name in [DECODE, SCAN, WHOLE] {
                let threads: Vec<usize> = steps.iter().filter(|step| step.name == name).map(|step| step.threads).collect();
                assert_eq!(threads, wanted, "{name} on {cores} cores");
            }
        }
    }
}
