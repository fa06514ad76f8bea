//! What batches of whole games hold.

use super::*;
use crate::chess::vocabulary::{BOS, EOS};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Games whose moves are all different, back to back.
fn games(lengths: &[usize]) -> (Vec<u16>, Vec<u64>) {
    let (mut tokens, mut ends, mut next) = (Vec::new(), Vec::new(), 3);
    for &length in lengths {
        tokens.push(BOS);
        tokens.extend(next..next + length as u16);
        next += length as u16;
        tokens.push(EOS);
        ends.push(tokens.len() as u64);
    }
    (tokens, ends)
}

fn rows<'a>(order: Order, tokens: &'a [u16], ends: &'a [u64], context: u32, batch: u32) -> Rows<'a> {
    Rows::new(order, Packing::Games, TokenStream { tokens, ends }, context, batch, 5).expect("there are games")
}

fn filled(rows: &Rows, number: u64) -> (Vec<i64>, Vec<i64>, Targets) {
    let [b, t] = rows.shape();
    let (mut inputs, mut targets) = (vec![77; b * t], vec![77; b * t]);
    let count = rows.fill(number, &mut Scratch::default(), &mut inputs, &mut targets);
    (inputs, targets, count)
}

#[test]
fn a_row_has_whole_games_and_then_padding_and_no_game_predicts_the_next() {
    let (tokens, ends) = games(&[2, 3]);
    let (bos, eos) = (i64::from(BOS), i64::from(EOS));
    let (inputs, targets, count) = filled(&rows(Order::Epoch, &tokens, &ends, 11, 1), 0);
    assert_eq!(inputs, [bos, 3, 4, eos, bos, 5, 6, 7, eos, 0, 0]);
    assert_eq!(targets, [3, 4, eos, -100, 5, 6, 7, eos, -100, -100, -100]);
    assert_eq!(count, Targets { here: 7, step: 7 });
    // The last token needs no place among the inputs.
    let (inputs, targets, _) = filled(&rows(Order::Epoch, &tokens, &ends, 8, 1), 0);
    assert_eq!(inputs, [bos, 3, 4, eos, bos, 5, 6, 7]);
    assert_eq!(targets, [3, 4, eos, -100, 5, 6, 7, eos]);
}

proptest! {
    #[test]
    fn an_epoch_asks_for_every_token_of_every_game_once(
        lengths in proptest::collection::vec(0_usize..30, 1..60), context in 31_u32..70, batch in 1_u32..6, epoch in 0_u64..3,
    ) {
        let (tokens, ends) = games(&lengths);
        let rows = rows(Order::Epoch, &tokens, &ends, context, batch);
        let windows = rows.packed().expect("packed").windows();
        let first = epoch * windows;
        let mut asked: BTreeMap<(i64, i64), usize> = BTreeMap::new();
        for number in first / u64::from(batch)..=(first + windows - 1) / u64::from(batch) {
            let (inputs, targets, _) = filled(&rows, number);
            for (row, at) in (number * u64::from(batch)..).enumerate().take(batch as usize) {
                if (first..first + windows).contains(&at) {
                    let row = row * context as usize..(row + 1) * context as usize;
                    prop_assert_eq!(inputs[row.start], i64::from(BOS));
                    let pairs = inputs[row.clone()].iter().zip(&targets[row]).filter(|(_, target)| **target != -100);
                    pairs.for_each(|(&input, &target)| *asked.entry((input, target)).or_default() += 1);
                }
            }
        }
        let mut wanted: BTreeMap<(i64, i64), usize> = BTreeMap::new();
        for (end, length) in ends.iter().zip(&lengths) {
            let game = &tokens[*end as usize - length - 2..*end as usize];
            game.windows(2).for_each(|pair| *wanted.entry((pair[0].into(), pair[1].into())).or_default() += 1);
        }
        prop_assert_eq!(asked, wanted);
    }

    #[test]
    fn drawn_windows_begin_at_a_game_and_targets_are_counted_over_a_step(
        lengths in proptest::collection::vec(0_usize..30, 1..60), context in 3_u32..70, number in 0_u64..50,
    ) {
        let (tokens, ends) = games(&lengths);
        let rows = rows(Order::Windows, &tokens, &ends, context, 4).per_step(3);
        let asked = |number| filled(&rows, number).1.iter().filter(|&&target| target != -100).count() as u64;
        let (inputs, _, count) = filled(&rows, number);
        prop_assert!(inputs.iter().step_by(context as usize).all(|&input| input == i64::from(BOS)));
        let step = number / 3 * 3;
        prop_assert_eq!(count, Targets { here: asked(number), step: (step..step + 3).map(asked).sum() });
        // The rows of two ranks are those of one.
        let halves = [0..2, 2..4].map(|here| filled(&rows.clone().only(here), number));
        prop_assert_eq!([&halves[0].0[..], &halves[1].0].concat(), inputs);
        prop_assert_eq!(halves[0].2.here + halves[1].2.here, count.here);
        prop_assert!(halves.iter().all(|half| half.2.step == count.step));
    }
}

#[test]
fn small_numbers_are_the_same_numbers() {
    let (tokens, ends) = games(&[2, 3, 9, 4]);
    let rows = rows(Order::Windows, &tokens, &ends, 8, 3);
    let (wide, wide_targets, _) = filled(&rows, 9);
    let (mut inputs, mut targets) = (vec![0_i16; 24], vec![0_i16; 24]);
    rows.fill(9, &mut Scratch::default(), &mut inputs, &mut targets);
    assert_eq!(inputs.iter().map(|&number| i64::from(number)).collect::<Vec<_>>(), wide);
    assert_eq!(targets.iter().map(|&number| i64::from(number)).collect::<Vec<_>>(), wide_targets);
}
