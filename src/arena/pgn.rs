//! Writes a game as the public archive does: its tags in its order, clocks and evaluations as comments.

use std::fmt::Write as _;

use shakmaty::{ByColor, Color};

use super::entry::{Entry, Kind, Seat};
use super::openings;
use super::play::{End, Played, Ply};
use super::uci::Score;

/// The game as text, with the empty line that follows it.
pub(crate) fn write(entry: &Entry, played: &Played) -> String {
    let mut text = String::with_capacity(2_048);
    tags(&mut text, entry, played);
    text.push('\n');
    moves(&mut text, entry, played);
    text.push_str(result(played.end));
    text.push_str("\n\n");
    text
}

fn tags(text: &mut String, entry: &Entry, played: &Played) {
    let mut tag = |name: &str, value: &str| {
        // Values are our own: none holds a quote or a backslash, except where a setting does.
        let value = value.replace('\\', "\\\\").replace('"', "\\\"");
        // Writing to a string cannot fail.
        let _ = writeln!(text, "[{name} \"{value}\"]");
    };
    let ByColor { white, black } = &entry.players;
    tag("Event", &entry.event);
    tag("Site", &entry.site);
    tag("Date", &entry.date);
    tag("Round", "-");
    tag("White", &white.name);
    tag("Black", &black.name);
    tag("Result", result(played.end));
    tag("UTCDate", &entry.date);
    tag("UTCTime", &entry.time);
    tag("WhiteElo", &elo(white));
    tag("BlackElo", &elo(black));
    // Casual games, and players without a rating, win and lose none.
    if entry.kind != Kind::SetUp && white.is_rating_known && black.is_rating_known {
        tag("WhiteRatingDiff", &gain(entry, played.end, Color::White));
        tag("BlackRatingDiff", &gain(entry, played.end, Color::Black));
    }
    if white.is_bot {
        tag("WhiteTitle", "BOT");
    }
    if black.is_bot {
        tag("BlackTitle", "BOT");
    }
    let (code, opening) = if played.fen.is_some() {
        ("?", "?")
    } else {
        let sans: Vec<&str> = played.plies.iter().take(12).map(|ply| ply.san.trim_end_matches(['+', '#'])).collect();
        openings::name(&sans)
    };
    tag("ECO", code);
    tag("Opening", opening);
    tag("TimeControl", &entry.control.to_string());
    tag("Termination", played.end.termination());
    if let Some(fen) = played.fen {
        tag("Variant", "From Position");
        tag("FEN", fen);
        tag("SetUp", "1");
    }
}

fn elo(seat: &Seat) -> String {
    if seat.is_rating_known { seat.rating.to_string() } else { "?".to_owned() }
}

/// What a settled rating gains: the score above the one expected of the difference in ratings.
fn gain(entry: &Entry, end: End, color: Color) -> String {
    let rating = |color| f64::from(entry.players.get(color).rating);
    let expected = 1.0 / (1.0 + 10_f64.powf((rating(color.other()) - rating(color)) / 400.0));
    let score = match end.winner() {
        Some(winner) if winner == color => 1.0,
        Some(_) => 0.0,
        None => 0.5,
    };
    format!("{:+}", (12.0 * (score - expected)).round() as i32)
}

fn result(end: End) -> &'static str {
    match end.winner() {
        Some(Color::White) => "1-0",
        Some(Color::Black) => "0-1",
        None => "1/2-1/2",
    }
}

fn moves(text: &mut String, entry: &Entry, played: &Played) {
    let last = played.plies.len().saturating_sub(1);
    // What the archive takes the initial position to be worth.
    let mut before = Score::Centipawns(15);
    let mut is_commented = false;
    for (index, ply) in played.plies.iter().enumerate() {
        let (number, is_white) = (index / 2 + 1, index % 2 == 0);
        // Writing to a string cannot fail.
        let _ = match (is_white, is_commented) {
            (true, _) => write!(text, "{number}. {}", ply.san),
            (false, true) => write!(text, "{number}... {}", ply.san),
            (false, false) => write!(text, "{}", ply.san),
        };
        let score = ply.score.filter(|_| entry.is_analysed);
        if let Some(after) = score {
            text.push_str(glyph(before, after, is_white));
            before = after;
        }
        if index == last && played.end == End::DrawAgreed {
            let _ = write!(text, " {{ {} offers draw }}", if is_white { "White" } else { "Black" });
        }
        is_commented = comment(text, ply, score);
        text.push(' ');
    }
}

/// Writes the clock and the evaluation, if there are any.
fn comment(text: &mut String, ply: &Ply, score: Option<Score>) -> bool {
    let mut parts = Vec::new();
    match score {
        Some(Score::Centipawns(centipawns)) => parts.push(format!("[%eval {:?}]", f64::from(centipawns) / 100.0)),
        Some(Score::Mate(moves)) => parts.push(format!("[%eval #{moves}]")),
        None => {}
    }
    if let Some(seconds) = ply.clock {
        parts.push(format!("[%clk {}:{:02}:{:02}]", seconds / 3_600, seconds / 60 % 60, seconds % 60));
    }
    if parts.is_empty() {
        return false;
    }
    let _ = write!(text, " {{ {} }}", parts.join(" "));
    true
}

/// The archive marks moves by the winning chances they give away, on a scale from −1 to 1.
fn glyph(before: Score, after: Score, is_white: bool) -> &'static str {
    let chances = |score: Score| {
        let centipawns = f64::from(score.centipawns().clamp(-1_000, 1_000));
        2.0 / (1.0 + (-0.003_682_08 * centipawns).exp()) - 1.0
    };
    let lost = if is_white { chances(before) - chances(after) } else { chances(after) - chances(before) };
    match lost {
        0.3.. => "??",
        0.2.. => "?",
        0.1.. => "?!",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::clocks::Control;

    fn entry() -> Entry {
        let seat = |name: &str, rating| Seat { name: name.to_owned(), rating, is_rating_known: true, is_bot: name == "bot-rova" };
        Entry {
            kind: Kind::Usual,
            event: "Rated Blitz game".to_owned(),
            site: "https://philidor.invalid/abcdefgh".to_owned(),
            date: "2026.01.02".to_owned(),
            time: "03:04:05".to_owned(),
            players: ByColor { white: seat("benado", 1_500), black: seat("bot-rova", 1_700) },
            control: Control::Clock { base: 180, increment: 2 },
            is_analysed: true,
        }
    }

    fn ply(san: &str, clock: Option<u32>, score: Option<Score>) -> Ply {
        Ply { san: san.to_owned(), clock, score }
    }

    #[test]
    fn a_game_reads_as_the_archive_writes_it() {
        let cp = |centipawns| Some(Score::Centipawns(centipawns));
        let plies = vec![
            ply("f3", Some(180), cp(-30)),
            ply("e5", Some(180), cp(0)),
            ply("g4", Some(3_599), Some(Score::Mate(-1))),
            ply("Qh4#", Some(9), None),
        ];
        let played = Played { fen: None, plies, end: End::ByRule(Some(Color::Black)) };
        let wanted = r#"[Event "Rated Blitz game"]
[Site "https://philidor.invalid/abcdefgh"]
[Date "2026.01.02"]
[Round "-"]
[White "benado"]
[Black "bot-rova"]
[Result "0-1"]
[UTCDate "2026.01.02"]
[UTCTime "03:04:05"]
[WhiteElo "1500"]
[BlackElo "1700"]
[WhiteRatingDiff "-3"]
[BlackRatingDiff "+3"]
[BlackTitle "BOT"]
[ECO "A00"]
[Opening "Uncommon Opening"]
[TimeControl "180+2"]
[Termination "Normal"]

1. f3 { [%eval -0.3] [%clk 0:03:00] } 1... e5 { [%eval 0.0] [%clk 0:03:00] } 2. g4?? { [%eval #-1] [%clk 0:59:59] } 2... Qh4# { [%clk 0:00:09] } 0-1

"#;
        assert_eq!(write(&entry(), &played), wanted);
    }

    #[test]
    fn correspondence_has_bare_moves_and_a_game_without_moves_only_its_result() {
        let correspondence = Entry { is_analysed: false, control: Control::Correspondence, ..entry() };
        let plies = vec![ply("e4", None, None), ply("e5", None, None), ply("Nf3", None, None)];
        let played = Played { fen: None, plies, end: End::DrawAgreed };
        let text = write(&correspondence, &played);
        assert!(text.ends_with("\n\n1. e4 e5 2. Nf3 { White offers draw } 1/2-1/2\n\n"), "{text}");
        let nothing = Played { fen: None, plies: Vec::new(), end: End::Abandoned(Color::Black) };
        let text = write(&entry(), &nothing);
        assert!(text.contains("[ECO \"?\"]") && text.ends_with("[Termination \"Abandoned\"]\n\n0-1\n\n"), "{text}");
    }

    #[test]
    fn a_casual_game_from_a_set_up_position_tells_it_and_changes_no_rating() {
        let casual = Entry { kind: Kind::SetUp, ..entry() };
        let fen = Some("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/R1BQKBNR w KQkq - 0 1");
        let text = write(&casual, &Played { fen, plies: vec![ply("e4", Some(1), None)], end: End::Flagged(None) });
        assert!(text.contains("[FEN \"rnbqkbnr/") && text.contains("[SetUp \"1\"]") && !text.contains("RatingDiff"), "{text}");
    }
}
