//! Batches filled ahead of the device, by a thread of their own, in a few slots of memory that are used again and again.
//!
//! Batches come in order, each a pure function of its number, so a training that resumes begins at the number it is at. The
//! thread sleeps while all slots are full: it takes no core from libtorch's threads for longer than it fills.
//!
//! A slot is filled again only when nobody can look at it any more. On the CPU a batch is the memory of its slot, which the
//! backward pass of the embedding still reads: the slot comes back when the [`Taken`] is dropped, which the trainer does
//! after the backward pass. On CUDA the slot is pinned and copied while the host goes on: it comes back once the device has
//! come to the mark that was set after the copy.

use std::cell::RefCell;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::Scope;

use anyhow::{Context as _, Result, anyhow, ensure};
use tch::Device;

use super::copies::Copies;
use super::rows::{Rows, Scratch};
use super::slot::Slot;
use super::windows::{Batch, Windows};
use crate::error::panic_text;

/// One in use, the others ahead; on CUDA three may be on their way to the device for a moment.
const SLOTS: usize = 4;

/// Dropping it ends its thread.
pub struct Loader {
    filled: Receiver<Result<Slot, String>>,
    free: SyncSender<Slot>,
    /// Those that a CUDA device may not have made yet.
    copies: Option<RefCell<Copies>>,
    by_game: bool,
}

/// A batch in use. Its slot goes back to be filled when it is dropped, so all that was computed from it must be gone by then,
/// or be of no more use for a backward pass.
pub struct Taken<'l> {
    batch: Option<Batch>,
    slot: Option<(Slot, &'l SyncSender<Slot>)>,
}

impl Loader {
    /// Begins to fill batches, from number `first` on.
    ///
    /// # Errors
    ///
    /// Where there is no memory for the slots, or no thread.
    pub fn start<'scope, 'a: 'scope>(scope: &'scope Scope<'scope, '_>, windows: &Windows<'a>, first: u64) -> Result<Self> {
        let (rows, device) = windows.source();
        let (free, empty) = sync_channel(SLOTS);
        // With room for all slots there is nothing to wait for in giving one back.
        let (full, filled) = sync_channel(SLOTS);
        for _ in 0..SLOTS {
            free.send(Slot::new(rows, device, true)?).ok().context("the other end is held below")?;
        }
        let rows = rows.clone();
        std::thread::Builder::new()
            .name("loader".to_owned())
            .spawn_scoped(scope, move || fill_ahead(&rows, first, &empty, &full))?;
        let copies = match device {
            Device::Cuda(index) => Some(RefCell::new(Copies::to(index))),
            _ => None,
        };
        Ok(Self { filled, free, copies, by_game: windows.packed().is_some() })
    }

    /// Batch `number`, which must be the next in order.
    ///
    /// # Errors
    ///
    /// Where the thread failed, with its message; where another number is next; or where the device fails.
    pub fn take(&self, number: u64) -> Result<Taken<'_>> {
        let slot = match self.filled.recv() {
            Ok(Ok(slot)) => slot,
            Ok(Err(panic)) => return Err(anyhow!("the thread that fills batches failed: {panic}")),
            Err(_) => return Err(anyhow!("the thread that fills batches has ended")),
        };
        ensure!(slot.number() == number, "batch {number} is asked for, and batch {} is next", slot.number());
        let batch = Some(slot.batch(self.by_game)?);
        let Some(copies) = &self.copies else {
            return Ok(Taken { batch, slot: Some((slot, &self.free)) });
        };
        // A thread that ended says why at the next batch.
        copies.borrow_mut().add(slot, |slot| drop(self.free.send(slot)))?;
        Ok(Taken { batch, slot: None })
    }
}

/// The work of the thread, until nobody listens. A panic is a message to the trainer, and the end.
fn fill_ahead(rows: &Rows, first: u64, empty: &Receiver<Slot>, full: &SyncSender<Result<Slot, String>>) {
    let mut scratch = Scratch::default();
    for (mut slot, number) in empty.iter().zip(first..) {
        let filled = catch_unwind(AssertUnwindSafe(|| slot.fill(rows, number, &mut scratch)));
        let failed = filled.is_err();
        let told = filled.map(|()| slot).map_err(|panic| panic_text(&*panic));
        if full.send(told).is_err() || failed {
            return;
        }
    }
}

impl From<Batch> for Taken<'_> {
    /// A batch in memory of its own.
    fn from(batch: Batch) -> Self {
        Self { batch: Some(batch), slot: None }
    }
}

impl Deref for Taken<'_> {
    type Target = Batch;

    fn deref(&self) -> &Batch {
        self.batch.as_ref().expect("it is there until the drop")
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.batch = None;
        if let Some((slot, free)) = self.slot.take() {
            // A thread that ended says why at the next batch.
            free.send(slot).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::config::TrainConfig;
    use std::collections::BTreeSet;
    use std::thread::scope;

    fn tokens() -> Vec<u16> {
        (0..400_u32).map(|at| (at * at % 1971) as u16).collect()
    }

    fn windows(tokens: &[u16]) -> Windows<'_> {
        Windows::training(&TrainConfig::tiny(), tokens, 8, Device::Cpu).expect("enough tokens")
    }

    #[test]
    fn batches_are_those_made_one_by_one_from_any_number_on() {
        let tokens = tokens();
        let windows = windows(&tokens);
        for first in [0, 1, 1_000_000_007] {
            scope(|scope| {
                let loader = Loader::start(scope, &windows, first).expect("started");
                for number in first..first + 50 {
                    let (taken, wanted) = (loader.take(number).expect("filled"), windows.batch(number).expect("made"));
                    assert_eq!((&taken.inputs_bt, &taken.targets_bt), (&wanted.inputs_bt, &wanted.targets_bt));
                    assert_eq!(taken.targets, wanted.targets);
                }
            });
        }
    }

    #[test]
    fn a_batch_in_use_is_not_written_over_and_memory_is_used_again() {
        let tokens = tokens();
        let windows = windows(&tokens);
        scope(|scope| {
            let loader = Loader::start(scope, &windows, 0).expect("started");
            let held = loader.take(0).expect("filled");
            let places: BTreeSet<_> =
                (1..60).map(|number| loader.take(number).expect("filled").inputs_bt.data_ptr() as usize).collect();
            assert_eq!(places.len(), SLOTS - 1);
            assert!(!places.contains(&(held.inputs_bt.data_ptr() as usize)));
            assert_eq!(held.inputs_bt, windows.batch(0).expect("made").inputs_bt);
        });
    }

    #[test]
    fn a_loader_that_is_dropped_ends_its_thread_whatever_it_does() {
        let tokens = tokens();
        let windows = windows(&tokens);
        // A scope returns when its threads have ended.
        scope(|scope| drop(Loader::start(scope, &windows, 0).expect("started")));
        scope(|scope| {
            let loader = Loader::start(scope, &windows, 0).expect("started");
            for number in 0..9 {
                loader.take(number).expect("filled");
            }
        });
    }

    #[test]
    fn a_panic_of_the_thread_is_an_error_of_the_trainer() {
        let tokens = tokens();
        // Of two.
        let windows = windows(&tokens).rows(0..3);
        scope(|scope| {
            let loader = Loader::start(scope, &windows, 0).expect("started");
            let error = loader.take(0).err().expect("there is no third row");
            assert!(error.to_string().starts_with("the thread that fills batches failed: "), "{error}");
            assert!(loader.take(0).is_err());
        });
    }

    #[test]
    fn batches_out_of_order_are_refused() {
        let tokens = tokens();
        let windows = windows(&tokens);
        scope(|scope| {
            let loader = Loader::start(scope, &windows, 3).expect("started");
            let error = loader.take(4).err().expect("3 is next");
            assert_eq!(error.to_string(), "batch 4 is asked for, and batch 3 is next");
        });
    }
}
