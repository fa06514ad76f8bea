//! What probes got right, as values with their intervals and as accuracies of squares.

use super::super::items::{Cells, Items};
use super::super::positions::Position;
use super::super::score::Value;
use super::Frame;
use super::regression::{CONTENTS, SQUARES};
use super::states::Places;
use super::table::Square;

/// What is asked for a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Probes of the model that is measured.
    Trained,
    /// Probes of random weights.
    Random,
    /// The most frequent content of a square in the training positions, by whose turn it is; no model.
    Majority,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Trained => "trained",
            Self::Random => "random",
            Self::Majority => "majority",
        }
    }

    /// What stands before the names of values.
    fn prefix(self) -> &'static str {
        match self {
            Self::Trained => "",
            Self::Random => "random.",
            Self::Majority => "majority.",
        }
    }
}

/// Which squares were told rightly.
pub(super) struct Found {
    pub(super) kind: Kind,
    pub(super) frame: Frame,
    /// Of each layer, of each test position; the baseline has one layer.
    pub(super) layers: Vec<Vec<[bool; SQUARES]>>,
    /// The layer that was chosen.
    pub(super) best: usize,
}

impl Found {
    /// What its layers are called.
    fn layer(&self, at: usize) -> String {
        match (self.kind, at) {
            (Kind::Majority, _) => String::new(),
            (_, 0) => "embedding".to_owned(),
            _ => format!("layer {at}"),
        }
    }
}

/// Says of each square what stood there most often with the same side to move.
pub(super) fn majority(frame: Frame, train: &Places, test: &Places) -> Found {
    let mut counts = [[[0_u32; CONTENTS]; SQUARES]; 2];
    for (contents, white) in train.contents(frame).iter().zip(train.white()) {
        for (counts, &content) in counts[usize::from(white)].iter_mut().zip(contents) {
            counts[usize::from(content)] += 1;
        }
    }
    // Of equals the first, which is the empty square.
    let most = counts.map(|side| side.map(|counts| (0..CONTENTS).rev().max_by_key(|&content| counts[content]).unwrap_or(0)));
    let told = |(contents, white): (&[u8; SQUARES], bool)| {
        let mut right = [false; SQUARES];
        for ((right, &content), most) in right.iter_mut().zip(contents).zip(most[usize::from(white)]) {
            *right = usize::from(content) == most;
        }
        right
    };
    let layer = test.contents(frame).iter().zip(test.white()).map(told).collect();
    Found { kind: Kind::Majority, frame, layers: vec![layer], best: 0 }
}

/// The mean over test positions of the share of squares, and of occupied squares, that were told rightly: of the chosen layers
/// first, then of each.
pub(super) fn values(found: &[Found], test: &Places) -> Vec<Value> {
    let occupied: Vec<_> = test.contents(Frame::Colours).iter().map(|contents| contents.map(|content| content > 0)).collect();
    let mut values = Vec::new();
    for frame in Frame::ALL {
        for found in found.iter().filter(|found| found.frame == frame) {
            values.extend(of_layer(found, found.best, &occupied));
        }
    }
    for found in found.iter().filter(|found| found.kind != Kind::Majority) {
        for at in 0..found.layers.len() {
            let slice = found.layer(at);
            values.extend(of_layer(found, at, &occupied).map(|value| Value { slice: slice.clone(), ..value }));
        }
    }
    values
}

fn of_layer<'a>(found: &'a Found, at: usize, occupied: &'a [[bool; SQUARES]]) -> impl Iterator<Item = Value> + 'a {
    let layer = &found.layers[at];
    let all: Vec<f64> = layer.iter().map(|right| share(right.iter().map(|&right| (right, true)))).collect();
    let pieces = layer.iter().zip(occupied).map(|(right, occupied)| share(right.iter().copied().zip(occupied.iter().copied())));
    let pieces: Vec<f64> = pieces.collect();
    [("accuracy", all), ("occupied", pieces)].into_iter().filter_map(move |(name, sample)| {
        let name = format!("{}{}{name}", found.frame.prefix(), found.kind.prefix());
        Value::mean(&name, &sample, &(0.0..=1.0))
    })
}

/// The share of those that count.
fn share(squares: impl Iterator<Item = (bool, bool)>) -> f64 {
    let (mut rights, mut counted) = (0_u32, 0_u32);
    for (right, counts) in squares {
        rights += u32::from(right && counts);
        counted += u32::from(counts);
    }
    f64::from(rights) / f64::from(counted.max(1))
}

/// What the chosen layers told of each test position: a row of each frame, model and position, so that two models can be
/// compared pair by pair. Squares of the position that were told rightly, occupied ones, and those told rightly.
pub(super) fn positions(found: &[Found], test: &Places) -> Items {
    let occupied: Vec<_> = test.contents(Frame::Colours).iter().map(|contents| contents.map(|content| content > 0)).collect();
    let rows = || found.iter().flat_map(|found| (0..occupied.len()).map(move |item| (found, item)));
    let word = |of: fn(&Found) -> String| Cells::Text(rows().map(|(found, _)| of(found)).collect());
    let at = |of: fn(&Position) -> usize| Cells::Count(rows().map(|(_, item)| of(&test.positions[item]) as u64).collect());
    let count = |counts: &dyn Fn(bool, bool) -> bool| {
        let of = |(found, item): (&Found, usize)| {
            let squares = found.layers[found.best][item].iter().zip(occupied[item]);
            squares.filter(|&(&right, occupied)| counts(right, occupied)).count() as u64
        };
        Cells::Count(rows().map(of).collect())
    };
    Items {
        name: "positions",
        columns: vec![
            ("game", at(|position| position.game)),
            ("ply", at(|position| position.cut)),
            ("frame", word(|found| found.frame.name().to_owned())),
            ("model", word(|found| found.kind.name().to_owned())),
            ("layer", word(|found| found.layer(found.best))),
            ("right", count(&|right, _| right)),
            ("occupied", count(&|_, occupied| occupied)),
            ("occupied_right", count(&|right, occupied| right && occupied)),
        ],
    }
}

/// How often each square was told rightly, by each model and layer.
pub(super) fn squares(found: &[Found]) -> Vec<Square> {
    let mut squares = Vec::new();
    for found in found {
        for (at, layer) in found.layers.iter().enumerate() {
            squares.extend((0..SQUARES).map(|square| Square {
                frame: found.frame.name().to_owned(),
                model: found.kind.name().to_owned(),
                layer: found.layer(at),
                chosen: at == found.best,
                square: shakmaty::Square::new(square as u32).to_string(),
                right: layer.iter().filter(|right| right[square]).count() as u32,
                n: layer.len() as u32,
            }));
        }
    }
    squares
}
