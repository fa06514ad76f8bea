//! Square cards for sharing: one number, one sentence, and in small type whose it is, its interval and its n.
//!
//! The number is as wide as the card, so that it can be read where the card is a thumbnail.

use super::canvas::{Anchor, Canvas, dress};
use super::curves::share_label;
use super::style::{Hue, LEADING, Weight, fit, width, wrap};
use crate::measure::score::Value;
use crate::report::results::{Measured, Point, Results};
use crate::report::words;
use crate::text::{percent_within, si, thousands};

/// Of a side, in pixels.
const SIDE: f64 = 600.0;
const MARGIN: f64 = 44.0;
const ROOM: f64 = SIDE - 2.0 * MARGIN;
const LARGEST: f64 = 230.0;
const SENTENCE: f64 = 52.0;
const MODEL: f64 = 27.0;
const SMALL: f64 = 21.0;
const BAR: f64 = 20.0;

pub(crate) struct Card {
    pub(crate) name: &'static str,
    pub(crate) svg: String,
    /// The number and its sentence.
    pub(crate) title: String,
}

/// A figure that has a card. A new one is a line here.
struct Figure {
    name: &'static str,
    metric: &'static str,
    value: &'static str,
    /// Goes on after the number.
    sentence: &'static str,
}

const CARDS: [Figure; 3] = [
    Figure { name: "card-legality", metric: "legality", value: "rate", sentence: "of sampled moves are legal chess" },
    Figure {
        name: "card-agreement",
        metric: "agreement",
        value: "top1",
        sentence: "of chess moves that people played are its first choice",
    },
    Figure {
        name: "card-clean-games",
        metric: "full_games",
        value: "clean",
        sentence: "of its own chess games have no illegal move",
    },
];

pub(crate) fn cards(results: &Results, point: &Point) -> Vec<Card> {
    let several = results.points.len() > 1;
    let whose = point.experiment.name.clone() + &if several { format!(", {}", words::point_name(point)) } else { String::new() };
    let card = |figure: &Figure| draw(figure, &whose, point, point.finals(figure.metric).into_iter().next()?);
    CARDS.iter().filter_map(card).collect()
}

/// What was measured: `a transformer of 0.8 M parameters, after 2.7 M tokens of games`.
fn model(point: &Point, score: &Measured) -> String {
    let model = &point.experiment.model;
    let parameters = si((model.parameters() + model.embedding_parameters()) as f64);
    let trained = match score.score.checkpoint.tokens {
        0 => String::new(),
        tokens => format!(", after {} tokens of games", si(tokens as f64)),
    };
    format!("A transformer of {parameters} parameters{trained}")
}

/// The number, and its interval without brackets. Nothing and everything are counts, which say how little was looked at.
fn number(value: &Value) -> (String, Option<String>) {
    let all = percent_within(value.value, Some(value.low), Some(value.high));
    let (share, interval) = all.split_once(" [").unwrap_or((&all, ""));
    let is_count = value.value <= 0.0 || value.value >= 1.0;
    let number = if is_count { share_label(value.value, value.n) } else { share.to_owned() };
    (number, Some(interval.trim_end_matches(']').replace(", ", " to ")).filter(|interval| !interval.is_empty()))
}

fn draw(figure: &Figure, whose: &str, point: &Point, score: &Measured) -> Option<Card> {
    let value = score.value(figure.value).filter(|value| value.value.is_finite())?;
    let (number, interval) = number(value);
    // `0 of 200` has its `of`.
    let is_count = number.contains(" of ");
    let sentence = if is_count { figure.sentence.trim_start_matches("of ").trim_start_matches("its ") } else { figure.sentence };
    let masked = if score.score.protocol.masked { ", with a mask" } else { "" };
    let mut svg = String::new();
    let canvas = Canvas::new(&mut svg, SIDE, SIDE);

    let size = (ROOM / width(&number, 1.0, Weight::Bold)).min(LARGEST);
    let mut y = MARGIN + 0.85 * size;
    canvas.text((MARGIN, y), Anchor::Start, size, Weight::Bold, Hue::Ink, &number);
    y += 0.2 * size + 14.0;
    let at = |share: f64| MARGIN + ROOM * share.clamp(0.0, 1.0);
    canvas.rect((MARGIN, y), (ROOM, BAR), Hue::Grid);
    canvas.rect((MARGIN, y), (at(value.value) - MARGIN, BAR), Hue::Blue);
    if value.low.is_finite() && value.high.is_finite() {
        let middle = y + BAR / 2.0;
        canvas.line((at(value.low), middle), (at(value.high), middle), Hue::Ink, 3.0);
    }
    y += BAR + 22.0;
    for line in wrap(&format!("{sentence}{masked}"), SENTENCE, Weight::Regular, ROOM).iter().take(3) {
        y += SENTENCE * LEADING;
        canvas.text((MARGIN, y - 0.3 * SENTENCE), Anchor::Start, SENTENCE, Weight::Regular, Hue::Ink, line);
    }
    let model = model(point, score);
    y += 10.0;
    for line in wrap(&model, MODEL, Weight::Regular, ROOM).iter().take(2) {
        y += MODEL * LEADING;
        canvas.text((MARGIN, y - 0.3 * MODEL), Anchor::Start, MODEL, Weight::Regular, Hue::Soft, line);
    }
    let interval = interval.map_or_else(String::new, |interval| format!("95 % interval {interval} %, "));
    let how = format!("{interval}n = {}{}", thousands(value.n), words::at(score.temperature()).replace(" at ", ", "));
    let foot = SIDE - MARGIN;
    canvas.text(
        (MARGIN, foot - SMALL * LEADING),
        Anchor::Start,
        SMALL,
        Weight::Bold,
        Hue::Ink,
        &fit(whose, SMALL, Weight::Bold, ROOM),
    );
    canvas.text((MARGIN, foot), Anchor::Start, SMALL, Weight::Regular, Hue::Soft, &fit(&how, SMALL, Weight::Regular, ROOM));
    canvas.finish();
    let title = format!("{number} {sentence}{masked}. {model}");
    let svg = dress(&svg, SIDE, SIDE, &format!("{title}. {whose}: {how}"));
    Some(Card { name: figure.name, svg, title })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture::{Fixture, Wish, experiment, write};

    fn drawn() -> Vec<Card> {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let Fixture { run_dir, store } = write(dir.path(), &[experiment(160)], &Wish::default());
        let results = Results::load(&run_dir, &store).expect("a run");
        cards(&results, &results.points[0])
    }

    #[test]
    fn a_card_is_square_and_looks_as_it_did() {
        let cards = drawn();
        assert_eq!(
            cards.iter().map(|card| card.name).collect::<Vec<_>>(),
            ["card-legality", "card-agreement", "card-clean-games"]
        );
        insta::assert_snapshot!("card-legality.svg", cards[0].svg);
    }

    #[test]
    fn nothing_and_everything_are_counts() {
        let of = |share: u64| number(&Value::share("clean", share, 200).expect("games"));
        assert_eq!(of(0), ("0 of 200".to_owned(), Some("0.00 to 1.88".to_owned())));
        assert_eq!(of(200).0, "all of 200");
        assert_eq!(of(100).0, "50.0 %");
    }

    #[test]
    fn the_number_fills_the_width_so_that_a_thumbnail_of_100_pixels_shows_it() {
        for card in drawn() {
            let size = card.svg.split(" font-size=\"").nth(1).and_then(|rest| rest.split('"').next()?.parse::<f64>().ok());
            // Four units are a pixel, and the card is six thumbnails wide.
            let at_100 = size.expect("the first text is the number") / 4.0 / (SIDE / 100.0);
            assert!(at_100 >= 18.0, "{}: {at_100} pixels", card.name);
        }
    }
}
