//! Names of common openings by their first moves, as the tags `ECO` and `Opening` tell them.

/// The code and name of the longest line that the game begins with; `?` for a game without moves.
///
/// `sans` are the moves without `+` and `#`.
pub(crate) fn name<'a>(sans: &[&str]) -> (&'a str, &'a str) {
    let mut best = (if sans.is_empty() { "?" } else { "A00" }, if sans.is_empty() { "?" } else { "Uncommon Opening" });
    let mut longest = 0;
    for &(code, name, line) in LINES {
        let moves = line.split(' ').count();
        if moves > longest && line.split(' ').eq(sans.iter().copied().take(moves)) {
            (best, longest) = ((code, name), moves);
        }
    }
    best
}

const LINES: &[(&str, &str, &str)] = &[
    ("A00", "Van't Kruijs Opening", "e3"),
    ("A00", "Mieses Opening", "d3"),
    ("A00", "Van Geet Opening", "Nc3"),
    ("A00", "Hungarian Opening", "g3"),
    ("A00", "Polish Opening", "b4"),
    ("A00", "Grob Opening", "g4"),
    ("A00", "Saragossa Opening", "c3"),
    ("A00", "Anderssen's Opening", "a3"),
    ("A01", "Nimzo-Larsen Attack", "b3"),
    ("A02", "Bird Opening", "f4"),
    ("A04", "Zukertort Opening", "Nf3"),
    ("A05", "Zukertort Opening", "Nf3 Nf6"),
    ("A06", "Zukertort Opening: Queen's Pawn Variation", "Nf3 d5"),
    ("A07", "King's Indian Attack", "Nf3 d5 g3"),
    ("A09", "Réti Opening", "Nf3 d5 c4"),
    ("A10", "English Opening", "c4"),
    ("A13", "English Opening: Agincourt Defense", "c4 e6"),
    ("A15", "English Opening: Anglo-Indian Defense", "c4 Nf6"),
    ("A16", "English Opening: Anglo-Indian Defense, Queen's Knight Variation", "c4 Nf6 Nc3"),
    ("A20", "English Opening: King's English Variation", "c4 e5"),
    ("A22", "English Opening: King's English Variation, Two Knights Variation", "c4 e5 Nc3 Nf6"),
    ("A25", "English Opening: King's English Variation, Reversed Closed Sicilian", "c4 e5 Nc3 Nc6"),
    ("A30", "English Opening: Symmetrical Variation", "c4 c5"),
    ("A40", "Queen's Pawn Game", "d4"),
    ("A40", "English Defense", "d4 b6"),
    ("A40", "Horwitz Defense", "d4 e6"),
    ("A43", "Benoni Defense: Old Benoni", "d4 c5"),
    ("A45", "Indian Defense", "d4 Nf6"),
    ("A45", "Trompowsky Attack", "d4 Nf6 Bg5"),
    ("A46", "Indian Defense: Knights Variation", "d4 Nf6 Nf3"),
    ("A50", "Indian Defense: Normal Variation", "d4 Nf6 c4"),
    ("A51", "Budapest Defense", "d4 Nf6 c4 e5"),
    ("A56", "Benoni Defense", "d4 Nf6 c4 c5"),
    ("A80", "Dutch Defense", "d4 f5"),
    ("B00", "King's Pawn Game", "e4"),
    ("B00", "Nimzowitsch Defense", "e4 Nc6"),
    ("B00", "Owen Defense", "e4 b6"),
    ("B01", "Scandinavian Defense", "e4 d5"),
    ("B01", "Scandinavian Defense: Mieses-Kotroc Variation", "e4 d5 exd5 Qxd5"),
    ("B01", "Scandinavian Defense: Modern Variation", "e4 d5 exd5 Nf6"),
    ("B02", "Alekhine Defense", "e4 Nf6"),
    ("B06", "Modern Defense", "e4 g6"),
    ("B07", "Pirc Defense", "e4 d6"),
    ("B10", "Caro-Kann Defense", "e4 c6"),
    ("B12", "Caro-Kann Defense: Advance Variation", "e4 c6 d4 d5 e5"),
    ("B13", "Caro-Kann Defense: Exchange Variation", "e4 c6 d4 d5 exd5"),
    ("B15", "Caro-Kann Defense", "e4 c6 d4 d5 Nc3"),
    ("B20", "Sicilian Defense", "e4 c5"),
    ("B21", "Sicilian Defense: Smith-Morra Gambit", "e4 c5 d4 cxd4 c3"),
    ("B22", "Sicilian Defense: Alapin Variation", "e4 c5 c3"),
    ("B23", "Sicilian Defense: Closed", "e4 c5 Nc3"),
    ("B27", "Sicilian Defense", "e4 c5 Nf3"),
    ("B30", "Sicilian Defense: Old Sicilian", "e4 c5 Nf3 Nc6"),
    ("B40", "Sicilian Defense: French Variation", "e4 c5 Nf3 e6"),
    ("B50", "Sicilian Defense: Modern Variations", "e4 c5 Nf3 d6"),
    ("B54", "Sicilian Defense: Open", "e4 c5 Nf3 d6 d4 cxd4 Nxd4"),
    ("C00", "French Defense", "e4 e6"),
    ("C00", "French Defense: Normal Variation", "e4 e6 d4 d5"),
    ("C01", "French Defense: Exchange Variation", "e4 e6 d4 d5 exd5"),
    ("C02", "French Defense: Advance Variation", "e4 e6 d4 d5 e5"),
    ("C03", "French Defense: Tarrasch Variation", "e4 e6 d4 d5 Nd2"),
    ("C10", "French Defense: Paulsen Variation", "e4 e6 d4 d5 Nc3"),
    ("C20", "King's Pawn Game", "e4 e5"),
    ("C21", "Center Game", "e4 e5 d4 exd4"),
    ("C23", "Bishop's Opening", "e4 e5 Bc4"),
    ("C25", "Vienna Game", "e4 e5 Nc3"),
    ("C30", "King's Gambit", "e4 e5 f4"),
    ("C40", "King's Knight Opening", "e4 e5 Nf3"),
    ("C41", "Philidor Defense", "e4 e5 Nf3 d6"),
    ("C42", "Petrov's Defense", "e4 e5 Nf3 Nf6"),
    ("C44", "King's Knight Opening: Normal Variation", "e4 e5 Nf3 Nc6"),
    ("C44", "Scotch Game", "e4 e5 Nf3 Nc6 d4"),
    ("C46", "Three Knights Opening", "e4 e5 Nf3 Nc6 Nc3"),
    ("C47", "Four Knights Game", "e4 e5 Nf3 Nc6 Nc3 Nf6"),
    ("C50", "Italian Game", "e4 e5 Nf3 Nc6 Bc4"),
    ("C50", "Italian Game: Giuoco Piano", "e4 e5 Nf3 Nc6 Bc4 Bc5"),
    ("C55", "Italian Game: Two Knights Defense", "e4 e5 Nf3 Nc6 Bc4 Nf6"),
    ("C60", "Ruy Lopez", "e4 e5 Nf3 Nc6 Bb5"),
    ("C65", "Ruy Lopez: Berlin Defense", "e4 e5 Nf3 Nc6 Bb5 Nf6"),
    ("C68", "Ruy Lopez: Exchange Variation", "e4 e5 Nf3 Nc6 Bb5 a6 Bxc6"),
    ("C70", "Ruy Lopez: Morphy Defense", "e4 e5 Nf3 Nc6 Bb5 a6 Ba4"),
    ("D00", "Queen's Pawn Game", "d4 d5"),
    ("D00", "Queen's Pawn Game: Accelerated London System", "d4 d5 Bf4"),
    ("D02", "Queen's Pawn Game: Zukertort Variation", "d4 d5 Nf3"),
    ("D02", "Queen's Pawn Game: London System", "d4 d5 Nf3 Nf6 Bf4"),
    ("D06", "Queen's Gambit", "d4 d5 c4"),
    ("D08", "Queen's Gambit Declined: Albin Countergambit", "d4 d5 c4 e5"),
    ("D10", "Slav Defense", "d4 d5 c4 c6"),
    ("D11", "Slav Defense: Modern Line", "d4 d5 c4 c6 Nf3"),
    ("D20", "Queen's Gambit Accepted", "d4 d5 c4 dxc4"),
    ("D30", "Queen's Gambit Declined", "d4 d5 c4 e6"),
    ("D31", "Queen's Gambit Declined: Queen's Knight Variation", "d4 d5 c4 e6 Nc3"),
    ("D32", "Tarrasch Defense", "d4 d5 c4 e6 Nc3 c5"),
    ("D80", "Grünfeld Defense", "d4 Nf6 c4 g6 Nc3 d5"),
    ("E00", "Indian Defense", "d4 Nf6 c4 e6"),
    ("E01", "Catalan Opening", "d4 Nf6 c4 e6 g3"),
    ("E12", "Queen's Indian Defense", "d4 Nf6 c4 e6 Nf3 b6"),
    ("E20", "Nimzo-Indian Defense", "d4 Nf6 c4 e6 Nc3 Bb4"),
    ("E60", "Indian Defense: King's Indian", "d4 Nf6 c4 g6"),
];

#[cfg(test)]
mod tests {
    use shakmaty::san::San;
    use shakmaty::{Chess, Position};

    use super::*;

    #[test]
    fn every_line_can_be_played_and_is_found_under_its_own_name() {
        for &(code, title, line) in LINES {
            let mut position = Chess::default();
            for san in line.split(' ') {
                let parsed: San = san.parse().expect(line);
                position.play_unchecked(parsed.to_move(&position).expect(line));
            }
            assert_eq!(name(&line.split(' ').collect::<Vec<_>>()), (code, title));
        }
    }

    #[test]
    fn the_longest_line_wins_and_a_game_without_moves_has_no_opening() {
        assert_eq!(name(&["e4", "c5", "Nf3", "d6", "Bb5"]).0, "B50");
        assert_eq!(name(&["h4", "e5"]), ("A00", "Uncommon Opening"));
        assert_eq!(name(&[]), ("?", "?"));
    }
}
