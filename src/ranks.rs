//! The processes that train one model together, each on a device of its own. A leaf: it knows nobody.
//!
//! Rank 0 decides, writes and speaks; the others follow. What is decided from numbers that all ranks hold alike, such as a
//! summed loss, all decide alike; what only one can know, such as the time or a signal, rank 0 tells the others.

use std::ops::Range;

use anyhow::Result;

use crate::error::Fixable;

#[cfg(feature = "mpi")]
pub mod mpi;
#[cfg(test)]
pub(crate) mod threads;

/// One process's place among those that share a training. Every call of [`sum`](Self::sum) and
/// [`broadcast`](Self::broadcast) waits for the same call of all others.
pub trait Ranks {
    /// This process's number, from 0.
    fn rank(&self) -> usize;

    /// How many there are.
    fn size(&self) -> usize;

    /// Where it stands on its own machine.
    fn here(&self) -> Here;

    /// Replaces each number by its sum over all ranks. All get the same bits.
    ///
    /// # Errors
    ///
    /// Where another rank is gone.
    fn sum(&self, numbers: &mut [f32]) -> Result<()>;

    /// Replaces the bytes by those of rank 0; all give as many.
    ///
    /// # Errors
    ///
    /// Where another rank is gone.
    fn broadcast(&self, bytes: &mut [u8]) -> Result<()>;

    /// Ends all processes: others would wait for one that failed for ever.
    fn abort(&self);
}

/// A rank among those of its machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Here {
    /// From 0.
    pub rank: usize,
    pub size: usize,
}

/// One process that shares with nobody: nothing is sent, and nothing costs anything.
pub struct Alone;

impl Ranks for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn here(&self) -> Here {
        Here { rank: 0, size: 1 }
    }

    fn sum(&self, _: &mut [f32]) -> Result<()> {
        Ok(())
    }

    fn broadcast(&self, _: &mut [u8]) -> Result<()> {
        Ok(())
    }

    fn abort(&self) {}
}

impl dyn Ranks + '_ {
    /// Whether this is the one that decides, writes and speaks.
    pub fn is_first(&self) -> bool {
        self.rank() == 0
    }

    /// This rank's rows of a batch.
    ///
    /// # Errors
    ///
    /// As [`rows`].
    pub fn rows(&self, batch: u32) -> Result<Range<usize>> {
        rows(batch, self.rank(), self.size())
    }

    /// What rank 0 decided, whatever this one would have.
    pub fn decide<const N: usize>(&self, decisions: [bool; N]) -> Result<[bool; N]> {
        let mut bytes = decisions.map(u8::from);
        self.broadcast(&mut bytes)?;
        Ok(bytes.map(|byte| byte != 0))
    }

    /// The sum of one number of each rank, in float32; untouched where there is one rank.
    pub fn total(&self, number: f64) -> Result<f64> {
        if self.size() == 1 {
            return Ok(number);
        }
        let mut numbers = [number as f32];
        self.sum(&mut numbers)?;
        Ok(f64::from(numbers[0]))
    }

    /// The bytes of rank 0, of any length; what other ranks hand in does not count.
    pub fn told(&self, bytes: Vec<u8>) -> Result<Vec<u8>> {
        let mut length = (bytes.len() as u64).to_le_bytes();
        self.broadcast(&mut length)?;
        let mut bytes = bytes;
        bytes.resize(u64::from_le_bytes(length) as usize, 0);
        self.broadcast(&mut bytes)?;
        Ok(bytes)
    }
}

/// The rows of a batch that a rank takes: each takes as many, so that the mean over ranks is the mean over the batch.
///
/// # Errors
///
/// [`Exit::Usage`](crate::error::Exit::Usage) where the batch cannot be shared evenly.
pub fn rows(batch: u32, rank: usize, size: usize) -> Result<Range<usize>> {
    let batch = batch as usize;
    if size == 0 || !batch.is_multiple_of(size) {
        let fewer = (1..=size.min(batch)).rev().find(|&fewer| batch.is_multiple_of(fewer)).unwrap_or(1);
        return Err(Fixable::usage(format!("train.batch is `{batch}`, and {size} ranks cannot share it evenly"))
            .hint(format!(
                "set ranks = {fewer}, which changes no result, or make train.batch a multiple of {size}, such as {}",
                batch.next_multiple_of(size.max(1))
            ))
            .into());
    }
    let each = batch / size;
    Ok(rank * each..(rank + 1) * each)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Exit, exit_of, hint_of};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_rows_of_all_ranks_are_the_batch_in_order_and_each_has_as_many(each in 0_u32..9, size in 1_usize..9) {
            let batch = each * size as u32;
            let shares: Vec<_> = (0..size).map(|rank| rows(batch, rank, size).expect("a multiple")).collect();
            let all: Vec<usize> = shares.iter().cloned().flatten().collect();
            prop_assert_eq!(all, (0..batch as usize).collect::<Vec<_>>());
            prop_assert!(shares.iter().all(|share| share.len() == each as usize));
        }
    }

    #[test]
    fn a_batch_that_does_not_divide_is_a_usage_error_with_numbers_that_do() {
        let error = rows(10, 0, 4).expect_err("10 is no multiple of 4");
        assert_eq!(exit_of(&error), Exit::Usage);
        insta::assert_snapshot!(format!("{error}\n{}", hint_of(&error).expect("a hint")), @"
        train.batch is `10`, and 4 ranks cannot share it evenly
        set ranks = 2, which changes no result, or make train.batch a multiple of 4, such as 12
        ");
    }

    #[test]
    fn all_ranks_get_the_same_sum_to_the_bit_and_what_the_first_one_decides() {
        for size in [2, 3, 4] {
            let seen = threads::together(size, |ranks| {
                let mut numbers = [0.1 * (1 + ranks.rank()) as f32, 1e8, ranks.rank() as f32];
                ranks.sum(&mut numbers).expect("all are there");
                let own = ranks.rank().to_string().repeat(ranks.rank() + 1).into_bytes();
                let decided = ranks.decide([ranks.is_first(), !ranks.is_first()]).expect("all are there");
                (numbers.map(f32::to_bits), decided, ranks.told(own).expect("all are there"))
            });
            assert_eq!(seen.len(), size);
            assert!(seen.iter().all(|one| *one == seen[0]), "{seen:?}");
            assert_eq!((seen[0].1, seen[0].2.as_slice()), ([true, false], &b"0"[..]));
            assert_eq!(seen[0].0[2], ((size * (size - 1) / 2) as f32).to_bits());
        }
    }

    #[test]
    fn a_rank_that_is_gone_is_an_error_of_the_others_and_not_a_wait_for_ever() {
        let seen = threads::together(2, |ranks| if ranks.is_first() { Ok(()) } else { ranks.sum(&mut [1.0]) });
        assert!(seen[0].is_ok() && seen[1].is_err());
    }
}
