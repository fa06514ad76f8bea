//! Does a model open as people do? Its moves after given beginnings, beside those of the games that it was trained on.

mod divergence;

use anyhow::Result;
use shakmaty::{Chess, Position as _};

use crate::chess::replay::legal_tokens;
use crate::chess::vocabulary::{BOS, parse, to_move, uci};
use crate::data::tokens::TokenFile;
use crate::error::Fixable;
use crate::progress::Progress;
use crate::random::stream;

use super::items::{Cells, Items};
use super::predictor::{Predictor, with_last};
use super::sampling::Weights;
use super::score::Value;
use super::{Measured, batched};

pub(super) const VERSION: u32 = 1;

pub(super) const DRAWN: &str =
    "given beginnings of games; legal moves alone, beside the moves made there in training games; at least 30 games each";

/// Fewer games say too little of what people play.
pub const FEWEST_GAMES: u64 = 30;

/// Games after which the user may stop the work.
const CHECK_EVERY: usize = 1 << 16;

/// A beginning, and what is known of the move after it.
struct Opening {
    /// As it was asked for.
    name: String,
    moves: Vec<u16>,
    /// The legal moves, ascending.
    legal: Vec<u16>,
    /// How often each was made in training games.
    counts: Vec<u64>,
    /// Of the model, among the legal moves.
    probabilities: Vec<f64>,
}

/// The moves of a line in UCI, such as `e2e4 c7c5`; none where one is not legal, or the game ends with them.
pub fn line(text: &str) -> Option<Vec<u16>> {
    let mut board = Chess::default();
    let mut moves = Vec::new();
    for text in text.split_whitespace() {
        let token = parse(text)?;
        board.play_unchecked(to_move(token, &board)?);
        moves.push(token);
    }
    (!board.legal_moves().is_empty()).then_some(moves)
}

/// Of each beginning, in a slice of its name: `divergence`, that of Jensen and Shannon in bits, and `variation`, the total
/// variation distance, between the model's distribution at temperature 1 and that of the games. Beginnings of too few games
/// are counted as left out. The table `openings` has every move.
pub(super) fn measure(
    predictor: &dyn Predictor,
    training: &TokenFile,
    prefixes: &[String],
    seed: u64,
    progress: &Progress,
) -> Result<Measured> {
    let mut openings = prefixes.iter().map(|name| Opening::of(name)).collect::<Result<Vec<_>>>()?;
    count(&mut openings, training, progress)?;
    predict(&mut openings, predictor)?;

    let mut measured = Measured::default();
    for kind in ["beginnings", "left_out"] {
        measured.counts.insert(kind.to_owned(), 0);
    }
    for opening in &openings {
        let n = opening.counts.iter().sum::<u64>();
        if n < FEWEST_GAMES {
            batched::count(&mut measured.counts, "left_out");
            continue;
        }
        batched::count(&mut measured.counts, "beginnings");
        let mut rng = stream(seed, &format!("openings after {}", opening.name), 0);
        let [bits, distance] = divergence::estimates(&opening.probabilities, &opening.counts, &mut rng);
        let values = [Value::of("divergence", bits, divergence::BASIC), Value::of("variation", distance, divergence::AT_LEAST)];
        measured.values.extend(values.map(|value| Value { slice: opening.name.clone(), ..value }));
    }
    measured.items.push(table(&openings));
    Ok(measured)
}

impl Opening {
    fn of(name: &str) -> Result<Self> {
        let moves = line(name).ok_or_else(|| {
            Fixable::failed(format!("`{name}` is no line of legal moves in UCI")).hint("write it as in \"e2e4 c7c5\"")
        })?;
        let mut board = Chess::default();
        for &token in &moves {
            board.play_unchecked(to_move(token, &board).expect("the line was just played"));
        }
        let mut legal = Vec::new();
        legal_tokens(&board, &mut legal);
        legal.sort_unstable();
        let name = if moves.is_empty() { "start".to_owned() } else { name.split_whitespace().collect::<Vec<_>>().join(" ") };
        Ok(Self { name, moves, counts: vec![0; legal.len()], probabilities: Vec::new(), legal })
    }

    /// Counts a game that begins so and goes on.
    fn note(&mut self, game: &[u16]) {
        if let Some(next) = game.strip_prefix(self.moves.as_slice()).and_then(<[u16]>::first)
            && let Ok(at) = self.legal.binary_search(next)
        {
            self.counts[at] += 1;
        }
    }
}

fn count(openings: &mut [Opening], training: &TokenFile, progress: &Progress) -> Result<()> {
    for game in 0..training.games() {
        if game % CHECK_EVERY == 0 {
            batched::check(progress)?;
            progress.done(game as u64, training.games() as u64, "games");
        }
        let moves = training.game(game);
        for opening in &mut *openings {
            opening.note(moves);
        }
    }
    Ok(())
}

fn predict(openings: &mut [Opening], predictor: &dyn Predictor) -> Result<()> {
    let mut weights = Weights::default();
    for batch in openings.chunks_mut(predictor.batch().max(1)) {
        let sequences: Vec<Vec<u16>> = batch.iter().map(|opening| [&[BOS], opening.moves.as_slice()].concat()).collect();
        let logits = with_last(predictor.context(), &sequences, |prompts| predictor.predict(prompts))?;
        for (row, opening) in batch.iter_mut().enumerate() {
            weights.fill(logits.row(row), 1.0);
            let masses: Vec<f64> = opening.legal.iter().map(|&token| weights.mass(&[token])).collect();
            let legal: f64 = masses.iter().sum();
            if legal <= 0.0 {
                let message = format!("after `{}` every legal move is impossible to the model", opening.name);
                return Err(Fixable::failed(message).hint("look at the curve of the loss: the training has diverged").into());
            }
            opening.probabilities = masses.into_iter().map(|mass| mass / legal).collect();
        }
    }
    Ok(())
}

/// A row a legal move after each beginning.
fn table(openings: &[Opening]) -> Items {
    let rows = || openings.iter().flat_map(|opening| (0..opening.legal.len()).map(move |at| (opening, at)));
    let share = |(opening, at): (&Opening, usize)| {
        let n = opening.counts.iter().sum::<u64>();
        if n == 0 { 0.0 } else { opening.counts[at] as f64 / n as f64 }
    };
    Items {
        name: "openings",
        columns: vec![
            ("prefix", Cells::Text(rows().map(|(opening, _)| opening.name.clone()).collect())),
            ("move", Cells::Text(rows().map(|(opening, at)| uci(opening.legal[at]).to_owned()).collect())),
            ("model_probability", Cells::Number(rows().map(|(opening, at)| opening.probabilities[at]).collect())),
            ("corpus_share", Cells::Number(rows().map(share).collect())),
            ("corpus_games", Cells::Count(rows().map(|(opening, at)| opening.counts[at]).collect())),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::super::fakes::{self, Fake};
    use super::*;
    use crate::chess::vocabulary::VOCABULARY_SIZE;
    use crate::data::tokens::Framing;
    use crate::data::tokens::tests::written;
    use crate::progress::silent;

    /// So many games of each line.
    fn played(lines: &[(&str, usize)]) -> (tempfile::TempDir, TokenFile) {
        let games: Vec<_> = lines.iter().flat_map(|&(line, n)| std::iter::repeat_n(fakes::game(line), n)).collect();
        written(&games, Framing::Marked)
    }

    fn score(predictor: &dyn Predictor, training: &TokenFile, prefixes: &[&str]) -> Measured {
        let prefixes: Vec<_> = prefixes.iter().map(|&prefix| prefix.to_owned()).collect();
        measure(predictor, training, &prefixes, 5, &silent()).expect("beginnings to measure at")
    }

    fn value<'a>(measured: &'a Measured, name: &str, slice: &str) -> &'a Value {
        measured.values.iter().find(|value| value.name == name && value.slice == slice).expect("it was measured")
    }

    #[test]
    fn a_model_that_knows_nothing_is_as_far_from_one_move_as_the_formula_says() {
        let (_dir, training) = played(&[("e2e4 e7e5", 400)]);
        let got = score(&fakes::uniform(), &training, &["", "d2d4"]);
        let variation = value(&got, "variation", "start");
        assert!((variation.value - 0.95).abs() < 1e-12 && variation.n == 400, "{variation:?}");
        // One move of 20: (log₂(1 / 0.525) + 0.05 log₂(0.05 / 0.525) + 0.95) / 2.
        let wanted = f64::midpoint(-(0.525_f64.log2()), 0.05 * (0.05_f64 / 0.525).log2() + 0.95);
        let divergence = value(&got, "divergence", "start");
        assert!((divergence.value - wanted).abs() < 0.01, "{divergence:?}, not {wanted}");
        assert!(divergence.low <= wanted && wanted <= divergence.high, "{divergence:?}, not {wanted}");
        assert_eq!((got.counts["beginnings"], got.counts["left_out"], got.values.len()), (1, 1, 2));
    }

    #[test]
    fn a_model_that_opens_as_its_games_do_is_not_far_from_them() {
        let (_dir, training) = played(&[("e2e4 c7c5 g1f3", 300), ("e2e4 e7e5 g1f3", 500), ("d2d4 d7d5", 200), ("e2e4", 50)]);
        let likes = |shown: &[u16]| {
            let mut logits = vec![-40.0; VOCABULARY_SIZE];
            let shares: &[(&str, f32)] =
                if shown.len() == 1 { &[("e2e4", 850.0), ("d2d4", 200.0)] } else { &[("c7c5", 300.0), ("e7e5", 500.0)] };
            for (text, games) in shares {
                logits[usize::from(fakes::game(text)[0])] = games.ln();
            }
            logits
        };
        let got = score(&Fake::new(likes), &training, &["", "e2e4", "e2e4 c7c5"]);
        // A game that ends with the beginning has no move after it.
        for (slice, n) in [("start", 1_050), ("e2e4", 800)] {
            let [divergence, variation] = ["divergence", "variation"].map(|name| value(&got, name, slice));
            assert!(divergence.value < 1e-3 && divergence.low == 0.0 && divergence.n == n, "{divergence:?}");
            assert!(variation.value < 1e-6 && variation.low == 0.0 && variation.n == n, "{variation:?}");
        }
        assert!(value(&got, "variation", "e2e4 c7c5").value > 0.9);
    }

    #[test]
    fn the_table_has_every_legal_move_with_what_the_games_and_the_model_say_of_it() {
        let (dir, training) = played(&[("e2e4 c7c5", 30), ("d2d4 d7d5", 10)]);
        let got = score(&fakes::moody(), &training, &["", "e2e4"]);
        let [prefix, moves, probability, share, games] = got.items[0].columns.as_slice() else { panic!("five columns") };
        let (Cells::Text(prefix), Cells::Text(moves), Cells::Number(probability)) = (&prefix.1, &moves.1, &probability.1) else {
            panic!("other columns")
        };
        let (Cells::Number(share), Cells::Count(games)) = (&share.1, &games.1) else { panic!("other columns") };
        assert_eq!((prefix.len(), prefix[0].as_str(), prefix[20].as_str()), (40, "start", "e2e4"));
        let at = |text: &str| moves.iter().position(|other| other == text).expect("a legal move");
        assert_eq!((games[at("e2e4")], share[at("e2e4")], games[at("c7c5")], games[at("a2a3")]), (30, 0.75, 30, 0));
        for half in probability.chunks(20) {
            assert!((half.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
        got.items[0].write(dir.path()).expect("room to write");
        let bytes = std::fs::read(dir.path().join("openings.parquet")).expect("a file");
        got.items[0].write(dir.path()).expect("room to write");
        assert_eq!(std::fs::read(dir.path().join("openings.parquet")).expect("a file"), bytes);
        assert_eq!(score(&fakes::moody(), &training, &["", "e2e4"]), got, "the same seed draws the same");
    }

    #[test]
    fn what_is_no_line_of_moves_is_none() {
        assert_eq!(line("").expect("the start").len(), 0);
        assert_eq!(line("e2e4 e7e5").expect("a line").len(), 2);
        for text in ["e2e5", "e4", "e2e4 e2e4", "f2f3 e7e5 g2g4 d8h4"] {
            assert_eq!(line(text), None, "{text}");
        }
    }
}
