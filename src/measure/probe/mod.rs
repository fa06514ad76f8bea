//! What a model holds of a board that it was never shown: linear probes of its states for the contents of every square.
//!
//! One softmax regression a layer and a square over what can stand there, trained on positions of training games and asked
//! on positions of validation games. Beside it the same probes on a model of the same shape with random weights, since the
//! moves alone tell much, and the most frequent content of each square. Contents are told in two frames: by colour, and by
//! whose turn it is, which is easier to read linearly where models hold boards so (Nanda, Lee and Wattenberg 2023,
//! <https://arxiv.org/abs/2309.00941>).
//!
//! The layer of the figures without a slice is chosen on an eighth of the training positions, which no probe was trained on.

mod figures;
mod regression;
mod states;
pub mod table;
#[cfg(test)]
mod tests;

use anyhow::{Context as _, Result};
use tch::Tensor;

use crate::data::tokens::TokenFile;
use crate::model::config::ModelConfig;
use crate::model::decoder::Decoder;
use crate::progress::Progress;

use super::Measured;
use super::material::Material;
use super::positions::{self, ValidationGames};
use super::predictor::Predictor;
use super::tokens;
use figures::{Found, Kind, majority};
use regression::{Probes, SQUARES};
use states::{CUTS, Places};
use table::Square;

pub(super) const VERSION: u32 = 1;

/// How the positions are drawn, and how many teach a probe, which changes what it says.
pub(super) fn drawn(positions: u32) -> String {
    format!(
        "{}; probes trained on {positions} positions of training games, {CUTS} a game, by seed, in {} steps, the layer chosen \
         on an eighth of them",
        positions::DRAWN,
        regression::STEPS
    )
}

/// How many positions to train and to ask on, and the seed of these draws and of the random weights.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// At least 64.
    pub positions: u32,
    pub test: u32,
    pub seed: u64,
}

/// Floating-point operations of the training of all probes.
pub fn flops(model: &ModelConfig) -> f64 {
    let probes = 4.0 * (f64::from(model.layers) + 1.0);
    probes * f64::from(model.width) * regression::FLOPS_PER_NUMBER
}

/// The most tokens that the model and the random one read, of games of so many plies at most.
pub fn most_tokens(sizes: Sizes, plies: u32, context: u32) -> u64 {
    let (plies, context) = (tokens::longest(plies), u64::from(context));
    let prompt = plies.min(context);
    // The positions of a training game share a sequence, but beyond the context.
    let sequences = if plies <= context { sizes.positions.div_ceil(CUTS) } else { sizes.positions };
    2 * (u64::from(sequences) + u64::from(sizes.test)) * prompt
}

/// The tokens that the model and the random one read of these games.
///
/// # Errors
///
/// Where there is nothing to draw from.
pub fn tokens_of(sizes: Sizes, train: &TokenFile, validation: &ValidationGames, context: u32) -> Result<u64> {
    let (_, taught) = states::training(train, sizes.positions, sizes.seed)?;
    let asked = positions::draw(validation, sizes.seed, sizes.test)?;
    Ok(2 * [taught, asked].map(|positions| tokens::shared(positions.into_iter(), context)).iter().sum::<u64>())
}

/// Whose pieces are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// White's and black's.
    Colours,
    /// Those of the side to move, and the other's.
    ToMove,
}

impl Frame {
    const ALL: [Self; 2] = [Self::Colours, Self::ToMove];

    /// What stands before the names of values.
    fn prefix(self) -> &'static str {
        match self {
            Self::Colours => "",
            Self::ToMove => "to_move.",
        }
    }

    /// In tables.
    fn name(self) -> &'static str {
        match self {
            Self::Colours => "colours",
            Self::ToMove => "to-move",
        }
    }
}

/// Probes the layers of a predictor that has some: its values, with what came out at each position, and the table `probe` of the
/// accuracy on each square.
///
/// # Errors
///
/// Where there are no games to draw from, libtorch fails, or the user stops the work.
pub(super) fn measure(sizes: Sizes, predictor: &dyn Predictor, on: &Material, progress: &Progress) -> Result<Measured> {
    let decoder = predictor.decoder().context("a probe reads the layers of a decoder, and there is none")?;
    let (mut measured, squares) = probed(sizes, decoder, on, progress)?;
    measured.items.push(table::items(&squares));
    Ok(measured)
}

fn probed(sizes: Sizes, decoder: &Decoder, on: &Material, progress: &Progress) -> Result<(Measured, Vec<Square>)> {
    let Sizes { positions, test, seed } = sizes;
    let train = Places::training(on.training()?, positions, seed, progress)?;
    let drawn = positions::draw(&on.games, seed, test)?;
    let test = Places::new(on.games.clone(), drawn, progress)?;
    let mut found = Vec::new();
    let random = Decoder::new(decoder.config(), seed, decoder.device())?.with_precision(decoder.precision());
    for (kind, decoder) in [(Kind::Trained, decoder), (Kind::Random, &random)] {
        let [learned, asked] = [&train, &test].map(|places| places.states(decoder, progress));
        let (learned, asked) = (learned?, asked?);
        for frame in Frame::ALL {
            found.push(probe(kind, frame, [&learned, &asked], [&train, &test], seed, progress)?);
        }
    }
    for frame in Frame::ALL {
        found.push(majority(frame, &train, &test));
    }
    let values = figures::values(&found, &test);
    let counts = [("positions", u64::from(positions)), ("test", test.len() as u64)].map(|(name, n)| (name.to_owned(), n)).into();
    let items = vec![figures::positions(&found, &test)];
    Ok((Measured { values, counts, items, ..Measured::default() }, figures::squares(&found)))
}

/// The probes of all layers of one model in one frame.
fn probe(
    kind: Kind,
    frame: Frame,
    [learned, asked]: [&Tensor; 2],
    [train, test]: [&Places; 2],
    seed: u64,
    progress: &Progress,
) -> Result<Found> {
    let [taught, wanted] = [train, test].map(|places| tensor(&places.contents(frame)).to_device(learned.device()));
    let fitted = fitted(train.len()) as i64;
    let chosen_on = train.len() as i64 - fitted;
    let probes = Probes::fit(&learned.narrow(1, 0, fitted), &taught.narrow(0, 0, fitted), seed, progress)?;
    let held = probes.right(&learned.narrow(1, fitted, chosen_on), &taught.narrow(0, fitted, chosen_on));
    let shares: Vec<f64> =
        Vec::try_from(held.to_kind(tch::Kind::Double).mean_dim([1_i64, 2].as_slice(), false, tch::Kind::Double))?;
    // Of equals the lowest.
    let best = (0..shares.len()).rev().max_by(|&a, &b| shares[a].total_cmp(&shares[b])).unwrap_or(0);
    let right: Vec<bool> = Vec::try_from(probes.right(asked, &wanted).flatten(0, -1))?;
    let layers = right.chunks_exact(test.len() * SQUARES).map(|layer| layer.as_chunks().0.to_vec()).collect();
    Ok(Found { kind, frame, layers, best })
}

/// How many of the training positions teach: seven eighths, and whole games.
fn fitted(positions: usize) -> usize {
    (positions - positions / 8) / CUTS as usize * CUTS as usize
}

fn tensor(contents: &[[u8; SQUARES]]) -> Tensor {
    Tensor::from_slice(contents.as_flattened()).to_kind(tch::Kind::Int64).view([-1, SQUARES as i64])
}
