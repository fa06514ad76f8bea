//! Does a model find the move that wins? Puzzles of the public format, each with the game that led to it, since the model sees no board.

mod file;

use std::collections::BTreeMap;

use anyhow::Result;
use shakmaty::{Chess, Position as _};

use crate::chess::vocabulary::to_move;
use crate::error::Fixable;
use crate::progress::{Progress, silent};
use crate::random::{below, stream};

use super::items::{Cells, Items};
use super::positions::{Position, ValidationGames};
use super::predictor::Predictor;
use super::sampling::argmax;
use super::score::Value;
use super::tokens::shared;
use super::{Measured, batched};

pub use file::missing_column;
use file::{Puzzle, Rows};

pub(super) const VERSION: u32 = 1;

pub(super) const DRAWN: &str = "puzzles with their games in an order by seed; the most likely token for each of the solver's moves, the given \
     replies; a mate counts where one is asked for";

/// Width of the slices by rating.
const BAND: u32 = 200;

/// How far a puzzle was solved.
struct Tried {
    /// Moves of the solver that were right, from the first on.
    right: u32,
    asked: u32,
    solved: bool,
}

/// `solved`: the share of puzzles in which the most likely token was right for every move of the solver; also by bands of the
/// rating. Rows that were looked at and left out are counted by reason. The table `puzzles` has each of them.
pub(super) fn measure(predictor: &dyn Predictor, csv: &[u8], count: u32, seed: u64, progress: &Progress) -> Result<Measured> {
    let mut measured = Measured::default();
    let puzzles = draw(&Rows::read(csv)?, count as usize, seed, &mut measured.counts, progress)?;
    if puzzles.is_empty() {
        let rows: u64 = measured.counts.values().sum();
        let reasons: Vec<_> = measured.counts.iter().map(|(reason, n)| format!("{reason} {n}")).collect();
        return Err(Fixable::failed(format!(
            "none of the `{rows}` rows of the file of puzzles can be used: {}",
            reasons.join(", ")
        ))
        .hint("a row needs in `Prefix` the moves in UCI from the start to its `FEN`")
        .into());
    }
    let tried = solve(predictor, &puzzles, progress)?;

    let all: Vec<(&Puzzle, &Tried)> = puzzles.iter().zip(&tried).collect();
    let share = |of: &[(&Puzzle, &Tried)]| {
        let solved = of.iter().filter(|(_, tried)| tried.solved).count();
        Value::share("solved", solved as u64, of.len() as u64)
    };
    measured.values.extend(share(&all));
    let mut bands = BTreeMap::<u32, Vec<(&Puzzle, &Tried)>>::new();
    for &(puzzle, tried) in &all {
        bands.entry(puzzle.rating / BAND * BAND).or_default().push((puzzle, tried));
    }
    for (from, of) in bands {
        let slice = format!("rating {from}-{}", from + BAND - 1);
        measured.values.extend(share(&of).map(|value| Value { slice, ..value }));
    }
    measured.items.push(table(&all));
    Ok(measured)
}

/// So many puzzles that can be used, or all of them, in an order that the seed decides.
fn draw(rows: &Rows, count: usize, seed: u64, counts: &mut BTreeMap<String, u64>, progress: &Progress) -> Result<Vec<Puzzle>> {
    let mut rng = stream(seed, "order of puzzles", 0);
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let mut puzzles = Vec::new();
    counts.insert("used".to_owned(), 0);
    for at in 0..order.len() {
        if puzzles.len() == count {
            break;
        }
        if at % 1024 == 0 {
            batched::check(progress)?;
        }
        // Fisher and Yates, from the front: what is not looked at need not be shuffled.
        let other = at + below(&mut rng, (order.len() - at) as u64) as usize;
        order.swap(at, other);
        match rows.puzzle(order[at]) {
            Ok(puzzle) => {
                batched::count(counts, "used");
                puzzles.push(puzzle);
            }
            Err(reason) => batched::count(counts, reason),
        }
    }
    Ok(puzzles)
}

/// Asks for every move of every solver at once: after a wrong one, nothing counts that comes later.
fn solve(predictor: &dyn Predictor, puzzles: &[Puzzle], progress: &Progress) -> Result<Vec<Tried>> {
    let lines = ValidationGames::new(puzzles.iter().map(|puzzle| puzzle.moves.as_slice()).collect());
    let positions: Vec<Position> = solvers(puzzles).collect();
    let mut chosen = vec![0; positions.len()];
    batched::Asked::at(&lines, &positions, predictor.context()).put(predictor, progress, |logits, rows| {
        for (row, items) in rows.iter().enumerate() {
            let token = argmax(logits.row(row));
            items.iter().for_each(|&item| chosen[item] = token);
        }
        Ok(())
    })?;
    let mut chosen = chosen.as_slice();
    let mut tried = Vec::with_capacity(puzzles.len());
    for puzzle in puzzles {
        let (own, rest) = chosen.split_at(puzzle.solvers().count());
        tried.push(judge(puzzle, own));
        chosen = rest;
    }
    Ok(tried)
}

/// Where the solvers are asked for their moves, each puzzle a game.
fn solvers(puzzles: &[Puzzle]) -> impl Iterator<Item = Position> {
    puzzles.iter().enumerate().flat_map(|(game, puzzle)| puzzle.solvers().map(move |cut| Position { game, cut }))
}

/// The tokens that a model reads of so many puzzles of a file.
///
/// # Errors
///
/// Where the file is none of puzzles.
pub fn tokens(csv: &[u8], count: u32, seed: u64, context: u32) -> Result<u64> {
    let puzzles = draw(&Rows::read(csv)?, count as usize, seed, &mut BTreeMap::new(), &silent())?;
    Ok(shared(solvers(&puzzles), context))
}

/// Holds the tokens that were chosen for the solver's moves against the line.
fn judge(puzzle: &Puzzle, chosen: &[u16]) -> Tried {
    let asked = chosen.len() as u32;
    for (right, (cut, &token)) in puzzle.solvers().zip(chosen).enumerate() {
        let right = right as u32;
        if token == puzzle.moves[cut] {
            continue;
        }
        let mates = puzzle.mate && after(&puzzle.moves[..cut], token).is_some_and(|board| board.is_checkmate());
        return Tried { right: right + u32::from(mates), asked, solved: mates };
    }
    Tried { right: asked, asked, solved: true }
}

/// The position after some legal moves and one more, if that is legal too.
fn after(moves: &[u16], token: u16) -> Option<Chess> {
    let mut board = Chess::default();
    for &token in moves.iter().chain([&token]) {
        board.play_unchecked(to_move(token, &board)?);
    }
    Some(board)
}

fn table(all: &[(&Puzzle, &Tried)]) -> Items {
    let number =
        |of: fn(&Puzzle, &Tried) -> u32| Cells::Count(all.iter().map(|(puzzle, tried)| of(puzzle, tried).into()).collect());
    Items {
        name: "puzzles",
        columns: vec![
            ("id", Cells::Text(all.iter().map(|(puzzle, _)| puzzle.id.clone()).collect())),
            ("rating", number(|puzzle, _| puzzle.rating)),
            ("moves", number(|_, tried| tried.asked)),
            ("right", number(|_, tried| tried.right)),
            ("mate", Cells::Flag(all.iter().map(|(puzzle, _)| puzzle.mate).collect())),
            ("solved", Cells::Flag(all.iter().map(|(_, tried)| tried.solved).collect())),
        ],
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "known answers are exact")]
mod tests {
    use super::super::fakes::{self, Fake};
    use super::*;
    use crate::chess::vocabulary::{VOCABULARY_SIZE, parse};

    const HEAD: &str = "PuzzleId,FEN,Moves,Rating,RatingDeviation,Popularity,NbPlays,Themes,GameUrl,OpeningTags,Prefix\n";

    /// 1. f3 e5 2. g4 Qh4#: the puzzle begins before White's last mistake, and mates in one.
    const FOOLS_MATE: &str = "a1,rnbqkbnr/pppp1ppp/8/4p3/8/5P2/PPPPP1PP/RNBQKBNR w KQkq - 0 2,g2g4 d8h4,850,80,90,100,mate mateIn1,https://lichess.org/a,,f2f3 e7e5\n";

    /// 1. e4 d5 2. exd5 and the queen takes, twice: no mate, and two moves of the solver.
    const TAKES: &str = "a2,rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2,e4d5 d8d5 b1c3 d5e5,1210,80,90,100,opening,https://lichess.org/b,,e2e4 d7d5\n";

    /// Plays by a list: what was played before, and what is likeliest then.
    fn plays(list: &'static [(&'static str, &'static str)]) -> Fake<impl Fn(&[u16]) -> Vec<f32>> {
        Fake::new(move |shown: &[u16]| {
            let mut logits = vec![0.0; VOCABULARY_SIZE];
            let known = list.iter().find(|(before, _)| shown[1..] == fakes::game(before));
            if let Some((_, then)) = known {
                logits[usize::from(parse(then).expect("in the vocabulary"))] = 1.0;
            }
            logits
        })
    }

    fn score(predictor: &dyn Predictor, rows: &[&str]) -> Measured {
        measure(predictor, (HEAD.to_owned() + &rows.concat()).as_bytes(), 10, 5, &silent()).expect("puzzles to solve")
    }

    #[test]
    fn a_puzzle_is_solved_where_every_move_of_the_solver_is_right() {
        static BOTH: [(&str, &str); 2] = [("e2e4 d7d5 e4d5", "d8d5"), ("e2e4 d7d5 e4d5 d8d5 b1c3", "d5e5")];
        for (list, solved, right) in [(&BOTH[..], 1.0, 2), (&BOTH[..1], 0.0, 1), (&BOTH[1..], 0.0, 0)] {
            let got = score(&plays(list), &[TAKES]);
            assert_eq!((got.values[0].value, got.values[0].n), (solved, 1));
            assert_eq!(got.items[0].columns[3].1, Cells::Count(vec![right]));
        }
    }

    #[test]
    fn another_mate_counts_where_a_mate_is_asked_for_and_nothing_else_does() {
        assert_eq!(score(&plays(&[("f2f3 e7e5 g2g4", "d8h4")]), &[FOOLS_MATE]).values[0].value, 1.0);
        assert_eq!(score(&plays(&[("f2f3 e7e5 g2g4", "d8g5")]), &[FOOLS_MATE]).values[0].value, 0.0);
        let fools = Puzzle { id: String::new(), rating: 900, moves: fakes::game("f2f3 e7e5 g2g4 d8h4"), begins: 2, mate: true };
        assert!(judge(&fools, &[parse("d8h4").expect("a move")]).solved);
        // As if the line named another move than the one that mates.
        let other = Puzzle { moves: fakes::game("f2f3 e7e5 g2g4 d8g5"), ..fools };
        assert!(judge(&other, &[parse("d8h4").expect("a move")]).solved);
        assert!(!judge(&Puzzle { mate: false, ..other }, &[parse("d8h4").expect("a move")]).solved);
    }

    #[test]
    fn shares_are_told_by_rating_and_rows_that_cannot_be_used_by_reason() {
        let without = FOOLS_MATE.replace(",f2f3 e7e5", ",");
        let elsewhere = FOOLS_MATE.replace(",f2f3 e7e5", ",e2e4 e7e5");
        let unplayable = FOOLS_MATE.replace(",f2f3 e7e5", ",f2f5");
        let no_line = TAKES.replace("e4d5 d8d5 b1c3 d5e5", "e4d5 e8e1");
        let no_rating = TAKES.replace("1210", "?");
        let no_fen = TAKES.replace("rnbqkbnr/ppp1pppp", "rnbqkbnr");
        let rows = [FOOLS_MATE, TAKES, &without, &elsewhere, &unplayable, &no_line, &no_rating, &no_fen];
        let got = score(&plays(&[("f2f3 e7e5 g2g4", "d8h4")]), &rows);
        let told: Vec<_> = got.values.iter().map(|value| (value.slice.as_str(), value.value, value.n)).collect();
        assert_eq!(told, [("", 0.5, 2), ("rating 800-999", 1.0, 1), ("rating 1200-1399", 0.0, 1)]);
        for reason in ["no_prefix", "prefix_leads_elsewhere", "prefix_unplayable", "moves_unplayable", "no_rating", "bad_fen"] {
            assert_eq!(got.counts.get(reason), Some(&1), "{reason}: {:?}", got.counts);
        }
        assert_eq!((got.counts["used"], got.counts.len()), (2, 7));
    }

    #[test]
    fn fewer_puzzles_are_the_first_of_more_and_a_file_without_any_is_a_failure() {
        let csv = HEAD.to_owned() + &(0..40).map(|id| FOOLS_MATE.replace("a1", &format!("p{id}"))).collect::<String>();
        let ids = |count| {
            let got = measure(&fakes::uniform(), csv.as_bytes(), count, 5, &silent()).expect("puzzles");
            let Cells::Text(ids) = &got.items[0].columns[0].1 else { panic!("ids are text") };
            ids.clone()
        };
        assert_eq!((ids(30)[..10].to_vec(), ids(100).len()), (ids(10), 40));
        assert!(measure(&fakes::uniform(), HEAD.as_bytes(), 5, 5, &silent()).is_err());
    }

    #[test]
    fn tokens_are_those_up_to_the_last_move_that_is_asked_for() {
        let csv = HEAD.to_owned() + FOOLS_MATE + TAKES;
        let of = |count, context| tokens(csv.as_bytes(), count, 5, context).expect("puzzles");
        // `<bos>` and 3 plies; `<bos>` and 5. Two tokens hold neither, so that each of three moves is asked for apart.
        assert_eq!([of(10, 400), of(10, 2)], [4 + 6, 3 * 2]);
        assert!([4, 6].contains(&of(1, 400)));
    }

    #[test]
    fn a_short_context_is_shown_the_last_moves_and_the_size_of_batches_changes_nothing() {
        let rows = [FOOLS_MATE, TAKES];
        assert_eq!(score(&fakes::moody().batch(1), &rows), score(&fakes::moody(), &rows));
        // Says again the last token: a piece that is no longer there.
        assert_eq!(score(&fakes::copying().context(2), &rows).values[0].value, 0.0);
    }
}
