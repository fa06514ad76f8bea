//! Ranks that `mpirun` started, on this machine or on several.

use std::cell::RefCell;

use ::mpi::collective::SystemOperation;
use ::mpi::environment::Universe;
use ::mpi::topology::SimpleCommunicator;
use ::mpi::traits::{Communicator as _, CommunicatorCollectives as _, Root as _};
use ::mpi::{Threading, initialize_with_threading};
use anyhow::{Context as _, Result};

use super::{Here, Ranks};

/// All processes of the job. MPI ends with it, so it lives as long as the process.
pub struct World {
    all: SimpleCommunicator,
    here: Here,
    /// Where sums arrive before they replace what was summed.
    sums: RefCell<Vec<f32>>,
    /// Dropped last: everything above needs MPI.
    _universe: Universe,
}

/// Numbers summed at a time: few enough to stay in the cache until they are copied back, and enough for the full speed of a
/// network.
const AT_ONCE: usize = 1 << 20;

impl World {
    /// Joins the processes that the same `mpirun` started. Only the thread that calls this may use it.
    ///
    /// # Errors
    ///
    /// Where this process has joined before.
    pub fn join() -> Result<Self> {
        let (universe, _) = initialize_with_threading(Threading::Funneled).context("MPI can be begun once in a process")?;
        let all = universe.world();
        let machine = all.split_shared(all.rank());
        let here = Here { rank: machine.rank() as usize, size: machine.size() as usize };
        Ok(Self { all, here, sums: RefCell::default(), _universe: universe })
    }
}

impl Ranks for World {
    fn rank(&self) -> usize {
        self.all.rank() as usize
    }

    fn size(&self) -> usize {
        self.all.size() as usize
    }

    fn here(&self) -> Here {
        self.here
    }

    fn sum(&self, numbers: &mut [f32]) -> Result<()> {
        let mut sums = self.sums.borrow_mut();
        let length = sums.len().max(numbers.len().min(AT_ONCE));
        sums.resize(length, 0.0);
        for some in numbers.chunks_mut(AT_ONCE) {
            let sums = &mut sums[..some.len()];
            self.all.all_reduce_into(&*some, sums, SystemOperation::sum());
            some.copy_from_slice(sums);
        }
        Ok(())
    }

    fn broadcast(&self, bytes: &mut [u8]) -> Result<()> {
        for some in bytes.chunks_mut(i32::MAX as usize) {
            self.all.process_at_rank(0).broadcast_into(some);
        }
        Ok(())
    }

    fn abort(&self) {
        self.all.abort(1)
    }
}
