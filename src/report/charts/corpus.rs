//! Which games were kept, and which rule rejected the others.

use super::drawing::{Bars, Drawing, Panel, Row, Shape, Unit};
use super::style::Hue;
use crate::report::results::{Point, Results};
use crate::report::words::reason;
use crate::text::{percent, plural, thousands};

pub(crate) fn draw(_: &Results, point: &Point) -> Option<Drawing> {
    let corpus = point.corpus()?;
    if corpus.read == 0 {
        return None;
    }
    let row = |label: String, games: u64, hue| {
        let share = percent(games as f64 / corpus.read as f64, 2);
        let text = if games == 0 { "0".to_owned() } else { format!("{} · {share}", thousands(games)) };
        Row { hue, ..Row::new(label, games as f64, text) }
    };
    let rejected = corpus.rejected.iter().map(|(name, games)| row(reason(name), *games, Hue::Faint));
    let rows: Vec<_> = rejected.chain([row("Kept".to_owned(), corpus.kept, Hue::Blue)]).collect();
    let subtitle = format!(
        "{} read. Grey: rejected, by the first rule that failed, in the order of the rules. Blue: kept.",
        plural("game", corpus.read)
    );
    let alt = format!("{} of {} games were kept", thousands(corpus.kept), thousands(corpus.read));
    let panel = Bars::new("", Shape::Bar, rows).axis("games", Unit::Count);
    Some(Drawing::one("From games read to games kept", subtitle, alt, Panel::Bars(panel)))
}
