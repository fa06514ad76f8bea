//! The same work for many items, on all cores.

/// What comes of each item, in their order.
pub(super) fn on_all_cores<T: Sync, U: Send>(items: &[T], of: impl Fn(usize, &T) -> U + Sync) -> Vec<U> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(items.len().max(1));
    let of = &of;
    let mut made: Vec<std::vec::IntoIter<U>> = std::thread::scope(|scope| {
        let work = |first: usize| {
            move || items.iter().enumerate().skip(first).step_by(threads).map(|(at, item)| of(at, item)).collect::<Vec<U>>()
        };
        let workers: Vec<_> = (0..threads).map(|first| scope.spawn(work(first))).collect();
        workers.into_iter().map(|worker| worker.join().expect("a panic is a bug, and is passed on").into_iter()).collect()
    });
    (0..items.len()).filter_map(|at| made[at % threads].next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_on_all_cores_comes_back_in_its_order() {
        let items: Vec<u32> = (0..101).collect();
        let wanted: Vec<_> = items.iter().map(|i| (*i as usize, *i)).collect();
        assert_eq!(on_all_cores(&items, |at, item| (at, *item)), wanted);
        assert!(on_all_cores(&[] as &[u8], |at, _| at).is_empty());
    }
}
