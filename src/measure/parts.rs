//! Work on many items by several threads, such that their number changes nothing but the time.

/// Items for which a thread more is worth its start.
const LEAST: usize = 32;

/// Works on items in as many parts as there are memories, one thread each, and returns what each part gave, in order. A part
/// is told the number of its first item.
pub(super) fn in_parts<T: Send, M: Send, R: Send>(
    memories: &mut [M],
    items: &mut [T],
    work: impl Fn(&mut M, usize, &mut [T]) -> R + Sync,
) -> Vec<R> {
    let parts = memories.len().min(items.len() / LEAST).max(1);
    let size = items.len().div_ceil(parts).max(1);
    let mut parts = memories.iter_mut().zip(items.chunks_mut(size).enumerate());
    let Some((memory, (_, first))) = parts.next() else { return Vec::new() };
    std::thread::scope(|scope| {
        let work = &work;
        let others: Vec<_> = parts.map(|(memory, (part, items))| scope.spawn(move || work(memory, part * size, items))).collect();
        let own = work(memory, 0, first);
        let join =
            |thread: std::thread::ScopedJoinHandle<R>| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        std::iter::once(own).chain(others.into_iter().map(join)).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_worked_on_once_and_told_in_order_by_any_number_of_threads() {
        for threads in [1, 2, 3, 7] {
            for count in [0, 1, 63, 64, 65, 1000] {
                let mut items: Vec<usize> = (0..count).collect();
                let told = in_parts(&mut vec![(); threads], &mut items, |(), first, part| {
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
