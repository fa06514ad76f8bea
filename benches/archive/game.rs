//! One game as the archive writes it. It depends on the seed and its number alone.

use std::fmt::Write as _;

use philidor::random::{stream, unit};
use rand_chacha::ChaCha8Rng;

use super::clock::Clocks;
use super::evaluation::{self, Walk};
use super::moves::{self, Line, Mined};
use super::players::{self, Player};
use super::shares;

/// Games that begin in one second; as many as in July 2026.
const A_SECOND: u64 = 33;

/// What all games of a month are made of.
pub(crate) struct Maker {
    seed: u64,
    players: Vec<Player>,
    mined: Vec<Mined>,
}

impl Maker {
    pub(crate) fn new(seed: u64, mined: Vec<Mined>) -> Self {
        Self { seed, players: players::pool(seed), mined }
    }

    /// Writes game `index`, with the empty line that follows it.
    pub(crate) fn write(&self, index: u64, text: &mut String) {
        let mut rng = stream(self.seed, "month/game", index);
        let rng = &mut rng;
        let (control, speed) = shares::control(unit(rng));
        let [white, black] = players::pair(&self.players, rng);
        let has_moves = unit(rng) >= shares::NO_MOVES;
        let mined = moves::opening(&self.mined, rng);
        let mut movetext = String::with_capacity(2_500);
        let mut balance = 0;
        let mut is_over = false;
        if has_moves {
            let mut line = Line::new(mined, rng);
            is_over = write_moves(&mut movetext, &mut line, control, rng);
            balance = line.balance();
        }
        let is_bullet = speed.ends_with("Bullet");
        let termination = match (has_moves, is_over) {
            (false, _) => "Abandoned",
            (true, true) => "Normal",
            _ if unit(rng) < shares::FLAGGED[usize::from(!is_bullet)] => "Time forfeit",
            _ => "Normal",
        };
        let result = result(balance, termination, rng);
        let event = self.event(speed, index, rng);
        let second = index / A_SECOND;
        let date = format!("2026.07.{:02}", 1 + second / 86_400 % 31);
        let time = format!("{:02}:{:02}:{:02}", second / 3_600 % 24, second / 60 % 60, second % 60);
        let mut tag = |name: &str, value: &dyn std::fmt::Display| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "[{name} \"{value}\"]");
        };
        tag("Event", &event);
        tag("Site", &format_args!("https://philidor.invalid/{}", moves::address(rng)));
        tag("Date", &date);
        tag("Round", &"-");
        tag("White", &white.0.name);
        tag("Black", &black.0.name);
        tag("Result", &result);
        tag("UTCDate", &date);
        tag("UTCTime", &time);
        tag("WhiteElo", &white.1);
        tag("BlackElo", &black.1);
        let gain = gain(white.1 - black.1, result, rng);
        tag("WhiteRatingDiff", &format_args!("{gain:+}"));
        tag("BlackRatingDiff", &format_args!("{:+}", -gain));
        for (name, title) in [("WhiteTitle", white.0.title), ("BlackTitle", black.0.title)] {
            if let Some(title) = title {
                tag(name, &title);
            }
        }
        let (eco, opening) = if has_moves { (mined.eco.as_str(), mined.opening.as_str()) } else { ("?", "?") };
        tag("ECO", &eco);
        tag("Opening", &opening);
        tag("TimeControl", &control);
        tag("Termination", &termination);
        let _ = write!(text, "\n{movetext}{result}\n\n");
    }

    fn event(&self, speed: &str, index: u64, rng: &mut ChaCha8Rng) -> String {
        let drawn = unit(rng);
        let held = |purpose| moves::address(&mut stream(self.seed, purpose, index / 2_000 * 8 + speed.len() as u64));
        if drawn >= shares::TOURNAMENT + shares::SWISS || speed == "Correspondence" {
            format!("Rated {speed} game")
        } else if drawn < shares::TOURNAMENT {
            format!("Rated {speed} tournament https://philidor.invalid/tournament/{}", held("month/tournament"))
        } else {
            format!("{speed} swiss https://philidor.invalid/swiss/{}", held("month/swiss"))
        }
    }
}

/// Writes the moves with their comments, and says whether the rules ended the game.
fn write_moves(text: &mut String, line: &mut Line, control: &str, rng: &mut ChaCha8Rng) -> bool {
    let plies = shares::length(rng) as usize;
    let mut clocks = Clocks::new(control, rng);
    let mut walk = (unit(rng) < shares::ANALYSED).then(Walk::new);
    for ply in 0..plies {
        let Some(step) = line.next(ply, rng) else { return true };
        let number = ply / 2 + 1;
        let has_comments = clocks.is_some() || walk.is_some();
        // Writing to a string cannot fail.
        let _ = match (ply % 2, has_comments) {
            (0, _) => write!(text, "{number}. {}", step.san),
            (_, true) => write!(text, "{number}... {}", step.san),
            (_, false) => write!(text, "{}", step.san),
        };
        let evaluation = walk.as_mut().map(|walk| walk.step(ply % 2 == 0, rng));
        if let Some((_, glyph)) = evaluation {
            text.push_str(glyph);
        }
        if has_comments {
            text.push_str(" { ");
            if let Some((centipawns, _)) = evaluation {
                evaluation::write(text, centipawns, rng);
            }
            if let Some(clocks) = &mut clocks {
                let seconds = clocks.spend(ply, rng);
                let _ = write!(text, "[%clk {}:{:02}:{:02}] ", seconds / 3_600, seconds / 60 % 60, seconds % 60);
            }
            text.push('}');
        }
        text.push(' ');
        if step.ends {
            return true;
        }
    }
    false
}

/// Who is ahead in material mostly wins.
fn result(balance: i32, termination: &str, rng: &mut ChaCha8Rng) -> &'static str {
    if termination == "Normal" && unit(rng) < shares::DRAWN {
        return "1/2-1/2";
    }
    let white_wins = match balance {
        ..0 => 0.1,
        0 => 0.51,
        1.. => 0.92,
    };
    if unit(rng) < white_wins { "1-0" } else { "0-1" }
}

/// What white gains of its rating; black loses as much, or nearly.
fn gain(ahead: i32, result: &str, rng: &mut ChaCha8Rng) -> i32 {
    let expected = 1.0 / (1.0 + 10_f64.powf(-f64::from(ahead) / 400.0));
    let score = match result {
        "1-0" => 1.0,
        "0-1" => 0.0,
        _ => 0.5,
    };
    (12.0 * (score - expected) + unit(rng) - 0.5).round() as i32
}
