//! The contrast of WCAG 2, of every pair of colours that the page and its charts put on each other, in both themes.

use std::collections::BTreeSet;

use super::{folder, run};
use crate::report::charts::{self, Colour, NARROW, WIDE};
use crate::report::fixture::{Fixture, Wish, experiment};
use crate::report::results::Results;

const STYLE: &str = include_str!("../page/style.css");

/// For text below 24 pixels, or 19 where it is bold.
const TEXT: f64 = 4.5;
/// For marks that say something, and for large text.
const MARK: f64 = 3.0;

fn luminance(colour: u32) -> f64 {
    let part = |shift: u32| {
        let part = f64::from((colour >> shift) & 0xff) / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(16) + 0.7152 * part(8) + 0.0722 * part(0)
}

fn contrast(a: u32, b: u32) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

fn hue(name: &str) -> Colour {
    Colour::ALL.into_iter().find(|hue| hue.name() == name).unwrap_or_else(|| panic!("the style sheet knows no {name}"))
}

/// At least so much in either theme.
fn assert_apart(what: &str, colour: &str, on: &str, least: f64) {
    for theme in [Colour::light, Colour::dark] {
        let seen = contrast(theme(hue(colour)), theme(hue(on)));
        assert!(seen >= least, "{what}: {colour} on {on} is {seen:.2}, and not {least}");
    }
}

/// The colours that a property takes in the style sheet, `--name` each.
fn colours_of(property: &str) -> BTreeSet<String> {
    let declarations = STYLE.split(['{', '}', ';']).filter_map(|part| part.split_once(':'));
    let mine = declarations.filter(|(name, _)| {
        let name = name.trim();
        name == property
            || property == "border" && name.starts_with("border")
            || property == "background" && name.starts_with("background")
    });
    mine.flat_map(|(_, value)| value.split("var(--").skip(1))
        .filter_map(|rest| rest.split(')').next())
        .filter(|name| !name.starts_with("{{"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn white_on_black_is_21_to_1() {
    assert!((contrast(0x00ff_ffff, 0) - 21.0).abs() < 1e-9);
    assert!((contrast(0x0077_7777, 0x00ff_ffff) - 4.48).abs() < 0.01, "the known grey that fails by a hair");
}

#[test]
fn every_text_of_the_page_can_be_read_and_every_mark_seen_in_both_themes() {
    let (text, background) = (colours_of("color"), colours_of("background"));
    assert!(text.contains("ink") && text.contains("soft"), "{text:?}");
    for colour in &text {
        assert_apart("text", colour, "surface", TEXT);
    }
    // Nothing is written on another colour than the surface: what else has one is a mark.
    for colour in background.iter().filter(|colour| *colour != "surface") {
        assert_apart("mark", colour, "surface", MARK);
    }
    for colour in colours_of("outline") {
        assert_apart("focus", &colour, "surface", MARK);
    }
    // A line between rows is quiet and says nothing; every other border does.
    for colour in colours_of("border").iter().filter(|colour| *colour != "grid") {
        assert_apart("border", colour, "surface", MARK);
    }
}

#[test]
fn every_text_of_a_chart_can_be_read_and_every_mark_seen_in_both_themes() {
    let dir = folder();
    let Fixture { run_dir, store } = run(dir.path(), &[experiment(160)], &Wish::default());
    let results = Results::load(&run_dir, &store).expect("a run");
    let point = &results.points[0];
    let drawings = charts::CHARTS.iter().filter_map(|chart| (chart.draw)(&results, point));
    let charts = drawings.flat_map(|drawing| [WIDE, NARROW].map(|width| charts::svg(&drawing, width)));
    let all: Vec<String> = charts.chain(charts::cards(&results, point).into_iter().map(|card| card.svg)).collect();
    let (mut texts, mut marks) = (BTreeSet::new(), BTreeSet::new());
    for tag in all.iter().flat_map(|svg| svg.split('<')) {
        // A tint lets the surface through, and stands for no value that is not written on it.
        if tag.contains(" opacity=") {
            continue;
        }
        let classes = tag.split(" class=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default();
        for class in classes.split(' ').filter_map(|class| class.strip_prefix("f-").or(class.strip_prefix("s-"))) {
            if tag.starts_with("text") { &mut texts } else { &mut marks }.insert(class.to_owned());
        }
    }
    assert!(texts.len() >= 2 && marks.len() >= 4, "{texts:?} {marks:?}");
    for colour in &texts {
        assert_apart("a text of a chart", colour, "surface", TEXT);
    }
    // The grid is quiet: a chart can be read without it.
    for colour in marks.iter().filter(|colour| !["grid", "surface"].contains(&colour.as_str())) {
        assert_apart("a mark of a chart", colour, "surface", MARK);
    }
}
