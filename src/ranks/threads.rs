//! Ranks that are threads of one process: what tests prove sharing with.

use std::sync::mpsc::{Receiver, Sender, channel};

use anyhow::{Context as _, Result};

use super::{Here, Ranks};

/// One of them. Its channels close with it, so that one that is gone is an error of the others.
pub(crate) struct Thread {
    rank: usize,
    /// To each rank, and from each.
    to: Vec<Sender<Vec<u8>>>,
    from: Vec<Receiver<Vec<u8>>>,
}

/// Does the same work as each of `size` ranks at once, and returns what came of it, by rank.
pub(crate) fn together<T: Send>(size: usize, work: impl Fn(&dyn Ranks) -> T + Sync) -> Vec<T> {
    let mut threads: Vec<Thread> = (0..size).map(|rank| Thread { rank, to: Vec::new(), from: Vec::new() }).collect();
    for from in 0..size {
        for to in 0..size {
            let (sender, receiver) = channel();
            threads[from].to.push(sender);
            threads[to].from.push(receiver);
        }
    }
    std::thread::scope(|scope| {
        let work = &work;
        let running: Vec<_> = threads.into_iter().map(|thread| scope.spawn(move || work(&thread))).collect();
        running.into_iter().map(|thread| thread.join().expect("the work does not panic")).collect()
    })
}

impl Ranks for Thread {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.to.len()
    }

    fn here(&self) -> Here {
        Here { rank: self.rank, size: self.size() }
    }

    fn sum(&self, numbers: &mut [f32]) -> Result<()> {
        for to in &self.to {
            to.send(bytemuck::cast_slice(numbers).to_vec()).context("a rank is gone")?;
        }
        numbers.fill(0.0);
        // In the order of the ranks, whichever this one is: a sum of floats depends on it.
        for from in &self.from {
            let bytes = from.recv().context("a rank is gone")?;
            assert_eq!(bytes.len(), size_of_val(numbers), "all ranks sum the same numbers");
            for (number, more) in numbers.iter_mut().zip(bytes.chunks_exact(4)) {
                *number += f32::from_le_bytes([more[0], more[1], more[2], more[3]]);
            }
        }
        Ok(())
    }

    fn broadcast(&self, bytes: &mut [u8]) -> Result<()> {
        if self.rank == 0 {
            for to in &self.to[1..] {
                to.send(bytes.to_vec()).context("a rank is gone")?;
            }
            return Ok(());
        }
        let told = self.from[0].recv().context("rank 0 is gone")?;
        assert_eq!(told.len(), bytes.len(), "all ranks hear as many bytes");
        bytes.copy_from_slice(&told);
        Ok(())
    }

    fn abort(&self) {}
}
