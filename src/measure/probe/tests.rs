use fs_err as fs;
use tch::{Device, Kind as TchKind, Tensor};

use super::regression::{CONTENTS, Probes, SQUARES};
use super::*;
use crate::data::tokens::Framing;
use crate::data::tokens::tests::written;
use crate::measure::items::Cells;
use crate::measure::{fakes, values};
use crate::model::config::ModelConfig;
use crate::progress::silent;
use crate::random::{stream, unit};

/// Boards drawn square by square: `of` makes contents of a square of a number in [0, 1).
fn boards(count: usize, index: u64, of: fn(usize, f64) -> u8) -> Vec<[u8; SQUARES]> {
    let mut rng = stream(5, "boards", index);
    (0..count).map(|_| std::array::from_fn(|square| of(square, unit(&mut rng)))).collect()
}

fn accuracy(right: &Tensor) -> f64 {
    right.to_kind(TchKind::Double).mean(TchKind::Double).double_value(&[])
}

#[test]
fn a_board_that_is_in_the_states_is_read_without_an_error() {
    // Three contents on each square, other ones on each.
    let anything: fn(usize, f64) -> u8 = |square, at| ((square + 4 * (at * 3.0) as usize) % CONTENTS) as u8;
    let [taught, asked] = [(2_000, 0), (200, 1)].map(|(count, index)| tensor(&boards(count, index, anything)));
    let one_hot = |contents: &Tensor| contents.one_hot(CONTENTS as i64).flatten(1, 2).to_kind(TchKind::Float).unsqueeze(0);
    let probes = Probes::fit(&one_hot(&taught), &taught, 1, &silent()).expect("the CPU has memory");
    let got = accuracy(&probes.right(&one_hot(&asked), &asked));
    assert!((got - 1.0).abs() < 1e-12, "{got}");
    // A layer is read by its own probe.
    let two = Tensor::cat(&[one_hot(&taught).zeros_like(), one_hot(&taught)], 0);
    let probes = Probes::fit(&two, &taught, 1, &silent()).expect("the CPU has memory");
    let right = probes.right(&Tensor::cat(&[one_hot(&asked).zeros_like(), one_hot(&asked)], 0), &asked);
    assert!(accuracy(&right.get(0)) < 0.5 && accuracy(&right.get(1)) > 1.0 - 1e-12);
}

#[test]
fn states_that_know_nothing_of_the_board_are_worth_the_most_frequent_content() {
    // Half the squares are empty; the other contents are as likely as each other.
    let skewed: fn(usize, f64) -> u8 = |_, at| if at < 0.5 { 0 } else { 1 + ((at - 0.5) * 24.0) as u8 };
    let [taught, asked] = [(4_000, 0), (500, 1)].map(|(count, index)| tensor(&boards(count, index, skewed)));
    let mut rng = stream(5, "noise", 0);
    let mut noise = |count: i64| {
        let numbers: Vec<f32> = (0..count * 8).map(|_| unit(&mut rng) as f32 - 0.5).collect();
        Tensor::from_slice(&numbers).view([1, count, 8])
    };
    let (learned, shown) = (noise(4_000), noise(500));
    let probes = Probes::fit(&learned, &taught, 1, &silent()).expect("the CPU has memory");
    // 32,000 squares: a standard error of 0.28 points.
    let got = accuracy(&probes.right(&shown, &asked));
    assert!((got - 0.5).abs() < 0.0056, "{got}");
}

fn probed(config: &ModelConfig, seed: u64) -> (Measured, Vec<Square>) {
    let games = fakes::games();
    let (_dir, file) = written(&games, Framing::Marked);
    let decoder = Decoder::new(config, 3, Device::Cpu).expect("the CPU has memory");
    let sizes = Sizes { positions: 160, test: 60, seed };
    super::probed(sizes, &decoder, &Material::split(&file, &file), &silent()).expect("games to draw from")
}

const TINY: ModelConfig = ModelConfig { layers: 2, heads: 2, width: 16, hidden: 32, context: 48 };

#[test]
fn two_probes_of_one_model_say_the_same_to_the_byte_and_are_told_with_their_baselines() {
    let dir = tempfile::tempdir().expect("a folder");
    let (one, squares) = probed(&TINY, 7);
    let (again, same) = probed(&TINY, 7);
    assert_eq!(one, again);
    let files = [(&squares, "one"), (&same, "two")].map(|(squares, name)| {
        let folder = dir.path().join(name);
        fs::create_dir(&folder).expect("room to write");
        table::items(squares).write(&folder).expect("room to write");
        assert_eq!(table::read(&folder).expect("just written"), *squares);
        fs::read(folder.join("probe.parquet")).expect("just written")
    });
    assert_eq!(files[0], files[1]);
    assert_ne!(probed(&TINY, 8).0, one);

    // Three layers of two models in two frames, and two baselines.
    assert_eq!(squares.len(), (3 * 2 * 2 + 2) * SQUARES);
    assert_eq!(one.values.len(), 2 * 2 * 3 + 2 * 2 * 2 * 3);
    for value in &one.values {
        assert!(values::find("probe", &value.name).is_some(), "{value:?}");
        assert!(value.n == 60 && value.low <= value.value && value.value <= value.high, "{value:?}");
    }
    let [positions] = one.items.as_slice() else { panic!("one table of positions") };
    let column = |name: &str| &positions.columns.iter().find(|(known, _)| *known == name).expect("a column").1;
    let (Cells::Text(frames), Cells::Text(models), Cells::Count(right), Cells::Count(occupied), Cells::Count(pieces)) =
        (column("frame"), column("model"), column("right"), column("occupied"), column("occupied_right"))
    else {
        panic!("other columns")
    };
    assert_eq!(frames.len(), 60 * 2 * 3);
    for (model, name) in [("trained", "accuracy"), ("random", "random.accuracy"), ("majority", "majority.accuracy")] {
        let mine = || (0..frames.len()).filter(|&row| frames[row] == "colours" && models[row] == model);
        let value =
            |name: &str| one.values.iter().find(|value| value.name == name && value.slice.is_empty()).expect("a value").value;
        let all = mine().map(|row| right[row] as f64 / SQUARES as f64).sum::<f64>() / 60.0;
        let on_pieces = mine().map(|row| pieces[row] as f64 / occupied[row] as f64).sum::<f64>() / 60.0;
        assert!(
            (all - value(name)).abs() < 1e-12 && (on_pieces - value(&name.replace("accuracy", "occupied"))).abs() < 1e-12,
            "{model}"
        );
        let chosen: Vec<_> = squares.iter().filter(|s| s.chosen && s.model == model && s.frame == "colours").collect();
        let mean = chosen.iter().map(|square| square.accuracy()).sum::<f64>() / SQUARES as f64;
        let value = one.values.iter().find(|value| value.name == name && value.slice.is_empty()).expect("a value");
        assert!(chosen.len() == SQUARES && (mean - value.value).abs() < 1e-12, "{model}: {mean} {value:?}");
    }
}

#[test]
fn random_weights_are_those_of_the_untrained_model_of_the_same_seed() {
    // The decoder that is measured was made of seed 3.
    let (measured, _) = probed(&TINY, 3);
    let of = |name: &str| measured.values.iter().filter(move |value| value.name.ends_with(name)).collect::<Vec<_>>();
    for random in of("random.accuracy") {
        let trained = random.name.replace("random.", "");
        let trained = measured.values.iter().find(|value| value.name == trained && value.slice == random.slice);
        assert_eq!(trained.map(|value| value.value.to_bits()), Some(random.value.to_bits()), "{random:?}");
    }
}

#[test]
fn contents_are_those_of_the_board_in_either_frame() {
    let games = [fakes::game("e2e4 d7d5 e4d5 d8d5 b1c3")];
    let at = [1, 4].map(|cut| positions::Position { game: 0, cut });
    let places = Places::new(ValidationGames::new(fakes::slices(&games)), at.to_vec(), &silent()).expect("legal games");
    let [colours, to_move] = Frame::ALL.map(|frame| places.contents(frame));
    // a1, e1, e2, e4, d5, e8: black is to move after one ply, white after four.
    let seen = |contents: &[u8; SQUARES]| [0, 4, 12, 28, 35, 60].map(|square: usize| contents[square]);
    assert_eq!([seen(&colours[0]), seen(&colours[1])], [[4, 6, 0, 1, 0, 12], [4, 6, 0, 0, 11, 12]]);
    assert_eq!([seen(&to_move[0]), seen(&to_move[1])], [[10, 12, 0, 7, 0, 6], [4, 6, 0, 0, 11, 12]]);
    assert_eq!(places.white(), [false, true]);
}

#[test]
fn states_are_those_of_a_pass_of_their_own_whatever_shares_a_sequence_and_beyond_the_context() {
    let games = [fakes::endless_game(70)];
    let decoder = Decoder::new(&TINY, 3, Device::Cpu).expect("the CPU has memory");
    let at: Vec<_> = [60, 5, 1, 47, 48, 5].map(|cut| positions::Position { game: 0, cut }).into();
    let places = Places::new(ValidationGames::new(fakes::slices(&games)), at.clone(), &silent()).expect("legal games");
    let states_lnc = places.states(&decoder, &silent()).expect("the CPU has memory");
    assert_eq!(states_lnc.size(), [3, 6, 16]);
    for (item, at) in at.into_iter().enumerate() {
        let tokens: Vec<i64> = positions::prompt(&games[0][..at.cut], 48).into_iter().map(i64::from).collect();
        let alone = decoder.hidden(&Tensor::from_slice(&tokens).unsqueeze(0), &[tokens.len() as i64 - 1]);
        let gap = (states_lnc.select(1, item as i64) - Tensor::cat(&alone, 0)).abs().max().double_value(&[]);
        assert!(gap < 1e-5, "{at:?}: {gap}");
    }
}

#[test]
fn a_corpus_without_games_to_cut_is_an_error_with_a_hint() {
    let (_dir, file) = written(&[vec![5], vec![]], Framing::Marked);
    let decoder = Decoder::new(&TINY, 3, Device::Cpu).expect("the CPU has memory");
    let sizes = Sizes { positions: 64, test: 5, seed: 1 };
    let error = measure(sizes, &decoder, &Material::split(&file, &file), &silent()).expect_err("nothing to draw");
    assert!(error.downcast_ref::<crate::error::Fixable>().is_some_and(|fixable| fixable.hint.is_some()));
    assert_eq!([64, 4_000].map(fitted), [56, 3_496]);
}

#[test]
fn a_predictor_without_layers_is_not_probed() {
    let (_dir, file) = written(&fakes::games(), Framing::Marked);
    let sizes = Sizes { positions: 64, test: 5, seed: 1 };
    let error = measure(sizes, &fakes::uniform(), &Material::split(&file, &file), &silent()).expect_err("no layers");
    assert!(error.to_string().contains("layers of a decoder"), "{error:#}");
}

#[test]
fn tokens_are_counted_as_they_are_read_and_are_no_more_than_the_bound() {
    let games = [fakes::games(), vec![fakes::endless_game(120)]].concat();
    let plies = games.iter().map(|game| game.len() as u32).max().expect("there are games");
    let (_dir, file) = written(&games, Framing::Marked);
    let validation = ValidationGames::of(&file);
    for context in [16, 48, 256] {
        let sizes = Sizes { positions: 300, test: 50, seed: 1 };
        let places = [
            Places::training(&file, sizes.positions, sizes.seed, &silent()).expect("games to draw from"),
            Places::new(validation.clone(), positions::draw(&validation, 1, 50).expect("games to draw from"), &silent())
                .expect("legal games"),
        ];
        let read = 2 * places.iter().map(|places| places.tokens(context as usize)).sum::<u64>();
        assert_eq!(tokens_of(sizes, &file, &validation, context).expect("games to draw from"), read);
        assert!(read <= most_tokens(sizes, plies, context), "{read} in {context}");
    }
}
