//! Work on many items by several threads, such that their number changes nothing but the time.

use std::sync::{Mutex, PoisonError};

/// Items for which a thread more is worth its start.
const LEAST: usize = 32;

/// Those who do work at once.
pub trait Threads {
    fn count(&self) -> usize;

    /// Does the work of each number below `parts`, each once.
    fn at_once(&self, parts: usize, work: &(dyn Fn(usize) + Sync));
}

/// So many threads, the caller's and others that are started for each piece of work.
#[derive(Clone, Copy, Debug)]
pub struct Own(pub usize);

impl Threads for Own {
    fn count(&self) -> usize {
        self.0.max(1)
    }

    fn at_once(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| {
            for part in 1..parts {
                scope.spawn(move || work(part));
            }
            work(0);
        });
    }
}

/// Works on items in as many parts as there are memories, at once, and returns what each part gave, in order. A part is told the
/// number of its first item.
pub(super) fn in_parts<T: Send, M: Send, R: Send>(
    threads: &dyn Threads,
    memories: &mut [M],
    items: &mut [T],
    work: impl Fn(&mut M, usize, &mut [T]) -> R + Sync,
) -> Vec<R> {
    let count = memories.len().min(items.len() / LEAST).max(1);
    let size = items.len().div_ceil(count).max(1);
    if let ([memory, ..], true) = (&mut *memories, count == 1) {
        return vec![work(memory, 0, items)];
    }
    let parts = memories.iter_mut().zip(items.chunks_mut(size));
    let parts: Vec<_> = parts.map(|(memory, items)| Mutex::new((memory, items, None))).collect();
    threads.at_once(parts.len(), &|part| {
        let mut locked = parts[part].lock().unwrap_or_else(PoisonError::into_inner);
        let (memory, items, told) = &mut *locked;
        *told = Some(work(memory, part * size, items));
    });
    parts.into_iter().filter_map(|part| part.into_inner().unwrap_or_else(PoisonError::into_inner).2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::decoder::OfLibtorch;

    #[test]
    fn every_item_is_worked_on_once_and_told_in_order_by_any_number_of_threads() {
        for threads in [1, 2, 3, 7] {
            for count in [0, 1, 63, 64, 65, 1000] {
                for crew in [&Own(threads) as &dyn Threads, &OfLibtorch] {
                    let mut items: Vec<usize> = (0..count).collect();
                    let told = in_parts(crew, &mut vec![(); threads], &mut items, |(), first, part| {
                        assert!(part.iter().copied().eq(first..first + part.len()));
                        for item in part.iter_mut() {
                            *item += 1;
                        }
                        part.to_vec()
                    });
                    assert_eq!(told.concat(), (1..=count).collect::<Vec<_>>(), "{threads} threads, {count} items");
                }
            }
        }
    }

    #[test]
    fn a_panic_of_any_part_reaches_the_caller() {
        for crew in [&Own(3) as &dyn Threads, &OfLibtorch] {
            for bad in 0..3 {
                let work = |part| assert!(part != bad, "as it must");
                let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| crew.at_once(3, &work)));
                assert!(caught.is_err(), "part {bad}");
            }
        }
    }
}
