//! How far a run is, from its journal alone: for whoever looks on from outside.

use std::collections::BTreeMap;
use std::path::Path;

use fs_err as fs;
use serde::{Deserialize, Serialize};

use super::JOURNAL;
use crate::progress::Tick;
use crate::run::Event;
use crate::store::Key;

/// One line of the journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// Seconds since the run began, or since it went on.
    pub at_seconds: f64,
    #[serde(flatten)]
    pub event: Event,
}

/// What the journal last said of a node.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Now {
    /// `kept`, `waiting`, `making`, `made`, `failed`, `refused` or `skipped`.
    pub state: &'static str,
    /// Of the work of this run, once it is made.
    pub seconds: Option<f64>,
    /// Done, of how many, and of what; 0 of them where that is not known.
    pub done: Option<(u64, u64, String)>,
    /// To the end of this work, at the pace it had since it began or went on.
    pub left_seconds: Option<f64>,
    /// The numbers last told, such as the loss.
    pub figures: BTreeMap<String, f64>,
    /// Why it failed, or for whom it waits.
    pub message: Option<String>,
    /// When this pace was first told, and how much was done then.
    #[serde(skip)]
    since: Option<(f64, u64)>,
}

/// Of work, before a pace is told from it.
const PACE_SECONDS: f64 = 1.0;

/// Reads the journal of a run. A line that is torn, or that this version does not know, is passed over.
pub fn now(run_dir: &Path) -> BTreeMap<Key, Now> {
    let bytes = fs::read(run_dir.join(JOURNAL)).unwrap_or_default();
    let mut all = BTreeMap::new();
    for line in bytes.split(|&byte| byte == b'\n') {
        if let Ok(entry) = serde_json::from_slice::<Entry>(line) {
            apply(entry, &mut all);
        }
    }
    all
}

fn apply(Entry { at_seconds, event }: Entry, all: &mut BTreeMap<Key, Now>) {
    let mut set = |key: Key, state: &'static str, seconds: Option<f64>, message: Option<String>| {
        // What an earlier attempt told is no longer so.
        all.insert(key, Now { state, seconds, message, ..Now::default() });
    };
    match event {
        Event::Kept { key } => set(key, "kept", None, None),
        Event::Waiting { key, holder } => set(key, "waiting", None, Some(holder)),
        Event::Started { key } => set(key, "making", None, None),
        Event::Made { key, seconds, .. } => set(key, "made", Some(seconds), None),
        Event::Failed { key, message, .. } => set(key, "failed", None, Some(message)),
        Event::PassedOver { key, message } => set(key, "refused", None, Some(message)),
        Event::Skipped { keys, .. } => keys.into_iter().for_each(|key| set(key, "skipped", None, None)),
        Event::Resumed { key, done, total, unit } => all.entry(key).or_default().tell(at_seconds, done, total, unit),
        Event::Told { key, tick } => {
            let now = all.entry(key).or_default();
            match tick {
                Tick::Done { done, total, unit } => now.tell(at_seconds, done, total, unit),
                Tick::Metric { name, value, .. } => drop(now.figures.insert(name, value)),
                Tick::Note { .. } | Tick::Measured(_) => (),
            }
        }
    }
}

impl Now {
    fn tell(&mut self, at_seconds: f64, done: u64, total: u64, unit: String) {
        // Work that begins anew, or is of another kind, has a pace of its own.
        let goes_on = self.done.as_ref().is_some_and(|(before, _, known)| *known == unit && *before <= done);
        let (since, from) = self.since.filter(|(since, _)| goes_on && *since <= at_seconds).unwrap_or((at_seconds, done));
        let took = at_seconds - since;
        self.left_seconds =
            (took >= PACE_SECONDS && done > from).then(|| total.saturating_sub(done) as f64 * took / (done - from) as f64);
        (self.since, self.done) = (Some((since, from)), Some((done, total, unit)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_tells_how_far_each_node_is_and_a_torn_line_tells_nothing() {
        let dir = tempfile::tempdir().expect("a folder");
        let keys = ["a", "b"].map(|digit| digit.repeat(32));
        let lines = [
            format!(r#"{{"at_seconds":0.1,"event":"kept","key":"{}"}}"#, keys[0]),
            format!(r#"{{"at_seconds":0.2,"event":"started","key":"{}"}}"#, keys[1]),
            format!(
                r#"{{"at_seconds":0.3,"event":"told","key":"{}","tick":"done","done":40,"total":90,"unit":"steps"}}"#,
                keys[1]
            ),
            format!(
                r#"{{"at_seconds":0.4,"event":"told","key":"{}","tick":"metric","name":"loss","step":40,"value":5.5}}"#,
                keys[1]
            ),
            r#"{"at_seconds":0.5,"event":"ma"#.to_owned(),
        ];
        fs::write(dir.path().join(JOURNAL), lines.join("\n")).expect("written");
        let all = now(dir.path());
        let [kept, making] = keys.map(|key| all[&serde_json::from_value::<Key>(key.into()).expect("a key")].clone());
        assert_eq!((kept.state, kept.done), ("kept", None));
        assert_eq!((making.state, making.done), ("making", Some((40, 90, "steps".to_owned()))));
        assert_eq!(making.figures["loss"].to_bits(), 5.5_f64.to_bits());
        assert!(now(&dir.path().join("nowhere")).is_empty());
    }
    fn told(lines: &[&str]) -> Now {
        let dir = tempfile::tempdir().expect("a folder");
        let key = "c".repeat(32);
        let lines: Vec<_> = lines.iter().map(|line| format!(r#"{{{line},"key":"{key}"}}"#)).collect();
        fs::write(dir.path().join(JOURNAL), lines.join("\n")).expect("written");
        now(dir.path()).into_values().next().expect("one node")
    }

    fn done(at: f64, done: u64) -> String {
        format!(r#""at_seconds":{at},"event":"told","tick":"done","done":{done},"total":100,"unit":"steps""#)
    }

    #[test]
    fn what_is_left_goes_by_the_pace_since_the_work_began_or_went_on() {
        let [first, early, late, again] = [done(1.0, 10), done(1.5, 12), done(6.0, 20), done(0.5, 20)];
        assert_eq!(told(&[&first, &early]).left_seconds, None, "half a second tells no pace");
        assert_eq!(told(&[&first, &early, &late]).left_seconds, Some(40.0));
        // The clock began anew.
        assert_eq!(told(&[&first, &late, &again]).left_seconds, None);
        assert_eq!(told(&[&first, &late, &again, &done(10.5, 60)]).left_seconds, Some(10.0));
    }

    #[test]
    fn what_an_earlier_attempt_told_is_no_longer_so() {
        let late = done(6.0, 20);
        let started = r#""at_seconds":7.0,"event":"started""#;
        let now = told(&[&late, started]);
        assert_eq!((now.state, now.done, now.left_seconds), ("making", None, None));
    }
}
