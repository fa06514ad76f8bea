//! What the head of an answer means to somebody who has the first bytes of a file.

use super::client::Head;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The body brings what is missing. The bytes of the whole file, where they are told, here and in the next.
    GoesOn { total: Option<u64> },
    /// The body brings the file from its beginning.
    Begins { total: Option<u64> },
    /// What is here is the whole file.
    Whole,
    /// There is less of the file than what is here.
    Shorter,
    /// It says what does not fit what was asked.
    Wrong(String),
    /// Another time.
    Busy,
    /// There is no such file.
    Absent,
    /// Asking again is of no use.
    Refused,
}

/// The meaning of an answer to a request for all that is behind the first `done` bytes.
pub(super) fn meaning(head: &Head, done: u64) -> Meaning {
    let range = head.content_range.as_deref();
    match head.status {
        200 => Meaning::Begins { total: head.length },
        206 => match range.and_then(content_range) {
            Some(Range { first, total, .. }) if first == done => Meaning::GoesOn { total },
            Some(_) => Meaning::Wrong(format!("sends `{}` where bytes from {done} on were asked for", range.unwrap_or_default())),
            None => Meaning::Wrong(format!("does not say which bytes it sends (`Content-Range: {}`)", range.unwrap_or_default())),
        },
        // RFC 9110, 14.4: `bytes */1234` tells the length.
        416 => match range.and_then(|range| range.strip_prefix("bytes */")).and_then(|total| total.trim().parse().ok()) {
            Some(total) if done == total => Meaning::Whole,
            Some(total) if done < total => Meaning::Wrong(format!("refuses to go on at byte {done} of {total}")),
            _ => Meaning::Shorter,
        },
        404 | 410 => Meaning::Absent,
        408 | 425 | 429 | 500 | 502 | 503 | 504 => Meaning::Busy,
        _ => Meaning::Refused,
    }
}

struct Range {
    first: u64,
    total: Option<u64>,
}

/// Reads `bytes 100-199/1234` or `bytes 100-199/*`.
fn content_range(text: &str) -> Option<Range> {
    let (range, total) = text.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.trim().split_once('-')?;
    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    let total = if total == "*" { None } else { Some(total.parse().ok()?) };
    let fits = first <= last && total.is_none_or(|total: u64| last < total);
    fits.then_some(Range { first, total })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(status: u16, content_range: Option<&str>, done: u64) -> Meaning {
        let head = Head { status, length: Some(7), content_range: content_range.map(Into::into), ..Head::default() };
        meaning(&head, done)
    }

    #[test]
    fn a_part_is_taken_only_where_it_begins_behind_what_is_here() {
        assert_eq!(of(206, Some("bytes 5-11/12"), 5), Meaning::GoesOn { total: Some(12) });
        assert_eq!(of(206, Some("bytes 5-11/*"), 5), Meaning::GoesOn { total: None });
        for range in
            [Some("bytes 4-11/12"), Some("bytes 0-11/12"), Some("bytes 5-11/11"), Some("bytes 5-4/12"), Some("lines 5-6/7"), None]
        {
            assert!(matches!(of(206, range, 5), Meaning::Wrong(_)), "{range:?}");
        }
        assert_eq!(of(200, None, 5), Meaning::Begins { total: Some(7) });
    }

    #[test]
    fn a_range_that_cannot_be_is_the_end_or_a_shorter_file() {
        assert_eq!(of(416, Some("bytes */5"), 5), Meaning::Whole);
        assert_eq!(of(416, Some("bytes */4"), 5), Meaning::Shorter);
        assert_eq!(of(416, None, 5), Meaning::Shorter);
        assert!(matches!(of(416, Some("bytes */9"), 5), Meaning::Wrong(_)));
    }

    #[test]
    fn what_may_pass_is_asked_again_and_the_rest_is_not() {
        for busy in [408, 429, 500, 503] {
            assert_eq!(of(busy, None, 0), Meaning::Busy);
        }
        assert_eq!([404, 403, 301].map(|code| of(code, None, 0)), [Meaning::Absent, Meaning::Refused, Meaning::Refused]);
    }
}
