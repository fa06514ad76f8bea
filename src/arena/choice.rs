//! Which move is made: an engine's, weakened; one that only keeps a game going; one that cannot be played.
//!
//! Weakness comes from few nodes and from our own draw among the engine's best lines, never from Stockfish's
//! `Skill Level`: that one draws from a generator seeded with the time of day, and no game could be played again.

use rand_chacha::ChaCha8Rng;
use shakmaty::san::San;
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Move, Position};

use super::config::Level;
use super::engine::Search;
use super::entry::weighted;
use super::uci::Score;
use crate::random::{below, unit};

/// One of the engine's best moves, by the level's weights, if it is not much worse than the best.
pub(crate) fn choose(search: &Search, level: &Level, rng: &mut ChaCha8Rng) -> UciMove {
    let drawn = unit(rng);
    let Some(best) = search.lines.first().filter(|line| line.first == search.best) else { return search.best };
    let good_enough = |score: Score| best.score.centipawns() - score.centipawns() <= level.within;
    let lines = search.lines.iter().zip(&level.weights).enumerate();
    let candidates: Vec<(UciMove, f64)> = lines
        .filter(|(index, (line, _))| *index == 0 || good_enough(line.score))
        .map(|(_, (line, &weight))| (line.first, weight))
        .collect();
    weighted(&candidates, drawn)
}

/// A move in good notation that cannot be played here; which one it is depends on the ply.
pub(crate) fn impossible(position: &Chess, ply: u32) -> &'static str {
    let candidates = ["Ra5", "O-O-O", "exd8=Q", "Nd8", "Qh5", "Kd4", "Bb7"];
    let cannot = |san: &&str| san.parse::<San>().is_ok_and(|san| san.to_move(position).is_err());
    let from = ply as usize % candidates.len();
    let mut in_turn = candidates.into_iter().cycle().skip(from).take(candidates.len());
    in_turn.find(cannot).expect("not all can be played: a king that castles is not beside d4")
}

/// Any quiet move that does not end the game; a pawn move where none was made for long.
pub(crate) fn shuffle(position: &Chess, rng: &mut ChaCha8Rng) -> Move {
    let legal = position.legal_moves();
    let keeps_on = |m: &Move| {
        let mut after = position.clone();
        after.play_unchecked(*m);
        !after.is_game_over()
    };
    let stale = position.halfmoves() >= 80;
    let quiet: Vec<Move> = legal.iter().copied().filter(|m| !m.is_capture() && !m.is_promotion() && keeps_on(m)).collect();
    let zeroing: Vec<Move> = legal.iter().copied().filter(|m| m.is_zeroing() && keeps_on(m)).collect();
    let any: Vec<Move> = legal.iter().copied().collect();
    let moves = [(stale, zeroing), (true, quiet), (true, any)].into_iter().find(|(fits, moves)| *fits && !moves.is_empty());
    let (_, moves) = moves.expect("the game is not over, so that a move can be made");
    moves[below(rng, moves.len() as u64) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::engine::Line;
    use crate::random::stream;

    #[test]
    fn moves_are_chosen_by_weight_unless_they_lose_too_much() {
        let line =
            |rank, first: &str, score| Line { rank, score: Score::Centipawns(score), first: first.parse().expect("a move") };
        let lines = vec![line(1, "e2e4", 30), line(2, "d2d4", 0), line(3, "g2g4", -200)];
        let search = Search { best: lines[0].first, lines };
        let level = Level { rating: 0, nodes: 1, weights: vec![50.0, 30.0, 20.0], within: 60 };
        let mut rng = stream(1, "choice", 0);
        let mut counts = [0_u32; 3];
        for _ in 0..8_000 {
            let chosen = choose(&search, &level, &mut rng);
            counts[search.lines.iter().position(|line| line.first == chosen).expect("one of the lines")] += 1;
        }
        assert!(counts[2] == 0 && (4_800..5_200).contains(&counts[0]), "{counts:?}");
    }

    #[test]
    fn three_hundred_plies_can_be_shuffled_without_ending_the_game() {
        let mut rng = stream(1, "shuffle", 0);
        let mut position = Chess::default();
        for _ in 0..300 {
            let m = shuffle(&position, &mut rng);
            position.play_unchecked(m);
            assert!(!position.is_game_over() && position.halfmoves() < 150);
        }
    }
}
