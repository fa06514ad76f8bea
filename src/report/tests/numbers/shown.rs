//! Numbers as a page shows them: with thousands, units and intervals.

/// A number, and between which values it may be one that was rounded.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shown {
    pub(super) low: f64,
    pub(super) high: f64,
    /// Shown in per cent: of 1 in a table, or in the words of one.
    pub(super) is_share: bool,
}

/// Numbers that belong to one row: a value with its interval and n, or one number.
#[derive(Debug)]
pub(super) struct Phrase {
    pub(super) text: String,
    pub(super) numbers: Vec<Shown>,
    pub(super) is_estimate: bool,
}

/// What a number as written may have been before it was rounded, and where it ends.
struct Token {
    value: f64,
    half: f64,
    start: usize,
    end: usize,
}

const SCALES: [(&str, f64); 15] = [
    ("MFLOP/s", 1e6),
    ("GFLOP/s", 1e9),
    ("TFLOP/s", 1e12),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
    ("ms", 1e-3),
    ("min", 60.0),
    ("k", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
    ("h", 3_600.0),
    ("d", 86_400.0),
];

/// Of differences, between a value and its interval; points are of a share.
const UNITS: [&str; 5] = [" %", " points", " nats", " bits", " plies"];

/// The next number at or after a place; digits within a word, such as those of a square, are none.
fn next(text: &str, from: usize) -> Option<Token> {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut at = from;
    while at < text.len() {
        let inside = text[..at].chars().next_back().is_some_and(char::is_alphanumeric);
        if !is_digit(at) || inside {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
            continue;
        }
        let mut end = at;
        while is_digit(end) || bytes.get(end) == Some(&b',') && (1..4).all(|i| is_digit(end + i)) && !is_digit(end + 4) {
            end += 1;
        }
        let mut decimals = 0;
        if bytes.get(end) == Some(&b'.') && is_digit(end + 1) {
            end += 1;
            while is_digit(end) {
                end += 1;
                decimals += 1;
            }
        }
        let mut value: f64 = text[at..end].replace(',', "").parse().expect("digits");
        let mut half = 0.5 * 10_f64.powi(-decimals);
        let mut exponent = end + 1;
        if bytes.get(end) == Some(&b'e') {
            exponent += usize::from(bytes.get(exponent) == Some(&b'-'));
            if is_digit(exponent) {
                let till = (exponent..=text.len()).find(|at| !is_digit(*at)).expect("a text ends");
                let scale = 10_f64.powi(text[end + 1..till].parse().expect("digits"));
                (value, half, end) = (value * scale, half * scale, till);
            }
        }
        if text[..at].ends_with('−') {
            value = -value;
        }
        return Some(Token { value, half, start: at, end });
    }
    None
}

/// The unit after a number, and where it ends: `2 min 5 s` is one number.
fn with_unit(text: &str, mut token: Token) -> Token {
    let after = |end: usize| {
        let rest = text[end..].strip_prefix(' ')?;
        let unit = SCALES.iter().find(|(unit, _)| {
            rest.strip_prefix(unit).is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '='))
        });
        unit.map(|(unit, scale)| (*scale, end + 1 + unit.len(), *unit))
    };
    let Some((scale, end, unit)) = after(token.end) else { return token };
    (token.value, token.half, token.end) = (token.value * scale, token.half * scale, end);
    if ["min", "h", "d"].contains(&unit) {
        // The smaller part is cut off, and not rounded, above an hour.
        if let Some(part) = next(text, end).filter(|part| part.start == end + 1) {
            let seconds = text[part.end..].strip_prefix(" s").is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
            let scale = if seconds { 1.0 } else { after(part.end).map_or(1.0, |(scale, ..)| scale) };
            token.value += part.value * scale;
            token.half = if seconds { 0.5 } else { scale };
            token.end = part.end + if seconds { 2 } else { after(part.end).map_or(0, |(_, end, _)| end - part.end) };
        }
    }
    token
}

fn shown(token: &Token, is_share: bool) -> Shown {
    let slack = token.half * 1e-6 + token.value.abs() * 1e-12;
    Shown { low: token.value - token.half - slack, high: token.value + token.half + slack, is_share }
}

/// `1. e4` and `12. Nf3` are moves.
fn is_move_number(text: &str, token: &Token) -> bool {
    text[token.end..].strip_prefix(". ").is_some_and(|rest| {
        let word = rest.split(' ').next().unwrap_or_default().trim_end_matches([',', '.', '+', ':', ';']);
        word.starts_with("O-O")
            || word.len() >= 2
                && word.ends_with(|rank: char| ('1'..='8').contains(&rank))
                && word.starts_with(|first: char| "abcdefghKQRBN".contains(first))
    })
}

/// All numbers of a text. An interval is joined to the value before it, and an n to both.
pub(super) fn phrases(text: &str) -> Vec<Phrase> {
    let text = text.replace('\u{a0}', " ");
    let (mut at, mut found) = (0, Vec::new());
    while let Some(token) = next(&text, at) {
        if is_move_number(&text, &token) {
            at = token.end;
            continue;
        }
        let start = token.start;
        let token = with_unit(&text, token);
        let unit = UNITS.iter().find(|unit| text[token.end..].starts_with(**unit));
        let is_share = unit.is_some_and(|unit| [" %", " points"].contains(unit));
        let mut end = token.end + unit.map_or(0, |unit| unit.len());
        let mut numbers = vec![shown(&token, is_share)];
        let mut is_estimate = false;
        if text[end..].starts_with(" [") {
            let close = end + text[end..].find(']').expect("a bracket closes");
            let mut inner = end + 2;
            while let Some(bound) = next(&text[..close], inner) {
                inner = bound.end;
                numbers.push(shown(&bound, is_share));
            }
            (is_estimate, end) = (numbers.len() == 3, close + 1);
            let begins = ["(n = ", "n = ", "of ", "in "];
            let rest = text[end..].trim_start_matches([',', ' ']);
            let size = begins.iter().find_map(|begin| Some(text.len() - rest.strip_prefix(begin)?.len()));
            if let Some(n) =
                size.and_then(|size| next(&text, size).filter(|n| n.start == size)).filter(|n| !text[n.end..].starts_with(" %"))
            {
                let n = with_unit(&text, n);
                end = n.end;
                numbers.push(shown(&n, false));
            }
        }
        found.push(Phrase { text: text[start..end].to_owned(), numbers, is_estimate });
        at = end;
    }
    found
}

#[test]
fn numbers_are_read_with_their_units_intervals_and_n() {
    let texts = |text: &str| phrases(text).into_iter().map(|phrase| phrase.text).collect::<Vec<_>>();
    assert_eq!(
        texts("97.86 % [97.65, 98.05] of 20,000 moves, and 7.86 M tokens in 2 min 5 s after 1. e4 c5; −1.5 or 3e-3"),
        ["97.86 % [97.65, 98.05] of 20,000", "7.86 M", "2 min 5 s", "1.5", "3e-3"]
    );
    let one = |text: &str| phrases(text).remove(0).numbers.remove(0);
    let within = |text: &str, value: f64| (one(text).low..=one(text).high).contains(&value);
    assert!(within("7.86 M", 7_864_320.0) && !within("7.87 M", 7_864_320.0));
    assert!(within("2 min 5 s", 125.4) && !within("2 min 5 s", 126.0));
    assert!(within("36.5 MiB", 38_273_024.0) && within("1,300", 1_300.0) && !within("1,301", 1_300.0));
    assert!(within("−1.5", -1.52) && within("3e-3", 0.003));
}
