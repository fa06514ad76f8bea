//! Short names for columns: what sets them apart, and no more. The whole names stand in a key beside them.

use super::subject::Subject;
use crate::report::words;

/// A name that is no longer needs no shorter one.
const SHORT: usize = 16;

/// One a subject, all unlike: their names where these are short, else their sizes, else the word of the sweep that differs, else
/// letters.
pub(crate) fn labels(subjects: &[Subject]) -> Vec<String> {
    let names = subjects.iter().map(|subject| plain(&subject.name)).collect();
    let sizes = subjects.iter().map(|subject| {
        let model = &subject.first().experiment.model;
        format!("{} × {}", model.layers, model.width)
    });
    let letters = (0..subjects.len()).map(letter).collect();
    let of_points = words_apart(subjects, |subject| words::point_name(subject.first()));
    let candidates = [names, sizes.collect(), of_points, words_apart(subjects, |subject| plain(&subject.name))];
    candidates.into_iter().find(|labels: &Vec<String>| are_fit(labels)).unwrap_or(letters)
}

/// A name without what it says of its seeds.
fn plain(name: &str) -> String {
    name.split(" × ").next().unwrap_or(name).to_owned()
}

fn are_fit(labels: &[String]) -> bool {
    let is_fit = |label: &String| (1..=SHORT).contains(&label.chars().count());
    labels.iter().all(is_fit) && (1..labels.len()).all(|at| !labels[..at].contains(&labels[at]))
}

/// What of the name of each point not all have.
fn words_apart(subjects: &[Subject], name: impl Fn(&Subject) -> String) -> Vec<String> {
    let all: Vec<Vec<String>> = subjects.iter().map(|subject| name(subject).split(", ").flat_map(parts).collect()).collect();
    let is_common = |word: &String| all.iter().all(|words| words.contains(word));
    let apart = |words: &Vec<String>| words.iter().filter(|word| !is_common(word)).cloned().collect::<Vec<_>>().join(" ");
    all.iter().map(apart).collect()
}

/// `T = 0.2` is one word, and so is `4 × 128`; `width=32 layers=2` are two.
fn parts(text: &str) -> Vec<String> {
    if text.contains(" = ") || text.contains(" × ") {
        vec![text.to_owned()]
    } else {
        text.split(' ').map(str::to_owned).collect()
    }
}

/// `a`, `b`, …, `z`, `a1`, `b1`, …
fn letter(at: usize) -> String {
    let letter = char::from(b'a' + (at % 26) as u8);
    if at < 26 { letter.to_string() } else { format!("{letter}{}", at / 26) }
}
