//! How long to wait before the next try, and when to give up.

use std::time::Duration;

use super::client::{Head, Stopped};
use super::date::unix_seconds;
use crate::progress::Progress;
use crate::text::duration;

/// Tries in a row that brought nothing, of a mirror that has answered before: some four minutes with their waits.
const TRIES: u32 = 10;
/// The same of one that nothing was ever heard of: a wrong address, or no network, is told soon.
const TRIES_UNHEARD: u32 = 4;
/// Doubles from try to try, so that a mirror in trouble is asked less and less.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_mins(1);
/// Who is asked to wait for longer is told so, and goes on another time.
const LONGEST_ASKED_WAIT: Duration = Duration::from_mins(15);

/// What came of one try.
pub(super) enum Tried<T> {
    Done(T),
    Again(Again),
}

/// One try was not enough.
#[derive(Debug)]
pub(super) struct Again {
    pub(super) what: String,
    /// The wait that the server asked for.
    pub(super) asked: Option<Duration>,
    /// Whether the server was heard at all.
    pub(super) heard: bool,
    /// Whether it brought enough for the tries to be counted from the start.
    pub(super) forward: bool,
}

/// Why there is no further try.
#[derive(Debug)]
pub(super) enum End {
    Stopped,
    /// After so many tries in a row; the last one ended so.
    GaveUp {
        what: String,
        tries: u32,
    },
    /// The server wants to be asked again after so long.
    Later {
        what: String,
        wait: Duration,
    },
    Failed(anyhow::Error),
}

impl From<anyhow::Error> for End {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}

impl From<Stopped> for End {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}

/// Tries until it is done, with a word for each try that was not enough.
pub(super) fn patiently<T>(
    patience: &Patience,
    progress: Progress,
    mut once: impl FnMut() -> Result<Tried<T>, End>,
) -> Result<T, End> {
    let (mut tries, mut heard) = (0, false);
    loop {
        let again = match once()? {
            Tried::Done(done) => return Ok(done),
            Tried::Again(again) => again,
        };
        tries = if again.forward { 1 } else { tries + 1 };
        heard |= again.heard;
        let Some(wait) = wait_after(tries, heard) else { return Err(End::GaveUp { what: again.what, tries }) };
        let wait = again.asked.unwrap_or(wait);
        if wait > LONGEST_ASKED_WAIT {
            return Err(End::Later { what: again.what, wait });
        }
        progress.note(format!("{}; trying again in {}", again.what, duration(wait.as_secs_f64())));
        (patience.wait)(wait);
        if progress.should_stop() {
            return Err(End::Stopped);
        }
    }
}

/// The passing of time as a download needs it, so that a test need not take any.
pub struct Patience<'a> {
    /// Waits, at most so long; may end sooner where the user wants to stop.
    pub wait: &'a dyn Fn(Duration),
    /// Seconds since 1970.
    pub now: &'a dyn Fn() -> u64,
}

/// The wait before the next try, after so many in a row that brought nothing (1 or more); `None` is to give up.
pub(super) fn wait_after(tries: u32, heard: bool) -> Option<Duration> {
    let most = if heard { TRIES } else { TRIES_UNHEARD };
    (tries < most).then(|| (FIRST_WAIT * 2_u32.pow((tries - 1).min(16))).min(LONGEST_WAIT))
}

/// How long an answer asks to wait: seconds, or until a date, as the server's own clock has it where it says so.
pub(super) fn asked_wait(head: &Head, now: u64) -> Option<Duration> {
    let asked = head.retry_after.as_deref()?.trim();
    if let Ok(seconds) = asked.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let now = head.date.as_deref().and_then(unix_seconds).unwrap_or(now);
    Some(Duration::from_secs(unix_seconds(asked)?.saturating_sub(now)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_minute_and_end() {
        let seconds = |heard| (1..).map_while(|tries| wait_after(tries, heard)).map(|wait| wait.as_secs()).collect::<Vec<_>>();
        assert_eq!(seconds(true), [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(seconds(false), [1, 2, 4]);
    }

    #[test]
    fn a_wait_is_asked_for_in_seconds_or_until_a_date() {
        let head = |retry_after: &str, date: Option<&str>| Head {
            retry_after: Some(retry_after.into()),
            date: date.map(Into::into),
            ..Head::default()
        };
        let wait = |head: Head, now| asked_wait(&head, now).map(|wait| wait.as_secs());
        assert_eq!(wait(head("120", None), 0), Some(120));
        let until = "Sun, 06 Nov 1994 08:49:37 GMT";
        assert_eq!(wait(head(until, None), 784_111_770), Some(7));
        assert_eq!(wait(head(until, Some("Sun, 06 Nov 1994 08:49:07 GMT")), 0), Some(30), "the server's clock counts");
        assert_eq!(wait(head(until, None), 784_111_999), Some(0), "it has passed");
        assert_eq!(wait(head("-1", None), 0), None);
        assert_eq!(wait(head("soon", None), 0), None);
        assert_eq!(asked_wait(&Head::default(), 0), None);
    }
}
