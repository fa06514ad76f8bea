//! When each node of a run was worked on, from its journal alone.

use std::collections::BTreeMap;
use std::path::Path;

use fs_err as fs;

use super::{Entry, JOURNAL};
use crate::run::Event;
use crate::store::Key;

/// From when to when each node was worked on, in seconds since the run began. A run that went on after a stop counts on from
/// where it had stopped: how long it lay still is not told. What is still at work ends where the journal does.
pub fn spans(run_dir: &Path) -> BTreeMap<Key, Vec<(f64, f64)>> {
    let bytes = fs::read(run_dir.join(JOURNAL)).unwrap_or_default();
    let mut spans: BTreeMap<Key, Vec<(f64, f64)>> = BTreeMap::new();
    let mut open: BTreeMap<Key, f64> = BTreeMap::new();
    let (mut before, mut last) = (0.0, 0.0);
    for line in bytes.split(|&byte| byte == b'\n') {
        // Most lines tell of progress; of those the time is enough, and reading no more keeps long journals quick.
        let (at_seconds, event) = match progress_at(line) {
            Some(at_seconds) => (at_seconds, None),
            None => match serde_json::from_slice::<Entry>(line) {
                Ok(entry) => (entry.at_seconds, Some(entry.event)),
                Err(_) => continue,
            },
        };
        if before + at_seconds < last {
            // The run was stopped, with all that was at work, and went on.
            close(std::mem::take(&mut open), last, &mut spans);
            before = last;
        }
        last = before + at_seconds;
        match event {
            Some(Event::Started { key }) => drop(open.insert(key, last)),
            Some(Event::Made { key, .. } | Event::Failed { key, .. } | Event::PassedOver { key, .. }) => {
                if let Some(from) = open.remove(&key) {
                    spans.entry(key).or_default().push((from, last));
                }
            }
            _ => (),
        }
    }
    close(open, last, &mut spans);
    spans
}

fn close(open: BTreeMap<Key, f64>, at: f64, spans: &mut BTreeMap<Key, Vec<(f64, f64)>>) {
    for (key, from) in open {
        spans.entry(key).or_default().push((from, at));
    }
}

/// The time of a line that tells of progress.
fn progress_at(line: &[u8]) -> Option<f64> {
    let rest = line.strip_prefix(br#"{"at_seconds":"#)?;
    let comma = rest.iter().position(|&byte| byte == b',')?;
    rest[comma..].starts_with(br#","event":"told""#).then(|| std::str::from_utf8(&rest[..comma]).ok()?.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_worked_on_from_its_start_to_its_end_or_the_stop_of_the_run_and_again_when_it_goes_on() {
        let digits = ["a", "b", "c"];
        let keys: Vec<Key> = digits.map(|digit| serde_json::from_value(digit.repeat(32).into()).expect("a key")).into();
        let line = |at: f64, event: &str, key: usize, more: &str| {
            format!(r#"{{"at_seconds":{at:?},"event":"{event}","key":"{}"{more}}}"#, digits[key].repeat(32)) + "\n"
        };
        let told = r#","tick":"done","done":40,"total":90,"unit":"steps""#;
        let journal = [
            line(0.5, "started", 0, ""),
            line(2.0, "made", 0, r#","seconds":1.5,"bytes":3"#),
            line(2.0, "started", 1, ""),
            line(7.0, "told", 1, told),
            // It was killed, and went on.
            line(0.1, "started", 1, ""),
            line(3.0, "made", 1, r#","seconds":2.9,"bytes":3"#),
            line(3.0, "started", 2, ""),
            line(4.5, "told", 2, told),
            r#"{"at_seconds":9.0,"event":"ma"#.to_owned(),
        ];
        let dir = tempfile::tempdir().expect("a folder");
        fs::write(dir.path().join(JOURNAL), journal.concat()).expect("written");
        let spans = spans(dir.path());
        assert_eq!(spans[&keys[0]], [(0.5, 2.0)]);
        assert_eq!(spans[&keys[1]], [(2.0, 7.0), (7.1, 10.0)]);
        assert_eq!(spans[&keys[2]], [(10.0, 11.5)]);
        assert!(super::spans(Path::new("/nowhere")).is_empty());
    }
}
