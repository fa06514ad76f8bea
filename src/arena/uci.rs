//! What an engine says in a search, as values. Pure: lines in, values out.

use shakmaty::uci::UciMove;

/// How far an engine may think about one move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Positions to visit: the same search on every machine.
    Nodes(u64),
    /// Milliseconds of wall clock.
    Movetime(u64),
}

impl Limit {
    pub(crate) fn command(self) -> String {
        match self {
            Self::Nodes(nodes) => format!("go nodes {nodes}"),
            Self::Movetime(milliseconds) => format!("go movetime {milliseconds}"),
        }
    }
}

/// What a position is worth to the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    Centipawns(i32),
    /// Moves until mate; negative, or 0, where the side to move is mated.
    Mate(i32),
}

impl Score {
    /// One number for comparing: a mate is worth more than any other score, a near one more than a far one.
    pub fn centipawns(self) -> i32 {
        const MATE: i32 = 30_000;
        match self {
            Self::Centipawns(centipawns) => centipawns.clamp(-MATE / 2, MATE / 2),
            Self::Mate(moves) if moves > 0 => MATE - moves.min(1_000),
            Self::Mate(moves) => -MATE - moves.max(-1_000),
        }
    }

    /// The same position seen by the other side.
    #[must_use]
    pub fn flipped(self) -> Self {
        match self {
            Self::Centipawns(centipawns) => Self::Centipawns(-centipawns),
            Self::Mate(moves) => Self::Mate(-moves),
        }
    }
}

/// One of the moves an engine considers, and what it is worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// 1 is the best.
    pub rank: u32,
    pub score: Score,
    pub first: UciMove,
}

/// Reads an `info` line; `None` where it carries no scored line of play.
pub(crate) fn info(line: &str) -> Option<Line> {
    let mut words = line.split_ascii_whitespace();
    if words.next() != Some("info") {
        return None;
    }
    let (mut rank, mut score) = (1, None);
    while let Some(word) = words.next() {
        match word {
            // Everything after it is free text.
            "string" => return None,
            "multipv" => rank = words.next()?.parse().ok()?,
            "score" => {
                score = Some(match words.next()? {
                    "cp" => Score::Centipawns(words.next()?.parse().ok()?),
                    "mate" => Score::Mate(words.next()?.parse().ok()?),
                    _ => return None,
                });
            }
            "pv" => return Some(Line { rank, score: score?, first: words.next()?.parse().ok()? }),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scored_line_is_read_and_everything_else_is_passed_over() {
        let line = info("info depth 2 seldepth 2 multipv 3 score cp -23 upperbound nodes 149 time 1 pv c7c5 d2d4");
        let first = "c7c5".parse().expect("a move");
        assert_eq!(line, Some(Line { rank: 3, score: Score::Centipawns(-23), first }));
        let mate = info("info depth 9 score mate -2 pv e1e2").expect("a line");
        assert_eq!((mate.rank, mate.score), (1, Score::Mate(-2)));
        for other in [
            "info string score cp 5 pv e2e4",
            "info depth 0 score cp 0",
            "info score cp x pv e2e4",
            "readyok",
            "",
            "info pv e2e4",
        ] {
            assert_eq!(info(other), None, "{other}");
        }
    }

    #[test]
    fn mates_outweigh_every_score_and_nearer_ones_weigh_more() {
        let order = [
            Score::Mate(0),
            Score::Mate(-1),
            Score::Mate(-9),
            Score::Centipawns(-99_999),
            Score::Centipawns(0),
            Score::Centipawns(99_999),
            Score::Mate(9),
            Score::Mate(1),
        ];
        assert!(order.is_sorted_by_key(|score| score.centipawns()), "{order:?}");
        assert_eq!(Score::Mate(3).flipped().centipawns(), -Score::Mate(3).centipawns());
    }
}
