//! Every game of a file on several threads, and what is found of each, in the order of the file.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::tokens::TokenFile;
use crate::progress::Progress;

/// Games that a thread takes at a time.
const PORTION: usize = 1024;

/// Portions after which progress is told.
const TELL_EVERY: u64 = 64;

/// What `of` finds of each game, given by its index and its moves; none where the user wanted to stop.
pub fn map<T: Clone + Default + Send>(
    file: &TokenFile,
    threads: usize,
    progress: Progress,
    of: impl Fn(usize, &[u16]) -> T + Sync,
) -> Option<Vec<T>> {
    let mut found = vec![T::default(); file.games()];
    let portions = Mutex::new(found.chunks_mut(PORTION).enumerate());
    let done = AtomicU64::new(0);
    let work = || {
        while !progress.should_stop() {
            let next = portions.lock().expect("no holder panics").next();
            let Some((portion, places)) = next else { break };
            for (i, place) in places.iter_mut().enumerate() {
                let game = portion * PORTION + i;
                *place = of(game, file.game(game));
            }
            let portions_done = done.fetch_add(1, Ordering::Relaxed) + 1;
            if portions_done.is_multiple_of(TELL_EVERY) {
                progress.done(portions_done * PORTION as u64, file.games() as u64, "games");
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let all = done.into_inner() == file.games().div_ceil(PORTION) as u64;
    all.then_some(found)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::data::tokens::Framing;
    use crate::data::tokens::tests::written;
    use crate::progress::silent;

    #[test]
    fn any_number_of_threads_finds_the_same_in_the_same_order() {
        let games: Vec<Vec<u16>> = (0..5_000_u16).map(|game| vec![game, 1]).collect();
        let (_dir, file) = written(&games, Framing::Marked);
        for threads in [1, 2, 7] {
            let found = map(&file, threads, silent(), |index, moves| (index, moves[0]));
            let expected: Vec<_> = (0..5_000).map(|game| (game, game as u16)).collect();
            assert_eq!(found, Some(expected), "{threads} threads");
        }
    }

    #[test]
    fn who_wants_to_stop_gets_nothing_and_waits_for_no_more_than_a_portion() {
        let (_dir, file) = written(&vec![vec![5]; 5_000], Framing::Marked);
        let (stop, seen) = (AtomicBool::new(false), AtomicU64::new(0));
        let look = |index: usize, _: &[u16]| {
            seen.fetch_add(1, Ordering::Relaxed);
            stop.fetch_or(index == 3, Ordering::Relaxed);
        };
        assert_eq!(map(&file, 1, Progress::new(&|_| (), &stop), look), None);
        assert_eq!(seen.into_inner(), PORTION as u64);
    }
}
