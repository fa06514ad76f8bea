//! The page for those who do not see it, or have no mouse: order of headings, names, anchors, ways to move.

use super::{folder, run, temperatures};
use crate::experiment::Experiment;
use crate::report::fixture::{Fixture, Wish, experiment};
use crate::report::results::Results;
use crate::report::{Page, draw, tables};

fn html_of(points: &[Experiment]) -> String {
    let dir = folder();
    let Fixture { run_dir, store } = run(dir.path(), points, &Wish::default());
    let results = Results::load(&run_dir, &store).expect("a run");
    let names = tables::write(&results, dir.path()).expect("tables");
    Page::new(&results, &draw(&results), &names).html(false).expect("a page")
}

fn body(html: &str) -> &str {
    html.split("</head>").nth(1).expect("a body").split("<script").next().expect("what stands before the script")
}

/// Each tag of a name, from its name to its end.
fn tags<'a>(html: &'a str, name: &str) -> Vec<&'a str> {
    let begins = format!("<{name}");
    let all = html.match_indices(&begins).map(|(at, _)| &html[at + begins.len()..]);
    all.filter(|rest| rest.starts_with([' ', '>'])).filter_map(|rest| rest.split('>').next()).collect()
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    tag.split(&format!(" {name}=\"")).nth(1)?.split('"').next()
}

#[test]
fn headings_come_in_order_and_no_level_is_left_out() {
    for points in [vec![experiment(160)], temperatures()] {
        let html = html_of(&points);
        let levels: Vec<u32> = body(&html)
            .split("<h")
            .skip(1)
            .filter_map(|rest| rest.chars().next()?.to_digit(10).filter(|_| rest[1..].starts_with([' ', '>'])))
            .collect();
        assert_eq!((levels.first(), levels.iter().filter(|level| **level == 1).count()), (Some(&1), 1));
        for pair in levels.windows(2) {
            assert!(pair[1] <= pair[0] + 1, "h{} after h{}: {levels:?}", pair[1], pair[0]);
        }
    }
}

#[test]
fn every_link_within_the_page_has_its_place_and_every_id_is_one() {
    for points in [vec![experiment(160)], temperatures()] {
        let html = html_of(&points);
        let ids: Vec<&str> = body(&html).split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        let mut once = ids.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), ids.len(), "an id stands twice");
        let links: Vec<&str> = body(&html).split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert!(links.len() > 10);
        for link in links {
            assert!(ids.contains(&link), "#{link} leads nowhere");
        }
    }
}

#[test]
fn charts_and_tables_have_names_and_heads_their_scope() {
    let html = html_of(&[experiment(160)]);
    let body = body(&html);
    for svg in tags(body, "svg") {
        assert!(svg.contains(" role=\"img\"") && attribute(svg, "aria-label").is_some_and(|name| name.len() > 20), "{svg}");
    }
    assert_eq!(body.matches("<svg ").count(), body.matches("<title>").count(), "each chart has its title");
    assert!(!tags(body, "table").is_empty());
    for table in tags(body, "table") {
        assert!(attribute(table, "aria-label").is_some_and(|name| !name.is_empty()), "{table}");
    }
    for head in tags(body, "th") {
        assert!(attribute(head, "scope").is_some(), "{head}");
    }
}

#[test]
fn the_page_can_be_walked_by_keyboard_and_says_its_language() {
    let html = html_of(&[experiment(160)]);
    assert!(html.starts_with("<!doctype html>\n<html lang=\"en\">"));
    let first_link = body(&html).split("<a ").nth(1).expect("a link");
    assert!(first_link.contains("href=\"#main\""), "the first link skips to what came out: {first_link:.80}");
    for landmark in ["<header>", "<main id=\"main\"", "<nav aria-label", "<footer>"] {
        assert_eq!(body(&html).matches(landmark).count(), 1, "{landmark}");
    }
    assert!(html.contains(":focus-visible { outline"));
    for motion in ["transition:", "animation", "scroll-behavior"] {
        assert!(!html.contains(motion), "nothing moves, so that nobody need ask for less of it: {motion}");
    }
    // What scrolls sideways can be scrolled without a mouse.
    assert_eq!(html.matches("<div class=\"scroll\"").count(), html.matches(" role=\"region\"").count());
    assert!(html.contains("createElement(\"button\")") && html.contains("aria-sort"), "heads that sort are buttons");
}
