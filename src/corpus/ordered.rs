//! What several threads make, taken in order: each fills a slot of its own, one takes from the first.
//!
//! A thread waits once its slot holds as much as is allowed, until that is taken or, for a slot that is not yet the
//! first, until it is its turn: the memory is bounded however uneven the slots are, and however slow the taker is.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

pub(super) struct Ordered<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    /// Slots that may be open at a time.
    slots_max: u64,
    /// Bytes that a slot may hold before whoever fills it waits.
    bytes_max: usize,
}

struct State<T> {
    slots: VecDeque<Slot<T>>,
    /// The number of the first slot.
    first: u64,
    /// No slot will be opened any more.
    ended: bool,
    /// Nothing is wanted any more.
    stopped: bool,
}

struct Slot<T> {
    /// Each with its size in bytes.
    pieces: VecDeque<(T, usize)>,
    bytes: usize,
    closed: bool,
}

/// Nobody wants more: whoever fills a slot goes home.
#[derive(Debug)]
pub(super) struct Stopped;

impl<T> Ordered<T> {
    pub(super) fn new(slots_max: u64, bytes_max: usize) -> Self {
        let state = State { slots: VecDeque::new(), first: 0, ended: false, stopped: false };
        Self { state: Mutex::new(state), changed: Condvar::new(), slots_max, bytes_max }
    }

    /// Opens the next slot and gives its number; waits while too many are open.
    pub(super) fn open(&self) -> Result<u64, Stopped> {
        let mut state = self.wait(self.state(), |state| state.slots.len() as u64 >= self.slots_max)?;
        state.slots.push_back(Slot { pieces: VecDeque::new(), bytes: 0, closed: false });
        Ok(state.first + state.slots.len() as u64 - 1)
    }

    /// Puts a piece into an open slot; waits while the slot is full.
    pub(super) fn push(&self, slot: u64, piece: T, bytes: usize) -> Result<(), Stopped> {
        let mut state = self.wait(self.state(), |state| state.slots[(slot - state.first) as usize].bytes >= self.bytes_max)?;
        let at = (slot - state.first) as usize;
        state.slots[at].pieces.push_back((piece, bytes));
        state.slots[at].bytes += bytes;
        // Only the first is waited for.
        if at == 0 {
            self.changed.notify_all();
        }
        Ok(())
    }

    /// Says that a slot is whole.
    pub(super) fn close(&self, slot: u64) {
        let mut state = self.state();
        if let Some(at) = slot.checked_sub(state.first)
            && let Some(slot) = state.slots.get_mut(at as usize)
        {
            slot.closed = true;
        }
        self.changed.notify_all();
    }

    /// Says that no slot will be opened any more.
    pub(super) fn end(&self) {
        self.state().ended = true;
        self.changed.notify_all();
    }

    /// Says that nothing is wanted any more.
    pub(super) fn stop(&self) {
        self.state().stopped = true;
        self.changed.notify_all();
    }

    /// The next piece in order; none at the end.
    pub(super) fn take(&self) -> Option<T> {
        let mut state = self.state();
        loop {
            if let Some(slot) = state.slots.front_mut() {
                if let Some((piece, bytes)) = slot.pieces.pop_front() {
                    let was_full = slot.bytes >= self.bytes_max;
                    slot.bytes -= bytes;
                    if was_full {
                        self.changed.notify_all();
                    }
                    return Some(piece);
                }
                if slot.closed {
                    state.slots.pop_front();
                    state.first += 1;
                    self.changed.notify_all();
                    continue;
                }
            } else if state.ended {
                return None;
            }
            if state.stopped {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn wait<'a>(
        &'a self,
        mut state: MutexGuard<'a, State<T>>,
        wait: impl Fn(&State<T>) -> bool,
    ) -> Result<MutexGuard<'a, State<T>>, Stopped> {
        while !state.stopped && wait(&state) {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.stopped { Err(Stopped) } else { Ok(state) }
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        // A thread that panicked is told of by its scope; the others only have to come home.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn pieces_come_in_the_order_of_their_slots_whoever_is_quicker() {
        let ordered = Ordered::new(3, 2);
        let taken = std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while let Ok(slot) = ordered.open() {
                        if slot >= 200 {
                            ordered.close(slot);
                            return ordered.end();
                        }
                        for piece in 0..slot % 7 {
                            ordered.push(slot, (slot, piece), 1).expect("wanted");
                        }
                        ordered.close(slot);
                    }
                });
            }
            let mut taken = Vec::new();
            while let Some(piece) = ordered.take() {
                taken.push(piece);
            }
            ordered.stop();
            taken
        });
        let expected: Vec<(u64, u64)> = (0..200).flat_map(|slot| (0..slot % 7).map(move |piece| (slot, piece))).collect();
        assert_eq!(taken, expected);
    }

    #[test]
    fn whoever_waits_for_room_goes_home_when_nothing_more_is_wanted() {
        let ordered: Ordered<u8> = Ordered::new(2, 1);
        let (first, second) = (ordered.open().expect("room"), ordered.open().expect("room"));
        ordered.push(first, 1, 9).expect("empty so far");
        ordered.push(second, 3, 9).expect("empty so far");
        std::thread::scope(|scope| {
            let full = scope.spawn(|| ordered.push(second, 4, 9).is_err());
            let crowded = scope.spawn(|| ordered.open().is_err());
            assert_eq!(ordered.take(), Some(1));
            // The first has room again.
            ordered.push(first, 2, 9).expect("room");
            let overfull = scope.spawn(|| ordered.push(first, 4, 9).is_err());
            std::thread::sleep(std::time::Duration::from_millis(20));
            ordered.stop();
            assert!(overfull.join().expect("no panic"));
            assert!(full.join().expect("no panic") && crowded.join().expect("no panic"));
        });
    }
}
